// One control loop: a Reconciler is given keys, with a reason where the loop has to know it, and
// brings the actual state in line with the desired one. It is never given objects: what it works on
// it reads itself, and finds as it is by then.
#ifndef KUBE_RUNTIME_RECONCILER_H_
#define KUBE_RUNTIME_RECONCILER_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "kube/runtime/outcomes.h"
#include "kube/runtime/request.h"

namespace kube {

// What the controller does after a reconcile that did not fail.
class Action {
 public:
  // Does nothing until the next event; ends the back-off.
  static Action Done() { return Action(Kind::kDone, absl::ZeroDuration()); }
  // Reconciles again after `d`; ends the back-off.
  static Action After(absl::Duration d) { return Action(Kind::kAfter, d); }
  // As Done, or as `then`. What the request names does not exist any more, or concerns the loop no
  // more: the outcomes that are remembered of it are forgotten (Outcomes).
  static Action Gone() { return Gone(Done()); }
  static Action Gone(Action then) {
    then.is_gone_ = true;
    return then;
  }

  enum class Kind { kDone, kAfter };
  Kind kind() const { return kind_; }
  absl::Duration delay() const { return delay_; }
  bool is_gone() const { return is_gone_; }

 private:
  Action(Kind kind, absl::Duration d) : kind_(kind), delay_(d) {}
  Kind kind_;
  absl::Duration delay_;
  bool is_gone_ = false;
};

class Reconciler {
 public:
  virtual ~Reconciler() = default;
  // Runs on one of the controller's workers; never twice at once for equal requests. An error
  // requeues with back-off; one marked base::Terminal is logged and counted, but not requeued;
  // kAborted (a write conflict) is requeued silently for the first few times; kCancelled after a
  // stop is dropped.
  virtual absl::StatusOr<Action> Reconcile(const Request& request, const base::StopToken& stop) = 0;

  // The outcomes of what the loop tries in its passes; its EventRecorder shares them. The
  // controller forgets those of a request whose pass ended with Action::Gone.
  Outcomes& outcomes() { return outcomes_; }

 private:
  Outcomes outcomes_;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_RECONCILER_H_
