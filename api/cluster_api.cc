#include "api/cluster_api.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "kube/meta/selector.h"

namespace api {
namespace {

constexpr char kGroup[] = "cluster.x-k8s.io";
constexpr char kKind[] = "Cluster";
constexpr char kProvisioned[] = "Provisioned";
// Of this program alone.
constexpr char kClusterAnnotation[] = "cluster-api.karmada.io/cluster";         // "<ns>/<name>"
constexpr char kJoinedWithAnnotation[] = "cluster-api.karmada.io/joined-with";  // "<m>/<u>/<c>"

}  // namespace

absl::Span<const kube::Gvk> ClusterApiVersions() {
  static const auto& versions = *new std::vector<kube::Gvk>{
      {kGroup, "v1beta1", kKind},
      {kGroup, "v1beta2", kKind},
  };
  return versions;
}

std::vector<std::string> ClusterApiFields() {
  return {"metadata.creationTimestamp", "status.phase", "spec.controlPlaneEndpoint"};
}

bool IsProvisioned(const kube::Object& cluster) {
  return cluster.status()["phase"].AsString() == kProvisioned;
}

kube::ObjectKey KubeconfigSecretOf(const kube::ObjectKey& cluster) {
  return {cluster.ns, absl::StrCat(cluster.name, "-kubeconfig")};
}

absl::Status CheckClusterName(absl::string_view name) {
  if (name.size() > kLongestClusterName) {
    return absl::InvalidArgumentError(
        absl::StrCat("the name ", name, " has more than the ", kLongestClusterName,
                     " characters that the name of a member cluster may have"));
  }
  return base::Annotate(kube::ValidateDns1123Label(name), "the name of a member cluster");
}

JoinMark JoinMark::Of(const kube::Object& object, absl::string_view name) {
  JoinMark mark;
  const std::vector<std::string> key = absl::StrSplit(object.Annotation(kClusterAnnotation), '/');
  if (key.size() != 2 || key[0].empty() || key[1] != name) return mark;
  mark.cluster = {key[0], key[1]};
  std::vector<std::string> with = absl::StrSplit(object.Annotation(kJoinedWithAnnotation), '/');
  if (with.size() != 3 || with[0].empty()) return mark;
  mark.management = std::move(with[0]);
  mark.uid = std::move(with[1]);
  mark.connection = std::move(with[2]);
  return mark;
}

void JoinMark::WriteTo(kube::Object& object) const {
  object.SetAnnotation(kClusterAnnotation, cluster.ToString());
  object.SetAnnotation(kJoinedWithAnnotation, absl::StrCat(management, "/", uid, "/", connection));
}

}  // namespace api
