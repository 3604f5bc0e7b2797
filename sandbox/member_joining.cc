// Joining takes the steps of `karmadactl join`, each of which may have been done by a call that
// failed: namespace and service accounts in the member; a token for each account and the two
// Secrets that hold them in the control plane; the Cluster; owner references that delete the
// Secrets with the Cluster. Nothing is undone after an error. The next call finds accounts and
// namespace and goes on; Secrets of the failed call hold tokens that are valid all the same, and
// PrepareToJoinAgain removes them. An error after the Cluster was created leaves a member that has
// joined, with a Secret that outlives it.

#include "sandbox/member_joining.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/random.h"
#include "base/status.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

std::string ImpersonatorSecret(const std::string& member) { return member + "-impersonator"; }

json::Value Reference(const std::string& name) {
  return json::Value::Object({{"namespace", api::kClusterNamespace}, {"name", name}});
}

// Returns a new token for the service account; tokens are unique.
std::string IssueToken(ApiServer& server, absl::string_view account) {
  std::string token = absl::StrCat(base::NewUuid(), ".", base::NewUuid());
  server.AddToken(token,
                  absl::StrCat("system:serviceaccount:", api::kClusterNamespace, ":", account));
  return token;
}

absl::Status CreateSecret(Backend& control_plane, const std::string& name, json::Value data) {
  kube::Object secret = kube::Object::Make(kinds::Secrets().gvk, {api::kClusterNamespace, name});
  secret.Set({"type"}, "Opaque");
  secret.Set({"data"}, std::move(data));
  return EnsureObject(control_plane, kinds::Secrets().gvr(), std::move(secret));
}

// Has the Secret deleted with the Cluster.
absl::Status HandOver(Backend& control_plane, const std::string& secret,
                      const kube::Object& cluster) {
  PatchRequest owner;
  owner.patch.Set({"metadata", "ownerReferences"}, json::Value::Array({ControllerRefTo(cluster)}));
  return control_plane.Patch(kinds::Secrets().gvr(), {api::kClusterNamespace, secret}, owner)
      .status();
}

kube::Object ClusterFor(const JoiningMember& member, absl::string_view id) {
  kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", member.name});
  cluster.Set(
      {"spec"},
      json::Value::Object({{"id", id},
                           {"syncMode", "Push"},
                           {"apiEndpoint", member.server.url()},
                           {"secretRef", Reference(member.name)},
                           {"impersonatorSecretRef", Reference(ImpersonatorSecret(member.name))}}));
  return cluster;
}

absl::Status CreateAccounts(Backend& member, const std::string& name) {
  RETURN_IF_ERROR(EnsureNamespace(member, api::kClusterNamespace));
  for (const std::string& account :
       {absl::StrCat("karmada-", name), std::string("karmada-impersonator")}) {
    RETURN_IF_ERROR(EnsureObject(
        member, kinds::ServiceAccounts().gvr(),
        kube::Object::Make(kinds::ServiceAccounts().gvk, {api::kClusterNamespace, account})));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status EnsureNamespace(Backend& backend, const std::string& name) {
  return EnsureObject(backend, kinds::Namespaces().gvr(),
                      kube::Object::Make(kinds::Namespaces().gvk, {"", name}));
}

absl::Status PrepareToJoinAgain(Backend& control_plane, const std::string& name) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr cluster,
                   FindObject(control_plane, api::Clusters().gvr(), {"", name}));
  if (cluster != nullptr) {
    return absl::FailedPreconditionError(
        cluster->IsDeleting()
            ? absl::StrCat(name,
                           " is still leaving: its Cluster is removed when the controller "
                           "manager has deleted what it propagated")
            : absl::StrCat(name, " has not left; kubectl delete cluster ", name, " lets it leave"));
  }
  // The garbage collector may not have deleted the old credentials yet, and would later delete new
  // ones of the same names.
  for (const std::string& secret : {name, ImpersonatorSecret(name)}) {
    RETURN_IF_ERROR(UnlessGone(
        control_plane.Delete(kinds::Secrets().gvr(), {api::kClusterNamespace, secret}, {})
            .status()));
  }
  return absl::OkStatus();
}

absl::Status JoinMember(Backend& control_plane, const JoiningMember& member) {
  Backend& backend = member.server.backend();
  RETURN_IF_ERROR(CreateAccounts(backend, member.name));
  // Upstream recognises a cluster by this uid.
  ASSIGN_OR_RETURN(const kube::ObjectPtr system,
                   backend.Get(kinds::Namespaces().gvr(), {"", "kube-system"}));
  // The Secrets come first: a Cluster without them would be reported as not ready, and could not be
  // joined again if they failed.
  const std::string token = IssueToken(member.server, absl::StrCat("karmada-", member.name));
  RETURN_IF_ERROR(CreateSecret(
      control_plane, member.name,
      json::Value::Object({{api::kSecretToken, absl::Base64Escape(token)},
                           {api::kSecretCaBundle, absl::Base64Escape(member.ca_pem)}})));
  const std::string impersonator = IssueToken(member.server, "karmada-impersonator");
  RETURN_IF_ERROR(
      CreateSecret(control_plane, ImpersonatorSecret(member.name),
                   json::Value::Object({{api::kSecretToken, absl::Base64Escape(impersonator)}})));
  ASSIGN_OR_RETURN(const kube::ObjectPtr cluster,
                   control_plane.Create(api::Clusters().gvr(), ClusterFor(member, system->uid())));
  for (const std::string& secret : {member.name, ImpersonatorSecret(member.name)}) {
    RETURN_IF_ERROR(HandOver(control_plane, secret, *cluster));
  }
  return absl::OkStatus();
}

}  // namespace sandbox
