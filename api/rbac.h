// ClusterRoles and ClusterRoleBindings (rbac.authorization.k8s.io/v1) of the control plane, as far
// as they give its users access to clusters.
#ifndef API_RBAC_H_
#define API_RBAC_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/meta/object.h"

namespace api {

// The name of the ServiceAccount in each member in whose name the aggregated API server passes on
// requests of the control plane's users, and of the ClusterRole and ClusterRoleBinding that allow
// it to do so.
inline constexpr char kImpersonator[] = "karmada-impersonator";

// Clusters by their names, or all clusters.
struct NamedClusters {
  bool all = false;
  std::set<std::string> names;  // Names of clusters that need not exist.

  bool Contains(absl::string_view cluster) const {
    return all || names.contains(std::string(cluster));
  }
};

// Reads one ClusterRole. The object must outlive the view and stay unchanged.
class ClusterRoleView {
 public:
  explicit ClusterRoleView(const kube::Object& object) : object_(object) {}
  explicit ClusterRoleView(kube::Object&&) = delete;

  // Returns the clusters to which the role gives access through the control plane: those that
  // resourceNames of a rule for clusters/proxy name, or all if that rule names none, or if there is
  // a rule for search.karmada.io's proxying/proxy. "*" stands for any group and any resource; verbs
  // do not matter (upstream's findRBACSubjectsWithCluster).
  NamedClusters ProxiedClusters() const;

 private:
  const kube::Object& object_;
};

// Whom a binding gives its role. The name of a ServiceAccount is without its namespace.
struct Subject {
  std::string kind, name;
};
inline constexpr char kUserSubject[] = "User";
inline constexpr char kServiceAccountSubject[] = "ServiceAccount";
inline constexpr char kGroupSubject[] = "Group";

// Reads one ClusterRoleBinding. The object must outlive the view and stay unchanged.
class ClusterRoleBindingView {
 public:
  explicit ClusterRoleBindingView(const kube::Object& object) : object_(object) {}
  explicit ClusterRoleBindingView(kube::Object&&) = delete;

  // Returns the name of the ClusterRole that is bound; "" when something else is bound.
  absl::string_view ClusterRole() const;
  std::vector<Subject> Subjects() const;

 private:
  const kube::Object& object_;
};

}  // namespace api

#endif  // API_RBAC_H_
