#include "api/absent_clusters.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace api {
namespace {

class Search {
 public:
  explicit Search(const std::function<bool(absl::string_view)>& exists) : exists_(exists) {}

  void Affinity(const json::Value& affinity, const std::string& path) {
    for (const json::Value& name : affinity["clusterNames"].items()) {
      const std::string cluster = name.ToString();
      if (exists_(cluster) || !seen_.insert(cluster).second) continue;
      found_.push_back(
          absl::StrCat("there is no cluster ", cluster, ", which ", path, ".clusterNames names"));
    }
  }
  std::vector<std::string> TakeFound() { return std::move(found_); }

 private:
  const std::function<bool(absl::string_view)>& exists_;
  std::set<std::string> seen_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> AbsentClusters(const kube::Object& policy,
                                        const std::function<bool(absl::string_view)>& exists) {
  const json::Value& placement = policy.Get({"spec", "placement"});
  Search search(exists);
  search.Affinity(placement["clusterAffinity"], "spec.placement.clusterAffinity");
  const auto terms = placement["clusterAffinities"].items();
  for (size_t i = 0; i < terms.size(); ++i) {
    const std::string path = absl::StrCat("spec.placement.clusterAffinities[", i, "]");
    search.Affinity(terms[i], path);
    const auto overflows = terms[i]["overflowAffinities"].items();
    for (size_t j = 0; j < overflows.size(); ++j) {
      search.Affinity(overflows[j], absl::StrCat(path, ".overflowAffinities[", j, "]"));
    }
  }
  const auto weights =
      placement.Get({"replicaScheduling", "weightPreference", "staticWeightList"}).items();
  for (size_t i = 0; i < weights.size(); ++i) {
    search.Affinity(weights[i]["targetCluster"],
                    absl::StrCat("spec.placement.replicaScheduling.weightPreference.",
                                 "staticWeightList[", i, "].targetCluster"));
  }
  return search.TakeFound();
}

namespace message {

std::string ClustersAreAbsent(const std::vector<std::string>& absent) {
  constexpr size_t kShown = 5;
  const size_t shown = std::min(absent.size(), kShown);
  return absl::StrCat(
      absl::StrJoin(absent.begin(), absent.begin() + shown, "; "),
      absent.size() > shown ? absl::StrCat("; and so on, for ", absent.size(), " names in all")
                            : "",
      ". Nothing goes there before a cluster of that name joins: join it, or mend the name");
}

}  // namespace message
}  // namespace api
