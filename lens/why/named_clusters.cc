#include "lens/why/named_clusters.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/spelling.h"

namespace lens::why {
namespace {

// Returns whether what stands in the field names no clusters that are meant. Values of overriders
// are parts of manifests, whose fields have meanings of their own.
bool IsOfOthers(absl::string_view field) {
  return field == "resourceSelectors" || field == "exclude" || field == "overriders";
}

// Calls `take` for each list of names.
template <class Take>
void ForEachList(const json::Value& json, const Take& take) {
  for (const json::Value& item : json.items()) ForEachList(item, take);
  for (const json::Member& m : json.members()) {
    std::vector<std::string> names;
    if (m.name() == "clusterNames") {
      for (const json::Value& name : m.value.items()) names.push_back(name.ToString());
    } else if (m.name() == "consumerClusters" || m.name() == "providerClusters") {
      for (const json::Value& item : m.value.items()) names.push_back(item["name"].ToString());
    } else if (m.name() == "clusterName") {
      names.push_back(m.value.ToString());
    } else if (!IsOfOthers(m.name())) {
      ForEachList(m.value, take);
    }
    if (!names.empty()) take(names);
  }
}

std::string WithoutDigits(std::string name) {
  std::erase_if(name, [](unsigned char c) { return absl::ascii_isdigit(c); });
  return name;
}

// Returns the cluster of a similar name that the list does not have; "" for none. Names that differ
// in digits alone are those of two clusters, of which one may have left.
std::string Meant(const Chain& chain, const std::string& name,
                  const std::vector<std::string>& list) {
  std::vector<std::string> others;
  for (const auto& [other, cluster] : chain.clusters) {
    const bool is_listed = std::find(list.begin(), list.end(), other) != list.end();
    if (!is_listed && WithoutDigits(other) != WithoutDigits(name)) others.push_back(other);
  }
  const std::optional<size_t> nearest = base::NearestName(name, others);
  return nearest.has_value() ? others[*nearest] : "";
}

}  // namespace

std::vector<std::string> ClustersNamedIn(const json::Value& json) {
  std::vector<std::string> names;
  ForEachList(json, [&](const std::vector<std::string>& list) {
    names.insert(names.end(), list.begin(), list.end());
  });
  return names;
}

std::string SimilarCluster(const Chain& chain, const std::string& name) {
  return Meant(chain, name, {});
}

UnknownCluster FindUnknownCluster(const Chain& chain, const json::Value& json) {
  UnknownCluster unknown;
  ForEachList(json, [&](const std::vector<std::string>& list) {
    for (const std::string& name : list) {
      if (!unknown.text.empty() || name.empty() || chain.clusters.count(name) > 0) continue;
      unknown.meant = Meant(chain, name, list);
      unknown.text = absl::StrCat(
          "the cluster ", name, ", which does not exist",
          unknown.meant.empty() ? "" : absl::StrCat(" (did you mean ", unknown.meant, "?)"));
    }
  });
  return unknown;
}

}  // namespace lens::why
