// Columns of configuration, access and API machinery kinds.

#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/server/tables/builtin_columns.h"
#include "kube/server/tables/table_output.h"

namespace kube::server {
namespace {

using Cells = std::vector<json::Value>;

int64_t Count(const json::Value& v) { return static_cast<int64_t>(v.size()); }

Cells ConfigMapRow(const kube::Object& o, absl::Time now) {
  return {Count(o.root()["data"]) + Count(o.root()["binaryData"]), AgeCell(o, now)};
}

Cells SecretRow(const kube::Object& o, absl::Time now) {
  return {o.root()["type"].ToString(), Count(o.root()["data"]), AgeCell(o, now)};
}

Cells ServiceAccountRow(const kube::Object& o, absl::Time now) {
  return {Count(o.root()["secrets"]), AgeCell(o, now)};
}

Cells RoleRow(const kube::Object& o, absl::Time) {
  return {o.metadata()["creationTimestamp"].ToString()};
}

Cells RoleBindingRow(const kube::Object& o, absl::Time now) {
  const json::Value& role = o.root()["roleRef"];
  return {absl::StrCat(role["kind"].AsString(), "/", role["name"].AsString()), AgeCell(o, now)};
}

Cells LeaseRow(const kube::Object& o, absl::Time now) {
  return {o.spec()["holderIdentity"].ToString(), AgeCell(o, now)};
}

Cells NetworkPolicyRow(const kube::Object& o, absl::Time now) {
  return {SelectorText(o.spec()["podSelector"]), AgeCell(o, now)};
}

Cells StorageClassRow(const kube::Object& o, absl::Time now) {
  const json::Value& root = o.root();
  return {root["provisioner"].ToString(), TextOr(root["reclaimPolicy"], "Delete"),
          TextOr(root["volumeBindingMode"], "Immediate"), root["allowVolumeExpansion"].AsBool(),
          AgeCell(o, now)};
}

Cells PriorityClassRow(const kube::Object& o, absl::Time now) {
  return {o.root()["value"].AsInt(), o.root()["globalDefault"].AsBool(), AgeCell(o, now),
          TextOr(o.root()["preemptionPolicy"], "PreemptLowerPriority")};
}

Cells WebhookRow(const kube::Object& o, absl::Time now) {
  return {Count(o.root()["webhooks"]), AgeCell(o, now)};
}

Cells QuotaRow(const kube::Object& o, absl::Time now) {
  std::string requests;
  for (const json::Member& hard : o.spec()["hard"].members()) {
    const std::string used = TextOr(o.status()["used"][hard.name()], "0");
    const std::string limit =
        hard.value.is_string() ? hard.value.ToString() : json::Write(hard.value);
    absl::StrAppend(&requests, requests.empty() ? "" : ", ", hard.name(), ": ", used, "/", limit);
  }
  return {requests, "", AgeCell(o, now)};
}

Cells SigningRequestRow(const kube::Object& o, absl::Time now) {
  std::string condition = "Pending";
  for (const json::Value& c : o.status()["conditions"].items()) condition = c["type"].ToString();
  const json::Value& seconds = o.spec()["expirationSeconds"];
  return {AgeCell(o, now), o.spec()["signerName"].ToString(), o.spec()["username"].ToString(),
          seconds.is_int() ? HumanDuration(absl::Seconds(seconds.AsInt())) : "<none>", condition};
}

}  // namespace

std::vector<BuiltinColumns> ConfigColumns() {
  const BuiltinColumns::Spec age{"Age"};
  const BuiltinColumns::Spec created{"Created At", "date"};
  const std::string rbac = "rbac.authorization.k8s.io";
  const std::string admission = "admissionregistration.k8s.io";
  return {
      {"", "ConfigMap", {{"Data", "string"}, age}, ConfigMapRow},
      {"", "Secret", {{"Type"}, {"Data", "string"}, age}, SecretRow},
      {"", "ServiceAccount", {{"Secrets", "string"}, age}, ServiceAccountRow},
      {"", "ResourceQuota", {{"Request"}, {"Limit"}, age}, QuotaRow},
      {rbac, "Role", {created}, RoleRow},
      {rbac, "ClusterRole", {created}, RoleRow},
      {rbac, "RoleBinding", {{"Role"}, age}, RoleBindingRow},
      {rbac, "ClusterRoleBinding", {{"Role"}, age}, RoleBindingRow},
      {"apiextensions.k8s.io", "CustomResourceDefinition", {created}, RoleRow},
      {"coordination.k8s.io", "Lease", {{"Holder"}, age}, LeaseRow},
      {"networking.k8s.io", "NetworkPolicy", {{"Pod-Selector"}, age}, NetworkPolicyRow},
      {"storage.k8s.io",
       "StorageClass",
       {{"Provisioner"},
        {"ReclaimPolicy"},
        {"VolumeBindingMode"},
        {"AllowVolumeExpansion", "boolean"},
        age},
       StorageClassRow},
      {"scheduling.k8s.io",
       "PriorityClass",
       {{"Value", "integer"}, {"Global-Default", "boolean"}, age, {"PreemptionPolicy"}},
       PriorityClassRow},
      {admission, "MutatingWebhookConfiguration", {{"Webhooks", "integer"}, age}, WebhookRow},
      {admission, "ValidatingWebhookConfiguration", {{"Webhooks", "integer"}, age}, WebhookRow},
      {"certificates.k8s.io",
       "CertificateSigningRequest",
       {age, {"SignerName"}, {"Requestor"}, {"RequestedDuration"}, {"Condition"}},
       SigningRequestRow},
  };
}

}  // namespace kube::server
