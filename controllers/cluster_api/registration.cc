// Write makes the Secrets before the Cluster, because a Cluster without credentials would be
// reported as not ready, and hands them over to it last, when its uid is known. All of them bear
// the mark of the join. A pass that is interrupted leaves either Secrets without an owner, which
// the next pass takes over or RemoveLeftovers deletes, or a Cluster that IsComplete finds
// incomplete. Each step compares with the cache and sends only differences; what others have set on
// an existing Cluster stays. Nothing is remembered.

#include "controllers/cluster_api/registration.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace controllers {
namespace {

constexpr size_t kDigestBytes = 12;

kube::ObjectKey SecretNamed(const std::string& name) { return {api::kClusterNamespace, name}; }

kube::ObjectKey ImpersonatorNamed(const std::string& name) {
  return SecretNamed(absl::StrCat(name, "-impersonator"));
}

// A Cluster that was joined in another way, and handed over, may have its Secrets elsewhere.
kube::ObjectKey Or(kube::ObjectKey given, kube::ObjectKey standard) {
  return given.name.empty() ? std::move(standard) : std::move(given);
}

void SetReference(kube::Object& cluster, absl::string_view field, const kube::ObjectKey& key) {
  cluster.Set({"spec", field, "namespace"}, key.ns);
  cluster.Set({"spec", field, "name"}, key.name);
}

bool BelongsTo(const kube::Object& secret, const kube::Object& cluster) {
  return secret.ControllerOwner().uid == cluster.uid();
}

bool HasToken(const kube::Object& secret) {
  return !secret.Get({"data", api::kSecretToken}).AsString().empty();
}

// A Secret of an earlier Cluster of that name may still be there: the garbage collector has not
// deleted it yet.
bool MayTake(const kube::Object& secret, const std::string& name) {
  const kube::OwnerRef owner = secret.ControllerOwner();
  return owner.uid.empty() || (owner.kind == api::Clusters().gvk.kind && owner.name == name);
}

void SetOrErase(kube::Object& object, absl::string_view field, const json::Value& value,
                bool is_set) {
  if (is_set) {
    object.Set({"spec", field}, value);
  } else {
    object.Erase({"spec", field});
  }
}

}  // namespace

std::string ConnectionDigest(const kube::ConnectionConfig& config) {
  const std::vector<std::string> parts = {config.server, config.ca_pem, config.proxy_url,
                                          config.insecure_skip_tls_verify ? "insecure" : ""};
  return absl::BytesToHexString(
      base::Sha256(absl::StrJoin(parts, absl::string_view("\0", 1))).substr(0, kDigestBytes));
}

bool Registrations::IsComplete(const kube::Object& cluster) const {
  const api::ClusterView view(cluster);
  for (const kube::ObjectKey& key : {view.SecretRef(), view.ImpersonatorSecretRef()}) {
    const kube::ObjectPtr secret = client_.Find(api::Secrets(), key);
    if (secret == nullptr || !HasToken(*secret) || !BelongsTo(*secret, cluster)) return false;
  }
  return true;
}

std::string Registrations::OtherWithId(const std::string& id, const std::string& name) const {
  for (const kube::ObjectPtr& cluster : client_.List(api::Clusters())) {
    if (cluster->name() == name || cluster->spec()["id"].AsString() != id) continue;
    return std::string(cluster->name());
  }
  return "";
}

absl::Status Registrations::Write(const Registration& wanted, const kube::ObjectPtr& cluster,
                                  const base::StopToken& stop) {
  RETURN_IF_ERROR(EnsureNamespace(stop));
  kube::ObjectKey secret_key, impersonator_key;
  if (cluster != nullptr) {
    secret_key = api::ClusterView(*cluster).SecretRef();
    impersonator_key = api::ClusterView(*cluster).ImpersonatorSecretRef();
  }
  ASSIGN_OR_RETURN(
      const kube::ObjectPtr impersonator,
      WriteSecret(Or(impersonator_key, ImpersonatorNamed(wanted.name)),
                  json::Value::Object({{api::kSecretToken, wanted.credentials.impersonator_token}}),
                  wanted, stop));
  ASSIGN_OR_RETURN(
      const kube::ObjectPtr secret,
      WriteSecret(Or(secret_key, SecretNamed(wanted.name)),
                  json::Value::Object({{api::kSecretCaBundle, wanted.credentials.ca_bundle},
                                       {api::kSecretToken, wanted.credentials.token}}),
                  wanted, stop));
  ASSIGN_OR_RETURN(const kube::ObjectPtr written, WriteCluster(wanted, cluster, stop));
  RETURN_IF_ERROR(SetOwner(impersonator, *written, stop));
  return SetOwner(secret, *written, stop);
}

absl::Status Registrations::EnsureNamespace(const base::StopToken& stop) {
  kube::Client& raw = client_.raw();
  const kube::ObjectKey key{"", api::kClusterNamespace};
  const absl::Status found = raw.Get(api::Namespaces(), key, stop).status();
  if (found.ok() || !kube::IsGone(found)) return found;
  kube::Object ns = kube::Object::Make(api::Namespaces().gvk, key);
  ns.SetLabel(api::kSystemLabel, api::kSystemValue);
  const absl::Status created = raw.Create(api::Namespaces(), ns, {}, stop).status();
  return kube::AlreadyExists(created) ? absl::OkStatus() : created;
}

