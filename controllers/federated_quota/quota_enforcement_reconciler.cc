// Two parties write status.overallUsed. Karmada's webhook books what a binding is going to use
// before the API server stores the binding, and refuses it when the limit would be exceeded. This
// loop adds up what the stored bindings use, and puts right what the webhook cannot know: bindings
// that were deleted, bookings of requests that failed afterwards, limits that were edited.
//
// A pass reads the quota first and the bindings after it, and its patch is refused when the quota
// has changed since: so no booking is overwritten that it has not seen. But it may have seen the
// booking of a binding that the API server has not stored yet, and would take it back. Therefore
// less than the quota says is written only when the quota has stayed as it is for kSettled, which
// is far longer than the time between booking and storing; and after kLongestWait in any case, lest
// a busy namespace never gets anything back. More is written at once.
//
// A pass follows each change of the quota, and of what a binding of its namespace uses, the latter
// after a moment in which others have changed, too; so the sum is exact once requests have come to
// rest, whatever happened on the way. The times are memory of this process; when it is lost the
// waiting begins again.

#include "controllers/federated_quota/quota_enforcement_reconciler.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding_usage.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"
#include "controllers/federated_quota/register.h"
#include "kube/client/errors.h"
#include "kube/meta/scheduled_resources.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

constexpr char kPods[] = "pods";

// A roll-out of a thousand bindings changes each of them, and every sum is over all of them. So
// changes within this time lead to one sum.
constexpr absl::Duration kBetweenSums = absl::Milliseconds(200);

bool OtherLimits(const kube::Object& before, const kube::Object& after) {
  return api::FederatedResourceQuotaView(before).Overall() !=
         api::FederatedResourceQuotaView(after).Overall();
}

bool OtherLimitsOrUse(const kube::Object& before, const kube::Object& after) {
  return OtherLimits(before, after) || before.status()["overall"] != after.status()["overall"] ||
         before.status()["overallUsed"] != after.status()["overallUsed"];
}

// Returns whether `wanted` has less of a resource than `held`, or lacks it.
bool IsLess(const api::ResourceList& wanted, const json::Value& held) {
  const absl::StatusOr<api::ResourceList> before = api::ResourceList::FromJson(held);
  if (!before.ok()) return false;  // Nobody has booked that.
  for (const auto& [name, amount] : before->amounts()) {
    const auto found = wanted.amounts().find(name);
    if (found == wanted.amounts().end() ? !amount.IsZero() : found->second < amount) return true;
  }
  return false;
}

}  // namespace

QuotaEnforcementReconciler::QuotaEnforcementReconciler(kube::Manager& manager,
                                                       absl::Duration period,
                                                       std::shared_ptr<UsageSums> sums)
    : manager_(manager),
      period_(period),
      sums_(std::move(sums)),
      recorder_(manager.events(), api::kQuotaEnforcementSource, outcomes()) {}

absl::StatusOr<kube::Action> QuotaEnforcementReconciler::Reconcile(const kube::Request& request,
                                                                   const base::StopToken& stop) {
  const std::string name = request.key.ToString();
  const kube::ObjectPtr quota =
      manager_.cluster().Find(api::FederatedResourceQuotas(), request.key);
  if (quota == nullptr || quota->IsDeleting()) {
    // Other quotas of the namespace count once more.
    if (sums_ != nullptr) sums_->Forget(request.key.ns);
    absl::MutexLock lock(&mu_);
    lowerings_.erase(name);
    reported_.erase(name);
    return kube::Action::Gone();
  }
  ReportUncounted(*quota);
  const Pass pass = AddUp(quota, stop);
  const absl::Status result = recorder_.Judge(request, "", pass.status);
  recorder_.Outcome({.of = request,
                     .about = {kube::InvolvedObject::Of(*quota)},
                     .success = {api::reason::kCollectOverallStatusSucceed,
                                 api::message::QuotaStatusCollected(request.key)},
                     .failure = {api::reason::kCollectOverallStatusFailed, ""},
                     .routine = pass.changed},
                    result);
  if (!result.ok() && !base::IsTerminal(result)) return result;
  // What only an edit can repair must not keep the rest from being added up again.
  if (!result.ok()) {
    base::LogWarning("a quota does not count everything", {{"quota", name}, {"error", result}});
  }
  return kube::Action::After(pass.wait);
}

