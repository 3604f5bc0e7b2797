// A pass over a FederatedHPA reads the Scale of its target on the control plane, then what the
// ready clusters of the target's binding say about it; decides, by the bounds alone or by the
// metrics; and writes the number into the target's Scale. The Scale that was read is the
// precondition, so that nobody's newer number is overwritten. Last, the status is written, if it
// has changed.
//
// A step that fails sets a condition and writes an event with upstream's reason. The pass is
// repeated after the sync period, as with Kubernetes' own autoscaler: what is missing, such as a
// metric, may be there by then, and nothing announces it. Only conflicts and failures to write the
// status are errors for the queue.

#include "controllers/federated_hpa/federated_hpa_reconciler.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/cluster.h"
#include "api/condition.h"
#include "api/federated_hpa.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/scaling_reasons.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/autoscaling/metrics_client.h"
#include "controllers/federated_hpa/register.h"
#include "kube/client/errors.h"
#include "kube/client/go_words.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

constexpr int kAttempts = 5;  // To write the Scale against other writers.
// Without any FederatedHPA, pods are read with autoscaling's fields for this time: one that is
// deleted and made again, as in an upgrade of a chart, must not have every member list its pods
// twice.
constexpr absl::Duration kLinger = absl::Minutes(30);

// Labels of templates and bindings that name their policy.
constexpr const char* kPolicyLabels[] = {api::kPropagationPolicyIdLabel,
                                         api::kClusterPropagationPolicyIdLabel};

namespace scaling = api::scaling;
namespace message = api::scaling::message;

// Returns why a template has no binding, in upstream's words (getBindingByLabel), which looks at
// all namespaces. Here only bindings of the template's own count: whoever may write labels there
// must not learn which policies others have.
std::string WhyNoBinding(kube::ClusterClient& client, const kube::Object& target) {
  if (target.labels().empty()) return "target resource has no label";
  for (const char* label : kPolicyLabels) {
    const absl::string_view policy = target.Label(label);
    if (policy.empty()) continue;
    const auto has_policy = [&](const kube::ObjectPtr& binding) {
      return binding->Label(label) == policy;
    };
    return absl::c_any_of(client.List(api::ResourceBindings(), target.ns()), has_policy)
               ? "no binding matches the target resource"
               : "length of binding list is zero";
  }
  return "no label of policy permanent-id found";
}

constexpr ScalingFailure kNoScale = {scaling::kFailedGetScale, scaling::kFailedGetScale,
                                     message::kUnableToGetScale};
constexpr ScalingFailure kNoTarget = {scaling::kFailedGetScaleTargetRef,
                                      scaling::kFailedGetScaleTargetRef,
                                      message::kUnableToGetTarget};

}  // namespace

FederatedHpaReconciler::FederatedHpaReconciler(Deps deps)
    : manager_(deps.manager),
      period_(deps.flags.sync_period),
      members_(deps.members),
      recorder_(deps.manager.events(), api::kFederatedHpaController),
      decider_(deps.manager, memory_, deps.flags, std::move(deps.metrics)) {}

absl::StatusOr<kube::Action> FederatedHpaReconciler::Reconcile(const kube::Request& request,
                                                               const base::StopToken& stop) {
  const absl::Duration lingers = WatchPodsIfInUse();
  const kube::ObjectPtr hpa = manager_.cluster().Find(api::FederatedHpas(), request.key);
  if (hpa == nullptr || hpa->IsDeleting()) {
    memory_.Forget(request.key);
    if (lingers == absl::InfiniteDuration()) return kube::Action::Done();
    return kube::Action::After(lingers);
  }
  const base::SteadyTime start = manager_.clock().SteadyNow();
  ScalingPass pass(hpa, manager_.clock().Now(), recorder_);
  const absl::Status scaled = Scale(pass, stop);
  if (stop.stop_requested()) return absl::CancelledError("stopping");
  if (kube::IsNoOutcome(scaled)) return scaled;
  const absl::Status written = WriteStatus(pass, stop);
  Observe(start, scaled.ok() ? written : scaled);
  RETURN_IF_ERROR(kube::IgnoreGone(written));
  if (period_ <= absl::ZeroDuration()) return kube::Action::Done();
  return kube::Action::After(period_);
}

absl::Duration FederatedHpaReconciler::WatchPodsIfInUse() {
  absl::MutexLock lock(&in_use_mu_);
  const base::SteadyTime now = manager_.clock().SteadyNow();
  const bool any = manager_.cluster().informers().Get(api::FederatedHpas())->store().size() > 0;
  if (any) last_in_use_ = now;
  if (last_in_use_.has_value() && now - *last_in_use_ >= kLinger) last_in_use_.reset();
  members_.SetInUse(last_in_use_.has_value());
  if (any || !last_in_use_.has_value()) return absl::InfiniteDuration();
  return *last_in_use_ + kLinger - now;
}

