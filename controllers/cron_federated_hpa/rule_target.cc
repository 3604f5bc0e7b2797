#include "controllers/cron_federated_hpa/rule_target.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "api/federated_hpa.h"
#include "api/resources.h"
#include "base/go_syntax.h"
#include "base/status.h"
#include "controllers/context/scale_target.h"
#include "kube/client/errors.h"
#include "kube/client/go_words.h"

namespace controllers {
namespace {

// Somebody else may write the target between our read and our write.
constexpr int kTries = 5;

// Returns an error if the minimum would be above the maximum.
absl::Status CheckBounds(const kube::Object& after, const api::CronRule& rule) {
  const api::FederatedHpaView hpa(after);
  const int64_t min = hpa.MinReplicas();
  const int64_t max = hpa.MaxReplicas();
  if (min <= max) return absl::OkStatus();
  const std::string name = after.key().ToString();
  std::string problem;
  if (!rule.max_replicas.has_value()) {
    problem = absl::Substitute(
        "targetMinReplicas ($0) is greater than spec.maxReplicas ($1) of FederatedHPA $2", min, max,
        name);
  } else if (!rule.min_replicas.has_value()) {
    problem = absl::Substitute(
        "targetMaxReplicas ($0) is less than spec.minReplicas ($1) of FederatedHPA $2", max, min,
        name);
  } else {
    problem =
        absl::Substitute("targetMinReplicas ($0) is greater than targetMaxReplicas ($1)", min, max);
  }
  return absl::InvalidArgumentError(absl::StrCat(problem, ", so nothing was written"));
}

// Returns an error about a FederatedHPA with upstream's message. Upstream reads FederatedHPAs from
// a cache, which calls a missing object by its kind.
absl::Status InWords(absl::string_view verb, const kube::ObjectKey& key,
                     const absl::Status& error) {
  const kube::Resource hpas = api::FederatedHpas();
  if (!kube::IsGone(error)) return kube::InGoWords(error, kube::GoCall(verb, hpas, key.name));
  return absl::NotFoundError(
      absl::StrCat(hpas.gvk.kind, ".", hpas.gvk.group, " ", base::GoQuote(key.name), " not found"));
}

absl::Status TrySetBounds(kube::ClusterClient& client, const kube::ObjectKey& key,
                          const api::CronRule& rule, const base::StopToken& stop) {
  absl::StatusOr<kube::Object> live = client.raw().Get(api::FederatedHpas(), key, stop);
  if (!live.ok()) return InWords("get", key, live.status());
  kube::Object after = *live;
  api::SetReplicaBounds(after, rule);
  if (after.spec() == live->spec()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckBounds(after, rule));
  kube::UpdateOptions options;
  // The bound that is not written was looked at, too.
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  return InWords(
      "put", key,
      client.Update(api::FederatedHpas(), kube::Share(*std::move(live)), after, options, stop)
          .status());
}

absl::Status SetBounds(kube::ClusterClient& client, const kube::ObjectKey& key,
                       const api::CronRule& rule, const base::StopToken& stop) {
  absl::Status result;
  for (int i = 0; i < kTries; ++i) {
    result = TrySetBounds(client, key, rule, stop);
    if (!kube::IsConflict(result)) return result;
  }
  return result;
}

absl::Status SetReplicas(kube::ClusterClient& client, const ScaleTarget& target, int64_t replicas,
                         const base::StopToken& stop) {
  absl::Status result;
  for (int i = 0; i < kTries; ++i) {
    const absl::StatusOr<kube::ObjectPtr> scale = GetScale(client, target, stop);
    if (!scale.ok()) return InUpstreamWords(client, target, "get", scale.status());
    result = InUpstreamWords(client, target, "put",
                             controllers::SetReplicas(client, {target, *scale}, replicas, stop));
    if (!kube::IsConflict(result)) return result;
  }
  return result;
}

}  // namespace

absl::Status ApplyRule(kube::ClusterClient& client, const kube::Object& object,
                       const api::CronRule& rule, const base::StopToken& stop) {
  const api::CronFederatedHpaView view(object);
  if (view.TargetsKarmada()) {
    if (view.TargetsFederatedHpa()) return SetBounds(client, view.TargetKey(), rule, stop);
    return absl::InvalidArgumentError(api::message::CronTargetNotSupported(
        object.key(), view.TargetApiVersion(), view.TargetKind()));
  }
  ASSIGN_OR_RETURN(const ScaleTarget target, ScaleTargetOf(object));
  if (!rule.replicas.has_value()) {
    // The words of karmada-webhook, which lets no such rule pass. Upstream panics here.
    return absl::InvalidArgumentError(
        absl::StrCat("targetReplicas cannot be nil if you want to scale ", view.TargetKind()));
  }
  return SetReplicas(client, target, *rule.replicas, stop);
}

}  // namespace controllers
