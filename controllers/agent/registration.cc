// The order is upstream's. The member's identity comes first (the uid of its namespace
// kube-system), which must not be that of the control plane; the Cluster of the name shows whether
// it is registered, and otherwise the list of all Clusters whether name or identity is in use. Then
// come the accounts in the member, for whose tokens it may wait some seconds, and so the question
// whose the name is once more; the Secrets with the tokens, the Cluster, which names the Secrets,
// and at last the Cluster's uid as the owner of the Secrets, so that they go with it. A
// registration that is interrupted anywhere is completed by the next start.
//
// Of two clusters that register under one name at the same moment the second one finds the Cluster
// of the first before it writes, and is refused; only where both write their Secrets between the
// other's last question and its Cluster may the Secrets be the second one's until the first one
// starts again.
//
// The agent may create and read Clusters, and read and patch its two Secrets. An update of the
// Cluster, which is due only when the flags have changed, is a PUT on the condition of the version
// that was read; `karmadactl register` gives no right to it, and then the start fails as upstream's
// does. Nothing is remembered.

#include "controllers/agent/registration.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/resources.h"
#include "base/json.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/context/member_accounts.h"
#include "kube/client/errors.h"
#include "kube/client/refused_credentials.h"
#include "kube/meta/patch.h"

namespace controllers {
namespace {

// Upstream says "failed to register" of what comes after this as well.
constexpr char kFailed[] = "failed to register with karmada control plane";

absl::StatusOr<std::string> IdOf(kube::Client& member, const base::StopToken& stop) {
  absl::StatusOr<std::string> id = MemberId(member, stop);
  if (!absl::IsUnauthenticated(id.status())) return id;
  return absl::UnauthenticatedError(absl::StrCat(
      "the cluster refuses the credentials of its kubeconfig ", kube::kRefusedCredentials,
      " (--kubeconfig, or the key kubeconfig of its Secret)"));
}

// A control plane that is its own member would get its templates as copies of themselves, and lose
// them with its Cluster.
absl::Status CheckIsNotControlPlane(const OwnCluster& own, const std::string& id,
                                    kube::Client& control_plane, const base::StopToken& stop) {
  const absl::StatusOr<kube::Object> its =
      control_plane.Get(api::Namespaces(), {"", "kube-system"}, stop);
  const bool says_nothing = kube::IsGone(its.status()) || absl::IsPermissionDenied(its.status());
  if (!its.ok() && !says_nothing) return its.status();
  const bool is_same =
      its.ok() ? its->uid() == id && !id.empty() : own.has_address_of_control_plane;
  if (!is_same) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the cluster ", own.name,
      " would be the control plane itself: the kubeconfig of the cluster "
      "(--kubeconfig; without it $KUBECONFIG, the account of the pod or ~/.kube/config counts) "
      "leads to the same server as that of the control plane (--karmada-kubeconfig). Nothing has "
      "been written; give the cluster's own kubeconfig"));
}

// The words are upstream's; what follows them says which of the two it is.
absl::Status InUse(const OwnCluster& own, const std::string& id, absl::string_view what) {
  return absl::AlreadyExistsError(absl::StrCat("the cluster ID ", id, " or the cluster name ",
                                               own.name, " has been registered: ", what));
}

// Returns why the cluster may not have the Cluster, which has its name.
absl::Status CheckId(const OwnCluster& own, const std::string& id, const kube::Object& cluster) {
  const absl::string_view its = cluster.spec()["id"].AsString();
  if (its == id) return absl::OkStatus();
  return InUse(own, id, absl::StrCat("another cluster, with the ID \"", its, "\", has this name"));
}

// Returns why the cluster may not be registered under its name, as far as the Cluster of that name
// says. kNotFound when there is none.
absl::Status CheckName(const OwnCluster& own, const std::string& id, kube::Client& control_plane,
                       const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const kube::Object cluster,
                   control_plane.Get(api::Clusters(), {"", own.name}, stop));
  return CheckId(own, id, cluster);
}

// Returns why the cluster may not be registered under its name. All Clusters are listed only where
// the cluster is not registered already, as at the first start.
absl::Status CheckIdentity(const OwnCluster& own, const std::string& id,
                           kube::Client& control_plane, const base::StopToken& stop) {
  absl::Status refusal = CheckName(own, id, control_plane, stop);
  if (!kube::IsGone(refusal) && !absl::IsAlreadyExists(refusal)) return refusal;
  if (kube::IsGone(refusal)) refusal = absl::OkStatus();
  const kube::ListOptions options{.fields = {"spec.id"}};
  ASSIGN_OR_RETURN(const kube::ListPage clusters,
                   control_plane.ListAll(api::Clusters(), "", options, stop));
  for (const kube::Object& cluster : clusters.items) {
    if (cluster.name() == own.name || cluster.spec()["id"].AsString() != id) continue;
    refusal = InUse(
        own, id,
        absl::StrCat("the cluster that the kubeconfig (--kubeconfig) leads to is registered under "
                     "the name ",
                     cluster.name(), ". Is that the kubeconfig of ", own.name,
                     "? If it is not, give the right one; if it is, give the name ", cluster.name(),
                     ", or take ", cluster.name(),
                     " out first (karmadactl unjoin or unregister), which deletes there all that "
                     "Karmada has put into it"));
  }
  return refusal;
}

