// Who besides a binding needs a Work that the binding is about to let go or to write.
//
// The name of a Work follows from the object alone, so everybody who brings one object into one
// cluster writes the same Work: a ClusterResourceBinding of a Namespace and the namespace loop, two
// bindings of one template of which one is a copy, and one that upstream let stand for
// an object of another namespace (api::CheckBindingResource) with the one that may.
#ifndef BINDING_OTHER_CLAIMS_H_
#define BINDING_OTHER_CLAIMS_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "api/binding.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"

namespace binding {

// The bindings that stand for an object rather than a certain one, at one moment, by the clusters
// in which they are placed.
struct Originals {
  absl::flat_hash_map<std::string, kube::ObjectPtr> by_cluster;
  // One of them if there are more than anybody makes on purpose: then their clusters are not looked
  // at, and the binding is a copy in every cluster.
  kube::ObjectPtr everywhere;

  // Returns kFailedPrecondition when the binding must leave the cluster's Work to one of them: it
  // is a copy.
  absl::Status CheckIsNoCopy(const kube::Object& binding, absl::string_view cluster) const;
};

// A claim is here somebody's need of a Work, not that of a policy on a template. Thread-safe.
class OtherClaims {
 public:
  // Returns whether the namespace loop writes this Namespace into every cluster.
  using IsSynced = std::function<bool(const kube::Object& ns)>;

  // REQUIRES: the client outlives this object; Namespaces, Clusters and the bindings of both scopes
  // by works::kBindingsByObject are declared as read.
  OtherClaims(kube::ClusterClient& client, IsSynced is_synced)
      : client_(client), is_synced_(std::move(is_synced)) {}

  enum class Claimant { kNone, kBinding, kNamespaceSync };
  // Returns who needs the Work besides this binding.
  Claimant Of(const kube::Object& work, const kube::Object& binding) const;

  // Returns those that stand for the binding's object rather than it (works/standing_binding.h).
  Originals OriginalsOf(const kube::Object& binding) const;

 private:
  bool IsSyncedInto(const kube::Object& object, const std::string& cluster) const;

  kube::ClusterClient& client_;
  const IsSynced is_synced_;
};

}  // namespace binding

#endif  // BINDING_OTHER_CLAIMS_H_
