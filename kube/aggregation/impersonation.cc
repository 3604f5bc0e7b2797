// Reads whom a request wants to act as, and computes which rights that takes, for each mode. Since
// Kubernetes 1.3 there is one: the verb `impersonate` on the user (or service account) and on each
// group, uid and extra value. Kubernetes 1.36 has constrained modes beside it, each for a kind of
// user (KEP-5284): they take the verb `impersonate:<mode>` on the same, and besides
// `impersonate-on:<mode>:<verb>` on what the request itself is about. The 403s have upstream's
// texts, so the order of the rights is upstream's.
//
// Groups that follow from the user (of service accounts and nodes, of everybody who is
// authenticated) are added afterwards and need no right. The number of rights is limited, since
// each can be a review.

#include "kube/aggregation/impersonation.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kube/aggregation/request_fields.h"
#include "kube/meta/selector.h"
#include "kube/server/api_errors.h"

namespace kube::aggregation {
namespace {

constexpr char kUid[] = "impersonate-uid";
constexpr char kGroup[] = "impersonate-group";
constexpr char kExtraPrefix[] = "impersonate-extra-";
constexpr char kPrefix[] = "impersonate-";

constexpr char kServiceAccountPrefix[] = "system:serviceaccount:";
constexpr char kServiceAccounts[] = "system:serviceaccounts";
constexpr char kAuthenticationGroup[] = "authentication.k8s.io";
constexpr char kNodePrefix[] = "system:node:";
constexpr char kNodes[] = "system:nodes";
// Extra of a service account's token: the node that its pod runs on.
constexpr char kNodeNameKey[] = "authentication.kubernetes.io/node-name";
constexpr char kNodeKeysKey[] = "authentication.kubernetes.io/associated-node-keys";

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

std::optional<std::string> NodeOf(absl::string_view user) {
  if (!absl::ConsumePrefix(&user, kNodePrefix)) return std::nullopt;
  if (!ValidateDns1123Subdomain(user).ok()) return std::nullopt;
  return std::string(user);
}

bool HasOnlyName(const UserInfo& user) {
  return user.uid.empty() && user.groups.empty() && user.extra.empty();
}

size_t CountOf(const std::map<std::string, std::vector<std::string>>& extra) {
  size_t count = 0;
  for (const auto& [key, values] : extra) count += values.size();
  return count;
}

// Returns why no constrained mode permits this extra; "" if one may.
std::string ExtraRefusal(const std::map<std::string, std::vector<std::string>>& extra) {
  for (const auto& [key, values] : extra) {
    const std::vector<std::string> parts = absl::StrSplit(key, absl::MaxSplits('/', 1));
    if (parts.size() != 2 || parts[1].empty() || !ValidateDns1123Subdomain(parts[0]).ok()) {
      return absl::StrCat(
          "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: \"", key,
          "\": must be a domain-prefixed path (such as \"acme.io/foo\")");
    }
    if (std::find(values.begin(), values.end(), "") != values.end()) {
      return "impersonating the empty string value in extra is not allowed";
    }
  }
  return "";
}

// Collects the rights of one mode.
class ModeBuilder {
 public:
  // `name` is that of a constrained mode; "" for the right `impersonate`.
  ModeBuilder(absl::string_view name, const UserInfo& requestor, const UserInfo& wanted)
      : constrained_(!name.empty()),
        mode_{.verb = absl::StrCat(kImpersonate, constrained_ ? ":" : "", name), .user = wanted},
        requestor_(requestor) {}

  ImpersonationRight& Add(std::string resource, std::string name) {
    mode_.rights.push_back({.what = {.user = requestor_,
                                     .verb = mode_.verb,
                                     .is_resource = true,
                                     .resource = std::move(resource),
                                     .name = std::move(name)}});
    if (constrained_) SetAuthentication(mode_.rights.back());
    return mode_.rights.back();
  }
  // Upstream gave versions, before 1.36, only to rights of authentication.k8s.io.
  ImpersonationRight& AddOfAuthentication(std::string resource, std::string name) {
    ImpersonationRight& right = Add(std::move(resource), std::move(name));
    SetAuthentication(right);
    return right;
  }
  // What the request itself wants to do, in this mode.
  void AddRequest(Attributes what, absl::string_view name) {
    what.verb = absl::StrCat("impersonate-on:", name, ":", what.verb);
    mode_.rights.push_back({.what = std::move(what)});
  }
  void AddUser() {
    if (const auto account = ServiceAccountOf(mode_.user.name)) {
      Add("serviceaccounts", account->name).what.ns = account->ns;
      return;
    }
    const auto node = constrained_ ? NodeOf(mode_.user.name) : std::nullopt;
    if (node) {
      Add("nodes", *node);
    } else {
      Add("users", mode_.user.name);
    }
  }
  void AddUid() {
    if (!mode_.user.uid.empty()) AddOfAuthentication("uids", mode_.user.uid);
  }
  void AddGroups() {
    const std::vector<std::string>& groups = mode_.user.groups;
    if (constrained_ && std::find(groups.begin(), groups.end(), "") != groups.end()) {
      Add("groups", "").refusal = "impersonating the empty string group is not allowed";
    }
    if (constrained_ && mode_.user.IsIn(kMasters)) {
      Add("groups", kMasters).refusal = "impersonating the system:masters group is not allowed";
    }
    AddWildcard(groups.size(), [this] { return &Add("groups", "*"); });
    for (const std::string& group : groups) Add("groups", group);
  }
  void AddExtra() {
    const auto& extra = mode_.user.extra;
    if (const std::string why = constrained_ ? ExtraRefusal(extra) : ""; !why.empty()) {
      AddOfAuthentication("userextras", "").refusal = why;
    }
    AddWildcard(CountOf(extra), [this] {
      ImpersonationRight& right = AddOfAuthentication("userextras", "*");
      right.what.subresource = "*";
      return &right;
    });
    for (const auto& [key, values] : extra) {
      for (const std::string& value : values) {
        AddOfAuthentication("userextras", value).what.subresource = key;
      }
    }
  }
  ImpersonationMode& mode() { return mode_; }