absl::StatusOr<kube::ObjectPtr> Registrations::WriteSecret(const kube::ObjectKey& key,
                                                           json::Value data,
                                                           const Registration& wanted,
                                                           const base::StopToken& stop) {
  kube::ObjectPtr before = client_.Find(api::Secrets(), key);
  kube::Object after = before != nullptr ? *before : kube::Object::Make(api::Secrets().gvk, key);
  if (!MayTake(after, wanted.name)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the Secret ", key.ToString(),
                     ", which would have the credentials of cluster ", wanted.name, ", belongs to ",
                     after.ControllerOwner().kind, " ", after.ControllerOwner().name));
  }
  after.SetLabel(api::kSystemLabel, api::kSystemValue);
  wanted.mark.WriteTo(after);
  for (const json::Member& member : data.members()) {
    after.Set({"data", member.name()}, member.value);
  }
  absl::StatusOr<kube::ObjectPtr> written =
      before != nullptr ? client_.Update(api::Secrets(), before, after, {}, stop)
                        : client_.Create(api::Secrets(), after, stop);
  RETURN_IF_ERROR(base::Annotate(written.status(), "writing the Secret ", key.ToString()));
  return written;
}

// Only what a join determines is set; labels, taints, models and everything else of an existing
// Cluster stay.
absl::StatusOr<kube::ObjectPtr> Registrations::WriteCluster(const Registration& wanted,
                                                            const kube::ObjectPtr& cluster,
                                                            const base::StopToken& stop) {
  kube::Object after =
      cluster != nullptr ? *cluster : kube::Object::Make(api::Clusters().gvk, {"", wanted.name});
  wanted.mark.WriteTo(after);
  after.Set({"spec", "syncMode"}, "Push");
  after.Set({"spec", "id"}, wanted.id);
  after.Set({"spec", "apiEndpoint"}, wanted.config.server);
  const api::ClusterView view(after);
  const kube::ObjectKey secret = Or(view.SecretRef(), SecretNamed(wanted.name));
  const kube::ObjectKey impersonator =
      Or(view.ImpersonatorSecretRef(), ImpersonatorNamed(wanted.name));
  SetReference(after, "secretRef", secret);
  SetReference(after, "impersonatorSecretRef", impersonator);
  SetOrErase(after, "insecureSkipTLSVerification", true, wanted.config.insecure_skip_tls_verify);
  SetOrErase(after, "proxyURL", wanted.config.proxy_url, !wanted.config.proxy_url.empty());
  absl::StatusOr<kube::ObjectPtr> written =
      cluster != nullptr ? client_.Update(api::Clusters(), cluster, after, {}, stop)
                         : client_.Create(api::Clusters(), after, stop);
  RETURN_IF_ERROR(base::Annotate(written.status(), "writing the Cluster"));
  return written;
}

// Has the Secret deleted with its Cluster.
absl::Status Registrations::SetOwner(const kube::ObjectPtr& secret, const kube::Object& cluster,
                                     const base::StopToken& stop) {
  if (BelongsTo(*secret, cluster)) return absl::OkStatus();
  kube::OwnerRef owner;
  owner.api_version = api::Clusters().gvk.ApiVersion();
  owner.kind = api::Clusters().gvk.kind;
  owner.name = std::string(cluster.name());
  owner.uid = std::string(cluster.uid());
  owner.controller = owner.block_owner_deletion = true;
  kube::Object after = *secret;
  after.Set({"metadata", "ownerReferences"}, json::Value::Array({owner.ToJson()}));
  return base::Annotate(client_.Update(api::Secrets(), secret, after, {}, stop).status(),
                        "handing the Secret ", secret->key().ToString(), " over to its Cluster");
}

api::JoinMark Registrations::LeftoversOf(const std::string& name) const {
  for (const kube::ObjectKey& key : {SecretNamed(name), ImpersonatorNamed(name)}) {
    const kube::ObjectPtr secret = client_.Find(api::Secrets(), key);
    if (secret == nullptr || !secret->OwnerRefs().empty()) continue;
    api::JoinMark mark = api::JoinMark::Of(*secret, name);
    if (mark.is_complete()) return mark;
  }
  return {};
}

absl::Status Registrations::RemoveLeftovers(const std::string& name, const api::JoinMark& mark,
                                            const base::StopToken& stop) {
  for (const kube::ObjectKey& key : {SecretNamed(name), ImpersonatorNamed(name)}) {
    const kube::ObjectPtr secret = client_.Find(api::Secrets(), key);
    if (secret == nullptr || !secret->OwnerRefs().empty()) continue;
    if (api::JoinMark::Of(*secret, name) != mark) continue;
    kube::DeleteOptions options;
    // Exactly this Secret in this state: a join that has begun again meanwhile needs its own.
    options.uid = std::string(secret->uid());
    options.resource_version = std::string(secret->resource_version());
    RETURN_IF_ERROR(client_.Delete(api::Secrets(), key, options, stop));
  }
  return absl::OkStatus();
}

}  // namespace controllers