absl::Status EnsureNamespace(kube::Client& client, const std::string& name,
                             const base::StopToken& stop) {
  const absl::Status found = client.Get(api::Namespaces(), {"", name}, stop).status();
  if (found.ok() || !kube::IsGone(found)) return found;
  kube::Object ns = kube::Object::Make(api::Namespaces().gvk, {"", name});
  ns.SetLabel(api::kSystemLabel, api::kSystemValue);
  const absl::Status created = client.Create(api::Namespaces(), ns, {}, stop).status();
  return kube::AlreadyExists(created) ? absl::OkStatus() : created;
}

// Has the Secret, as the server stored it, be as `after` says, which was made of it.
absl::StatusOr<kube::Object> PatchSecret(kube::Client& client, const kube::Object& before,
                                         const kube::Object& after, const base::StopToken& stop) {
  json::Value patch = kube::DiffMergePatch(before.root(), after.root());
  if (patch.is_null()) return before;
  patch.Set({"metadata", "resourceVersion"}, before.resource_version());
  return client.Patch(api::Secrets(), before.key(), kube::PatchType::kMerge, patch, {}, stop);
}

// Returns the Secret with this data, created or changed as need be.
absl::StatusOr<kube::Object> WriteSecret(kube::Client& client, const kube::ObjectKey& key,
                                         const json::Value& data, const base::StopToken& stop) {
  absl::StatusOr<kube::Object> secret = client.Get(api::Secrets(), key, stop);
  if (kube::IsGone(secret.status())) {
    kube::Object wanted = kube::Object::Make(api::Secrets().gvk, key);
    wanted.SetLabel(api::kSystemLabel, api::kSystemValue);
    wanted.Set({"data"}, data);
    secret = client.Create(api::Secrets(), wanted, {}, stop);
  } else if (secret.ok()) {
    kube::Object after = *secret;
    for (const json::Member& m : data.members()) after.Set({"data", m.name()}, m.value);
    secret = PatchSecret(client, *secret, after, stop);
  }
  RETURN_IF_ERROR(base::Annotate(secret.status(), "reporting the Secret ", key.ToString()));
  return secret;
}

void SetOrErase(kube::Object& cluster, absl::string_view field, json::Value value, bool is_set) {
  if (is_set) {
    cluster.Set({"spec", field}, std::move(value));
  } else {
    cluster.Erase({"spec", field});
  }
}

void SetReference(kube::Object& cluster, absl::string_view field, const kube::ObjectKey& secret) {
  cluster.Set({"spec", field, "namespace"}, secret.ns);
  cluster.Set({"spec", field, "name"}, secret.name);
}

struct Secrets {
  kube::ObjectKey credentials, impersonator;
};

Secrets SecretsOf(const OwnCluster& own) {
  return {{own.secret_namespace, own.name},
          {own.secret_namespace, absl::StrCat(own.name, "-impersonator")}};
}

// Sets on the Cluster what the agent determines.
void Describe(const OwnCluster& own, const std::string& id, kube::Object& cluster) {
  cluster.Set({"spec", "syncMode"}, "Pull");
  cluster.Set({"spec", "id"}, id);
  SetOrErase(cluster, "apiEndpoint", own.api_endpoint, !own.api_endpoint.empty());
  SetOrErase(cluster, "proxyURL", own.proxy_url, !own.proxy_url.empty());
  SetOrErase(cluster, "insecureSkipTLSVerification", true, own.insecure_skip_tls_verify);
  if (!own.provider.empty()) cluster.Set({"spec", "provider"}, own.provider);
  if (!own.region.empty()) cluster.Set({"spec", "region"}, own.region);
  if (!own.zones.empty()) {
    json::Value zones = json::Value::Array();
    for (const std::string& zone : own.zones) zones.Append(zone);
    cluster.Set({"spec", "zones"}, std::move(zones));
  }
  const Secrets secrets = SecretsOf(own);
  if (own.reports_credentials) SetReference(cluster, "secretRef", secrets.credentials);
  if (own.reports_impersonator) {
    SetReference(cluster, "impersonatorSecretRef", secrets.impersonator);
  }
}

// Upstream's agent takes a push cluster over in silence.
void WarnOfPush(const OwnCluster& own, const kube::Object& before) {
  if (before.spec()["syncMode"].AsString() != "Push") return;
  const absl::string_view endpoint = before.spec()["apiEndpoint"].AsString();
  base::LogWarning(
      "the cluster was of mode Push, and is of mode Pull from now on: this agent applies to it in "
      "the place of the control plane. To go back, end the agent (or take its Secret away), and "
      "then set spec.syncMode to Push and spec.apiEndpoint to its address",
      {{"cluster", own.name},
       {"apiEndpoint before", endpoint},
       {"apiEndpoint now", own.api_endpoint}});
}

