// Who sends a request, or for whom it is executed.
#ifndef KUBE_AGGREGATION_USER_INFO_H_
#define KUBE_AGGREGATION_USER_INFO_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"

namespace kube::aggregation {

inline constexpr char kAnonymous[] = "system:anonymous";
inline constexpr char kMasters[] = "system:masters";
inline constexpr char kAuthenticated[] = "system:authenticated";
inline constexpr char kUnauthenticated[] = "system:unauthenticated";

struct UserInfo {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  bool IsIn(absl::string_view group) const;
  friend bool operator==(const UserInfo&, const UserInfo&) = default;
};

// Returns whose share of what all use together a user has (base::Shares): base::kNoOwner for
// members of system:masters, whom no share keeps out.
std::string ShareOwner(const UserInfo& user);

// Returns the user of a request without credentials.
UserInfo AnonymousUser();

// Adds the group system:authenticated, unless the user is anonymous or is in it, or in its opposite
// (apiserver's AuthenticatedGroupAdder).
void AddAuthenticatedGroup(UserInfo& user);

// Returns the members "uid", "groups" and "extra", as far as they are not empty, and the name as
// the member `name_member`: "username" in audit events and token reviews, "user" in the spec of a
// SubjectAccessReview.
json::Value UserJson(const UserInfo& user, absl::string_view name_member);

// Reads the user of a TokenReview's status. Members of other types count as absent.
UserInfo UserOfJson(const json::Value& user);

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_USER_INFO_H_