absl::Status FederatedHpaReconciler::Scale(ScalingPass& pass, const base::StopToken& stop) {
  RETURN_IF_ERROR(FindTarget(pass, stop));
  if (pass.current() == 0 && pass.view().MinReplicas() != 0) {
    ReportDisabled(pass);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> clusters, ReadyClusters(pass, stop));
  const MemberScaleSum sum = members_.Sum(pass.target, clusters, stop);
  if (stop.stop_requested()) return absl::CancelledError("stopping");
  if (sum.replicas == 0 && pass.current() != 0) {
    return pass.Fail(kNoScale, absl::UnavailableError(
                                   "failed to get replicas in any of clusters, possibly because "
                                   "all of clusters are not ready"));
  }
  pass.Set(api::ConditionOf(api::kAbleToScale, true, scaling::kSucceededGetScale,
                            message::kSucceededGetScale));
  pass.memory->history.Begin(pass.current(), manager_.clock().SteadyNow());
  ASSIGN_OR_RETURN(const ScalingDecision decision, decider_.Decide(pass, sum, stop));
  RETURN_IF_ERROR(Rescale(pass, decision, stop));
  api::SetScalingStatus(pass.after, {.current_replicas = pass.current(),
                                     .desired_replicas = decision.replicas,
                                     .metrics = decision.metrics});
  return absl::OkStatus();
}

absl::Status FederatedHpaReconciler::FindTarget(ScalingPass& pass, const base::StopToken& stop) {
  absl::StatusOr<ScaleTarget> target = ScaleTargetOf(*pass.hpa);
  if (!target.ok()) return pass.Fail(kNoScale, target.status());
  pass.target = *std::move(target);
  pass.memory = memory_.Of(*pass.hpa, pass.target);
  absl::StatusOr<kube::ObjectPtr> scale = GetScale(manager_.cluster(), pass.target, stop);
  if (!scale.ok()) {
    return pass.Fail(absl::IsNotFound(scale.status()) ? kNoTarget : kNoScale,
                     InUpstreamWords(manager_.cluster(), pass.target, "get", scale.status()));
  }
  pass.scale = *std::move(scale);
  return absl::OkStatus();
}

void FederatedHpaReconciler::ReportDisabled(ScalingPass& pass) {
  pass.Set(api::ConditionOf(api::kAbleToScale, true, scaling::kSucceededGetScale,
                            message::kSucceededGetScale));
  pass.Set(api::ConditionOf(api::kScalingActive, false, scaling::kScalingDisabled,
                            message::kScalingDisabled));
  api::SetScalingStatus(
      pass.after,
      {.current_replicas = 0, .desired_replicas = 0, .metrics = std::vector<api::MetricStatus>()});
}

absl::StatusOr<std::vector<std::string>> FederatedHpaReconciler::ReadyClusters(
    ScalingPass& pass, const base::StopToken& stop) {
  kube::ClusterClient& client = manager_.cluster();
  const api::BindingAddress address = api::BindingOf(pass.target.gvk.kind, pass.target.key);
  const kube::ObjectPtr binding = client.Find(address.resource, address.key);
  const bool matches = binding != nullptr &&
                       api::BindingView(*binding).Resource().gvk() == pass.target.gvk &&
                       api::BindingView(*binding).Resource().key() == pass.target.key;
  if (!matches) {
    const auto resource = client.mapper().ForKind(pass.target.gvk, stop);
    RETURN_IF_ERROR(resource.status());
    const absl::StatusOr<kube::ObjectPtr> target = client.Get(*resource, pass.target.key, stop);
    if (!target.ok()) {
      return pass.Fail(kNoTarget, InUpstreamWords(client, pass.target, "get", target.status()));
    }
    return pass.Fail(
        {scaling::kFailedGetBindings, scaling::kFailedGetBinding, message::kUnableToGetBinding},
        absl::NotFoundError(WhyNoBinding(client, **target)));
  }
  std::vector<std::string> ready;
  const std::vector<api::TargetCluster> clusters = api::BindingView(*binding).Clusters();
  for (const api::TargetCluster& chosen : clusters) {
    const kube::ObjectPtr cluster = client.Find(api::Clusters(), {"", chosen.name});
    if (cluster != nullptr && api::ClusterView(*cluster).IsReady()) ready.push_back(chosen.name);
  }
  if (!clusters.empty()) return ready;
  return pass.Fail({scaling::kFailedGetTargetClusters, scaling::kFailedGetTargetClusters,
                    message::kUnableToGetClusters},
                   absl::FailedPreconditionError("binding has no schedulable clusters"));
}

