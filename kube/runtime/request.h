// Names what a loop is asked to look at: the items of its queue.
#ifndef KUBE_RUNTIME_REQUEST_H_
#define KUBE_RUNTIME_REQUEST_H_

#include <compare>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
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
  // By name, so that no reason comes before every other.
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

}  // namespace kube

#endif  // KUBE_RUNTIME_REQUEST_H_
