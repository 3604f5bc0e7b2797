// One control loop: a Reconciler is given keys, with a reason where the loop has to know it, and
// brings the actual state in line with the desired one. It is never given objects: what it works on
// it reads itself, and finds as it is by then.
#ifndef KUBE_RUNTIME_RECONCILER_H_
#define KUBE_RUNTIME_RECONCILER_H_

#include <compare>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "kube/meta/names.h"

namespace kube {

// Why a loop is asked to look at something, where it does not find that out by looking: an object
// whose event of deletion was seen is treated otherwise than one that is merely not there. A
// constant of the loop; its name is for logs.
class Reason {
 public:
  constexpr Reason() = default;
  consteval Reason(const char* name) : name_(name) {}  // NOLINT: a literal is meant to convert.
  absl::string_view name() const { return name_; }

  friend bool operator==(Reason a, Reason b) { return a.name_ == b.name_; }
  // Sorted by name, so that no reason precedes all others.
  friend std::strong_ordering operator<=>(Reason a, Reason b) {
    return a.name_.compare(b.name_) <=> 0;
  }
  template <class H>
  friend H AbslHashValue(H h, Reason reason) {
    return H::combine(std::move(h), reason.name_);
  }

 private:
  absl::string_view name_;
};

// Names what to reconcile. Loops over one kind of one server set `key` only; loops over any kind
// also set `gvk`, loops over members' objects `cluster`.
struct Request {
  ObjectKey key;
  Gvk gvk;
  std::string cluster;
  // Requests that differ in it are different items of the queue, and may be worked on at the same
  // time.
  Reason reason = {};

  std::string ToString() const;  // "[cluster/][Kind ]ns/name"
  std::string Describe() const;  // With the reason, if there is one: "ns/name (deleted)".
  friend auto operator<=>(const Request&, const Request&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Request& r) {
    return H::combine(std::move(h), r.key, r.gvk, r.cluster, r.reason);
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
