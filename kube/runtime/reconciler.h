// One control loop: a Reconciler is given keys, never events or objects, and brings the actual
// state in line with the desired one.
#ifndef KUBE_RUNTIME_RECONCILER_H_
#define KUBE_RUNTIME_RECONCILER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "kube/meta/names.h"

namespace kube {

// Names what to reconcile. Loops over one kind of one server set `key` only; loops over any kind
// also set `gvk`, loops over members' objects `cluster`.
struct Request {
  ObjectKey key;
  Gvk gvk;
  std::string cluster;
  // Only the loop knows its meaning. Requests that differ in it are different items of the queue.
  int variant = 0;

  std::string ToString() const;  // "[cluster/][Kind ]ns/name"
  friend auto operator<=>(const Request&, const Request&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Request& r) {
    return H::combine(std::move(h), r.key, r.gvk, r.cluster, r.variant);
  }
};

// What the controller does after a reconcile that did not fail.
class Action {
 public:
  // Does nothing until the next event; ends the back-off.
  static Action Done() { return Action(Kind::kDone, absl::ZeroDuration()); }
  // Reconciles again after `d`; ends the back-off.
  static Action After(absl::Duration d) { return Action(Kind::kAfter, d); }

  enum class Kind { kDone, kAfter };
  Kind kind() const { return kind_; }
  absl::Duration delay() const { return delay_; }

 private:
  Action(Kind kind, absl::Duration d) : kind_(kind), delay_(d) {}
  Kind kind_;
  absl::Duration delay_;
};

class Reconciler {
 public:
  virtual ~Reconciler() = default;
  // Runs on one of the controller's workers; never twice at once for equal requests. An error
  // requeues with back-off; one marked base::Terminal is logged and counted, but not requeued;
  // kAborted (a write conflict) is requeued silently for the first few times; kCancelled after a
  // stop is dropped.
  virtual absl::StatusOr<Action> Reconcile(const Request& request, const base::StopToken& stop) = 0;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_RECONCILER_H_
