// Everything is indexed once, by the names that keys of loops and writes have. A key of a loop does
// not always name a kind, so events are found by namespace and name alone then: the few objects
// that share both (a Service and its MultiClusterService) also share their failures.
//
// A component that has succeeded with something has ended what it said of the same before, also in
// the same second: upstream's detector often fails once at a new template and succeeds at once.
//
// What may be lost: an event lives an hour, and one that the leader has not repeated for kEventAge
// does not count. A failure that it shows by an event alone is then taken for one that only this
// program has; nothing is ever taken for a failure of the leader without a text that shows it.

#include "cmd/controller-manager/shown_failures.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/binding.h"
#include "api/names.h"
#include "api/programs.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/cut_text.h"
#include "base/json.h"

namespace cmd {
namespace {

constexpr size_t kTextBytes = 500;

// Components whose Warnings are about what no loop of the controller manager does.
constexpr absl::string_view kSchedulers[] = {"default-scheduler", "karmada-scheduler",
                                             "karmada-descheduler"};

std::string ConditionText(absl::string_view type, const json::Value& condition) {
  return base::CutText(
      absl::StrCat(type, "=", condition["status"].AsString(), " (", condition["reason"].AsString(),
                   "): ", condition["message"].AsString()),
      kTextBytes);
}

// Returns the condition as text if its status is not True; "" otherwise, and when it is missing.
std::string IfNotTrue(const json::Value& conditions, absl::string_view type) {
  const json::Value* const condition = kube::FindCondition(conditions, type);
  if (condition == nullptr || (*condition)["status"].AsString() == "True") return "";
  return ConditionText(type, *condition);
}

// What an event is about, and who says it.
struct EventSubject {
  std::string kind;
  kube::ObjectKey key;
  std::string component;
};

EventSubject SubjectOf(const kube::Object& event) {
  const json::Value& about = event.root()["involvedObject"];
  const absl::string_view source = event.root()["source"]["component"].AsString();
  return {std::string(about["kind"].AsString()),
          {std::string(about["namespace"].AsString()), std::string(about["name"].AsString())},
          std::string(source.empty() ? event.root()["reportingComponent"].AsString() : source)};
}

// Returns what a component has tried, by the reason of the event about its failure or success: both
// GetReplicasFailed and GetReplicasSucceed are about "GetReplicas".
std::string AttemptOf(const kube::Object& event) {
  absl::string_view reason = event.root()["reason"].AsString();
  for (const absl::string_view end : {"Failed", "Succeed"}) {
    if (absl::ConsumeSuffix(&reason, end)) break;
  }
  return std::string(reason);
}

bool IsWarning(const kube::Object& event) { return event.root()["type"].AsString() != "Normal"; }

absl::Time TimeOf(const kube::Object& event) {
  absl::Time latest = absl::InfinitePast();
  const json::Value& root = event.root();
  for (const json::Value* text : {&root["lastTimestamp"], &root["series"]["lastObservedTime"],
                                  &root["eventTime"], &root["firstTimestamp"]}) {
    absl::Time time;
    std::string error;
    if (absl::ParseTime(absl::RFC3339_full, text->AsString(), &time, &error)) {
      latest = std::max(latest, time);
    }
  }
  return latest;
}

// The parts of kube::Request::ToString().
struct KeyParts {
  std::string cluster, kind;
  kube::ObjectKey key;
};

KeyParts PartsOf(absl::string_view text) {
  KeyParts parts;
  std::vector<absl::string_view> words = absl::StrSplit(text, ' ');
  if (words.size() == 2) {
    std::vector<absl::string_view> left = absl::StrSplit(words[0], '/');
    parts.kind = std::string(left.back());
    if (left.size() == 2) parts.cluster = std::string(left[0]);
  }
  const std::vector<absl::string_view> names = absl::StrSplit(words.back(), '/');
  parts.key.name = std::string(names.back());
  if (names.size() >= 2) parts.key.ns = std::string(names[names.size() - 2]);
  if (names.size() == 3) parts.cluster = std::string(names[0]);
  return parts;
}

}  // namespace

ShownFailures::ShownFailures(const Objects& objects, absl::Time now) {
  for (const kube::ObjectPtr& cluster : objects.clusters) {
    const std::string text = IfNotTrue(cluster->status()["conditions"], "Ready");
    if (text.empty()) continue;
    clusters_[std::string(cluster->name())] = absl::StrCat("Cluster ", cluster->name(), ": ", text);
  }
  for (const kube::ObjectPtr& work : objects.works) AddWork(*work);
  for (const kube::ObjectPtr& binding : objects.bindings) {
    const api::ObjectReference of = api::BindingView(*binding).Resource();
    bindings_[binding->key()] = {of.kind, {of.ns, of.name}};
  }
  Successes successes;
  for (const kube::Object& event : objects.events) {
    if (IsWarning(event)) continue;
    const EventSubject about = SubjectOf(event);
    absl::Time& latest =
        successes
            .try_emplace({about.kind, about.key, about.component, AttemptOf(event)},
                         absl::InfinitePast())
            .first->second;
    latest = std::max(latest, TimeOf(event));
  }
  for (const kube::Object& event : objects.events) {
    if (IsWarning(event)) AddEvent(event, successes, now);
  }
}

void ShownFailures::AddWork(const kube::Object& work) {
  const std::string condition = IfNotTrue(work.status()["conditions"], "Applied");
  if (condition.empty()) return;
  const std::string text = absl::StrCat("Work ", work.key().ToString(), ": ", condition);
  works_[work.key()] = text;
  const auto cluster = api::ClusterOfExecutionNamespace(work.ns());
  if (!cluster.ok()) return;
  for (const json::Value& manifest : api::WorkView(work).Manifests()) {
    const json::Value& metadata = manifest["metadata"];
    member_objects_[{*cluster, std::string(manifest["kind"].AsString()),
                     std::string(metadata["namespace"].AsString()),
                     std::string(metadata["name"].AsString())}] = text;
  }
}

void ShownFailures::AddEvent(const kube::Object& event, const Successes& successes,
                             absl::Time now) {
  const absl::Time time = TimeOf(event);
  if (now - time > kEventAge) return;
  const EventSubject about = SubjectOf(event);
  const std::string& component = about.component;
  if (std::count(std::begin(kSchedulers), std::end(kSchedulers), component) > 0) return;
  const auto success = successes.find({about.kind, about.key, component, AttemptOf(event)});
  // The failure is over.
  if (success != successes.end() && success->second >= time) return;
  const absl::string_view reason = event.root()["reason"].AsString();
  const std::string text =
      base::CutText(absl::StrCat("event ", reason, " of ", component, ", ",
                                 absl::FormatTime(absl::RFC3339_sec, time, absl::UTCTimeZone()),
                                 ": ", event.root()["message"].AsString()),
                    kTextBytes);
  if (reason == api::reason::kApplyPolicyFailed) {
    unbound_[{about.key.ns, api::BindingName(about.kind, about.key.name)}] = text;
    unclaimed_[{about.kind, about.key}] = text;
  }
  Shown& shown = events_[about.key][about.kind];
  if (shown.text.empty() || shown.time < time) shown = {time, text};
}

std::string ShownFailures::OfCluster(absl::string_view cluster) const {
  const auto found = clusters_.find(cluster);
  return found == clusters_.end() ? "" : found->second;
}

std::string ShownFailures::OfEvents(absl::string_view kind, const kube::ObjectKey& key) const {
  const auto found = events_.find(key);
  if (found == events_.end()) return "";
  const Shown* newest = nullptr;
  for (const auto& [about, shown] : found->second) {
    if (!kind.empty() && about != kind) continue;
    if (newest == nullptr || shown.time > newest->time) newest = &shown;
  }
  return newest == nullptr ? "" : newest->text;
}

std::string ShownFailures::OfBinding(const kube::ObjectKey& key) const {
  const auto found = bindings_.find(key);
  if (found == bindings_.end()) return "";
  return OfEvents(found->second.kind, found->second.key);
}

std::string ShownFailures::OfMissingBinding(const std::string& kind,
                                            const kube::ObjectKey& object) const {
  const kube::ObjectKey binding{object.ns, api::BindingName(kind, object.name)};
  if (bindings_.contains(binding)) return "";
  return absl::StrCat("there is no binding ", binding.ToString(),
                      ": the leader has not placed the object either");
}

std::string ShownFailures::OfKey(absl::string_view controller, absl::string_view key) const {
  if (controller == "cache") {
    return OfCluster(key.substr(0, key.find(' ')));
  }
  const KeyParts parts = PartsOf(key);
  if (std::string text = OfCluster(parts.cluster); !text.empty()) return text;
  if (const auto cluster = api::ClusterOfExecutionNamespace(parts.key.ns); cluster.ok()) {
    if (std::string text = OfCluster(*cluster); !text.empty()) return text;
    if (const auto work = works_.find(parts.key); work != works_.end()) return work->second;
  }
  if (parts.kind.empty() && parts.key.ns.empty()) {
    if (std::string text = OfCluster(parts.key.name); !text.empty()) return text;
  }
  const auto member_object =
      member_objects_.find({parts.cluster, parts.kind, parts.key.ns, parts.key.name});
  if (member_object != member_objects_.end()) return member_object->second;
  if (std::string text = OfEvents(parts.kind, parts.key); !text.empty()) return text;
  if (parts.kind.empty()) return OfBinding(parts.key);
  return controller == api::kResourceDetector ? OfMissingBinding(parts.kind, parts.key) : "";
}

std::string ShownFailures::OfWrite(const kube::Shadow::Subject& subject) const {
  // A deletion that the leader does not make has to be looked at by people.
  if (absl::StartsWith(subject.verb, "delete")) return "";
  const auto text_of = [](const auto& texts, const auto& key) {
    const auto found = texts.find(key);
    return found == texts.end() ? std::string() : found->second;
  };
  if (subject.cluster != api::kControlPlaneName) {
    return text_of(member_objects_,
                   MemberKey{subject.cluster, subject.gvk.kind, subject.key.ns, subject.key.name});
  }
  if (api::ClusterOfExecutionNamespace(subject.key.ns).ok()) {
    return subject.subresource == "status" ? text_of(works_, subject.key) : "";
  }
  if (!subject.subresource.empty()) return "";
  const bool is_binding = subject.gvk.group == api::Works().gvk.group;
  return is_binding ? text_of(unbound_, subject.key)
                    : text_of(unclaimed_, std::pair(subject.gvk.kind, subject.key));
}

}  // namespace cmd
