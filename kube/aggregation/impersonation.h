// Impersonation: a user who acts as another one, by the fields Impersonate-User, -Group, -Uid and
// -Extra-<key> of the request.
//
// Requests that come through kube-apiserver have been through its own impersonation and have none
// of these fields any more; here they are from clients that connect directly.
#ifndef KUBE_AGGREGATION_IMPERSONATION_H_
#define KUBE_AGGREGATION_IMPERSONATION_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/http_server.h"
#include "kube/aggregation/authorizer.h"
#include "kube/aggregation/user_info.h"

namespace kube::aggregation {

inline constexpr char kImpersonate[] = "impersonate";           // The verb.
inline constexpr char kImpersonateUser[] = "impersonate-user";  // The field, in lower case.

struct ImpersonationRight {
  Attributes what;
  // Above 0: it is not needed, but whoever has it needs none of so many rights that follow it.
  size_t covers = 0;
  std::string refusal;  // Why nobody has it; "" when the control plane is asked.
};

// One way to be permitted to act as somebody: whoever has all of its rights may.
struct ImpersonationMode {
  // kImpersonate, or the verb of a constrained mode (KEP-5284), such as "impersonate:user-info".
  std::string verb;
  UserInfo user;                           // For whom the request is executed.
  std::vector<ImpersonationRight> rights;  // In the order in which they are asked for.
};

// Whom a request wants to be executed for: the ways that there are, the narrowest one first.
struct Impersonation {
  std::vector<ImpersonationMode> modes;  // The last one is kImpersonate.
};

// Reads the fields; nullopt when there are none. 400: a group, uid or extra without a user; two
// users; two uids; more than kMaxRights rights. The user's own groups are added as upstream does.
// `constrained` is what the request itself asks for, on behalf of the requestor: then the modes of
// Kubernetes 1.36 are there, too; null: kImpersonate is the only one, as before 1.36.
absl::StatusOr<std::optional<Impersonation>> ImpersonationOf(const base::HttpRequest& request,
                                                             const UserInfo& requestor,
                                                             const Attributes* constrained);
// Each right may be a SubjectAccessReview.
inline constexpr size_t kMaxRights = 100;

// Removes all these fields from the request.
void RemoveImpersonation(base::HttpRequest& request);

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_IMPERSONATION_H_
