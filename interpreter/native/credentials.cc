// Secret, ServiceAccount.

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "interpreter/native/handler_table.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

// Others write into a Secret in a member:
//   data   the token controller, for the type kubernetes.io/service-account-token: the token of the
//          member's own service account
absl::StatusOr<kube::Object> RetainSecret(const kube::Object& desired,
                                          const kube::Object& observed) {
  if (desired.root()["type"].AsString() != "kubernetes.io/service-account-token") return desired;
  ASSIGN_OR_RETURN(const json::Value* data, json::FindObject(observed.root(), {"data"}));
  if (data == nullptr) return desired;
  Fields secret(observed.root(), "");
  secret.StringMap("data");
  RETURN_IF_ERROR(secret.error());
  kube::Object retained = desired;
  retained.Set({"data"}, *data);
  return retained;
}

// Appends the observed references whose name is new. One without a name refers to nothing.
absl::Status MergeReferences(absl::string_view field, const kube::Object& observed,
                             kube::Object& retained) {
  ASSIGN_OR_RETURN(const json::Value* desired, json::FindArray(retained.root(), {field}));
  ASSIGN_OR_RETURN(const json::Value* found, json::FindArray(observed.root(), {field}));
  if (found == nullptr || found->empty()) return absl::OkStatus();
  json::Value merged = desired == nullptr ? json::Value::Array() : *desired;
  absl::flat_hash_set<std::string> names;
  Fields ours(retained.root(), "");
  ours.Each(field, [&](Fields& reference) { names.emplace(reference.String("name")); });
  Fields theirs(observed.root(), "");
  theirs.Each(field, [&](Fields& reference) {
    const std::string name(reference.String("name"));
    if (!name.empty() && names.insert(name).second) merged.Append(reference.value());
  });
  RETURN_IF_ERROR(ours.error());
  RETURN_IF_ERROR(theirs.error());
  retained.Set({field}, std::move(merged));
  return absl::OkStatus();
}

// Others write into a ServiceAccount in a member:
//   secrets            the token controller of clusters before Kubernetes 1.24, and OpenShift's
//   imagePullSecrets   controllers of registries, such as OpenShift's
// They are added to those of the template. (Where neither side has any, upstream
// writes an explicit null; here the field stays as it is.)
absl::StatusOr<kube::Object> RetainServiceAccount(const kube::Object& desired,
                                                  const kube::Object& observed) {
  kube::Object retained = desired;
  RETURN_IF_ERROR(MergeReferences("secrets", observed, retained));
  RETURN_IF_ERROR(MergeReferences("imagePullSecrets", observed, retained));
  return retained;
}

}  // namespace

void RegisterCredentials(HandlerTable& table) {
  table.Add({"", "v1", "Secret"}, {.retain = RetainSecret});
  table.Add({"", "v1", "ServiceAccount"}, {.retain = RetainServiceAccount});
}

}  // namespace interpreter::native
