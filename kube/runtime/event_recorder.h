// Records the events of one component about attempts that it repeats.
//
// A failure is always an event. A success is one when it ends a failure or changed something that
// users wait for. All other successes, which a condition or a field of the object shows, are
// routine: they become events only with --success-events=upstream, once per change.
//
//   recorder_.Outcome({.what = key.ToString(),
//                      .about = {InvolvedObject::Of(binding)},
//                      .success = {"SyncSucceed", "it was synced"},
//                      .failure = {"SyncFailed", ""}},
//                     result);
#ifndef KUBE_RUNTIME_EVENT_RECORDER_H_
#define KUBE_RUNTIME_EVENT_RECORDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/runtime/events.h"
#include "kube/runtime/failing_set.h"

namespace kube {

// Thread-safe.
class EventRecorder {
 public:
  // `source` is the component ("binding-controller"). REQUIRES: `sink` outlives the recorder.
  EventRecorder(EventSink& sink, absl::string_view source) : sink_(sink), source_(source) {}

  void Normal(const InvolvedObject& about, absl::string_view reason, absl::string_view message) {
    sink_.Record(source_, about, EventType::kNormal, reason, message);
  }
  void Warning(const InvolvedObject& about, absl::string_view reason, absl::string_view message) {
    sink_.Record(source_, about, EventType::kWarning, reason, message);
  }
  // Records a warning that is not repeated by a restart (EventSink::RecordStanding).
  void Standing(const InvolvedObject& about, absl::string_view reason, absl::string_view message) {
    sink_.RecordStanding(source_, about, reason, message);
  }
  // Records a routine success. Call it when something has changed, not at every pass.
  void Routine(const InvolvedObject& about, absl::string_view reason, absl::string_view message) {
    if (WantsRoutine()) Normal(about, reason, message);
  }
  // Returns whether Routine has an effect, for callers that would compute much for it.
  bool WantsRoutine() const { return sink_.WantsRoutine(); }

  struct Text {
    absl::string_view reason;
    std::string message;  // "" of a failure stands for the message of the error.
  };
  struct Attempt {
    std::string what;                   // A name that distinguishes attempts at different things.
    std::vector<InvolvedObject> about;  // Each of them gets the event.
    Text success, failure;
    bool changed = false;  // True if a success changed something that users wait for.
    // True if a success changed something that objects show anyway: then it is a routine success.
    bool routine = false;
  };
  // Every failure is recorded as a warning. A success is recorded when it ends a failure or changed
  // something, not at every pass. A conflict and a cancellation do not count as outcomes: the next
  // pass has one.
  void Outcome(const Attempt& attempt, const absl::Status& result);
  // Call them when the thing, or everything whose name begins with `prefix`, does not exist any
  // more.
  void Forget(absl::string_view what) { failing_.Forget(what); }
  void ForgetAll(absl::string_view prefix) { failing_.ForgetAll(prefix); }

 private:
  EventSink& sink_;
  const std::string source_;
  FailingSet failing_;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_EVENT_RECORDER_H_
