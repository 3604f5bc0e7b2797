// ResourceRegistry (search.karmada.io/v1alpha1): which kinds of objects of which member clusters
// karmada-search keeps copies of, and where it mirrors them.
#ifndef API_RESOURCE_REGISTRY_H_
#define API_RESOURCE_REGISTRY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/cluster_affinity.h"
#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api {

// Returns the resource as karmada-search serves it: cluster-scoped resourceregistries.
const kube::Resource& ResourceRegistryResource();

// An item of spec.resourceSelectors.
struct RegistrySelector {
  std::string api_version;  // "apps/v1"; may be empty or malformed: then it selects nothing.
  std::string kind;
  std::string ns;  // "" stands for all namespaces.

  // Returns an empty kind when api_version is malformed or a part is missing.
  kube::Gvk gvk() const;
  friend bool operator==(const RegistrySelector&, const RegistrySelector&) = default;
};

// spec.backendStore.openSearch.
struct OpenSearchTarget {
  std::vector<std::string> addresses;
  kube::ObjectKey secret;  // Its name is "" when there is none.
  friend bool operator==(const OpenSearchTarget&, const OpenSearchTarget&) = default;
};

// Reads one ResourceRegistry. The object must outlive the view and stay unchanged.
class ResourceRegistryView {
 public:
  explicit ResourceRegistryView(const kube::Object& object) : object_(object) {}
  explicit ResourceRegistryView(kube::Object&&) = delete;

  const kube::Object& object() const { return object_; }
  absl::string_view name() const { return object_.name(); }
  // Returns which clusters the registry means, with upstream's util.ClusterMatches: all of
  // spec.targetCluster must hold, and an empty one means every cluster. Taints and readiness do not
  // count. (It is the affinity of policies with one difference from upstream that both share: of a
  // Cluster without spec.zones the deprecated spec.zone counts.)
  ClusterAffinity TargetCluster() const;
  std::vector<RegistrySelector> Selectors() const;
  // Returns nullopt when the registry mirrors nothing into OpenSearch.
  std::optional<OpenSearchTarget> OpenSearch() const;
  const json::Value& Conditions() const { return object_.status()["conditions"]; }

 private:
  const kube::Object& object_;
};

// Condition types of a ResourceRegistry. Upstream writes none. The condition of one cluster has the
// type "<cluster>/Synced".
inline constexpr char kRegistrySynced[] = "Synced";
inline constexpr char kRegistryKindsResolved[] = "KindsResolved";
inline constexpr char kRegistryClustersResolved[] = "ClustersResolved";
inline constexpr char kRegistryMirrored[] = "Mirrored";

}  // namespace api

#endif  // API_RESOURCE_REGISTRY_H_
