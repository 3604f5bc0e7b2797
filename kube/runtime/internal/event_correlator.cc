// An event passes four rules in this order. It is dropped when the event of the same source, object
// and reason that passed the first two rules last had the same type, message and version of the
// object, and came less than ten minutes earlier; where every success is to be reported, a Normal
// event without a version of the object is not. It is dropped when the object's token bucket for
// this source is empty. From the tenth different message of otherwise equal events on, each less
// than ten minutes after the one before, all messages count as one event and get a prefix. An event
// that is equal to one that was written becomes a patch of its count; any other is created.
//
// A standing event takes another way. It gets the same name from each process that records it, so
// that the server refuses a second one, and an event that is known as written is dropped.
//
// Only Written makes an event known as written, so that an event whose write failed is followed by
// a create. Each of the four tables keeps the entries that were used last, as long as they have an
// effect: repetitions and similar messages for ten minutes, a bucket until it is full again. For as
// long it is known what was written; an API server deletes an Event an hour after its last write.
// An event whose entry was dropped, or that is recorded after a restart, counts as new. The tables
// hold digests of keys and messages: with thousands of objects the texts would take several MB.

#include "kube/runtime/internal/event_correlator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/digest.h"
#include "base/random.h"
#include "kube/meta/selector.h"

namespace kube::internal {
namespace {

// client-go's defaults.
constexpr size_t kCacheEntries = 4096;
constexpr int kSpamBurst = 25;
constexpr int kSpamSeconds = 300;
constexpr size_t kMaxSimilar = 10;
constexpr absl::Duration kSimilarInterval = absl::Minutes(10);
constexpr char kCombined[] = "(combined from similar events): ";
// Not client-go's: repetitions are dropped for this time.
constexpr absl::Duration kSilence = absl::Minutes(10);
// After this time every bucket is full.
constexpr absl::Duration kLongestEffect = absl::Seconds(kSpamBurst * kSpamSeconds);

constexpr char kSeparator[] = "\x1f";  // Occurs in no field.

template <class... Parts>
std::string Key(const Parts&... parts) {
  return absl::StrJoin({absl::string_view(parts)...}, kSeparator);
}

// So many bytes lie in a string itself, without an allocation, and are enough to tell texts apart.
constexpr size_t kDigestBytes = 15;

template <class... Parts>
std::string Digest(const Parts&... parts) {
  return base::Sha256(Key(parts...)).substr(0, kDigestBytes);
}

std::string ObjectKeyOf(const EventNote& note) {
  const InvolvedObject& about = note.about;
  return Key(note.source, about.kind, about.ns, about.name, about.uid, about.api_version);
}

const char* TypeName(EventType type) { return type == EventType::kWarning ? "Warning" : "Normal"; }

// Returns what two events have in common if the second one reports nothing new.
std::string WordsOf(const EventNote& note) {
  return Digest(TypeName(note.type), note.message, note.about.resource_version);
}

json::Value ReferenceJson(const InvolvedObject& about) {
  json::Value v = json::Value::Object();
  const std::pair<const char*, const std::string&> fields[] = {
      {"apiVersion", about.api_version},
      {"kind", about.kind},
      {"namespace", about.ns},
      {"name", about.name},
      {"uid", about.uid},
      {"resourceVersion", about.resource_version}};
  for (const auto& [name, value] : fields) {
    if (!value.empty()) v.Set(name, value);
  }
  return v;
}

}  // namespace

EventCorrelator::SpamBucket::SpamBucket() : tokens(1.0 / kSpamSeconds, kSpamBurst) {}

EventCorrelator::EventCorrelator(bool every_success)
    : every_success_(every_success),
      said_(kCacheEntries),
      buckets_(kCacheEntries),
      similar_(kCacheEntries),
      observed_(kCacheEntries) {}

std::optional<EventCorrelator::Decision> EventCorrelator::Correlate(const EventNote& note) {
  Forget(note.at);
  if (IsRepetition(note) || IsSpam(note)) return std::nullopt;
  said_.Use(Digest(ObjectKeyOf(note), note.reason), note.at) = {WordsOf(note), note.at};
  Decision decision;
  decision.at = note.at;
  decision.event = NewEvent(note, Aggregate(note, decision.key));
  const Observed& before = observed_.Use(decision.key, note.at);
  if (before.count == 0) return decision;
  if (note.standing) return std::nullopt;
  json::Value& root = decision.event.mutable_root();
  root.Set({"metadata", "name"}, before.name);
  root.Set("firstTimestamp", before.first_time);
  root.Set("count", before.count + 1);
  decision.patch = json::Value::Object({{"count", before.count + 1},
                                        {"lastTimestamp", root["lastTimestamp"]},
                                        {"message", root["message"]}});
  return decision;
}

void EventCorrelator::Written(const Decision& decision) {
  const json::Value& root = decision.event.root();
  observed_.Use(decision.key, decision.at) = {
      std::string(decision.event.name()), root["firstTimestamp"].ToString(), root["count"].AsInt()};
}

void EventCorrelator::Forget(base::SteadyTime now) {
  said_.DropUnusedSince(now - kSilence);
  similar_.DropUnusedSince(now - kSimilarInterval);
  buckets_.DropUnusedSince(now - kLongestEffect);
  observed_.DropUnusedSince(now - kLongestEffect);
}

size_t EventCorrelator::size() const {
  return said_.size() + buckets_.size() + similar_.size() + observed_.size();
}

bool EventCorrelator::IsRepetition(const EventNote& note) {
  if (every_success_ && note.type == EventType::kNormal && note.about.resource_version.empty()) {
    return false;
  }
  const LastSaid& last = said_.Use(Digest(ObjectKeyOf(note), note.reason), note.at);
  return last.words == WordsOf(note) && note.at - last.at < kSilence;
}

bool EventCorrelator::IsSpam(const EventNote& note) {
  return !buckets_.Use(Digest(ObjectKeyOf(note)), note.at).tokens.TryTake(note.at);
}

std::string EventCorrelator::Aggregate(const EventNote& note, std::string& key) {
  const std::string kind_of_event = Key(ObjectKeyOf(note), TypeName(note.type), note.reason);
  if (note.standing) {
    key = Digest(kind_of_event, note.message);
    return note.message;
  }
  Similar& similar = similar_.Use(Digest(kind_of_event), note.at);
  if (note.at - similar.last > kSimilarInterval) similar.messages.clear();
  similar.last = note.at;
  similar.messages.insert(Digest(note.message));
  if (similar.messages.size() < kMaxSimilar) {
    key = Digest(kind_of_event, note.message);
    return note.message;
  }
  // The set stays below the limit, because only so many messages are kept.
  similar.messages.erase(similar.messages.begin());
  key = Digest(kind_of_event);
  return absl::StrCat(kCombined, note.message);
}

Object EventCorrelator::NewEvent(const EventNote& note, const std::string& message) {
  const std::string time = kube::FormatTime(note.time);
  const std::string ns = note.about.ns.empty() ? "default" : note.about.ns;
  Object event = Object::Make({"", "v1", "Event"}, {ns, NewName(note)});
  json::Value& root = event.mutable_root();
  root.Set("involvedObject", ReferenceJson(note.about));
  root.Set("reason", note.reason);
  root.Set("message", message);
  root.Set("type", TypeName(note.type));
  root.Set({"source", "component"}, note.source);
  root.Set("reportingComponent", note.source);
  root.Set("reportingInstance", "");
  root.Set("firstTimestamp", time);
  root.Set("lastTimestamp", time);
  root.Set("count", 1);
  return event;
}

// Returns what distinguishes the names of an object's events: never the same twice, but for
// standing events what they are about.
std::string EventCorrelator::NewSuffix(const EventNote& note) {
  constexpr size_t kSuffixBytes = 8;
  if (note.standing) {
    return absl::BytesToHexString(
        Digest(ObjectKeyOf(note), note.reason, note.message).substr(0, kSuffixBytes));
  }
  last_nanos_ = std::max(absl::ToUnixNanos(note.time), last_nanos_ + 1);
  return absl::StrCat(absl::Hex(last_nanos_));
}

// Returns "<object>.<hexadecimal nanoseconds>" or "<object>.<digest>". An event about an object
// whose name is not a DNS subdomain (a ClusterRole's need not be one) gets a UUID, as in
// client-go's GenerateEventName, or the digest alone.
std::string EventCorrelator::NewName(const EventNote& note) {
  const std::string suffix = NewSuffix(note);
  std::string name = absl::StrCat(note.about.name, ".", suffix);
  if (ValidateDns1123Subdomain(name).ok()) return name;
  return note.standing ? suffix : base::NewUuid();
}

}  // namespace kube::internal
