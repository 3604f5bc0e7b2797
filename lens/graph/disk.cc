#include "lens/graph/disk.h"

#include <memory>
#include <utility>
#include <vector>

#include "api/resources.h"
#include "base/status.h"
#include "lens/plan/applying.h"
#include "lens/plan/dry_control_plane.h"

namespace lens::graph {
namespace {

using plan::DryControlPlane;

Resolved Resolve(sandbox::Backend& backend, const api::DependentReference& reference) {
  Resolved resolved;
  const kube::Resource resource = backend.Find(reference.gvk());
  if (resource.gvk.empty()) return resolved;
  const auto all =
      backend.List(resource.gvr(), resource.namespaced ? reference.ns : "", kube::LabelSelector());
  if (!all.ok()) return resolved;
  for (const kube::ObjectPtr& object : *all) {
    if (reference.Matches(*object)) resolved.found.push_back(*object);
  }
  return resolved;
}

absl::StatusOr<std::vector<api::DependentReference>> Needs(
    const interpreter::Interpreter& interpreter, const kube::Object& object) {
  ASSIGN_OR_RETURN(
      const json::Value list,
      interpreter::AnswerAs<json::Value>(interpreter.AskOrAssume(
          {.operation = interpreter::Operation::kInterpretDependency, .object = object})));
  return api::DependenciesFromJson(list);
}

// Returns the templates as the control plane has them.
absl::StatusOr<std::vector<kube::Object>> TemplatesOf(const plan::PlanRequest& request,
                                                      DryControlPlane& plane) {
  std::vector<kube::Object> templates;
  for (const plan::InputObject& read : request.objects) {
    kube::Object object = read.object;
    const bool is_template = !api::IsKarmadaGroup(object.gvk().group) &&
                             object.gvk() != api::Namespaces().gvk && !plan::IsScenery(object);
    if (!is_template) continue;
    ASSIGN_OR_RETURN(const kube::Resource resource, plane.ResourceFor(object));
    const std::string ns = object.ns().empty() ? "default" : std::string(object.ns());
    ASSIGN_OR_RETURN(const kube::ObjectPtr held,
                     plane.backend().Get(resource.gvr(), {resource.namespaced ? ns : "",
                                                          std::string(object.name())}));
    templates.push_back(*held);
  }
  return templates;
}

}  // namespace

absl::StatusOr<Graph> GraphOfFiles(const plan::PlanRequest& request, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::unique_ptr<DryControlPlane> plane,
                   DryControlPlane::Start(request.daemon, request.crds));
  plan::Applying applying(*plane);
  applying.ServeKinds(request.objects);
  applying.CheckFields(request.objects);
  RETURN_IF_ERROR(applying.Apply(request.objects));
  RETURN_IF_ERROR(applying.InventClusters(request.clusters));
  RETURN_IF_ERROR(plane->Settle(stop));
  Source source;
  ASSIGN_OR_RETURN(const plan::State state, plan::StateOf(plane->backend()));
  source.outcome = plan::OutcomeOf(state);
  ASSIGN_OR_RETURN(source.templates, TemplatesOf(request, *plane));
  source.needs = [&](const kube::Object& object) { return Needs(plane->interpreter(), object); };
  source.resolve = [&](const api::DependentReference& reference) {
    return Resolve(plane->backend(), reference);
  };
  return BuildGraph(source);
}

}  // namespace lens::graph
