// Record puts a note into a queue and returns; when too many wait, the note is only counted as
// dropped. Normal events may not fill the queue, so that a change of many objects at once does not
// push out the warnings about others. One thread takes the notes in order, asks the correlator what
// becomes of each, and writes it by a patch or a create. A patch of an Event that has expired
// becomes a create. While the server cannot be reached, refuses the credentials or is too slow, the
// same event is tried again every ten seconds, twelve times in all, and the others wait; any other
// failure drops the event with a line in the log.
//
// The destructor first ends the pauses between attempts, gives the thread two seconds for what
// still waits, and then drops the rest and cuts off the call under way. mu_ guards the queue and is
// not held during a write; the correlator belongs to the thread.

#include "kube/runtime/events.h"

#include <deque>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "base/status.h"
#include "base/threads.h"
#include "kube/client/errors.h"
#include "kube/runtime/internal/event_correlator.h"

namespace kube {
namespace {

using internal::EventCorrelator;
using internal::EventNote;

// As in client-go.
constexpr size_t kMaxWaiting = 1000;
constexpr int kMaxAttempts = 12;
constexpr absl::Duration kRetryDelay = absl::Seconds(10);
constexpr absl::Duration kFlushTime = absl::Seconds(2);
// How often the correlator forgets what is over while there are no events.
constexpr absl::Duration kBetweenCleanings = absl::Minutes(10);
// The rest is for warnings (client-go treats both types alike).
constexpr size_t kMaxWaitingForNormal = kMaxWaiting * 3 / 4;

const Resource& EventResource() {
  static const auto& kEvents = *new Resource{{"", "v1", "Event"}, "events", /*namespaced=*/true};
  return kEvents;
}

// Returns whether the server may accept the event later: it could not be reached, was not able to
// answer, or refused the credentials.
bool IsWorthRetrying(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsUnauthenticated(status);
}

class BackgroundEventSink : public EventSink {
 public:
  BackgroundEventSink(Client& client, const base::Clock& clock, const EventOptions& options)
      : client_(client),
        clock_(clock),
        options_(options),
        correlator_(options.routine),
        writer_(base::StartThread("the events", [this] { Work(); })) {}
  ~BackgroundEventSink() override;

  void Record(absl::string_view source, const InvolvedObject& about, EventType type,
              absl::string_view reason, absl::string_view message) override;
  void RecordStanding(absl::string_view source, const InvolvedObject& about,
                      absl::string_view reason, absl::string_view message) override;
  bool WantsRoutine() const override { return options_.routine; }

 private:
  // Completes the note with its time, and puts it into the queue.
  void Add(EventNote note);
  void Work();
  void Write(const EventNote& note);
  absl::Status WriteOnce(EventCorrelator::Decision& decision);

