#include "controllers/cluster_status/resource_totals.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json_fields.h"
#include "tests/support/members_fixture.h"

namespace {

using tests::Json;
using tests::Parse;

// These return the summaries of a cluster with the given nodes and pods.
json::Value NodeSummary(const std::vector<kube::ObjectPtr>& nodes) {
  controllers::ResourceTotals totals;
  for (const kube::ObjectPtr& node : nodes) totals.PutNode(node);
  return totals.NodeSummary();
}
json::Value ResourceSummary(const std::vector<kube::ObjectPtr>& nodes,
                            const std::vector<kube::ObjectPtr>& pods, const json::Value& models) {
  controllers::ResourceTotals totals;
  for (const kube::ObjectPtr& node : nodes) totals.PutNode(node);
  for (const kube::ObjectPtr& pod : pods) totals.PutPod(pod);
  return totals.ResourceSummary(models);
}
kube::ObjectPtr Node(const std::string& name, const std::string& allocatable,
                     const std::string& ready = "True") {
  return kube::Share(
      Parse(absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name,
                         R"("},"status":{"conditions":[{"type":"Ready","status":")", ready,
                         R"("}],"allocatable":)", allocatable, "}}")));
}
// Each of `requests` makes one container.
kube::ObjectPtr Pod(const std::string& node, const std::vector<std::string>& requests,
                    const std::string& phase = "Running", const std::string& more = "{}") {
  static int made = 0;
  kube::Object pod = kube::Object::Make({"", "v1", "Pod"}, {"ns", absl::StrCat("p", ++made)});
  json::Value spec = Json(more);
  json::Value containers = json::Value::Array();
  for (const std::string& r : requests) {
    json::Value container = json::Value::Object({{"name", "c"}});
    container.Set({"resources", "requests"}, Json(r));
    containers.Append(container);
  }
  spec.Set("containers", containers);
  if (!node.empty()) spec.Set("nodeName", node);
  pod.Set({"spec"}, spec);
  pod.Set({"status", "phase"}, phase);
  return kube::Share(pod);
}

TEST_CASE("nodes are counted, and those that are ready") {
  CHECK(NodeSummary({Node("a", "{}"), Node("b", "{}", "False"), Node("c", "{}", "Unknown")}) ==
        Json(R"({"totalNum": 3, "readyNum": 1})"));
}

TEST_CASE("zero is left out of counts of nodes and of what pods ask for, not of what nodes have") {
  CHECK(NodeSummary({}) == Json("{}"));
  CHECK(NodeSummary({Node("a", "{}", "False")}) == Json(R"({"totalNum": 1})"));
  const json::Value empty = ResourceSummary({}, {}, json::Value());
  CHECK_FALSE(empty.Has("allocatable"));
  CHECK_FALSE(empty.Has("allocating"));
  CHECK_FALSE(empty.Has("allocated"));
  CHECK(ResourceSummary({}, {Pod("a", {R"({"cpu": "0"})"})}, json::Value())["allocated"] ==
        Json(R"({"pods": "1"})"));
  CHECK(ResourceSummary({Node("a", R"({"hugepages-2Mi": "0", "memory": "1Gi"})")}, {},
                        json::Value())["allocatable"] ==
        Json(R"({"hugepages-2Mi": "0", "memory": "1Gi"})"));
}

TEST_CASE("allocatable is the sum over all nodes") {
  const json::Value summary = ResourceSummary(
      {Node("a", R"({"cpu": "1500m", "memory": "2Gi", "pods": "110", "nvidia.com/gpu": "2"})"),
       Node("b", R"({"cpu": 2, "memory": "1Gi", "pods": "110", "ephemeral-storage": "5Gi"})",
            "False")},
      {}, json::Value())["allocatable"];
  CHECK(summary == Json(R"({"cpu": "3500m", "memory": "3Gi", "pods": "220",
                            "nvidia.com/gpu": "2", "ephemeral-storage": "5Gi"})"));
}

TEST_CASE("pods count where they are: waiting, placed, or no longer") {
  const json::Value summary = ResourceSummary(
      {},
      {Pod("", {R"({"cpu": "100m"})"}, "Pending"), Pod("a", {R"({"cpu": "200m"})"}),
       Pod("a", {R"({"cpu": "300m"})"}, "Pending"), Pod("a", {R"({"cpu": "9"})"}, "Succeeded"),
       Pod("b", {R"({"cpu": "9"})"}, "Failed")},
      json::Value());
  CHECK(summary["allocating"] == Json(R"({"cpu": "100m", "pods": "1"})"));
  CHECK(summary["allocated"] == Json(R"({"cpu": "500m", "pods": "2"})"));
}

TEST_CASE("a pod asks for its containers together, or its largest init container, plus overhead") {
  const auto requests = [](const std::string& more) {
    return ResourceSummary(
        {}, {Pod("a", {R"({"cpu": "1", "memory": "1Gi"})", R"({"cpu": "500m"})"}, "Running", more)},
        json::Value())["allocated"];
  };
  CHECK(requests("{}") == Json(R"({"cpu": "1500m", "memory": "1Gi", "pods": "1"})"));
  CHECK(requests(R"({"initContainers": [
      {"resources": {"requests": {"cpu": "1", "memory": "3Gi"}}},
      {"resources": {"requests": {"cpu": "1200m", "memory": "2Gi"}}}]})") ==
        Json(R"({"cpu": "1500m", "memory": "3Gi", "pods": "1"})"));
  CHECK(requests(R"({"overhead": {"cpu": "250m", "memory": "64Mi"}})") ==
        Json(R"({"cpu": "1750m", "memory": "1088Mi", "pods": "1"})"));
}