absl::StatusOr<kube::Object> WriteCluster(const OwnCluster& own, const std::string& id,
                                          kube::Client& client, const base::StopToken& stop) {
  const kube::ObjectKey key{"", own.name};
  absl::StatusOr<kube::Object> found = client.Get(api::Clusters(), key, stop);
  if (!found.ok() && !kube::IsGone(found.status())) return found;
  const bool is_new = !found.ok();
  // Another cluster may have been registered meanwhile.
  if (!is_new) RETURN_IF_ERROR(CheckId(own, id, *found));
  kube::Object cluster = is_new ? kube::Object::Make(api::Clusters().gvk, key) : *found;
  Describe(own, id, cluster);
  if (!is_new && cluster == *found) return cluster;
  absl::StatusOr<kube::Object> written = is_new
                                             ? client.Create(api::Clusters(), cluster, {}, stop)
                                             : client.Replace(api::Clusters(), cluster, {}, stop);
  // Whose it is, the next try finds out.
  if (kube::AlreadyExists(written.status())) return absl::AbortedError(written.status().message());
  if (written.ok()) {
    if (!is_new) WarnOfPush(own, *found);
    base::LogInfo(is_new ? "the cluster is registered" : "the registration has been updated",
                  {{"cluster", own.name}, {"id", id}});
  }
  return written;
}

// Has the Secret deleted with its Cluster.
absl::Status SetOwner(kube::Client& client, const kube::Object& secret, const kube::Object& cluster,
                      const base::StopToken& stop) {
  if (secret.ControllerOwner().uid == cluster.uid()) return absl::OkStatus();
  kube::OwnerRef owner;
  owner.api_version = api::Clusters().gvk.ApiVersion();
  owner.kind = api::Clusters().gvk.kind;
  owner.name = std::string(cluster.name());
  owner.uid = std::string(cluster.uid());
  owner.controller = owner.block_owner_deletion = true;
  kube::Object after = secret;
  after.Set({"metadata", "ownerReferences"}, json::Value::Array({owner.ToJson()}));
  return base::Annotate(PatchSecret(client, secret, after, stop).status(), "handing the Secret ",
                        secret.key().ToString(), " over to its Cluster");
}

absl::Status Register(const OwnCluster& own, const std::string& id,
                      const RegistrationClients& clients, const base::StopToken& stop) {
  kube::Client& client = clients.control_plane;
  RETURN_IF_ERROR(CheckIsNotControlPlane(own, id, client, stop));
  RETURN_IF_ERROR(CheckIdentity(own, id, client, stop));
  const absl::StatusOr<MemberCredentials> credentials =
      EnsureMemberAccounts(clients.member,
                           {.cluster = own.name,
                            .ns = own.secret_namespace,
                            .account = own.reports_credentials,
                            .impersonator = own.reports_impersonator},
                           stop);
  RETURN_IF_ERROR(base::Annotate(credentials.status(), "making the accounts in the cluster"));
  // The tokens have taken their time, and the Secrets of another cluster must not be written over.
  const absl::Status still_ours = CheckName(own, id, client, stop);
  if (!kube::IsGone(still_ours)) RETURN_IF_ERROR(still_ours);
  RETURN_IF_ERROR(EnsureNamespace(client, own.secret_namespace, stop));
  const Secrets keys = SecretsOf(own);
  kube::Object impersonator, secret;
  if (own.reports_impersonator) {
    ASSIGN_OR_RETURN(
        impersonator,
        WriteSecret(client, keys.impersonator,
                    json::Value::Object({{api::kSecretToken, credentials->impersonator_token}}),
                    stop));
  }
  if (own.reports_credentials) {
    ASSIGN_OR_RETURN(
        secret, WriteSecret(client, keys.credentials,
                            json::Value::Object({{api::kSecretCaBundle, credentials->ca_bundle},
                                                 {api::kSecretToken, credentials->token}}),
                            stop));
  }
  const absl::StatusOr<kube::Object> cluster = WriteCluster(own, id, client, stop);
  RETURN_IF_ERROR(base::Annotate(cluster.status(), "writing the Cluster ", own.name));
  if (own.reports_impersonator) RETURN_IF_ERROR(SetOwner(client, impersonator, *cluster, stop));
  if (own.reports_credentials) RETURN_IF_ERROR(SetOwner(client, secret, *cluster, stop));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> RegisterOwnCluster(const OwnCluster& own,
                                               const RegistrationClients& clients,
                                               const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::string id, IdOf(clients.member, stop));
  RETURN_IF_ERROR(base::Annotate(Register(own, id, clients, stop), kFailed));
  return id;
}

}  // namespace controllers
