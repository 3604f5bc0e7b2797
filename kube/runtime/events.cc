// Record puts a note into a queue and returns; when too many wait, the note is only counted as
// dropped. Normal events may not fill the queue, so that a change of many objects at once does not
// push out the warnings about others. The writer takes the notes in order, asks the correlator what
// becomes of each, and writes it by a patch or a create. It is a Periodic on the threads of a pool,
// and has none while nothing is due. A patch of an Event that has expired
// becomes a create. While the server cannot be reached, refuses the credentials or is too slow, the
// same event is tried again every ten seconds, twelve times in all, and the others wait; any other
// failure drops the event with a line in the log.
//
// The destructor first ends the pauses between attempts, gives the writer two seconds for what
// still waits, and then drops the rest and cuts off the call under way. mu_ guards the queue and is
// not held during a write; the correlator belongs to the writer.

#include "kube/runtime/events.h"

#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "base/status.h"
#include "base/threads.h"
#include "kube/client/errors.h"
#include "kube/runtime/internal/event_correlator.h"
#include "kube/runtime/periodic.h"

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
  BackgroundEventSink(Client& client, const base::Clock& clock, const EventOptions& options);
  ~BackgroundEventSink() override;

  void Record(absl::string_view source, const InvolvedObject& about, EventType type,
              absl::string_view reason, absl::string_view message) override;
  void RecordStanding(absl::string_view source, const InvolvedObject& about,
                      absl::string_view reason, absl::string_view message) override;
  bool WantsRoutine() const override { return options_.routine; }

 private:
  class Writer : public Periodic {
   public:
    explicit Writer(BackgroundEventSink& sink) : Periodic(sink.clock_), sink_(sink) {}
    std::string name() const override { return "events"; }

   protected:
    absl::Duration Tick(const base::StopToken&) override { return sink_.Work(); }

   private:
    BackgroundEventSink& sink_;
  };
  // An event that is being written.
  struct Attempt {
    EventNote note;
    EventCorrelator::Decision decision;
    int number = 1;
    base::SteadyTime when;
  };

  // Completes the note with its time, and puts it into the queue.
  void Add(EventNote note);
  // Writes the next note, if it is time; returns when to call it again.
  absl::Duration Work();
  // Takes the next note that has to be written into attempt_. Returns false when there is none.
  bool Next();
  void Write();
  absl::Status WriteOnce(EventCorrelator::Decision& decision);

  Client& client_;
  const base::Clock& clock_;
  const EventOptions options_;
  base::StopSource abort_;  // Ends calls that are running.
  base::StopSource stop_;   // Ends the writer.
  // Used by the writer only.
  EventCorrelator correlator_;
  std::optional<Attempt> attempt_;
  absl::Mutex mu_;
  std::deque<EventNote> waiting_ ABSL_GUARDED_BY(mu_);
  int dropped_ ABSL_GUARDED_BY(mu_) = 0;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  bool is_done_ ABSL_GUARDED_BY(mu_) = false;  // Nothing waits, and the sink is closed.
  bool has_ended_ ABSL_GUARDED_BY(mu_) = false;
  Writer writer_{*this};
  std::thread thread_;  // Without a pool.
};

BackgroundEventSink::BackgroundEventSink(Client& client, const base::Clock& clock,
                                         const EventOptions& options)
    : client_(client), clock_(clock), options_(options), correlator_(options.routine) {
  const auto ended = [this](const absl::Status& status) {
    if (!status.ok()) base::LogError("events are not written", {{"error", status}});
    absl::MutexLock lock(&mu_);
    has_ended_ = true;
  };
  if (options_.pool != nullptr) {
    writer_.RunOn(*options_.pool, stop_.get_token(), ended);
    return;
  }
  thread_ =
      base::StartThread("the events", [this, ended] { ended(writer_.Run(stop_.get_token())); });
}

BackgroundEventSink::~BackgroundEventSink() {
  {
    absl::MutexLock lock(&mu_);
    closed_ = true;
  }
  writer_.Wake();
  {
    absl::MutexLock lock(&mu_);
    const auto flushed = [this]()
                             ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return is_done_ || has_ended_; };
    clock_.AwaitUntil(mu_, absl::Condition(&flushed), clock_.SteadyNow() + kFlushTime);
    waiting_.clear();
  }
  abort_.request_stop();
  stop_.request_stop();
  { absl::MutexLock lock(&mu_, absl::Condition(&has_ended_)); }
  if (thread_.joinable()) thread_.join();
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
  {
    absl::MutexLock lock(&mu_);
    if (closed_) return;
    const bool is_warning = note.type == EventType::kWarning;
    if (waiting_.size() >= (is_warning ? kMaxWaiting : kMaxWaitingForNormal)) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(note));
  }
  writer_.Wake();
}

absl::Duration BackgroundEventSink::Work() {
  if (!attempt_.has_value() && !Next()) {
    correlator_.Forget(clock_.SteadyNow());
    absl::MutexLock lock(&mu_);
    is_done_ = closed_ && waiting_.empty();
    if (!waiting_.empty()) return absl::ZeroDuration();
    return correlator_.size() == 0 ? absl::InfiniteDuration() : kBetweenCleanings;
  }
  {
    absl::MutexLock lock(&mu_);
    const base::SteadyTime now = clock_.SteadyNow();
    if (!closed_ && now < attempt_->when) return attempt_->when - now;
  }
  Write();
  return attempt_.has_value() ? attempt_->when - clock_.SteadyNow() : absl::ZeroDuration();
}

bool BackgroundEventSink::Next() {
  for (;;) {
    std::optional<EventNote> note;
    int dropped;
    {
      absl::MutexLock lock(&mu_);
      if (waiting_.empty()) return false;
      note = std::move(waiting_.front());
      waiting_.pop_front();
      dropped = std::exchange(dropped_, 0);
    }
    if (dropped > 0) {
      base::LogWarning("events dropped, too many were waiting", {{"count", dropped}});
    }
    std::optional<EventCorrelator::Decision> decision = correlator_.Correlate(*note);
    if (!decision.has_value()) continue;
    attempt_ = {*std::move(note), *std::move(decision), 1, clock_.SteadyNow()};
    return true;
  }
}

void BackgroundEventSink::Write() {
  const absl::Status status = WriteOnce(attempt_->decision);
  if (status.ok()) {
    correlator_.Written(attempt_->decision);
    attempt_.reset();
    return;
  }
  bool again = IsWorthRetrying(status) && attempt_->number < kMaxAttempts;
  {
    absl::MutexLock lock(&mu_);
    again = again && !closed_;
  }
  if (again) {
    ++attempt_->number;
    attempt_->when = clock_.SteadyNow() + kRetryDelay;
    return;
  }
  const EventNote& note = attempt_->note;
  base::LogWarning("event not written", {{"about", note.about.kind + " " + note.about.name},
                                         {"reason", note.reason},
                                         {"error", status}});
  attempt_.reset();
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
