// One control loop: a Reconciler is given keys, never events or objects, and makes the world match.
#ifndef KUBE_RUNTIME_RECONCILER_H_
#define KUBE_RUNTIME_RECONCILER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "kube/meta/names.h"

namespace kube {

// What to reconcile. Loops over one kind of one server fill in `key` only; loops over any kind add
// `gvk`, loops over members' objects add `cluster`.
struct Request {
  ObjectKey key;
  Gvk gvk;
  std::string cluster;
  // Only the loop knows what it means. Requests that differ in it are different items of the queue.
  int variant = 0;

  std::string ToString() const;  // "[cluster/][Kind ]ns/name"
  friend auto operator<=>(const Request&, const Request&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Request& r) {
    return H::combine(std::move(h), r.key, r.gvk, r.cluster, r.variant);
  }
};

// What to do after a reconcile that did not fail.
class Action {
 public:
  // Nothing until the next event; forgets the back-off.
  static Action Done() { return Action(Kind::kDone, absl::ZeroDuration()); }
  // Again after `d`; forgets the back-off.
  static Action After(absl::Duration d) { return Action(Kind::kAfter, d); }
  // Again with the key's back-off, without counting as an error.
  static Action Requeue() { return Action(Kind::kRequeue, absl::ZeroDuration()); }

  enum class Kind { kDone, kAfter, kRequeue };
  Kind kind() const { return kind_; }
  absl::Duration delay() const { return delay_; }

 private:
  Action(Kind kind, absl::Duration d) : kind_(kind), delay_(d) {}
  Kind kind_;
  absl::Duration delay_;
};

// An error with this mark is logged and counted, but not requeued.
using base::IsTerminal;
using base::Terminal;

class Reconciler {
 public:
  virtual ~Reconciler() = default;
  // Runs on one of the controller's workers; never twice at once for equal requests. An error
  // requeues with back-off; kAborted (a write conflict) does so silently for the first few times;
  // kCancelled after a stop is dropped.
  virtual absl::StatusOr<Action> Reconcile(const Request& request, const base::StopToken& stop) = 0;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_RECONCILER_H_
