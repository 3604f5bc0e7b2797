#include "controllers/clusterstatus/resource_summary.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "kube/meta/quantity.h"

namespace controllers {
namespace {

using Totals = std::map<std::string, kube::Quantity>;

// Resources that are summed: the basic ones and anything with a domain or a well-known prefix.
bool IsCounted(absl::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || name == "pods" ||
         absl::StrContains(name, "/") || absl::StartsWith(name, "hugepages-") ||
         absl::StartsWith(name, "attachable-volumes-");
}

void Add(const json::Value& list, Totals& totals) {
  for (const json::Member& m : list.members()) {
    const std::string text = m.value.is_string() ? m.value.ToString() : json::Write(m.value);
    const absl::StatusOr<kube::Quantity> q = kube::Quantity::Parse(text);
    if (q.ok() && IsCounted(m.name())) totals[std::string(m.name())].Add(*q);
  }
}

void Add(const Totals& from, Totals& totals) {
  for (const auto& [name, q] : from) totals[name].Add(q);
}

// A pod asks for the sum of its containers, or for its largest init container where that is more.
Totals RequestsOf(const kube::Object& pod) {
  Totals totals;
  for (const json::Value& c : pod.spec()["containers"].items()) {
    Add(c.Get({"resources", "requests"}), totals);
  }
  for (const json::Value& c : pod.spec()["initContainers"].items()) {
    Totals one;
    Add(c.Get({"resources", "requests"}), one);
    for (const auto& [name, q] : one) {
      kube::Quantity& total = totals[name];
      if (total < q) total = q;
    }
  }
  Add(pod.spec()["overhead"], totals);
  totals["pods"].Add(kube::Quantity::FromInt(1));
  return totals;
}

bool HasEnded(const kube::Object& pod) {
  const absl::string_view phase = pod.status()["phase"].AsString();
  return phase == "Succeeded" || phase == "Failed";
}

json::Value ToJson(const Totals& totals) {
  json::Value out = json::Value::Object();
  for (const auto& [name, q] : totals) {
    if (!q.IsZero()) out.Set(name, q.ToString());
  }
  return out;
}

struct Range {
  std::string name;
  kube::Quantity min;
};
struct Model {
  int64_t grade = 0;
  std::vector<Range> ranges;
};

std::vector<Model> ModelsOf(const json::Value& models) {
  std::vector<Model> out;
  for (const json::Value& m : models.items()) {
    Model model;
    model.grade = m["grade"].AsInt();
    for (const json::Value& r : m["ranges"].items()) {
      const json::Value& min = r["min"];
      const absl::StatusOr<kube::Quantity> q =
          kube::Quantity::Parse(min.is_string() ? min.ToString() : json::Write(min));
      if (q.ok()) model.ranges.push_back({r["name"].ToString(), *q});
    }
    out.push_back(std::move(model));
  }
  return out;
}

// Index of the best model all of whose resources a node can offer; -1 when it is below every one.
int IndexFor(const std::vector<Model>& models, const Totals& available) {
  std::map<std::string, int> best;
  for (size_t i = 0; i < models.size(); ++i) {
    for (const Range& r : models[i].ranges) {
      int& index = best.try_emplace(r.name, -1).first->second;
      const auto have = available.find(r.name);
      if (have != available.end() && !(have->second < r.min)) index = static_cast<int>(i);
    }
  }
  int index = static_cast<int>(models.size()) - 1;
  for (const auto& [name, i] : best) index = std::min(index, i);
  return index;
}

json::Value Modelings(absl::Span<const kube::ObjectPtr> nodes,
                      const std::map<std::string, Totals>& used, const json::Value& json_models) {
  const std::vector<Model> models = ModelsOf(json_models);
  std::vector<int64_t> counts(models.size());
  for (const kube::ObjectPtr& node : nodes) {
    Totals available;
    Add(node->status()["allocatable"], available);
    const auto taken = used.find(std::string(node->name()));
    if (taken != used.end()) {
      for (const auto& [name, q] : taken->second) available[name].Sub(q);
    }
    if (available["pods"].Sign() <= 0) continue;  // Full: no room of any grade.
    const int index = IndexFor(models, available);
    if (index >= 0) ++counts[static_cast<size_t>(index)];
  }
  json::Value out = json::Value::Array();
  for (size_t i = 0; i < models.size(); ++i) {
    out.Append(json::Value::Object({{"grade", models[i].grade}, {"count", counts[i]}}));
  }
  return out;
}

void Keep(json::Value& object, std::initializer_list<absl::string_view> names) {
  std::vector<std::string> rest;
  for (const json::Member& m : object.members()) {
    if (std::find(names.begin(), names.end(), m.name()) == names.end()) rest.emplace_back(m.name());
  }
  for (const std::string& name : rest) object.Erase(name);
}

// Keeps these members of the member `name`, where there is one.
void KeepIn(kube::Object& object, absl::string_view name,
            std::initializer_list<absl::string_view> names) {
  if (object.root().Has(name)) Keep(object.mutable_root().Mutable(name), names);
}

}  // namespace

json::Value NodeSummary(absl::Span<const kube::ObjectPtr> nodes) {
  int64_t ready = 0;
  for (const kube::ObjectPtr& node : nodes) {
    ready += kube::IsConditionTrue(node->status()["conditions"], "Ready");
  }
  json::Value summary = json::Value::Object();
  if (!nodes.empty()) summary.Set("totalNum", static_cast<int64_t>(nodes.size()));
  if (ready > 0) summary.Set("readyNum", ready);
  return summary;
}

json::Value ResourceSummary(absl::Span<const kube::ObjectPtr> nodes,
                            absl::Span<const kube::ObjectPtr> pods, const json::Value& models) {
  Totals allocatable, allocating, allocated;
  std::map<std::string, Totals> used;  // By node.
  for (const kube::ObjectPtr& node : nodes) Add(node->status()["allocatable"], allocatable);
  for (const kube::ObjectPtr& pod : pods) {
    const absl::string_view node = pod->spec()["nodeName"].AsString();
    if (!node.empty() && HasEnded(*pod)) continue;
    const Totals requests = RequestsOf(*pod);
    Add(requests, node.empty() ? allocating : allocated);
    if (!node.empty()) Add(requests, used[std::string(node)]);
  }
  json::Value summary = json::Value::Object();
  const std::pair<absl::string_view, const Totals*> parts[] = {
      {"allocatable", &allocatable}, {"allocating", &allocating}, {"allocated", &allocated}};
  for (const auto& [name, totals] : parts) {
    json::Value list = ToJson(*totals);
    if (!list.empty()) summary.Set(name, std::move(list));
  }
  if (!models.empty()) summary.Set("allocatableModelings", Modelings(nodes, used, models));
  return summary;
}

void TrimNode(kube::Object& node) {
  Keep(node.mutable_root(), {"apiVersion", "kind", "metadata", "status"});
  KeepIn(node, "metadata", {"name", "uid", "resourceVersion"});
  KeepIn(node, "status", {"allocatable", "conditions"});
}

void TrimPod(kube::Object& pod) {
  Keep(pod.mutable_root(), {"apiVersion", "kind", "metadata", "spec", "status"});
  KeepIn(pod, "metadata", {"name", "namespace", "uid", "resourceVersion"});
  KeepIn(pod, "status", {"phase"});
  if (!pod.root().Has("spec")) return;
  json::Value& spec = pod.mutable_root().Mutable("spec");
  Keep(spec, {"nodeName", "containers", "initContainers", "overhead"});
  for (const absl::string_view list : {"containers", "initContainers"}) {
    if (!spec.Has(list)) continue;
    json::Value& containers = spec.Mutable(list);
    for (size_t i = 0; i < containers.size(); ++i) Keep(containers.MutableAt(i), {"resources"});
  }
}

}  // namespace controllers
