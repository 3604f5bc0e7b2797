// What the aggregated API server needs in a member so that it can pass on requests of the control
// plane's users: the ServiceAccount whose token it uses has to be allowed to act in their names.
#ifndef CONTROLLERS_UNIFIED_AUTH_IMPERSONATION_H_
#define CONTROLLERS_UNIFIED_AUTH_IMPERSONATION_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/rbac.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace controllers {

// Returns the rules that allow to act in the names of the subjects: one for users, one for
// ServiceAccounts (of any namespace) and one for groups, each with sorted names, as upstream's
// GenerateImpersonationRules. Null when there are no subjects.
json::Value ImpersonationRules(absl::Span<const api::Subject> subjects);

// Who has access to which clusters, found out once for all clusters. Immutable.
class ClusterAccess {
 public:
  using Objects = std::vector<kube::ObjectPtr>;
  ClusterAccess(const Objects& roles, const Objects& bindings);

  // Returns the subjects to whom a binding gives a role with access to the cluster; some may be
  // there more than once.
  std::vector<api::Subject> SubjectsFor(absl::string_view cluster) const;

 private:
  std::vector<api::Subject> of_all_;  // Those with access to all clusters.
  absl::flat_hash_map<std::string, std::vector<api::Subject>> of_;
};

// Returns the ClusterRole for the member.
kube::Object ImpersonatorRole(json::Value rules);

// Returns the ClusterRoleBinding for the member; `ns` is the namespace of the ServiceAccount there.
kube::Object ImpersonatorRoleBinding(absl::string_view ns);

}  // namespace controllers

#endif  // CONTROLLERS_UNIFIED_AUTH_IMPERSONATION_H_
