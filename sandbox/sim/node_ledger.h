// Keeps track of the room on nodes and chooses a node for a pod: the sandbox's pod scheduler.
#ifndef SANDBOX_SIM_NODE_LEDGER_H_
#define SANDBOX_SIM_NODE_LEDGER_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "kube/meta/object.h"
#include "kube/meta/quantity.h"

namespace sandbox {

// Amounts by resource name ("cpu", "memory", "pods", ...).
using Amounts = std::map<std::string, kube::Quantity>;

// Returns what a pod occupies: the sum over its containers, or the largest init container if that
// is more, plus overhead, plus one of "pods". kube/meta/pod_request.h is deliberately not used, so
// that the sandbox does not share a mistake with the loops that are tested on it.
Amounts RequestsOf(const kube::Object& pod);

// Not thread-safe.
class NodeLedger {
 public:
  void SetNode(const kube::Object& node);
  void RemoveNode(const std::string& name);

  // Books the pod on its node; has no effect if that is done already.
  void Charge(const kube::ObjectKey& pod, const std::string& node, const Amounts& amounts);
  // Removes the pod's booking; returns whether there was one.
  bool Release(const kube::ObjectKey& pod);

  // Returns the emptiest node that is ready, schedulable, matches the pod's nodeSelector and has
  // room. Otherwise kResourceExhausted with kube-scheduler's wording: "0/3 nodes are available: 3
  // Insufficient cpu.".
  absl::StatusOr<std::string> Choose(const kube::Object& pod) const;

 private:
  struct Node {
    kube::Object object;
    Amounts used;
  };
  struct Booking {
    std::string node;
    Amounts amounts;
  };

  // Returns why the pod does not fit; empty when it fits.
  static std::string Obstacle(const Node& node, const kube::Object& pod, const Amounts& amounts);

  std::map<std::string, Node> nodes_;
  std::map<kube::ObjectKey, Booking> bookings_;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_NODE_LEDGER_H_