 private:
  // Upstream's manyAuthorizationChecksInLoop.
  static constexpr size_t kMany = 4;

  static void SetAuthentication(ImpersonationRight& right) {
    right.what.group = kAuthenticationGroup;
    right.what.version = "v1";
  }
  template <class Fn>
  void AddWildcard(size_t count, const Fn& add) {
    if (constrained_ && count >= kMany) add()->covers = count;
  }

  const bool constrained_;
  ImpersonationMode mode_;
  const UserInfo& requestor_;
};

// Adds the groups of a node or a service account, unless the request names groups, and the group
// that everybody is in, unless the request says whether the user is authenticated.
void AddImpliedGroups(ImpersonationMode& mode) {
  UserInfo& user = mode.user;
  const std::optional<ServiceAccount> account = ServiceAccountOf(user.name);
  if (account && user.groups.empty()) {
    // A request that names groups gets those alone: it may want fewer rights than the account has.
    user.groups = {kServiceAccounts, absl::StrCat(kServiceAccounts, ":", account->ns)};
  }
  if (mode.verb != kImpersonate && NodeOf(user.name)) user.groups = {kNodes};
  if (user.name != kAnonymous) return AddAuthenticatedGroup(user);
  if (!user.IsIn(kUnauthenticated)) user.groups.emplace_back(kUnauthenticated);
}

// Upstream's userInfoImpersonationMode and its like. `request` is what the request wants to do.
ImpersonationMode ConstrainedMode(absl::string_view name, const UserInfo& wanted,
                                  const Attributes& request) {
  ModeBuilder builder(name, request.user, wanted);
  builder.AddRequest(request, name);
  builder.AddUser();
  builder.AddUid();
  builder.AddGroups();
  builder.AddExtra();
  AddImpliedGroups(builder.mode());
  return std::move(builder.mode());
}

ImpersonationMode UnconstrainedMode(const UserInfo& wanted, const UserInfo& requestor,
                                    bool uid_first) {
  ModeBuilder builder("", requestor, wanted);
  builder.AddUser();
  if (uid_first) builder.AddUid();
  builder.AddGroups();
  builder.AddExtra();
  if (!uid_first) builder.AddUid();
  // It is called after the rights are determined, so that these groups take none.
  AddImpliedGroups(builder.mode());
  return std::move(builder.mode());
}

// Upstream's requesterAssociatedWithRequestedNodeUsername: a pod that runs on this node.
bool RunsOn(const UserInfo& requestor, const std::string& node) {
  const auto found = requestor.extra.find(kNodeNameKey);
  return ServiceAccountOf(requestor.name) && found != requestor.extra.end() &&
         found->second == std::vector<std::string>{node};
}

// The rights of this mode are those to all nodes, and do not depend on the pod that asks: its extra
// is replaced by the names of its keys.
ImpersonationMode AssociatedNodeMode(const UserInfo& wanted, Attributes request) {
  std::vector<std::string> keys;
  for (const auto& [key, values] : request.user.extra) keys.push_back(key);
  request.user.extra = {{kNodeKeysKey, std::move(keys)}};
  ImpersonationMode mode = ConstrainedMode("associated-node", wanted, request);
  mode.rights.back().what.name = "*";
  return mode;
}

std::vector<ImpersonationMode> ModesFor(const UserInfo& wanted, const UserInfo& requestor,
                                        const Attributes* request) {
  std::vector<ImpersonationMode> modes;
  if (request == nullptr) return {UnconstrainedMode(wanted, requestor, /*uid_first=*/false)};
  const auto node = NodeOf(wanted.name);
  const bool is_account = ServiceAccountOf(wanted.name).has_value();
  const bool only_name = HasOnlyName(wanted);
  if (node && only_name) {
    if (RunsOn(requestor, *node)) modes.push_back(AssociatedNodeMode(wanted, *request));
    modes.push_back(ConstrainedMode("arbitrary-node", wanted, *request));
  }
  if (is_account && only_name) modes.push_back(ConstrainedMode("serviceaccount", wanted, *request));
  if (!node && !is_account) modes.push_back(ConstrainedMode("user-info", wanted, *request));
  modes.push_back(UnconstrainedMode(wanted, requestor, /*uid_first=*/true));
  return modes;
}

absl::StatusOr<UserInfo> WantedUser(const base::HttpRequest& request) {
  UserInfo user;
  auto name = SingleValue(request, kImpersonateUser);
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
                                                             const UserInfo& requestor,
                                                             const Attributes* constrained) {
  absl::StatusOr<UserInfo> wanted = WantedUser(request);
  if (!wanted.ok()) return wanted.status();
  const UserInfo& user = *wanted;
  if (user.name.empty()) {
    if (HasOnlyName(user)) return std::nullopt;
    return server::BadRequest(
        "requested to impersonate a group, uid or extra value without impersonating a user");
  }
  const size_t rights =
      1 + user.groups.size() + CountOf(user.extra) + static_cast<size_t>(!user.uid.empty());
  if (rights > kMaxRights) {
    return server::BadRequest(absl::StrCat("requested to impersonate more than ", kMaxRights,
                                           " users, groups, uids and extra values"));
  }
  return Impersonation{ModesFor(user, requestor, constrained)};
}

void RemoveImpersonation(base::HttpRequest& request) {
  RemoveFields(request, [](absl::string_view name) { return absl::StartsWith(name, kPrefix); });
}

}  // namespace kube::aggregation
