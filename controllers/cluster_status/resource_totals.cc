// How it works. The counted objects are kept (the cache holds them anyway), so that a change
// subtracts exactly what was added for the object before, whatever the informer reports as its
// previous state. Sums over the cluster are updated with each change. The grade of a node depends
// on its pods, so a node whose room has changed is marked as stale and graded with the next
// summary; other models make all nodes stale.

#include "controllers/cluster_status/resource_totals.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "controllers/cluster_status/quantity_sums.h"
#include "controllers/cluster_status/resource_models.h"
#include "kube/meta/pod_request.h"
#include "kube/meta/quantity.h"
#include "kube/meta/scheduled_resources.h"

namespace controllers {
namespace {

constexpr int kNoGrade = -1;

// Returns nullopt for values that count as nothing.
std::optional<kube::Quantity> Readable(const json::Value& value) {
  const absl::StatusOr<kube::Quantity> q = kube::Quantity::FromJson(value);
  if (!q.ok() || !std::isfinite(q->AsApproximateFloat())) return std::nullopt;
  return *q;
}

Quantities AllocatableOf(const kube::Object& node) {
  Quantities out;
  for (const json::Member& m : node.status()["allocatable"].members()) {
    if (const auto q = Readable(m.value)) out[std::string(m.name())] = *q;
  }
  return out;
}

// Calls `count` with the resources of the list that the scheduler accounts for.
template <class Count>
void ForEachScheduled(const json::Value& list, Count count) {
  for (const json::Member& m : list.members()) {
    if (!kube::IsScheduledResource(m.name())) continue;
    if (const auto q = Readable(m.value)) count(m, *q);
  }
}

// As upstream, a limit does not stand in for a missing request here.
Quantities RequestsOf(const kube::Object& pod) {
  static const auto& one_pod = *new json::Value(json::Value::Object({{"pods", 1}}));
  kube::PodRequest request;
  for (const json::Value& c : pod.spec()["containers"].items()) {
    ForEachScheduled(c.Get({"resources", "requests"}),
                     [&](const auto& m, const auto& q) { request.AddContainer(m, q); });
  }
  for (const json::Value& c : pod.spec()["initContainers"].items()) {
    ForEachScheduled(c.Get({"resources", "requests"}),
                     [&](const auto& m, const auto& q) { request.AddInitContainer(m, q); });
  }
  for (const json::Value* more : {&pod.spec()["overhead"], &one_pod}) {
    ForEachScheduled(*more, [&](const auto& m, const auto& q) { request.AddOverhead(m, q); });
  }
  Quantities out;
  for (const kube::PodRequest::Amount& amount : request.amounts()) {
    out[std::string(amount.name())] = kube::ScheduledQuantity(amount.name(), amount.value);
  }
  return out;
}

bool HasEnded(const kube::Object& pod) {
  const absl::string_view phase = pod.status()["phase"].AsString();
  return phase == "Succeeded" || phase == "Failed";
}

bool IsReady(const kube::Object& node) {
  return kube::IsConditionTrue(node.status()["conditions"], "Ready");
}

// Return whether two states of one object count the same.
bool NodesCountAlike(const kube::Object& a, const kube::Object& b) {
  return IsReady(a) == IsReady(b) && a.status()["allocatable"] == b.status()["allocatable"];
}
bool PodsCountAlike(const kube::Object& a, const kube::Object& b) {
  return HasEnded(a) == HasEnded(b) && a.spec() == b.spec();
}

// What no pod asks for is left out, as upstream does.
json::Value RequestsToJson(const QuantitySums& sums) {
  json::Value out = json::Value::Object();
  const json::Value all = sums.ToJson();
  for (const json::Member& amount : all.members()) {
    if (amount.value.AsString() != "0") out.Set(amount.name(), amount.value);
  }
  return out;
}

// Pods are identified by namespace and name.
using PodName = std::pair<absl::string_view, absl::string_view>;
PodName NameOf(const PodName& name) { return name; }
PodName NameOf(const kube::ObjectPtr& pod) { return {pod->ns(), pod->name()}; }
struct PodHash {
  using is_transparent = void;
  size_t operator()(const auto& pod) const { return absl::Hash<PodName>()(NameOf(pod)); }
};
struct PodEq {
  using is_transparent = void;
  bool operator()(const auto& a, const auto& b) const { return NameOf(a) == NameOf(b); }
};

struct Node {
  kube::ObjectPtr object;  // Null while only pods name the node.
  int64_t pods = 0;        // The number of its pods that have not ended.
  Quantities used;         // The sum of what these pods request.
  int grade = kNoGrade;    // The index of the model under which it is counted.
};

}  // namespace

struct ResourceTotals::Impl {
  mutable absl::Mutex mu;
  absl::flat_hash_set<kube::ObjectPtr, PodHash, PodEq> pods ABSL_GUARDED_BY(mu);
  absl::flat_hash_map<std::string, Node> nodes ABSL_GUARDED_BY(mu);
  int64_t total ABSL_GUARDED_BY(mu) = 0;
  int64_t ready ABSL_GUARDED_BY(mu) = 0;
  QuantitySums allocatable ABSL_GUARDED_BY(mu);
  QuantitySums allocating ABSL_GUARDED_BY(mu);
  QuantitySums allocated ABSL_GUARDED_BY(mu);
  ResourceModels models ABSL_GUARDED_BY(mu);
  std::vector<int64_t> counts ABSL_GUARDED_BY(mu);  // The number of nodes of each model.
  absl::flat_hash_set<std::string> stale ABSL_GUARDED_BY(mu);

