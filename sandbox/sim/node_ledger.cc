// Bookings are by pod, and outlive the node that they are on: a node that is added again, or
// changed, counts what is booked on it again. Choose goes through all nodes in the order of their
// names; the first reason against a node is the one that counts in the message, and of nodes that
// fit the one with the fewest pods is chosen. The thread of the event loop alone uses a ledger.

#include "sandbox/sim/node_ledger.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

Amounts AmountsOf(const json::Value& list) {
  Amounts amounts;
  for (const json::Member& member : list.members()) {
    const auto quantity = kube::Quantity::FromJson(member.value);
    if (quantity.ok()) amounts[std::string(member.name())] = *quantity;
  }
  return amounts;
}

void AddTo(Amounts& sum, const Amounts& more) {
  for (const auto& [name, amount] : more) sum[name].Add(amount);
}

}  // namespace

Amounts RequestsOf(const kube::Object& pod) {
  Amounts total;
  for (const json::Value& container : pod.spec()["containers"].items()) {
    AddTo(total, AmountsOf(container["resources"]["requests"]));
  }
  // They run one at a time before the others, so the largest counts, not the sum.
  for (const json::Value& container : pod.spec()["initContainers"].items()) {
    for (const auto& [name, amount] : AmountsOf(container["resources"]["requests"])) {
      if (total[name] < amount) total[name] = amount;
    }
  }
  AddTo(total, AmountsOf(pod.spec()["overhead"]));
  total["pods"] = kube::Quantity::FromInt(1);
  return total;
}

void NodeLedger::SetNode(const kube::Object& node) {
  Node& entry = nodes_[std::string(node.name())];
  entry.object = node;
  // Counted again from the bookings: pods may have been bound before the node was known here.
  entry.used.clear();
  for (const auto& [pod, booking] : bookings_) {
    if (booking.node == node.name()) AddTo(entry.used, booking.amounts);
  }
}

void NodeLedger::RemoveNode(const std::string& name) { nodes_.erase(name); }

void NodeLedger::Charge(const kube::ObjectKey& pod, const std::string& node,
                        const Amounts& amounts) {
  // Charged when it is bound, and again when its change arrives: only the first time counts.
  if (!bookings_.emplace(pod, Booking{node, amounts}).second) return;
  const auto entry = nodes_.find(node);
  if (entry != nodes_.end()) AddTo(entry->second.used, amounts);
}

bool NodeLedger::Release(const kube::ObjectKey& pod) {
  const auto booking = bookings_.find(pod);
  if (booking == bookings_.end()) return false;
  const auto node = nodes_.find(booking->second.node);
  if (node != nodes_.end()) {
    for (const auto& [name, amount] : booking->second.amounts) node->second.used[name].Sub(amount);
  }
  bookings_.erase(booking);
  return true;
}

std::string NodeLedger::Obstacle(const Node& node, const kube::Object& pod,
                                 const Amounts& amounts) {
  if (node.object.spec()["unschedulable"].AsBool()) return "node(s) were unschedulable";
  if (!kube::IsConditionTrue(node.object.status()["conditions"], "Ready")) {
    return "node(s) were not ready";
  }
  if (!HasLabels(node.object.labels(), pod.spec()["nodeSelector"])) {
    return "node(s) didn't match Pod's node affinity/selector";
  }
  const Amounts allocatable = AmountsOf(node.object.status()["allocatable"]);
  for (const auto& [name, amount] : amounts) {
    const auto limit = allocatable.find(name);
    kube::Quantity needed = amount;
    const auto used = node.used.find(name);
    if (used != node.used.end()) needed.Add(used->second);
    const kube::Quantity available = limit == allocatable.end() ? kube::Quantity() : limit->second;
    // A resource that is not asked for cannot be an obstacle, even when the node is overbooked.
    if (amount.IsZero() || !(available < needed)) continue;
    return name == "pods" ? "Too many pods" : absl::StrCat("Insufficient ", name);
  }
  return "";
}

absl::StatusOr<std::string> NodeLedger::Choose(const kube::Object& pod) const {
  const Amounts amounts = RequestsOf(pod);
  std::map<std::string, int> obstacles;
  std::string best;
  int64_t fewest = 0;
  for (const auto& [name, node] : nodes_) {
    const std::string obstacle = Obstacle(node, pod, amounts);
    if (!obstacle.empty()) {
      ++obstacles[obstacle];
      continue;
    }
    const auto used = node.used.find("pods");
    const int64_t pods = used == node.used.end() ? 0 : used->second.Value();
    if (!best.empty() && pods >= fewest) continue;
    best = name;
    fewest = pods;
  }
  if (!best.empty()) return best;
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : obstacles) reasons.push_back(absl::StrCat(count, " ", reason));
  return absl::ResourceExhaustedError(absl::StrCat(
      "0/", nodes_.size(), " nodes are available: ", absl::StrJoin(reasons, ", "), "."));
}

}  // namespace sandbox