// The status of the target changes all the time while it is scaled; that is not a reason to ask for
// all metrics again.
absl::Status FederatedHpaReconciler::SetReplicas(ScalingPass& pass, int64_t replicas,
                                                 const base::StopToken& stop) {
  kube::ClusterClient& client = manager_.cluster();
  absl::Status set;
  for (int i = 0; i < kAttempts; ++i) {
    set = controllers::SetReplicas(client, {pass.target, pass.scale}, replicas, stop);
    if (!kube::IsConflict(set)) return set;
    ASSIGN_OR_RETURN(kube::ObjectPtr scale, GetScale(client, pass.target, stop));
    if (ScaleView(*scale).Replicas() != pass.current()) return set;
    pass.scale = std::move(scale);
  }
  return set;
}

absl::Status FederatedHpaReconciler::Rescale(ScalingPass& pass, const ScalingDecision& decision,
                                             const base::StopToken& stop) {
  const int64_t current = pass.current();
  if (decision.replicas == current) return absl::OkStatus();
  const absl::Status set = InUpstreamWords(manager_.cluster(), pass.target, "put",
                                           SetReplicas(pass, decision.replicas, stop));
  if (kube::IsNoOutcome(set)) return set;
  if (!set.ok()) {
    pass.Warn(scaling::kFailedRescale,
              absl::Substitute("New size: $0; reason: $1; error: $2", decision.replicas,
                               decision.cause, set.message()));
    pass.Set(api::ConditionOf(api::kAbleToScale, false, scaling::kFailedUpdateScale,
                              absl::StrCat(message::kUnableToUpdateScale, set.message())));
    api::SetScalingStatus(pass.after, {.current_replicas = current});
    return set;
  }
  pass.memory->history.Scaled(current, decision.replicas, pass.view().Behavior(),
                              manager_.clock().SteadyNow());
  pass.memory->unreported_scale = pass.now;
  pass.Set(
      api::ConditionOf(api::kAbleToScale, true, scaling::kSucceededRescale,
                       absl::StrCat("the HPA controller was able to update the target scale to ",
                                    decision.replicas)));
  recorder_.Normal(kube::InvolvedObject::Of(*pass.hpa), scaling::kSuccessfulRescale,
                   absl::Substitute("New size: $0; reason: $1", decision.replicas, decision.cause));
  base::LogInfo("a FederatedHPA has scaled its target",
                {{"federatedHPA", pass.hpa->key().ToString()},
                 {"target", pass.target.Describe()},
                 {"before", current},
                 {"now", decision.replicas},
                 {"reason", decision.cause}});
  return absl::OkStatus();
}

absl::Status FederatedHpaReconciler::WriteStatus(ScalingPass& pass, const base::StopToken& stop) {
  if (pass.memory != nullptr && pass.memory->unreported_scale.has_value()) {
    api::SetLastScaleTime(pass.after, *pass.memory->unreported_scale);
  }
  const absl::Status written =
      manager_.cluster()
          .Update(api::FederatedHpas(), pass.hpa, pass.after, {.subresource = "status"}, stop)
          .status();
  if (written.ok() && pass.memory != nullptr) pass.memory->unreported_scale.reset();
  if (written.ok() || kube::IsNoOutcome(written) || kube::IsGone(written)) return written;
  pass.Warn(scaling::kFailedUpdateStatus,
            kube::InGoWords(written, kube::GoCall("put", api::FederatedHpas(), pass.hpa->name()))
                .message());
  return base::Annotate(written, "writing the status of ", pass.hpa->Describe());
}

void FederatedHpaReconciler::Observe(base::SteadyTime start, const absl::Status& result) {
  if (kube::IsNoOutcome(result)) return;
  manager_.registry()
      .GetHistogram(
          "federatedhpa_process_duration_seconds", "Duration in seconds to process a FederatedHPA.",
          metrics::ExponentialBuckets(0.01, 2, 12), {{"result", result.ok() ? "success" : "error"}})
      .Observe(absl::ToDoubleSeconds(manager_.clock().SteadyNow() - start));
}

absl::Status RegisterFederatedHpa(const Context& context, int workers) {
  kube::ClusterClient& plane = context.manager.cluster();
  FederatedHpaReconciler::Deps deps = {
      context.manager,
      {context.objects, context.inventory, context.members, context.clock()},
      context.options.pod_autoscaling,
      std::make_unique<autoscaling::MetricsClient>(plane.raw(), plane.mapper(),
                                                   context.manager.registry())};
  kube::ControllerBuilder builder = context.NewController(api::kFederatedHpaController, workers);
  ReadsCredentials(builder)
      // A resync brings nothing new, as with upstream, whose filter drops updates without a change:
      // --resync-period must not be another sync period. The rounds of a shadow, which writes
      // nothing, have to come to every loop.
      .Watches(api::FederatedHpas(),
               {.when = {.update = kube::GenerationChanged}, .resync = context.options.shadow})
      .Reads(api::ResourceBindings())
      .ReadsWatchedKinds()
      // One whose servers are slow delays only itself.
      .WithLanes([](const kube::Request& request) { return request.key.ToString(); })
      .Build(std::make_unique<FederatedHpaReconciler>(std::move(deps)));
  return absl::OkStatus();
}

}  // namespace controllers
