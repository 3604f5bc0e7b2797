// Impersonation: a user who acts as another one, by the fields Impersonate-User, -Group, -Uid and
// -Extra-<key> of the request.
//
// Requests that come through kube-apiserver have been through its own impersonation and have none
// of these fields any more; here they are from clients that connect directly.
#ifndef KUBE_AGGREGATION_IMPERSONATION_H_
#define KUBE_AGGREGATION_IMPERSONATION_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/http_server.h"
#include "kube/aggregation/authorizer.h"
#include "kube/aggregation/user_info.h"

namespace kube::aggregation {

// Whom a request wants to be executed for, and each right that it takes.
struct Impersonation {
  UserInfo user;
  std::vector<Attributes> rights;  // The verb "impersonate" on users, groups, uids, userextras.
};

// Reads the fields; nullopt when there are none. 400: a group, uid or extra without a user; two
// users; two uids; more than kMaxRights rights. The user's own groups are added as upstream's
// WithImpersonation does.
absl::StatusOr<std::optional<Impersonation>> ImpersonationOf(const base::HttpRequest& request,
                                                             const UserInfo& requestor);
// Each right may be a SubjectAccessReview.
inline constexpr size_t kMaxRights = 100;

// Removes all these fields from the request.
void RemoveImpersonation(base::HttpRequest& request);

// Calls `done` with OK once all rights are granted, or with the 403 of the first one that is not,
// or with the error of the authorizer. REQUIRES: `authorizer` outlives the calls.
void CheckRights(std::vector<Attributes> rights, Authorizer& authorizer,
                 std::function<void(absl::Status)> done);

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_IMPERSONATION_H_
