#include "kube/client/errors.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "kube/client/api_error.h"
#include "kube/client/client.h"

namespace kube {
namespace {

// Marks errors that no server sent.
constexpr absl::string_view kNoSuchKindPayload = "type.kube/no-such-kind";

}  // namespace

bool IsConflict(const absl::Status& status) { return absl::IsAborted(status); }

bool IsFieldConflict(const absl::Status& status) { return NamesFieldManagers(status); }

bool IsNoOutcome(const absl::Status& status) {
  return IsConflict(status) || absl::IsCancelled(status);
}

bool IsNoSuchKind(const absl::Status& status) {
  if (!absl::IsNotFound(status)) return false;
  if (status.GetPayload(kNoSuchKindPayload).has_value()) return true;
  // A server names an object that it did not find; for a path that it does not serve there is no
  // name.
  return FailureOf(status).code == 404 && !NamesObject(status);
}

bool IsGone(const absl::Status& status) {
  return absl::IsNotFound(status) && !IsNoSuchKind(status);
}

bool AlreadyExists(const absl::Status& status) { return absl::IsAlreadyExists(status); }

bool IsInvalid(const absl::Status& status) { return absl::IsInvalidArgument(status); }

absl::Status IgnoreGone(const absl::Status& status) {
  return IsGone(status) ? absl::OkStatus() : status;
}

absl::Status GoneError(const Resource& resource, const ObjectKey& key) {
  const std::string& group = resource.gvk.group;
  return absl::NotFoundError(absl::StrCat(resource.plural, group.empty() ? "" : ".", group, " \"",
                                          key.ToString(), "\" not found"));
}

absl::Status NoSuchKindError(const Gvk& gvk) {
  absl::Status error = absl::NotFoundError(
      absl::StrCat("no matches for kind \"", gvk.kind, "\" in version \"", gvk.ApiVersion(), "\""));
  error.SetPayload(kNoSuchKindPayload, absl::Cord("1"));
  return error;
}

}  // namespace kube