  // `sign`: 1 adds the node, -1 subtracts it.
  void CountNode(const kube::Object& node, int64_t sign) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    total += sign;
    ready += IsReady(node) ? sign : 0;
    const Quantities has = AllocatableOf(node);
    sign > 0 ? allocatable.Add(has) : allocatable.Sub(has);
  }

  void AddPod(const kube::Object& pod) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    const std::string name(pod.spec()["nodeName"].AsString());
    // A pod without a node waits for one; it counts even when it has ended, as upstream counts it.
    if (name.empty()) return allocating.Add(RequestsOf(pod));
    if (HasEnded(pod)) return;
    const Quantities requests = RequestsOf(pod);
    allocated.Add(requests);
    Node& node = nodes[name];
    ++node.pods;
    for (const auto& [resource, q] : requests) node.used[resource].Add(q);
    stale.insert(name);
  }

  void SubPod(const kube::Object& pod) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    const std::string name(pod.spec()["nodeName"].AsString());
    if (name.empty()) return allocating.Sub(RequestsOf(pod));
    if (HasEnded(pod)) return;
    const Quantities requests = RequestsOf(pod);
    allocated.Sub(requests);
    const auto node = nodes.find(name);
    --node->second.pods;
    for (const auto& [resource, q] : requests) node->second.used[resource].Sub(q);
    if (node->second.pods == 0) node->second.used.clear();
    stale.insert(name);
    EraseIfUnknown(node);
  }

  void EraseIfUnknown(absl::flat_hash_map<std::string, Node>::iterator node)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    if (node->second.object != nullptr || node->second.pods > 0) return;
    stale.erase(node->first);
    nodes.erase(node);
  }

  void SetGrade(Node& node, int grade) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    if (node.grade != kNoGrade) --counts[static_cast<size_t>(node.grade)];
    node.grade = grade;
    if (grade != kNoGrade) ++counts[static_cast<size_t>(grade)];
  }

  int GradeOf(const Node& node) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    if (node.object == nullptr) return kNoGrade;
    Quantities available = AllocatableOf(*node.object);
    for (auto& [name, q] : available) {
      const auto used = node.used.find(name);
      if (used != node.used.end()) q.Sub(used->second);
    }
    if (available["pods"].Sign() <= 0) return kNoGrade;  // A full node has no grade.
    return models.IndexFor(available);
  }

  void TakeModels(const json::Value& source) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    // The models are the user's and change rarely; then every node is graded again.
    if (source == models.source()) return;
    models = ResourceModels(source);
    counts.assign(models.size(), 0);
    for (auto& [name, node] : nodes) {
      node.grade = kNoGrade;
      stale.insert(name);
    }
  }

  json::Value Modelings(const json::Value& source) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    TakeModels(source);
    for (const std::string& name : stale) {
      const auto node = nodes.find(name);
      if (node != nodes.end()) SetGrade(node->second, GradeOf(node->second));
    }
    stale.clear();
    json::Value out = json::Value::Array();
    for (size_t i = 0; i < counts.size(); ++i) {
      out.Append(json::Value::Object({{"grade", models.grade(i)}, {"count", counts[i]}}));
    }
    return out;
  }
};

