// The clusters that a placement, or an object of Karmada's own kinds, names.
#ifndef LENS_WHY_NAMED_CLUSTERS_H_
#define LENS_WHY_NAMED_CLUSTERS_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "lens/why/chain.h"

namespace lens::why {

// Returns the names that stand in the fields by which Karmada's kinds name clusters, anywhere in
// the value; those that it excludes are not among them.
std::vector<std::string> ClustersNamedIn(const json::Value& json);

// A cluster that is named and does not exist.
struct UnknownCluster {
  std::string text;   // "the cluster mamber2, which does not exist (did you mean member2?)"; "" for
                      // none.
  std::string meant;  // A cluster of a similar name that the same list does not have; "" for none.
};
// Returns the first one that the value names. REQUIRES: the Clusters could be read.
UnknownCluster FindUnknownCluster(const Chain& chain, const json::Value& json);

// Returns the cluster whose name is similar to one that does not exist; "" for none.
std::string SimilarCluster(const Chain& chain, const std::string& name);

}  // namespace lens::why

#endif  // LENS_WHY_NAMED_CLUSTERS_H_
