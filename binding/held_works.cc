// While a template is held back, its Work keeps its manifest. Only the cluster's share of replicas
// is set in it, unless a merge patch of that change meets a path that an applied override has set.
// The manifest and the record of its overrides may also be those of a stand-in, from which the
// next Work is made after an outage.
//
// How conflicts are resolved follows from the binding and the template, as for every Work, with
// regard to the overrides that the Work records: they are not applied again, but what they have
// made of the annotation stands in the manifest.

#include "binding/held_works.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/passed_template.h"
#include "api/work.h"
#include "base/status.h"
#include "binding/work_templates.h"
#include "kube/meta/patch.h"

namespace binding {
namespace {

// Returns the name of a member as JSON pointers have it.
std::string Escaped(absl::string_view name) {
  return absl::StrReplaceAll(name, {{"~", "~0"}, {"/", "~1"}});
}

// Adds a JSON pointer to each value that a merge patch sets or removes.
void AddPaths(const json::Value& patch, const std::string& at, std::vector<std::string>& paths) {
  if (!patch.is_object()) {
    paths.push_back(at);
    return;
  }
  for (const json::Member& member : patch.members()) {
    AddPaths(member.value, absl::StrCat(at, "/", Escaped(member.name())), paths);
  }
}

std::string PathOfAnnotation(absl::string_view name) {
  return absl::StrCat("/metadata/annotations/", Escaped(name));
}

// Returns whether one of the JSON pointers leads to the other's value or into it.
bool Meet(const std::string& a, const std::string& b) {
  return absl::StartsWith(absl::StrCat(a, "/"), absl::StrCat(b, "/")) ||
         absl::StartsWith(absl::StrCat(b, "/"), absl::StrCat(a, "/"));
}

// Where a Work names the overrides that were applied to its manifest, in their order.
constexpr const char* kAppliedOverrides[] = {api::kAppliedClusterOverridesAnnotation,
                                             api::kAppliedOverridesAnnotation};

// Returns the overriders that were applied to the manifest of the Work, in their order.
std::vector<json::Value> AppliedOverriders(const kube::Object& work) {
  std::vector<json::Value> overriders;
  for (const char* annotation : kAppliedOverrides) {
    const absl::StatusOr<json::Value> applied = json::Parse(work.Annotation(annotation));
    if (!applied.ok()) continue;
    for (const json::Value& item : applied->items()) overriders.push_back(item["overriders"]);
  }
  return overriders;
}

// Returns the JSON pointers of what override policies have set in the manifest of the Work, as far
// as they may be anywhere in it.
std::vector<std::string> OverriddenPaths(const kube::Object& work) {
  std::vector<std::string> paths;
  for (const json::Value& overriders : AppliedOverriders(work)) {
    for (const json::Value& overrider : overriders["plaintext"].items()) {
      paths.push_back(overrider["path"].ToString());
    }
    for (const json::Value& overrider : overriders["fieldOverrider"].items()) {
      paths.push_back(overrider["fieldPath"].ToString());
    }
  }
  return paths;
}

bool OverridesDetermine(const json::Value& change, const kube::Object& work) {
  std::vector<std::string> changed;
  AddPaths(change, "", changed);
  const std::vector<std::string> overridden = OverriddenPaths(work);
  return absl::c_any_of(changed, [&](const std::string& path) {
    return absl::c_any_of(overridden, [&](const std::string& other) { return Meet(path, other); });
  });
}

// Returns the manifest with the cluster's share of the replicas.
absl::StatusOr<kube::Object> WithShare(const kube::Object& manifest, const kube::Object& work,
                                       int64_t replicas,
                                       const interpreter::Interpreter& interpreter) {
  ASSIGN_OR_RETURN(kube::Object revised, interpreter.ReviseReplica(manifest, replicas));
  // Labels and annotations were finished for the manifest as it is.
  revised.Set({"metadata"}, manifest.metadata());
  const json::Value change = kube::DiffMergePatch(manifest.root(), revised.root());
  return OverridesDetermine(change, work) ? manifest : std::move(revised);
}

// Returns the template with the annotation for conflicts that overrides have given the manifest of
// the Work, or without one if they have removed it; unchanged if they have not touched it.
kube::Object WithOverriddenResolution(kube::Object object, const kube::Object& work) {
  constexpr const char* kName = api::kConflictResolutionAnnotation;
  const std::string path = PathOfAnnotation(kName);
  const kube::Object manifest(api::WorkView(work).Manifests()[0]);
  const auto change = [&](const json::Value& overrider) {
    if (overrider["operator"].AsString() == "remove") {
      object.EraseAnnotation(kName);
    } else {
      object.SetAnnotation(kName, manifest.Annotation(kName));
    }
  };
  for (const json::Value& overriders : AppliedOverriders(work)) {
    for (const json::Value& overrider : overriders["annotationsOverrider"].items()) {
      if (overrider["value"].Find(kName) != nullptr) change(overrider);
    }
    for (const json::Value& overrider : overriders["plaintext"].items()) {
      if (Meet(overrider["path"].ToString(), path)) change(overrider);
    }
  }
  return object;
}

}  // namespace

template <class Scope>
absl::StatusOr<works::WantedWork> KeptWork(const kube::Object& last,
                                           const api::BindingView& binding,
                                           const kube::Object& object,
                                           const api::TargetCluster& target,
                                           const interpreter::Interpreter& interpreter) {
  kube::Object manifest(api::WorkView(last).Manifests()[0]);
  if (binding.IsWorkload() &&
      interpreter.HasRule(manifest.gvk(), interpreter::Operation::kReviseReplica)) {
    ASSIGN_OR_RETURN(manifest, WithShare(manifest, last, target.replicas, interpreter));
  }
  works::WantedWork work =
      WorkFor<Scope>(WithOverriddenResolution(object, last), binding, target.name);
  work.manifest = std::move(manifest);
  work.is_finished = true;
  work.manifest.SetLabel(Scope::kIdLabel, binding.PermanentId());
  work.manifest.SetAnnotation(api::kConflictResolutionAnnotation,
                              work.annotations[api::kConflictResolutionAnnotation].AsString());
  for (const char* annotation : kAppliedOverrides) {
    const json::Value* applied = last.annotations().Find(annotation);
    if (applied != nullptr) work.annotations.Set(annotation, *applied);
  }
  return work;
}

bool IsUnpassedState(works::Passage passage, const api::BindingView& binding,
                     const kube::Object& object) {
  return passage != works::Passage::kPassed &&
         api::CompareWithRecord(binding.object(), object) != api::PassedRecord::kSame;
}

template absl::StatusOr<works::WantedWork> KeptWork<api::scope::Namespaced>(
    const kube::Object&, const api::BindingView&, const kube::Object&, const api::TargetCluster&,
    const interpreter::Interpreter&);
template absl::StatusOr<works::WantedWork> KeptWork<api::scope::Cluster>(
    const kube::Object&, const api::BindingView&, const kube::Object&, const api::TargetCluster&,
    const interpreter::Interpreter&);

}  // namespace binding