QuotaEnforcementReconciler::Pass QuotaEnforcementReconciler::AddUp(const kube::ObjectPtr& quota,
                                                                   const base::StopToken& stop) {
  const api::FederatedResourceQuotaView view(*quota);
  Pass pass{.wait = period_};
  const absl::StatusOr<api::ResourceList> overall = api::ResourceList::FromLimits(view.Overall());
  if (!overall.ok()) {
    pass.status = base::Terminal(base::Annotate(overall.status(), "spec.overall"));
    return pass;
  }
  base::ErrorList errors;
  const auto count = [&] { return UsedIn(quota->ns()); };
  UsageSum sum = sums_ == nullptr ? count() : sums_->Of(quota->ns(), count);
  for (const absl::Status& error : sum.errors) errors.Add(error);
  api::ResourceList& used = sum.used;
  used.KeepOnly(view.Overall());
  const absl::Duration rest =
      IsLess(used, view.OverallUsed()) ? UntilLowered(*quota) : absl::ZeroDuration();
  if (rest > absl::ZeroDuration()) {
    pass.wait = rest;
  } else {
    kube::Object after = *quota;
    api::SetOverall(after, *overall, used);
    const absl::StatusOr<bool> written = Write(quota, after, stop);
    pass.changed = written.ok() && *written;
    errors.Add(written.status());
  }
  pass.status = errors.Join();
  return pass;
}

absl::StatusOr<bool> QuotaEnforcementReconciler::Write(const kube::ObjectPtr& quota,
                                                       const kube::Object& after,
                                                       const base::StopToken& stop) {
  {
    absl::MutexLock lock(&mu_);
    lowerings_.erase(quota->key().ToString());
  }
  kube::UpdateOptions options;
  options.subresource = "status";
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  const absl::StatusOr<kube::ObjectPtr> written =
      manager_.cluster().Update(api::FederatedResourceQuotas(), quota, after, options, stop);
  RETURN_IF_ERROR(kube::IgnoreGone(written.status()));
  return written.ok() && *written != quota;
}

UsageSum QuotaEnforcementReconciler::UsedIn(absl::string_view ns) const {
  UsageSum sum;
  for (const kube::ObjectPtr& binding : manager_.cluster().List(api::ResourceBindings(), ns)) {
    const absl::StatusOr<api::ResourceList> usage = api::UsageOf(api::BindingView(*binding));
    if (usage.ok()) {
      sum.used.Add(*usage);
    } else {
      sum.errors.push_back(base::Terminal(base::Annotate(usage.status(), binding->Describe())));
    }
  }
  return sum;
}

absl::Duration QuotaEnforcementReconciler::UntilLowered(const kube::Object& quota) {
  const base::SteadyTime now = manager_.clock().SteadyNow();
  const std::string version(quota.resource_version());
  absl::MutexLock lock(&mu_);
  const auto [entry, is_new] =
      lowerings_.try_emplace(quota.key().ToString(), Lowering{version, now, now});
  Lowering& lowering = entry->second;
  if (!is_new && lowering.version != version) {
    lowering.version = version;
    lowering.seen = now;
  }
  // `seen` moves with each version of the quota, `begun` does not, so that the longest wait ends.
  const absl::Duration settled = kSettled - (now - lowering.seen);
  const absl::Duration latest = kLongestWait - (now - lowering.begun);
  return std::max(std::min(settled, latest), absl::ZeroDuration());
}

void QuotaEnforcementReconciler::ReportUncounted(const kube::Object& quota) {
  std::vector<std::string> uncounted;
  for (const json::Member& limit : api::FederatedResourceQuotaView(quota).Overall().members()) {
    if (kube::IsScheduledResource(limit.name()) && limit.name() != kPods) continue;
    uncounted.emplace_back(limit.name());
  }
  std::string message;
  if (!uncounted.empty()) {
    message = absl::StrCat(
        "spec.overall limits ", absl::StrJoin(uncounted, ", "),
        ", of which no workload ever counts as using anything: only what containers request is "
        "added up, such as cpu, memory, ephemeral-storage and extended resources. Take it out, or "
        "limit it by spec.staticAssignments");
  }
  {
    absl::MutexLock lock(&mu_);
    const std::pair<std::string, std::string> report = {std::string(quota.uid()), message};
    // Once for each text and quota; another quota of the same name has another uid.
    if (std::exchange(reported_[quota.key().ToString()], report) == report) return;
  }
  if (message.empty()) return;
  recorder_.Standing(kube::InvolvedObject::Of(quota), api::reason::kResourceNotCounted, message);
}

absl::Status RegisterQuotaEnforcement(const Context& context, int workers) {
  const std::shared_ptr<kube::Informer> quotas = context.InformerOf(api::FederatedResourceQuotas());
  const auto sums = std::make_shared<UsageSums>();
  const kube::MapFn in_namespace = [quotas, sums](const kube::Object& binding) {
    sums->Changed(binding.ns());
    std::vector<kube::Request> requests;
    for (const kube::ObjectPtr& quota : quotas->store().List(binding.ns(), {})) {
      requests.push_back({.key = quota->key()});
    }
    return requests;
  };
  context.NewController(api::kQuotaEnforcementController, workers)
      .Watches(quotas, {.when = {.update = OtherLimitsOrUse}})
      .Watches(api::ResourceBindings(),
               {.when = {.update = api::MayUseOther}, .map = in_namespace, .delay = kBetweenSums})
      .Build(std::make_unique<QuotaEnforcementReconciler>(context.manager,
                                                          context.options.quota_sync_period, sums));
  return absl::OkStatus();
}

}  // namespace controllers
