#include "api/binding_owner.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace api {

absl::Status CheckBindingOwner(const kube::Object& binding, const kube::OwnerRef& owner) {
  const kube::OwnerRef has = binding.ControllerOwner();
  if (has.uid.empty() || has.uid == owner.uid) return absl::OkStatus();
  const std::string what = absl::StrCat(
      binding.Describe(), " belongs to ", has.api_version, " ", has.kind, " ",
      kube::ObjectKey{std::string(binding.ns()), has.name}.ToString(), " (uid ", has.uid, ")");
  const bool same_name =
      has.api_version == owner.api_version && has.kind == owner.kind && has.name == owner.name;
  return absl::FailedPreconditionError(
      same_name
          ? absl::StrCat(what, ", an earlier object of the same name; this one (uid ", owner.uid,
                         ") gets its binding once the earlier one's has been garbage-collected")
          : absl::StrCat(what,
                         ", whose binding has the same name; only one of the two objects can "
                         "be propagated: rename one of them, or have policies select only "
                         "one and delete the binding of the other"));
}

}  // namespace api
