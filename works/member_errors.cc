#include "works/member_errors.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "api/reasons.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "kube/client/errors.h"
#include "kube/client/go_words.h"

namespace works {
namespace {

constexpr char kAdvice[] = "works/advice";

// Returns the error, which takes the sentence to where an event is made of it.
absl::Status WithAdvice(absl::Status failed, absl::string_view advice) {
  failed.SetPayload(kAdvice, absl::Cord(advice));
  return failed;
}

}  // namespace

bool MayBeThere(const absl::Status& refused) {
  // These codes say nothing about the object; with any other it may be there.
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
  return WithAdvice(absl::AlreadyExistsError(api::message::ObjectExistsUnmanaged(
                        manifest.kind(), manifest.key(), cluster)),
                    api::message::TakeOverAdvice(manifest.kind()));
}

absl::Status RefuseTemplate(const std::string& cluster, const kube::Object& manifest) {
  return WithAdvice(
      absl::FailedPreconditionError(absl::StrCat(manifest.kind(), " ", manifest.key().ToString(),
                                                 " in the cluster ", cluster,
                                                 " is the template itself: the cluster is the "
                                                 "control plane, and Karmada leaves it alone")),
      absl::StrCat("Take the Cluster ", cluster, " out"));
}

absl::Status ExplainConflict(const std::string& cluster, const absl::Status& refused) {
  if (!kube::IsFieldConflict(refused)) return refused;
  return WithAdvice(refused,
                    absl::StrCat("Others have set fields of the template in cluster ", cluster,
                                 "; leave these out of the template, or set conflictResolution: "
                                 "Overwrite in the policy"));
}

absl::Status NamedIfDenied(const std::string& cluster, const absl::Status& failed) {
  if (!absl::IsPermissionDenied(failed)) return failed;
  return base::Annotate(failed, "cluster ", cluster, " does not allow it");
}

absl::Status Explained(const std::string& cluster, const kube::Object& manifest,
                       const absl::Status& failed) {
  if (!kube::IsNoSuchKind(failed)) return failed;
  return WithAdvice(failed,
                    absl::StrCat("Cluster ", cluster, " does not serve ", manifest.kind(), " in ",
                                 manifest.api_version(),
                                 "; apply or propagate its CustomResourceDefinition there, and ",
                                 manifest.key().ToString(), " follows"));
}

absl::Status ForCondition(const absl::Status& failed) { return kube::InGoWords(failed, ""); }

absl::Status ForEvent(const absl::Status& failed) {
  const absl::Status worded = ForCondition(failed);
  const auto advice = failed.GetPayload(kAdvice);
  if (!advice.has_value()) return worded;
  absl::Status advised(worded.code(), absl::StrCat(worded.message(), ". ", std::string(*advice)));
  worded.ForEachPayload([&advised](absl::string_view type, const absl::Cord& payload) {
    advised.SetPayload(type, payload);
  });
  return advised;
}

}  // namespace works
