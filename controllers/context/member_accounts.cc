// EnsureMemberAccounts goes through its list in upstream's order (namespace, impersonator with its
// token, account, role with its binding, the account's token) and creates only what is missing, so
// that a call that was interrupted anywhere is completed by the next one, and what an administrator
// has changed in the member stays. Tokens are made by the member's own controllers; they are asked
// for every 200 ms, for five seconds. The member's objects are the only state.

#include "controllers/context/member_accounts.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace controllers {
namespace {

constexpr char kImpersonator[] = "karmada-impersonator";
constexpr char kRolePrefix[] = "karmada-controller-manager:";
constexpr char kAccountAnnotation[] = "kubernetes.io/service-account.name";
constexpr char kTokenSecretType[] = "kubernetes.io/service-account-token";
// A cluster issues a token within milliseconds.
constexpr absl::Duration kTokenPoll = absl::Milliseconds(200);
constexpr int kTokenPolls = 25;

const kube::Resource& ServiceAccounts() {
  static const auto& resource =
      *new kube::Resource{{"", "v1", "ServiceAccount"}, "serviceaccounts", true};
  return resource;
}

kube::Object Labelled(const kube::Resource& resource, const kube::ObjectKey& key) {
  kube::Object object = kube::Object::Make(resource.gvk, key);
  object.SetLabel(api::kSystemLabel, api::kSystemValue);
  return object;
}

absl::StatusOr<kube::Object> Ensure(kube::Client& member, const kube::Resource& resource,
                                    const kube::Object& wanted, const base::StopToken& stop) {
  absl::StatusOr<kube::Object> found = member.Get(resource, wanted.key(), stop);
  if (found.ok() || !kube::IsGone(found.status())) return found;
  absl::StatusOr<kube::Object> created = member.Create(resource, wanted, {}, stop);
  // Another process has joined the same cluster at the same moment: its object will do.
  if (kube::AlreadyExists(created.status())) return member.Get(resource, wanted.key(), stop);
  return created;
}

json::Value Strings(absl::string_view one) { return json::Value::Array({std::string(one)}); }

absl::Status EnsureRole(kube::Client& member, const kube::ObjectKey& account,
                        const base::StopToken& stop) {
  const std::string name = absl::StrCat(kRolePrefix, account.name);
  kube::Object role = Labelled(api::ClusterRoles(), {"", name});
  role.Set(
      {"rules"},
      json::Value::Array(
          {json::Value::Object(
               {{"verbs", Strings("*")}, {"apiGroups", Strings("*")}, {"resources", Strings("*")}}),
           json::Value::Object({{"verbs", Strings("get")}, {"nonResourceURLs", Strings("*")}})}));
  RETURN_IF_ERROR(Ensure(member, api::ClusterRoles(), role, stop).status());
  kube::Object binding = Labelled(api::ClusterRoleBindings(), {"", name});
  binding.Set(
      {"subjects"},
      json::Value::Array({json::Value::Object(
          {{"kind", "ServiceAccount"}, {"name", account.name}, {"namespace", account.ns}})}));
  binding.Set({"roleRef"}, json::Value::Object({{"apiGroup", "rbac.authorization.k8s.io"},
                                                {"kind", "ClusterRole"},
                                                {"name", name}}));
  return Ensure(member, api::ClusterRoleBindings(), binding, stop).status();
}

absl::Status EnsureAccount(kube::Client& member, const kube::ObjectKey& account,
                           const base::StopToken& stop) {
  return Ensure(member, ServiceAccounts(), Labelled(ServiceAccounts(), account), stop).status();
}

// Returns the account's token Secret once it has a token.
absl::StatusOr<kube::Object> TokenOf(kube::Client& member, const kube::ObjectKey& account,
                                     const base::StopToken& stop) {
  kube::Object wanted = kube::Object::Make(api::Secrets().gvk, account);
  wanted.SetAnnotation(kAccountAnnotation, account.name);
  wanted.Set({"type"}, kTokenSecretType);
  absl::StatusOr<kube::Object> secret = Ensure(member, api::Secrets(), wanted, stop);
  for (int poll = 0; poll < kTokenPolls; ++poll) {
    RETURN_IF_ERROR(secret.status());
    if (!secret->Get({"data", "token"}).AsString().empty()) return secret;
    if (!member.clock().SleepFor(kTokenPoll, stop)) return absl::CancelledError("stopped");
    secret = member.Get(api::Secrets(), account, stop);
  }
  return absl::UnavailableError(absl::StrCat("the cluster has not issued a token for its Secret ",
                                             account.ToString(),
                                             ": is its kube-controller-manager running?"));
}

}  // namespace

absl::StatusOr<std::string> MemberId(kube::Client& member, const base::StopToken& stop) {
  const absl::StatusOr<kube::Object> system =
      member.Get(api::Namespaces(), {"", "kube-system"}, stop);
  RETURN_IF_ERROR(base::Annotate(system.status(), "identifying the cluster"));
  return std::string(system->uid());
}

absl::StatusOr<MemberCredentials> EnsureMemberAccounts(kube::Client& member,
                                                       const MemberAccounts& wanted,
                                                       const base::StopToken& stop) {
  MemberCredentials credentials;
  const kube::Object ns = Labelled(api::Namespaces(), {"", wanted.ns});
  RETURN_IF_ERROR(Ensure(member, api::Namespaces(), ns, stop).status());
  if (wanted.impersonator) {
    const kube::ObjectKey impersonator{wanted.ns, kImpersonator};
    RETURN_IF_ERROR(EnsureAccount(member, impersonator, stop));
    ASSIGN_OR_RETURN(const kube::Object secret, TokenOf(member, impersonator, stop));
    credentials.impersonator_token = secret.Get({"data", "token"}).ToString();
  }
  if (!wanted.account) return credentials;
  const kube::ObjectKey account{wanted.ns, absl::StrCat("karmada-", wanted.cluster)};
  RETURN_IF_ERROR(EnsureAccount(member, account, stop));
  RETURN_IF_ERROR(EnsureRole(member, account, stop));
  ASSIGN_OR_RETURN(const kube::Object secret, TokenOf(member, account, stop));
  credentials.token = secret.Get({"data", "token"}).ToString();
  credentials.ca_bundle = secret.Get({"data", "ca.crt"}).ToString();
  return credentials;
}

}  // namespace controllers
