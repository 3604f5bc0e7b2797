#include "api/absent_clusters.h"

#include <catch2/catch.hpp>

#include "base/yaml.h"

namespace {

std::vector<std::string> Absent(const std::string& placement) {
  kube::Object policy;
  policy.Set({"spec", "placement"}, yaml::ParseAll(placement)->front());
  return api::AbsentClusters(policy,
                             [](absl::string_view name) { return name == "m1" || name == "m2"; });
}

TEST_CASE("a placement without names, or with those of clusters, lacks none") {
  CHECK(Absent("{}").empty());
  CHECK(Absent("{clusterAffinity: {labelSelector: {matchLabels: {a: b}}}}").empty());
  CHECK(Absent("{clusterAffinity: {clusterNames: [m1, m2], exclude: [m9]}}").empty());
}

TEST_CASE("each name that is no cluster's is reported once, with its place") {
  CHECK(Absent(R"(
clusterAffinity: {clusterNames: [m1, m3]}
replicaScheduling:
  weightPreference:
    staticWeightList:
    - {targetCluster: {clusterNames: [m1]}, weight: 1}
    - {targetCluster: {clusterNames: [m3, m4]}, weight: 1}
)") == std::vector<std::string>{
           "there is no cluster m3, which spec.placement.clusterAffinity.clusterNames names",
           "there is no cluster m4, which spec.placement.replicaScheduling.weightPreference."
           "staticWeightList[1].targetCluster.clusterNames names"});
  CHECK(Absent(R"(
clusterAffinities:
- {affinityName: a, clusterNames: [m1]}
- {affinityName: b, clusterNames: [m5], overflowAffinities: [{clusterNames: [m6]}]}
)") == std::vector<std::string>{
           "there is no cluster m5, which spec.placement.clusterAffinities[1].clusterNames names",
           "there is no cluster m6, which "
           "spec.placement.clusterAffinities[1].overflowAffinities[0].clusterNames names"});
}

TEST_CASE("of many names the first ones are in the message") {
  const std::vector<std::string> absent(7, "there is no cluster m, which x names");
  CHECK(api::message::ClustersAreAbsent(absent) ==
        "there is no cluster m, which x names; there is no cluster m, which x names; "
        "there is no cluster m, which x names; there is no cluster m, which x names; "
        "there is no cluster m, which x names; and so on, for 7 names in all. Nothing goes there "
        "before a cluster of that name joins: join it, or mend the name");
}

}  // namespace
