// Hooks and objects for tests of the webhook layer.
#ifndef TESTS_INTERPRETER_WEBHOOK_HOOKS_H_
#define TESTS_INTERPRETER_WEBHOOK_HOOKS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/webhook/hook.h"
#include "interpreter/webhook/hook_set.h"
#include "kube/meta/object.h"

namespace tests {

namespace webhook = interpreter::webhook;
using interpreter::Operation;

inline const kube::Gvk kWorkload{"workload.example.io", "v1alpha1", "Workload"};

inline json::Value Json(absl::string_view text) { return json::Parse(text).value(); }

inline kube::Object Workload(int replicas = 2) {
  kube::Object object = kube::Object::Make(kWorkload, {"default", "web"});
  object.Set({"spec", "replicas"}, replicas);
  return object;
}

inline std::vector<Operation> OperationsOf(webhook::Dialect dialect) {
  std::vector<Operation> all;
  for (const Operation op : interpreter::kAllOperations) {
    if (!webhook::OperationNameIn(dialect, op).empty()) all.push_back(op);
  }
  return all;
}

// Returns a hook that is asked for everything about Workloads.
inline webhook::Hook WorkloadHook(
    const std::string& uid = "c/w",
    webhook::Dialect dialect = webhook::Dialect::kInterpreterContext) {
  webhook::Hook hook;
  hook.uid = uid;
  hook.configuration = uid.substr(0, uid.find('/'));
  hook.dialect = dialect;
  hook.client.server = "https://hook.example";
  webhook::Rule rule;
  rule.operations = OperationsOf(dialect);
  rule.kinds = {.groups = {kWorkload.group}, .versions = {"*"}};
  if (dialect == webhook::Dialect::kExploreReview) {
    rule.kinds.resources = {"workloads"};
  } else {
    rule.kinds.kinds = {"Workload"};
  }
  hook.rules = {rule};
  return hook;
}

inline std::optional<kube::Resource> LookUp(const kube::Gvk& gvk) {
  if (gvk.kind == "Workload") return kube::Resource{gvk, "workloads", true};
  if (gvk.kind == "Node") return kube::Resource{gvk, "nodes", false};
  return std::nullopt;
}

inline std::shared_ptr<const webhook::HookSet> SetOf(std::vector<webhook::Hook> hooks) {
  return std::make_shared<webhook::HookSet>(std::move(hooks), &LookUp);
}

}  // namespace tests

#endif  // TESTS_INTERPRETER_WEBHOOK_HOOKS_H_
