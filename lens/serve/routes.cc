#include "lens/serve/routes.h"

#include <algorithm>

#include "lens/serve/bounds.h"

namespace lens::serve {
namespace {

const std::vector<Parameter>& ObjectParameters() {
  static const auto& parameters = *new std::vector<Parameter>{
      {"type", "the kind as for kubectl: deployment, Deployment.v1.apps"},
      {"namespace", "its namespace"},
      {"name", "its name"},
      {"cluster", "only what concerns this cluster"}};
  return parameters;
}

std::vector<Route> MakeRoutes() {
  const std::vector<Parameter>& object = ObjectParameters();
  return {{"/api/fleet",
           "which templates are not fine now, grouped by cause",
           {{"namespace", "those of this namespace"},
            {"cluster", "those that are meant for this cluster"},
            {"policy", "those that a policy of this name governs"}},
           Work::kLists,
           kPatienceForLists,
           &ScopedFleetView},
          {"/api/clusters",
           "clusters with what is in them",
           {},
           Work::kLists,
           kPatienceForLists,
           &ClustersView},
          {"/api/object", "what became of one object, and what stops it", object, Work::kOne,
           kPatienceForOne, &ObjectView},
          {"/api/graph",
           "what hangs together with one object",
           {object.begin(), object.begin() + 3},
           Work::kLists,
           kPatienceForLists,
           &GraphView},
          {"/api/policies",
           "policies with what they claim, and those that govern nothing",
           {{"namespace", "the PropagationPolicies of this namespace"}},
           Work::kLists,
           kPatienceForLists,
           &PoliciesView},
          {"/api/search",
           "objects in the members",
           {{"type", "the kind as for kubectl; Pod if it is left out"},
            {"namespace", "in this namespace"},
            {"cluster", "in this cluster"},
            {"name", "a part of the name"},
            {"labels", "a label selector: app=web,tier!=db"},
            {"image", "a part of the image of a container"},
            {"node", "the node on which a Pod is"},
            {"owner", "a part of the owner, which is shown as ReplicaSet/web-5d4f"}},
           Work::kLists,
           kPatienceForLists,
           &SearchView},
          {"/api/what-if",
           "what would move if the fleet changed",
           {{"without", "this cluster left the fleet", true},
            {"lost", "this cluster did not answer any more", true},
            {"drain", "this cluster had the taint drain:NoExecute", true},
            {"cordon", "this cluster took nothing new", true},
            {"uncordon", "this cluster did again", true},
            {"taint", "CLUSTER:KEY=VALUE:EFFECT", true},
            {"label", "CLUSTER:KEY=VALUE", true},
            {"capacity", "CLUSTER:RESOURCE=QUANTITY,...", true}},
           Work::kWhatIf,
           kPatienceForWhatIf,
           &WhatIfView},
          {"/api/hour",
           "what has changed lately",
           {{"minutes", "how far back: 60 if it is left out"}},
           Work::kLists,
           kPatienceForLists,
           &HourView},
          {"/api/explain",
           "what a reason of an event or a condition means",
           {{"text", "a reason, a condition, or a line with one"}},
           Work::kOne,
           kPatienceForOne,
           &ExplainView}};
}

}  // namespace

absl::Span<const Route> AllRoutes() {
  static const auto& routes = *new std::vector<Route>(MakeRoutes());
  return routes;
}

const Route* FindRoute(absl::string_view path) {
  const auto routes = AllRoutes();
  const auto found = std::find_if(routes.begin(), routes.end(),
                                  [&](const Route& route) { return path == route.path; });
  return found == routes.end() ? nullptr : &*found;
}

json::Value RoutesAsJson() {
  json::Value questions = json::Value::Array();
  for (const Route& route : AllRoutes()) {
    json::Value parameters = json::Value::Object();
    for (const Parameter& one : route.parameters) parameters.Set(one.name, one.meaning);
    questions.Append(json::Value::Object(
        {{"path", route.path}, {"answers", route.answers}, {"parameters", std::move(parameters)}}));
  }
  return json::Value::Object({{"questions", std::move(questions)}});
}

}  // namespace lens::serve
