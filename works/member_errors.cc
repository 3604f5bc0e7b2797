#include "works/member_errors.h"

#include "absl/strings/str_cat.h"
#include "api/reasons.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "kube/client/errors.h"

namespace works {

bool MayBeThere(const absl::Status& refused) {
  switch (kube::FailureOf(refused).code) {
    case 0:  // No server has answered.
    case 401:
    case 404:
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return false;
    default:
      return !refused.ok();
  }
}

absl::Status RefuseForeign(const std::string& cluster, const kube::Object& manifest) {
  return absl::AlreadyExistsError(
      absl::StrCat(api::message::ObjectExistsUnmanaged(manifest.kind(), manifest.key(), cluster),
                   api::message::TakeOverAdvice(manifest.kind())));
}

absl::Status ExplainConflict(const std::string& cluster, const absl::Status& refused) {
  if (!kube::IsFieldConflict(refused)) return refused;
  return base::Annotate(refused, "cluster ", cluster,
                        ": others have set fields of the template there; leave these out of the "
                        "template, or set conflictResolution: Overwrite in the policy");
}

absl::Status NamedIfDenied(const std::string& cluster, const absl::Status& failed) {
  if (!absl::IsPermissionDenied(failed)) return failed;
  return base::Annotate(failed, "cluster ", cluster, " does not allow it");
}

absl::Status Explained(const std::string& cluster, const kube::Object& manifest,
                       const absl::Status& failed) {
  if (!kube::IsNoSuchKind(failed)) return failed;
  return base::Annotate(failed, "cluster ", cluster, " does not serve ", manifest.kind(), " in ",
                        manifest.api_version(),
                        "; apply or propagate its CustomResourceDefinition there, and ",
                        manifest.key().ToString(), " follows");
}

}  // namespace works
