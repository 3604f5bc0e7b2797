// Loads any text as customizations: mistakes are listed, correct scripts answer or fail within
// their budget, answers can be written, and loading the text again changes no rule; with
// customizations that are combined and without.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/json.h"
#include "interpreter/customized/customization.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/customized/lua_backend.h"

namespace {

using interpreter::Operation;
using interpreter::customized::ChangedRules;
using interpreter::customized::CustomizationSet;
using interpreter::customized::LuaBackend;
using interpreter::customized::MergeOptions;
using interpreter::customized::ParseCustomizations;

kube::Object Sample(const kube::Gvk& gvk) {
  kube::Object object = kube::Object::Make(gvk, {"ns", "sample"});
  object.Set({"spec"}, json::Parse(R"({"replicas":2,"list":[1,{"a":null}],"empty":{}})").value());
  object.Set({"status"}, json::Parse(R"({"readyReplicas":1,"conditions":[]})").value());
  return object;
}

void MustBeWritable(const json::Value& value) {
  if (!json::Parse(json::Write(value)).ok()) std::abort();
}
void MustBeWritable(const kube::Object& object) { MustBeWritable(object.root()); }
void MustBeWritable(const interpreter::Health& health) {
  MustBeWritable(json::Value(health.message));
}
void MustBeWritable(const interpreter::Replicas& replicas) {
  MustBeWritable(replicas.requirements);
}

template <class T>
void Check(const absl::StatusOr<T>& answer) {
  if (answer.ok()) MustBeWritable(*answer);
}

void Ask(const LuaBackend& backend, const kube::Gvk& gvk, Operation op) {
  const kube::Object object = Sample(gvk);
  switch (op) {
    case Operation::kInterpretReplica:
      return Check(backend.GetReplicas(object));
    case Operation::kInterpretComponent:
      return Check(backend.GetComponents(object));
    case Operation::kReviseReplica:
      return Check(backend.ReviseReplica(object, 3));
    case Operation::kRetain:
      return Check(backend.Retain(object, object));
    case Operation::kAggregateStatus:
      return Check(backend.AggregateStatus(object, {}));
    case Operation::kInterpretDependency:
      return Check(backend.GetDependencies(object));
    case Operation::kInterpretStatus:
      return Check(backend.ReflectStatus(object));
    case Operation::kInterpretHealth:
      return Check(backend.InterpretHealth(object));
    case Operation::kPrune:
      std::abort();  // No field customizes this operation.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto& backend =
      *new LuaBackend({.budget = {.time = absl::Milliseconds(20), .memory = size_t{8} << 20}});
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool combined : {false, true}) {
    const MergeOptions options{combined};
    const auto set = CustomizationSet::Merge(ParseCustomizations("input", text), options);
    const auto again = CustomizationSet::Merge(ParseCustomizations("input", text), options);
    if (!ChangedRules(set.get(), again.get()).empty()) std::abort();
    backend.Replace(set);
    for (const auto& [gvk, op] : set->Covered()) Ask(backend, gvk, op);
  }
  return 0;
}