std::vector<std::string> NodeFields() { return {"status.allocatable", "status.conditions"}; }

std::vector<std::string> PodFields() {
  return {"spec.nodeName", "spec.containers.*.resources", "spec.initContainers.*.resources",
          "spec.overhead", "status.phase"};
}

ResourceTotals::ResourceTotals() : impl_(std::make_unique<Impl>()) {}
ResourceTotals::~ResourceTotals() = default;

void ResourceTotals::PutNode(const kube::ObjectPtr& object) {
  const std::string name(object->name());
  absl::MutexLock lock(&impl_->mu);
  Node& node = impl_->nodes[name];
  const kube::ObjectPtr before = std::exchange(node.object, object);
  if (before != nullptr) {
    if (NodesCountAlike(*before, *object)) return;  // This was only a heartbeat.
    impl_->CountNode(*before, -1);
  }
  impl_->CountNode(*object, 1);
  impl_->stale.insert(name);
}

void ResourceTotals::RemoveNode(absl::string_view name) {
  absl::MutexLock lock(&impl_->mu);
  const auto node = impl_->nodes.find(name);
  if (node == impl_->nodes.end() || node->second.object == nullptr) return;
  impl_->CountNode(*std::exchange(node->second.object, nullptr), -1);
  impl_->SetGrade(node->second, kNoGrade);
  impl_->EraseIfUnknown(node);
}

void ResourceTotals::PutPod(const kube::ObjectPtr& pod) {
  absl::MutexLock lock(&impl_->mu);
  const auto held = impl_->pods.find(pod);
  if (held != impl_->pods.end()) {
    const kube::ObjectPtr before = *held;
    // Replaced even if both count the same: the set must hold the state that the next change
    // subtracts.
    impl_->pods.erase(held);
    impl_->pods.insert(pod);
    if (PodsCountAlike(*before, *pod)) return;
    impl_->SubPod(*before);
  } else {
    impl_->pods.insert(pod);
  }
  impl_->AddPod(*pod);
}

void ResourceTotals::RemovePod(const kube::ObjectKey& key) {
  absl::MutexLock lock(&impl_->mu);
  const auto held = impl_->pods.find(PodName(key.ns, key.name));
  if (held == impl_->pods.end()) return;
  impl_->SubPod(**held);
  impl_->pods.erase(held);
}

json::Value ResourceTotals::NodeSummary() const {
  absl::MutexLock lock(&impl_->mu);
  json::Value summary = json::Value::Object();
  if (impl_->total > 0) summary.Set("totalNum", impl_->total);
  if (impl_->ready > 0) summary.Set("readyNum", impl_->ready);
  return summary;
}

json::Value ResourceTotals::ResourceSummary(const json::Value& models) {
  absl::MutexLock lock(&impl_->mu);
  json::Value summary = json::Value::Object();
  json::Value allocatable = impl_->allocatable.ToJson();
  if (!allocatable.empty()) summary.Set("allocatable", std::move(allocatable));
  json::Value allocating = RequestsToJson(impl_->allocating);
  if (!allocating.empty()) summary.Set("allocating", std::move(allocating));
  json::Value allocated = RequestsToJson(impl_->allocated);
  if (!allocated.empty()) summary.Set("allocated", std::move(allocated));
  if (!models.empty()) summary.Set("allocatableModelings", impl_->Modelings(models));
  return summary;
}

kube::EventHandler NodeHandler(std::shared_ptr<ResourceTotals> totals) {
  kube::EventHandler handler;
  handler.on_add = [totals](const kube::ObjectPtr& node, bool) { totals->PutNode(node); };
  handler.on_update = [totals](const kube::ObjectPtr&, const kube::ObjectPtr& node) {
    totals->PutNode(node);
  };
  handler.on_delete = [totals](const kube::ObjectPtr& node) { totals->RemoveNode(node->name()); };
  return handler;
}

kube::EventHandler PodHandler(std::shared_ptr<ResourceTotals> totals) {
  kube::EventHandler handler;
  handler.on_add = [totals](const kube::ObjectPtr& pod, bool) { totals->PutPod(pod); };
  handler.on_update = [totals](const kube::ObjectPtr&, const kube::ObjectPtr& pod) {
    totals->PutPod(pod);
  };
  handler.on_delete = [totals](const kube::ObjectPtr& pod) { totals->RemovePod(pod->key()); };
  return handler;
}

}  // namespace controllers
