// The objects of a random walk: templates, bindings and Works in the control plane, and what
// members have of the templates. Compares them with one another and with what they were.
#ifndef TESTS_BEHAVIOUR_WALKED_OBJECTS_H_
#define TESTS_BEHAVIOUR_WALKED_OBJECTS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {

inline const kube::Resource kConfigMaps{kConfigMap, "configmaps", true};
inline const kube::Resource kDeployments{kDeployment, "deployments", true};
inline const kube::Resource kClusterRoles{kClusterRole, "clusterroles", false};
inline const std::vector<std::string> kMembers = {"member1", "member2"};
// Cluster-scoped templates; others of that kind are no business of the walk.
inline constexpr char kRolePrefix[] = "walk-";

// ConfigMaps that are no templates: Deployments need them.
inline constexpr char kNeededPrefix[] = "needed-";

// Returns the resource of a kind of templates.
const kube::Resource& KindNamed(const std::string& kind);

// Objects by "<cluster> <kind> <ns>/<name>".
using Snapshot = std::map<std::string, kube::Object>;

// Returns the differences between two snapshots, with old and new values.
std::string Difference(const Snapshot& before, const Snapshot& after);
// Returns a line for each object, with its resourceVersion.
std::string Versions(const Snapshot& snapshot);

class WalkedObjects {
 public:
  // REQUIRES: `plane` and `namespaces`, those of the walk, outlive this.
  WalkedObjects(ControlPlane& plane, const std::vector<std::string>& namespaces)
      : plane_(plane), namespaces_(namespaces) {}

  // Returns all objects that matter.
  Snapshot Take() const;
  // Returns the templates in the control plane, or what a member has of them.
  Snapshot TemplatesIn(const std::string& cluster) const;
  // Returns templates that no policy has claimed.
  std::vector<std::string> Unclaimed() const;
  // Returns the differences between bindings and members, and those between what Deployments need
  // and the bindings of that.
  std::string Wrong() const;

 private:
  std::vector<kube::Object> List(const std::string& cluster, const kube::Resource& resource,
                                 const std::string& ns) const;
  std::vector<kube::Object> Bindings() const;
  // Returns "<attached binding> for <referrer>: <clusters>" for each referrer of a binding: as the
  // Deployments ask for, and as the bindings have it.
  std::set<std::string> NeededBindings() const;
  std::set<std::string> RequiredBindings() const;
  void Add(Snapshot& snapshot, const std::string& cluster, const kube::Resource& resource,
           const std::string& ns) const;

  ControlPlane& plane_;
  const std::vector<std::string>& namespaces_;
};

}  // namespace tests

#endif  // TESTS_BEHAVIOUR_WALKED_OBJECTS_H_
