// Reads whom a request wants to act as, and computes which rights that takes: one for the user (or
// service account), one for each group, uid and extra value. All are checked before the handler
// runs, one after the other; the first refusal ends the request. Groups that follow from the user
// (of service accounts, of everybody who is authenticated) are added afterwards and need no right.
// The number of rights is limited, since each can be a review.

#include "kube/aggregation/impersonation.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kube/aggregation/request_fields.h"
#include "kube/server/api_errors.h"

namespace kube::aggregation {
namespace {

constexpr char kUser[] = "impersonate-user";
constexpr char kUid[] = "impersonate-uid";
constexpr char kGroup[] = "impersonate-group";
constexpr char kExtraPrefix[] = "impersonate-extra-";
constexpr char kPrefix[] = "impersonate-";

constexpr char kServiceAccountPrefix[] = "system:serviceaccount:";
constexpr char kServiceAccounts[] = "system:serviceaccounts";
constexpr char kAuthenticationGroup[] = "authentication.k8s.io";

struct ServiceAccount {
  std::string ns;
  std::string name;
};

// Upstream's serviceaccount.SplitUsername, without its check of the names' characters: a name that
// is none is one that nobody has the right to.
std::optional<ServiceAccount> ServiceAccountOf(absl::string_view user) {
  if (!absl::ConsumePrefix(&user, kServiceAccountPrefix)) return std::nullopt;
  const std::vector<std::string> parts = absl::StrSplit(user, ':');
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) return std::nullopt;
  return ServiceAccount{parts[0], parts[1]};
}

absl::StatusOr<std::string> SingleValue(const base::HttpRequest& request, absl::string_view name) {
  const std::vector<absl::string_view> values = ValuesOf(request, name);
  if (values.size() > 1) {
    return server::BadRequest(absl::StrCat("the header ", name, " is there more than once"));
  }
  return values.empty() ? "" : std::string(values.front());
}

class RightsBuilder {
 public:
  explicit RightsBuilder(const UserInfo& requestor) : requestor_(requestor) {}

  // Upstream's WithImpersonation gives versions only to rights of authentication.k8s.io.
  Attributes& Add(std::string resource, std::string name) {
    rights_.push_back({.user = requestor_,
                       .verb = "impersonate",
                       .is_resource = true,
                       .resource = std::move(resource),
                       .name = std::move(name)});
    return rights_.back();
  }
  Attributes& AddOfAuthentication(std::string resource, std::string name) {
    Attributes& right = Add(std::move(resource), std::move(name));
    right.group = kAuthenticationGroup;
    right.version = "v1";
    return right;
  }
  std::vector<Attributes> Take() && { return std::move(rights_); }
  size_t size() const { return rights_.size(); }

 private:
  const UserInfo& requestor_;
  std::vector<Attributes> rights_;
};

void AddUserRight(const UserInfo& user, RightsBuilder& rights) {
  const std::optional<ServiceAccount> account = ServiceAccountOf(user.name);
  if (!account) {
    rights.Add("users", user.name);
    return;
  }
  rights.Add("serviceaccounts", account->name).ns = account->ns;
}

// Adds the groups of a service account, unless the request names groups, and the group that
// everybody is in, unless the request says whether the user is authenticated.
void AddImpliedGroups(UserInfo& user) {
  const std::optional<ServiceAccount> account = ServiceAccountOf(user.name);
  if (account && user.groups.empty()) {
    // A request that names groups gets those alone: it may want fewer rights than the account has.
    user.groups = {kServiceAccounts, absl::StrCat(kServiceAccounts, ":", account->ns)};
  }
  if (user.name != kAnonymous) return AddAuthenticatedGroup(user);
  if (!user.IsIn(kUnauthenticated)) user.groups.emplace_back(kUnauthenticated);
}

absl::StatusOr<UserInfo> WantedUser(const base::HttpRequest& request) {
  UserInfo user;
  auto name = SingleValue(request, kUser);
  if (!name.ok()) return name.status();
  user.name = *std::move(name);
  auto uid = SingleValue(request, kUid);
  if (!uid.ok()) return uid.status();
  user.uid = *std::move(uid);
  for (absl::string_view group : ValuesOf(request, kGroup)) user.groups.emplace_back(group);
  user.extra = ExtraOf(request, kExtraPrefix);
  return user;
}

}  // namespace

absl::StatusOr<std::optional<Impersonation>> ImpersonationOf(const base::HttpRequest& request,
                                                             const UserInfo& requestor) {
  absl::StatusOr<UserInfo> wanted = WantedUser(request);
  if (!wanted.ok()) return wanted.status();
  UserInfo user = *std::move(wanted);
  if (user.name.empty()) {
    if (user.uid.empty() && user.groups.empty() && user.extra.empty()) return std::nullopt;
    return server::BadRequest(
        "requested to impersonate a group, uid or extra value without impersonating a user");
  }
  RightsBuilder rights(requestor);
  AddUserRight(user, rights);
  for (const std::string& group : user.groups) rights.Add("groups", group);
  for (const auto& [key, values] : user.extra) {
    for (const std::string& value : values) {
      rights.AddOfAuthentication("userextras", value).subresource = key;
    }
  }
  if (!user.uid.empty()) rights.AddOfAuthentication("uids", user.uid);
  if (rights.size() > kMaxRights) {
    return server::BadRequest(absl::StrCat("requested to impersonate more than ", kMaxRights,
                                           " users, groups, uids and extra values"));
  }
  // It is called after the rights are determined, so that these groups take none.
  AddImpliedGroups(user);
  return Impersonation{std::move(user), std::move(rights).Take()};
}

void RemoveImpersonation(base::HttpRequest& request) {
  RemoveFields(request, [](absl::string_view name) { return absl::StartsWith(name, kPrefix); });
}

namespace {

// What is left to check. Rights are checked one after the other, so that a user who may not
// impersonate at all causes one review and not a hundred.
struct Check : std::enable_shared_from_this<Check> {
  std::vector<Attributes> rights;
  Authorizer& authorizer;
  std::function<void(absl::Status)> done;
  size_t next = 0;

  Check(std::vector<Attributes> all, Authorizer& by, std::function<void(absl::Status)> then)
      : rights(std::move(all)), authorizer(by), done(std::move(then)) {}

  void Continue() {
    if (next == rights.size()) return done(absl::OkStatus());
    const Attributes& right = rights[next++];
    authorizer.Authorize(
        right, [self = shared_from_this(), &right](const absl::StatusOr<Decision>& decision) {
          if (!decision.ok()) return self->done(decision.status());
          if (!decision->allowed) return self->done(ForbiddenError(right, decision->reason));
          self->Continue();
        });
  }
};

}  // namespace

void CheckRights(std::vector<Attributes> rights, Authorizer& authorizer,
                 std::function<void(absl::Status)> done) {
  std::make_shared<Check>(std::move(rights), authorizer, std::move(done))->Continue();
}

}  // namespace kube::aggregation
