// What hangs together with one object: nodes and edges, and the same as a picture.

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/resources.h"
#include "base/status.h"
#include "lens/graph/live.h"
#include "lens/graph/render.h"
#include "lens/graph/svg.h"
#include "lens/serve/views.h"
#include "tool/live_objects.h"

namespace lens::serve {
namespace {

// Clusters are named by their name alone.
std::string NodeNameOf(const kube::Resource& resource, const kube::ObjectKey& key) {
  if (resource.gvk == api::Clusters().gvk) return key.name;
  return absl::StrCat(resource.gvk.kind, " ", key.ToString());
}

}  // namespace

absl::StatusOr<json::Value> GraphView(const Asked& asked) {
  ASSIGN_OR_RETURN(const std::string type, asked.parameters.Needed("type"));
  ASSIGN_OR_RETURN(const std::string name, asked.parameters.Needed("name"));
  ASSIGN_OR_RETURN(const auto served, asked.viewer.Served(asked.stop));
  graph::LiveQuestion question{.ns = asked.parameters.Get("namespace"), .merge = asked.flags.merge};
  ASSIGN_OR_RETURN(question.resource, tool::FindResource(*served, type));
  question.key = {question.resource.namespaced ? question.ns : "", name};
  if (!kube::IsAddress(question.resource, question.key)) {
    return absl::InvalidArgumentError("namespace and name cannot be those of an object");
  }
  ASSIGN_OR_RETURN(const graph::Graph whole,
                   graph::GraphOfLive(asked.viewer.client(), *served, question, asked.stop));
  const std::string wanted = NodeNameOf(question.resource, question.key);
  const graph::Graph part =
      graph::PartAround(whole, [&](const graph::Node& node) { return node.name == wanted; });
  json::Value answer = graph::JsonOf(part);
  answer.Set("svg", part.nodes.empty() ? "" : graph::SvgOf(part));
  answer.Set("readAt", kube::FormatTime(absl::Now()));
  return answer;
}

}  // namespace lens::serve
