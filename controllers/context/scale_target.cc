#include "controllers/context/scale_target.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "kube/client/go_words.h"
#include "kube/client/subresource.h"

namespace controllers {
namespace {

constexpr char kScale[] = "scale";

// Determines what a 404 for the scale subresource means. API servers answer it for objects that do
// not exist and for kinds without the subresource alike, so the object itself is asked for.
absl::Status MeaningOfNotFound(kube::ClusterClient& client, const kube::Resource& resource,
                               const ScaleTarget& target, const base::StopToken& stop) {
  RETURN_IF_ERROR(client.raw().Get(resource, target.key, stop).status());
  return absl::FailedPreconditionError(
      absl::StrCat(target.Describe(), " cannot be scaled: objects of kind ", target.gvk.kind, " (",
                   target.gvk.ApiVersion(), ") have no scale subresource"));
}

}  // namespace

std::string ScaleTarget::Describe() const { return absl::StrCat(gvk.kind, " ", key.ToString()); }

absl::StatusOr<ScaleTarget> ScaleTargetOf(const kube::Object& autoscaler) {
  const json::Value& reference = autoscaler.spec()["scaleTargetRef"];
  ASSIGN_OR_RETURN(kube::Gvk gvk, kube::ParseGvk(reference["apiVersion"].AsString(),
                                                 reference["kind"].AsString()));
  const std::string name(reference["name"].AsString());
  if (gvk.empty() || name.empty()) {
    return absl::InvalidArgumentError("spec.scaleTargetRef needs a kind and a name");
  }
  return ScaleTarget{std::move(gvk), {std::string(autoscaler.ns()), name}};
}

absl::StatusOr<kube::ObjectPtr> GetScale(kube::ClusterClient& client, const ScaleTarget& target,
                                         const base::StopToken& stop, absl::Duration timeout) {
  ASSIGN_OR_RETURN(const kube::Resource resource, client.mapper().ForKind(target.gvk, stop));
  // A server would answer for the object of a kind without namespaces all the same, which is not
  // the autoscaler's author's to scale.
  if (!resource.namespaced) {
    return absl::NotFoundError(absl::StrCat(target.Describe(), ": objects of kind ",
                                            target.gvk.kind, " have no namespace"));
  }
  const std::string name = kScale;
  absl::StatusOr<kube::Object> scale =
      kube::GetSubresource(client.raw(), {resource, target.key, name, timeout}, stop);
  if (absl::IsNotFound(scale.status())) return MeaningOfNotFound(client, resource, target, stop);
  RETURN_IF_ERROR(scale.status());
  return kube::Share(*std::move(scale));
}

absl::Status InUpstreamWords(kube::ClusterClient& client, const ScaleTarget& target,
                             absl::string_view verb, const absl::Status& error) {
  const std::optional<kube::Resource> resource = client.mapper().Known(target.gvk);
  return kube::InGoWords(
      error, resource.has_value() ? kube::GoCall(verb, *resource, target.key.name) : "");
}

absl::Status SetReplicas(kube::ClusterClient& client, const ScaleOf& scale, int64_t replicas,
                         const base::StopToken& stop) {
  if (ScaleView(*scale.scale).Replicas() == replicas) return absl::OkStatus();
  const ScaleTarget& target = scale.target;
  ASSIGN_OR_RETURN(const kube::Resource resource, client.mapper().ForKind(target.gvk, stop));
  kube::Object after = *scale.scale;
  after.Set({"spec", "replicas"}, replicas);
  kube::UpdateOptions options;
  options.subresource = kScale;
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  return client.Update(resource, scale.scale, after, options, stop).status();
}

}  // namespace controllers
