// Records the events of one component about attempts that it repeats.
//
// A failure is always an event. A success is one when it ends a failure or changed something that
// users wait for. All other successes, which a condition or a field of the object shows, are
// routine: they become events only with --success-events=upstream, once per change.
//
//   const absl::Status result = recorder_.Judge(request, "", Sync(*binding, stop));
//   recorder_.Outcome({.of = request,
//                      .about = {InvolvedObject::Of(*binding)},
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
#include "kube/runtime/outcomes.h"

namespace kube {

// Thread-safe.
class EventRecorder {
 public:
  // `source` is the component ("binding-controller"). A loop passes Reconciler::outcomes(), which
  // the controller clears for it; another component remembers outcomes by itself, and calls Forget.
  // REQUIRES: `sink` and `outcomes` outlive the recorder.
  EventRecorder(EventSink& sink, absl::string_view source, Outcomes& outcomes)
      : sink_(sink), source_(source), outcomes_(outcomes) {}
  EventRecorder(EventSink& sink, absl::string_view source) : EventRecorder(sink, source, own_) {}
  EventRecorder(const EventRecorder&) = delete;

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
    Request of;                         // What the attempt belongs to (Outcomes).
    std::string part;                   // Distinguishes the attempts that belong to it.
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
  // Call it before Outcome, or before a condition is written, where a conflict that does not end by
  // trying again is to be reported (Outcomes::Judge).
  absl::Status Judge(const Request& of, absl::string_view part, const absl::Status& result) {
    return outcomes_.Judge(of, part, result);
  }
  // As those of Outcomes. A loop calls them only for what it does not end with Action::Gone.
  void Forget(const Request& of, absl::string_view part) { outcomes_.Forget(of, part); }
  void Forget(const Request& of) { outcomes_.Forget(of); }
  void ForgetCluster(absl::string_view cluster) { outcomes_.ForgetCluster(cluster); }
  void ForgetKind(const Gvk& gvk) { outcomes_.ForgetKind(gvk); }

 private:
  EventSink& sink_;
  const std::string source_;
  Outcomes own_;  // Unused if others were given.
  Outcomes& outcomes_;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_EVENT_RECORDER_H_
