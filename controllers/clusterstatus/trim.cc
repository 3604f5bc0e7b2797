#include "controllers/clusterstatus/trim.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

namespace controllers {
namespace {

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