TEST_CASE("of what pods ask for, only resources the scheduler knows are summed") {
  const std::string all = R"({"cpu": "1", "hugepages-2Mi": "4Mi", "example.com/foo": "3",
      "requests.example.com/foo": "3", "attachable-volumes-aws-ebs": "25", "storage": "1Gi"})";
  const json::Value summary = ResourceSummary({Node("a", all)}, {Pod("a", {all})}, json::Value());
  CHECK(summary["allocatable"] == Json(all));
  CHECK(summary["allocated"] == Json(R"({"cpu": "1", "hugepages-2Mi": "4Mi", "pods": "1",
                                "example.com/foo": "3", "attachable-volumes-aws-ebs": "25"})"));
}

TEST_CASE("pods' requests count in the amounts and formats of the scheduler") {
  CHECK(ResourceSummary({},
                        {Pod("a", {R"({"cpu": "100u", "memory": "1.5"})"}),
                         Pod("a", {R"({"cpu": "1e3", "memory": "1k"})"})},
                        json::Value())["allocated"] ==
        Json(R"({"cpu": "1000001m", "memory": "1002", "pods": "2"})"));
}

TEST_CASE("a malformed quantity counts as nothing") {
  const char amount[] = R"({"cpu": "much", "pods": "1e400", "memory": "1Gi"})";
  CHECK(ResourceSummary({Node("a", amount)}, {}, json::Value())["allocatable"] ==
        Json(R"({"memory": "1Gi"})"));
}

constexpr char kModels[] = R"([
  {"grade": 0, "ranges": [{"name": "cpu", "min": "0", "max": "1"}, {"name": "memory", "min": "0", "max": "4Gi"}]},
  {"grade": 1, "ranges": [{"name": "cpu", "min": "1", "max": "2"}, {"name": "memory", "min": "4Gi", "max": "16Gi"}]},
  {"grade": 2, "ranges": [{"name": "cpu", "min": "2", "max": "9223372036854775807"},
                          {"name": "memory", "min": "16Gi", "max": "9223372036854775807"}]}])";

json::Value Modelings(std::vector<kube::ObjectPtr> nodes, std::vector<kube::ObjectPtr> pods = {}) {
  return ResourceSummary(nodes, pods, Json(kModels))["allocatableModelings"];
}

TEST_CASE("a node has the grade that its scarcest resource allows") {
  CHECK(Modelings({Node("a", R"({"cpu": "8", "memory": "64Gi", "pods": "10"})"),
                   Node("b", R"({"cpu": "8", "memory": "4Gi", "pods": "10"})"),
                   Node("c", R"({"cpu": "500m", "memory": "64Gi", "pods": "10"})"),
                   Node("d", R"({"cpu": "1999m", "memory": "16Gi", "pods": "10"})")}) ==
        Json(R"([{"grade": 0, "count": 1}, {"grade": 1, "count": 2}, {"grade": 2, "count": 1}])"));
}

TEST_CASE("what a node's pods use is not available, unless they have ended") {
  const kube::ObjectPtr node = Node("a", R"({"cpu": "8", "memory": "64Gi", "pods": "10"})");
  CHECK(Modelings({node}, {Pod("a", {R"({"cpu": "6500m"})"}), Pod("b", {R"({"cpu": "9"})"}),
                           Pod("a", {R"({"cpu": "9"})"}, "Succeeded")})
            .At(1)["count"]
            .AsInt() == 1);
}

TEST_CASE("a node without room for another pod has no grade, the nodes after it still have") {
  CHECK(Modelings({Node("full", R"({"cpu": "8", "memory": "64Gi", "pods": "1"})"),
                   Node("free", R"({"cpu": "8", "memory": "64Gi", "pods": "1"})")},
                  {Pod("full", {"{}"})}) ==
        Json(R"([{"grade": 0, "count": 0}, {"grade": 1, "count": 0}, {"grade": 2, "count": 1}])"));
}

TEST_CASE("without models there are no modelings") {
  CHECK_FALSE(ResourceSummary({Node("a", "{}")}, {}, Json("[]")).Has("allocatableModelings"));
}

// Returns the object with only these fields and metadata, as a reader of them gets it.
kube::Object Read(const kube::Object& object, std::vector<std::string> paths) {
  paths.push_back("metadata");
  const json::Fields fields(paths);
  return kube::Object(*json::Parse(json::Write(object.root()), {.kept = &fields}));
}

TEST_CASE("nodes and pods of which only the named fields are read give the same summary") {
  kube::Object node = *Node("a", R"({"cpu": "4", "memory": "8Gi", "pods": "10"})");
  node.Set({"status", "images"}, Json("[1, 2]"));
  const kube::Object pod = *Pod("a", {R"({"cpu": "1"})"}, "Running",
                                R"({"overhead": {"cpu": "1"}, "volumes": [1], "initContainers": [
              {"name": "i", "image": "x", "resources": {"requests": {"cpu": "2"}}}]})");
  const kube::Object node_read = Read(node, controllers::NodeFields());
  const kube::Object pod_read = Read(pod, controllers::PodFields());
  CHECK_FALSE(node_read.status().Has("images"));
  CHECK_FALSE(pod_read.spec().Has("volumes"));
  CHECK(ResourceSummary({kube::Share(node_read)}, {kube::Share(pod_read)}, Json(kModels)) ==
        ResourceSummary({kube::Share(node)}, {kube::Share(pod)}, Json(kModels)));
  CHECK(NodeSummary({kube::Share(node_read)}) == NodeSummary({kube::Share(node)}));
}

}  // namespace
