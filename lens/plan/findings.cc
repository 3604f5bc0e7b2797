// Findings are read from the files and from the simulated control plane after it has come to rest.
// Each function looks for one sort; they are sorted and made unique at the end. Warnings of the
// loops are used only where no finding says the same with a place, and not when the state that they
// are about has passed since. The place of a failed override is looked for in the message itself,
// which names the policy and the field.

#include "lens/plan/findings.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/absent_clusters.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/policy.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "detector/template_filter.h"
#include "lens/plan/passages.h"
#include "lens/plan/places.h"
#include "lens/plan/policy_findings.h"
#include "lens/plan/settling.h"
#include "sandbox/sim/writes.h"

namespace lens::plan {
namespace {

using Findings = std::vector<Finding>;

void AddKinds(const Scene& scene, Findings& out) {
  for (const InputObject& read : scene.objects) {
    if (!scene.assumed_kinds.contains(read.object.gvk())) continue;
    out.push_back({read.place(), finding::kKindAssumed, read.object.Describe(),
                   absl::StrCat("no definition of the kind ", read.object.kind(), " in ",
                                read.object.api_version(),
                                " is given: it is taken for a custom resource that every cluster "
                                "without status.apiEnablements serves")});
  }
}

// Says why the template has no binding.
Finding Unbound(const Scene& scene, const ObjectId& id, const kube::Resource& resource) {
  const auto object = sandbox::FindObject(scene.backend, resource.gvr(), {id.ns, id.name});
  const kube::ObjectPtr policy = object.ok() && *object != nullptr
                                     ? SelectingPolicy(scene.backend, **object)
                                     : kube::ObjectPtr();
  Finding found{.code = finding::kNoPolicy,
                .object = id.ToString(),
                .message = "no policy selects it, so it stays in the control plane"};
  if (policy == nullptr) return found;
  const std::string failure = PolicyFailure(scene.warnings, id);
  std::string why = "has not been applied to it";
  if (api::PolicyView(*policy).IsLazy()) {
    why = "is lazy: no cluster gets it before it is edited";
  } else if (!failure.empty()) {
    why = absl::StrCat("cannot be applied, so no cluster gets it: ", failure);
  }
  found.code = finding::kHeldBack;
  found.message = absl::StrCat(policy->Describe(), " selects it, and ", why);
  return found;
}

// Templates that stay in the control plane.
void AddUnclaimed(const Scene& scene, Findings& out) {
  const auto filter = detector::TemplateFilter::Create(
      scene.options.skipped_propagating_apis, scene.options.skipped_propagating_namespaces);
  if (!filter.ok()) return;
  for (const InputObject& read : scene.objects) {
    const kube::Object& object = read.object;
    ObjectId id = ObjectId::Of(object);
    // A loop of its own propagates namespaces.
    const bool is_namespace = object.kind() == api::Namespaces().gvk.kind && id.group.empty();
    if (is_namespace || api::IsKarmadaGroup(id.group)) continue;
    const kube::Resource resource = scene.backend.Find(object.gvk());
    if (resource.namespaced && id.ns.empty()) id.ns = "default";
    if (scene.outcome.contains(id)) continue;
    Finding found = Unbound(scene, id, resource);
    if (!filter->AllowsResource(object.gvk()) || !filter->AllowsObject(object)) {
      found.code = finding::kNoPolicy;
      found.message = "objects of its kind or namespace are never propagated";
    }
    found.place = read.place();
    out.push_back(std::move(found));
  }
}

void AddHeldBack(const Scene& scene, const Places& places, Findings& out) {
  for (const auto& [id, outcome] : scene.outcome) {
    if (outcome.held_back.empty()) continue;
    out.push_back({places.Of(id), finding::kHeldBack, id.ToString(), outcome.held_back});
  }
}

void AddUnscheduled(const Scene& scene, const Places& places, Findings& out) {
  for (const auto& [id, outcome] : scene.outcome) {
    if (outcome.not_scheduled.empty()) continue;
    out.push_back({places.Of(id), finding::kNotScheduled, id.ToString(),
                   absl::StrCat("it is placed in no cluster: ", outcome.not_scheduled)});
  }
}

void AddMissingDependencies(const Scene& scene, const Places& places, Findings& out) {
  for (const auto& [id, outcome] : scene.outcome) {
    for (const api::DependentReference& reference : outcome.dependencies) {
      if (Exists(scene.backend, reference)) continue;
      out.push_back({places.Of(id), finding::kDependencyMissing, id.ToString(),
                     absl::StrCat("it needs ", reference.Describe(), ", which does not exist")});
    }
  }
}

// Returns the field of an override policy that an error message names; "" when it names none.
std::string FieldIn(const std::string& message) {
  const size_t begin = message.find("spec.overrid");
  if (begin == std::string::npos) return "";
  const auto belongs = [](char c) { return absl::ascii_isalnum(c) || absl::StrContains(".[]", c); };
  const auto end = std::find_if_not(message.begin() + begin, message.end(), belongs);
  return {message.begin() + begin, end};
}

// Returns the place of the field that an error message names, in the policy that it names.
Place PlaceIn(const std::string& message, const Scene& scene) {
  for (const InputObject& read : scene.objects) {
    if (!absl::StrContains(read.object.kind(), "OverridePolicy")) continue;
    if (!absl::StrContains(message, read.object.Describe())) continue;
    return read.PlaceOf(FieldIn(message));
  }
  return {};
}

// A template may have been held back only while the loops were at work.
bool IsOutdated(const LoopWarning& warning, const Scene& scene) {
  if (warning.reason != api::reason::kHeldBackTemplateUsed) return false;
  return std::none_of(scene.outcome.begin(), scene.outcome.end(), [&](const auto& one) {
    const auto& [id, outcome] = one;
    return id.kind == warning.kind && id.ns == warning.ns && id.name == warning.name &&
           !outcome.held_back.empty();
  });
}

// Returns whether the loop's warning only repeats what another finding says better.
bool IsRepetition(const LoopWarning& warning) {
  const bool about_binding =
      warning.kind == api::scope::Namespaced::kKind || warning.kind == api::scope::Cluster::kKind;
  return about_binding || warning.reason == api::reason::kApplyOverridePolicyFailed ||
         warning.reason == api::reason::kApplyPolicyFailed ||
         warning.reason == api::reason::kClusterNotFound;
}

void AddLoopWarnings(const Scene& scene, Findings& out) {
  for (const LoopWarning& warning : scene.warnings) {
    if (IsRepetition(warning) || IsOutdated(warning, scene)) continue;
    Finding found{.code = finding::kLoopWarning,
                  .object = absl::StrCat(warning.kind, " ",
                                         kube::ObjectKey{warning.ns, warning.name}.ToString()),
                  .message = warning.message};
    for (const InputObject& read : scene.objects) {
      const ObjectId id = ObjectId::Of(read.object);
      if (id.kind == warning.kind && id.name == warning.name && id.ns == warning.ns) {
        found.place = read.place();
      }
    }
    const Place policy = PlaceIn(warning.message, scene);
    if (!policy.empty()) {
      found.place = policy;
      found.code = finding::kOverrideFails;
    }
    out.push_back(std::move(found));
  }
}

}  // namespace

std::vector<Finding> FindingsOf(const Scene& scene) {
  const Places places(scene.objects);
  Findings findings;
  AddKinds(scene, findings);
  AddPolicyFindings(scene, findings);
  AddUnclaimed(scene, findings);
  AddHeldBack(scene, places, findings);
  AddUnscheduled(scene, places, findings);
  AddMissingDependencies(scene, places, findings);
  AddLoopWarnings(scene, findings);
  std::sort(findings.begin(), findings.end());
  findings.erase(std::unique(findings.begin(), findings.end()), findings.end());
  return findings;
}

}  // namespace lens::plan