  Client& client_;
  const base::Clock& clock_;
  const EventOptions options_;
  base::StopSource closing_;    // Ends retries and pauses.
  base::StopSource abort_;      // Ends calls that are running.
  EventCorrelator correlator_;  // Used by the writer's thread only.
  absl::Mutex mu_;
  std::deque<EventNote> waiting_ ABSL_GUARDED_BY(mu_);
  int dropped_ ABSL_GUARDED_BY(mu_) = 0;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  std::thread writer_;  // Declared last, because it uses all of the above.
};

BackgroundEventSink::~BackgroundEventSink() {
  closing_.request_stop();
  {
    absl::MutexLock lock(&mu_);
    closed_ = true;
    clock_.AwaitUntil(mu_, absl::Condition(&finished_), clock_.SteadyNow() + kFlushTime);
    waiting_.clear();
  }
  abort_.request_stop();
  writer_.join();
}

namespace {

// Messages contain what scripts, webhooks and members say, and people print them on terminals.
std::string Printable(absl::string_view message) {
  std::string text(message);
  for (char& c : text) {
    const bool is_space = c == '\n' || c == '\t';
    if ((static_cast<unsigned char>(c) < 0x20 && !is_space) || c == 0x7f) c = '?';
  }
  return text;
}

}  // namespace

void BackgroundEventSink::Record(absl::string_view source, const InvolvedObject& about,
                                 EventType type, absl::string_view reason,
                                 absl::string_view message) {
  Add({.source = std::string(source),
       .about = about,
       .type = type,
       .reason = std::string(reason),
       .message = Printable(message)});
}

void BackgroundEventSink::RecordStanding(absl::string_view source, const InvolvedObject& about,
                                         absl::string_view reason, absl::string_view message) {
  Add({.source = std::string(source),
       .about = about,
       .type = EventType::kWarning,
       .reason = std::string(reason),
       .message = Printable(message),
       .standing = true});
}

void BackgroundEventSink::Add(EventNote note) {
  note.time = clock_.Now();
  note.at = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  if (closed_) return;
  if (waiting_.size() >= (note.type == EventType::kWarning ? kMaxWaiting : kMaxWaitingForNormal)) {
    ++dropped_;
    return;
  }
  waiting_.push_back(std::move(note));
}

void BackgroundEventSink::Work() {
  absl::MutexLock lock(&mu_);
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return closed_ || !waiting_.empty();
  };
  for (;;) {
    const base::SteadyTime cleaning = correlator_.size() == 0
                                          ? base::SteadyTime::InfiniteFuture()
                                          : clock_.SteadyNow() + kBetweenCleanings;
    if (!clock_.AwaitUntil(mu_, absl::Condition(&ready), cleaning)) {
      mu_.Unlock();
      correlator_.Forget(clock_.SteadyNow());
      mu_.Lock();
      continue;
    }
    if (waiting_.empty()) break;  // The sink was closed.
    const EventNote note = std::move(waiting_.front());
    waiting_.pop_front();
    const int dropped = std::exchange(dropped_, 0);
    mu_.Unlock();
    if (dropped > 0) {
      base::LogWarning("events dropped, too many were waiting", {{"count", dropped}});
    }
    Write(note);
    mu_.Lock();
  }
  finished_ = true;
}

void BackgroundEventSink::Write(const EventNote& note) {
  std::optional<EventCorrelator::Decision> decision = correlator_.Correlate(note);
  if (!decision.has_value()) return;
  for (int attempt = 1;; ++attempt) {
    const absl::Status status = WriteOnce(*decision);
    if (status.ok()) {
      correlator_.Written(*decision);
      return;
    }
    const bool again = IsWorthRetrying(status) && attempt < kMaxAttempts;
    if (!again || !clock_.SleepFor(kRetryDelay, closing_.get_token())) {
      base::LogWarning("event not written", {{"about", note.about.kind + " " + note.about.name},
                                             {"reason", note.reason},
                                             {"error", status}});
      return;
    }
  }
}

absl::Status BackgroundEventSink::WriteOnce(EventCorrelator::Decision& decision) {
  const Resource& events = EventResource();
  const WriteOptions options = {.wants_answer = false};
  if (!decision.patch.is_null()) {
    const absl::Status patched = client_
                                     .Patch(events, decision.event.key(), PatchType::kMerge,
                                            decision.patch, options, abort_.get_token())
                                     .status();
    if (!IsGone(patched)) return patched;
    decision.patch = json::Value();  // The Event has expired, so a new one is created.
  }
  const absl::Status created =
      client_.Create(events, decision.event, options, abort_.get_token()).status();
  // An earlier attempt may have created it, and its answer may have been lost.
  return AlreadyExists(created) ? absl::OkStatus() : created;
}

class NullEventSink : public EventSink {
 public:
  void Record(absl::string_view, const InvolvedObject&, EventType, absl::string_view,
              absl::string_view) override {}
};

}  // namespace

InvolvedObject InvolvedObject::Of(const Object& object) {
  return {std::string(object.api_version()), std::string(object.kind()),
          std::string(object.ns()),          std::string(object.name()),
          std::string(object.uid()),         std::string(object.resource_version())};
}

std::unique_ptr<EventSink> NewEventSink(Client& client, const base::Clock& clock,
                                        const EventOptions& options) {
  return std::make_unique<BackgroundEventSink>(client, clock, options);
}

std::unique_ptr<EventSink> NewNullEventSink() { return std::make_unique<NullEventSink>(); }

}  // namespace kube
