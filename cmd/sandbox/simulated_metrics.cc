// The group is in a member's discovery by two definitions whose storage nobody reaches: requests go
// to the handler, which makes its answers from the pods and nodes that are there. The control plane
// has no such definitions, because policies could select them.

#include "cmd/sandbox/simulated_metrics.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"
#include "absl/time/clock.h"
#include "base/status.h"
#include "base/yaml.h"
#include "kube/meta/quantity.h"
#include "kube/meta/selector.h"
#include "kube/server/negotiation.h"
#include "sandbox/delegation.h"
#include "sandbox/kinds/api_errors.h"

namespace cmd {
namespace {

constexpr char kPath[] = "/apis/metrics.k8s.io/v1beta1";
constexpr char kApiVersion[] = "metrics.k8s.io/v1beta1";
constexpr char kWindow[] = "30s";
// What the system of a node uses besides its pods.
constexpr int64_t kNodeMilliCpu = 120;
constexpr int64_t kNodeMebibytes = 700;

// $0: plural, $1: kind, $2: scope.
constexpr char kDefinition[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: $0.metrics.k8s.io
  annotations: {api-approved.kubernetes.io: "unapproved, simulated"}
spec:
  group: metrics.k8s.io
  scope: $2
  names: {plural: $0, singular: "$0", kind: $1}
  versions:
    - name: v1beta1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";

struct Use {
  int64_t milli_cpu = 0, bytes = 0;
};

// Returns what a container uses, of which share of its requests the name decides.
Use UseOf(const kube::Object& pod, const json::Value& container) {
  const auto amount = [&](const char* name, const char* otherwise) {
    const json::Value& request = container["resources"]["requests"][name];
    const auto quantity =
        request.is_null() ? kube::Quantity::Parse(otherwise) : kube::Quantity::FromJson(request);
    return quantity.value_or(kube::Quantity());
  };
  // 60 to 90 percent of what is requested.
  const int64_t percent =
      60 + static_cast<int64_t>(std::hash<std::string>()(absl::StrCat(
                                    pod.key().ToString(), container["name"].AsString())) %
                                31);
  return {std::max<int64_t>(1, amount("cpu", "10m").MilliValue() * percent / 100),
          // The division comes first, so that no amount of bytes overflows.
          amount("memory", "32Mi").Value() / 100 * percent};
}

json::Value Usage(const Use& use) {
  return json::Value::Object({{"cpu", absl::StrCat(use.milli_cpu, "m")},
                              {"memory", absl::StrCat(use.bytes / 1024, "Ki")}});
}

json::Value Head(absl::string_view kind, const kube::Object& of, absl::Time now) {
  json::Value metrics = json::Value::Object({{"kind", kind}, {"apiVersion", kApiVersion}});
  metrics.Set({"metadata", "name"}, of.name());
  if (!of.ns().empty()) metrics.Set({"metadata", "namespace"}, of.ns());
  if (!of.labels().is_null()) metrics.Set({"metadata", "labels"}, of.labels());
  metrics.Set({"metadata", "creationTimestamp"}, kube::FormatTime(now));
  metrics.Set("timestamp", kube::FormatTime(now));
  metrics.Set("window", kWindow);
  return metrics;
}

bool Runs(const kube::Object& pod) { return pod.status()["phase"].AsString() == "Running"; }

json::Value MetricsOfNode(const kube::Object& node, const std::vector<kube::ObjectPtr>& pods,
                          absl::Time now) {
  Use sum{kNodeMilliCpu, kNodeMebibytes << 20};
  for (const kube::ObjectPtr& pod : pods) {
    if (!Runs(*pod) || pod->spec()["nodeName"].AsString() != node.name()) continue;
    for (const json::Value& container : pod->spec()["containers"].items()) {
      const Use use = UseOf(*pod, container);
      sum.milli_cpu += use.milli_cpu;
      sum.bytes += use.bytes;
    }
  }
  json::Value metrics = Head("NodeMetrics", node, now);
  metrics.Set("usage", Usage(sum));
  return metrics;
}

absl::StatusOr<json::Value> OfNodes(const std::vector<sandbox::ApiServer*>& servers,
                                    const kube::LabelSelector& selector) {
  json::Value items = json::Value::Array();
  for (sandbox::ApiServer* server : servers) {
    sandbox::Backend& backend = server->backend();
    ASSIGN_OR_RETURN(const auto nodes, backend.List({"", "v1", "nodes"}, "", selector));
    ASSIGN_OR_RETURN(const auto pods, backend.List({"", "v1", "pods"}, "", kube::LabelSelector()));
    for (const kube::ObjectPtr& node : nodes) items.Append(MetricsOfNode(*node, pods, absl::Now()));
  }
  return items;
}

absl::StatusOr<json::Value> OfPods(const std::vector<sandbox::ApiServer*>& servers,
                                   absl::string_view ns, const kube::LabelSelector& selector) {
  json::Value items = json::Value::Array();
  for (sandbox::ApiServer* server : servers) {
    ASSIGN_OR_RETURN(const auto pods, server->backend().List({"", "v1", "pods"}, ns, selector));
    for (const kube::ObjectPtr& pod : pods) {
      if (Runs(*pod)) items.Append(MetricsOfPod(*pod, absl::Now()));
    }
  }
  return items;
}

json::Value Discovery() {
  return yaml::Parse(R"(
kind: APIResourceList
apiVersion: v1
groupVersion: metrics.k8s.io/v1beta1
resources:
  - {name: nodes, singularName: "", namespaced: false, kind: NodeMetrics, verbs: [get, list]}
  - {name: pods, singularName: "", namespaced: true, kind: PodMetrics, verbs: [get, list]}
)")
      .value();
}

absl::StatusOr<json::Value> AnswerTo(const std::vector<sandbox::ApiServer*>& servers,
                                     const base::HttpRequest& request) {
  const absl::string_view rest = absl::StripPrefix(request.path, kPath);
  const std::vector<std::string> parts = absl::StrSplit(rest, '/', absl::SkipEmpty());
  if (parts.empty()) return Discovery();
  ASSIGN_OR_RETURN(const kube::LabelSelector selector,
                   kube::LabelSelector::Parse(request.Query("labelSelector")));
  const bool in_namespace = parts.size() >= 3 && parts[0] == "namespaces";
  const std::string ns = in_namespace ? parts[1] : "";
  const size_t at = in_namespace ? 2 : 0;
  const bool of_nodes = parts[at] == "nodes" && !in_namespace;
  if ((!of_nodes && parts[at] != "pods") || parts.size() > at + 2) {
    return sandbox::NotFound({"metrics.k8s.io", parts[at]}, parts.back());
  }
  ASSIGN_OR_RETURN(json::Value items,
                   of_nodes ? OfNodes(servers, selector) : OfPods(servers, ns, selector));
  if (parts.size() == at + 2) {
    for (const json::Value& item : items.items()) {
      if (item["metadata"]["name"].AsString() == parts[at + 1]) return item;
    }
    return sandbox::NotFound({"metrics.k8s.io", parts[at]}, parts[at + 1]);
  }
  return json::Value::Object({{"kind", of_nodes ? "NodeMetricsList" : "PodMetricsList"},
                              {"apiVersion", kApiVersion},
                              {"metadata", json::Value::Object()},
                              {"items", std::move(items)}});
}

void Answer(sandbox::ApiServer& server, std::vector<sandbox::ApiServer*> servers) {
  sandbox::Delegate(
      server, kPath,
      [servers = std::move(servers)](const base::HttpRequest& request,
                                     const std::shared_ptr<base::HttpResponder>& responder) {
        const auto answer = AnswerTo(servers, request);
        responder->Send(answer.ok() ? kube::server::AnswerOf(200, *answer, {})
                                    : kube::server::ErrorAnswer(answer.status()));
      });
}

}  // namespace

json::Value MetricsOfPod(const kube::Object& pod, absl::Time now) {
  json::Value metrics = Head("PodMetrics", pod, now);
  json::Value containers = json::Value::Array();
  for (const json::Value& container : pod.spec()["containers"].items()) {
    containers.Append(json::Value::Object(
        {{"name", container["name"]}, {"usage", Usage(UseOf(pod, container))}}));
  }
  metrics.Set("containers", std::move(containers));
  return metrics;
}

absl::Status ServeMetrics(sandbox::ApiServer& server) {
  sandbox::Backend& backend = server.backend();
  for (const auto& [plural, kind, scope] : {std::make_tuple("pods", "PodMetrics", "Namespaced"),
                                            std::make_tuple("nodes", "NodeMetrics", "Cluster")}) {
    ASSIGN_OR_RETURN(json::Value definition,
                     yaml::Parse(absl::Substitute(kDefinition, plural, kind, scope)));
    RETURN_IF_ERROR(backend
                        .Create({"apiextensions.k8s.io", "v1", "customresourcedefinitions"},
                                kube::Object(std::move(definition)))
                        .status());
  }
  Answer(server, {&server});
  return absl::OkStatus();
}

void ServeMetricsOfMembers(sandbox::ApiServer& control_plane,
                           std::vector<sandbox::ApiServer*> members) {
  Answer(control_plane, std::move(members));
}

}  // namespace cmd
