#include "binding/held_works.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/passed_template.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "binding/work_templates.h"
#include "kube/meta/patch.h"

namespace binding {
namespace {

// Adds a JSON pointer to each value that a merge patch sets or removes.
void AddPaths(const json::Value& patch, const std::string& at, std::vector<std::string>& paths) {
  if (!patch.is_object()) {
    paths.push_back(at);
    return;
  }
  for (const json::Member& member : patch.members()) {
    const std::string name = absl::StrReplaceAll(member.name(), {{"~", "~0"}, {"/", "~1"}});
    AddPaths(member.value, absl::StrCat(at, "/", name), paths);
  }
}

// Returns whether one of the JSON pointers leads to the other's value or into it.
bool Meet(const std::string& a, const std::string& b) {
  return absl::StartsWith(absl::StrCat(a, "/"), absl::StrCat(b, "/")) ||
         absl::StartsWith(absl::StrCat(b, "/"), absl::StrCat(a, "/"));
}

// Returns the JSON pointers of what override policies have set in the manifest of the Work, as far
// as they may be anywhere in it.
std::vector<std::string> OverriddenPaths(const kube::Object& work) {
  std::vector<std::string> paths;
  for (const char* annotation :
       {api::kAppliedClusterOverridesAnnotation, api::kAppliedOverridesAnnotation}) {
    const absl::StatusOr<json::Value> applied = json::Parse(work.Annotation(annotation));
    if (!applied.ok()) continue;
    for (const json::Value& item : applied->items()) {
      for (const json::Value& overrider : item["overriders"]["plaintext"].items()) {
        paths.push_back(overrider["path"].ToString());
      }
      for (const json::Value& overrider : item["overriders"]["fieldOverrider"].items()) {
        paths.push_back(overrider["fieldPath"].ToString());
      }
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

}  // namespace

template <class Scope>
kube::ObjectPtr WorkToKeep(kube::ClusterClient& control_plane, const api::BindingView& binding,
                           const kube::Object& object, const std::string& cluster) {
  const kube::ObjectKey key = {api::ExecutionNamespace(cluster),
                               api::WorkName(object.kind(), object.name(), object.ns())};
  kube::ObjectPtr work = control_plane.Find(api::Works(), key);
  const bool is_kept = work != nullptr && !work->IsDeleting() &&
                       Scope::BindingOf(*work) == binding.object().key() &&
                       api::WorkView(*work).Manifests().size() == 1;
  return is_kept ? work : nullptr;
}

template <class Scope>
absl::StatusOr<works::WorkTemplate> KeptWork(const kube::Object& existing,
                                             const api::BindingView& binding,
                                             const kube::Object& object,
                                             const api::TargetCluster& target,
                                             const interpreter::Interpreter& interpreter) {
  kube::Object manifest(api::WorkView(existing).Manifests()[0]);
  if (binding.IsWorkload() &&
      interpreter.HookEnabled(manifest.gvk(), interpreter::Operation::kReviseReplica)) {
    ASSIGN_OR_RETURN(manifest, WithShare(manifest, existing, target.replicas, interpreter));
  }
  works::WorkTemplate work = WorkFor<Scope>(object, binding, target.name);
  work.manifest = std::move(manifest);
  work.is_finished = true;
  work.manifest.SetLabel(Scope::kIdLabel, binding.PermanentId());
  work.manifest.SetAnnotation(api::kConflictResolutionAnnotation,
                              work.annotations[api::kConflictResolutionAnnotation].AsString());
  return work;
}

bool IsUnpassedState(works::Passage passage, const api::BindingView& binding,
                     const kube::Object& object) {
  return passage != works::Passage::kPassed &&
         api::CompareWithRecord(binding.object(), object) != api::PassedRecord::kSame;
}

template kube::ObjectPtr WorkToKeep<api::scope::Namespaced>(kube::ClusterClient&,
                                                            const api::BindingView&,
                                                            const kube::Object&,
                                                            const std::string&);
template kube::ObjectPtr WorkToKeep<api::scope::Cluster>(kube::ClusterClient&,
                                                         const api::BindingView&,
                                                         const kube::Object&, const std::string&);
template absl::StatusOr<works::WorkTemplate> KeptWork<api::scope::Namespaced>(
    const kube::Object&, const api::BindingView&, const kube::Object&, const api::TargetCluster&,
    const interpreter::Interpreter&);
template absl::StatusOr<works::WorkTemplate> KeptWork<api::scope::Cluster>(
    const kube::Object&, const api::BindingView&, const kube::Object&, const api::TargetCluster&,
    const interpreter::Interpreter&);

}  // namespace binding
