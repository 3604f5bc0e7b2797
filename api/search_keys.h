// Names of the API group search.karmada.io, as upstream's karmada-search spells them.
#ifndef API_SEARCH_KEYS_H_
#define API_SEARCH_KEYS_H_

namespace api {

inline constexpr char kSearchGroup[] = "search.karmada.io";
inline constexpr char kSearchVersion[] = "v1alpha1";

// Where upstream's karmada-search stores ResourceRegistries in etcd, below its prefix. The spelling
// differs from that of the API path.
inline constexpr char kRegistryStorageFolder[] = "search.karmada.io/resourceRegistries";

// The annotation on an object from a cache that names the member cluster it was read from.
inline constexpr char kCachedFromClusterAnnotation[] = "resource.karmada.io/cached-from-cluster";

// Choose one member cluster for a request to the proxy or the view; a caller may use either.
inline constexpr char kClusterParameter[] = "cluster";
inline constexpr char kClusterHeader[] = "X-Karmada-Cluster";

// The field by which lists and watches of the proxy and the view select objects by their cluster.
// The key of the annotation above is the label of the same meaning.
inline constexpr char kClusterField[] = "cluster";

// Demand an answer of the proxy or the view that lacks nothing of any member, or else an error; a
// caller may use either.
inline constexpr char kCompleteParameter[] = "requireComplete";
inline constexpr char kCompleteHeader[] = "X-Karmada-Require-Complete";
// Headers of answers that name the members, separated by commas, whose objects are missing, and
// those whose objects may not be shown as they are now.
inline constexpr char kMissingClustersHeader[] = "X-Karmada-Missing-Clusters";
inline constexpr char kStaleClustersHeader[] = "X-Karmada-Stale-Clusters";

// The API group of registries that are stored as custom resources of the control plane. It is not
// kSearchGroup, because the aggregation layer sends every request for that group to karmada-search
// itself, so that custom resources of it could not be reached.
inline constexpr char kStoredSearchGroup[] = "storage.search.karmada.io";

}  // namespace api

#endif  // API_SEARCH_KEYS_H_
