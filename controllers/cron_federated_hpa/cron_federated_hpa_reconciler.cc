// A pass determines what is due from the status and the clock, executes it, writes the status, and
// is repeated at the next time. There are no timers that a restart, a lost lease or an edit would
// have to follow.
//
// status.executionHistories[].nextExecutionTime is a promise: while it is there, that time has not
// been recorded as executed. It is replaced by the same write that records the execution. While
// that write fails, the runs are kept in memory (UnrecordedRuns): their times are not executed
// again, so that nothing is taken back that somebody does to the target meanwhile. A process that
// ends before the write leaves a due rule behind, and the next leader executes it again: as a rule
// the target has the replicas already, so nothing is written there, and the execution is recorded
// once. Before anything is executed the object is read from the server, since a cache may not show
// what the leader before has recorded.
//
// A rule that nobody led to execute may have been edited meanwhile, and the status does not say for
// which schedule its next time was. The server does: it notes when whoever has written spec.rules
// has last done so. It is asked only if something is executed late. It knows the list as a whole,
// so that an edit of one rule takes the times before it from all.
//
// Waits are on the steady clock, and times are of the wall clock, which somebody may set. So no
// wait is longer than a minute.

#include "controllers/cron_federated_hpa/cron_federated_hpa_reconciler.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cron_federated_hpa.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/status.h"
#include "controllers/cron_federated_hpa/register.h"
#include "controllers/cron_federated_hpa/rule_target.h"
#include "kube/client/errors.h"
#include "kube/client/go_words.h"
#include "kube/meta/managed_fields.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

constexpr absl::Duration kLongestWait = absl::Minutes(1);
// A server that cannot be reached is asked again at this distance, until the execution is late by
// kRetryFor. Both together are less than kLatestExecution, so that the last error is recorded.
constexpr absl::Duration kRetryAfter = absl::Seconds(10);
constexpr absl::Duration kRetryFor = absl::Minutes(4);
// What is executed with less delay is not late: an edit has had no time to come between.
constexpr absl::Duration kPromptly = absl::Seconds(2);
// Conflicts of our own status come from edits of the object at the same moment.
constexpr int kStatusTries = 3;

constexpr char kProcessMetric[] = "cronfederatedhpa_process_duration_seconds";
constexpr char kRuleMetric[] = "cronfederatedhpa_rule_process_duration_seconds";

metrics::Histogram& MetricOf(metrics::Registry& registry, const char* metric, bool ok) {
  const char* const what = metric == kProcessMetric ? "CronFederatedHPA" : "CronFederatedHPA rule";
  return registry.GetHistogram(
      metric, absl::StrCat("Duration in seconds to process a ", what, ". By its result."),
      metrics::ExponentialBuckets(0.001, 2, 12), {{"result", ok ? "success" : "error"}});
}

// The status is this loop's own, apart from what others write there by mistake.
bool OtherSpecOrStatus(const kube::Object& before, const kube::Object& after) {
  return kube::GenerationChanged(before, after) || before.status() != after.status();
}

// Returns whether the same request may succeed soon.
bool MayPass(const absl::Status& error) {
  return kube::IsConflict(error) || absl::IsUnavailable(error) || absl::IsDeadlineExceeded(error);
}

// Returns since when the rule has been waiting for an execution.
absl::Time WaitsSince(const RulePlan& plan, const std::vector<RuleRun>& runs) {
  absl::Time since = plan.plan.due_since;
  for (const RuleRun& run : runs) {
    if (run.rule == plan.rule.name) since = std::max(since, run.execution.scheduled);
  }
  return since;
}

std::string OfRule(absl::string_view message, absl::string_view rule) {
  return absl::StrCat(message, " (rule ", rule, ")");
}

}  // namespace

CronFederatedHpaReconciler::CronFederatedHpaReconciler(kube::Manager& manager)
    : manager_(manager), recorder_(manager.events(), api::kCronFederatedHpaController) {
  // Rules are executed rarely. Without the zero before it, the first failure is not an increase for
  // whoever watches the metric.
  for (const bool ok : {true, false}) MetricOf(manager.registry(), kRuleMetric, ok);
}

absl::StatusOr<kube::Action> CronFederatedHpaReconciler::Reconcile(const kube::Request& request,
                                                                   const base::StopToken& stop) {
  Pass pass;
  pass.object = manager_.cluster().Find(api::CronFederatedHpas(), request.key);
  if (pass.object == nullptr || pass.object->IsDeleting()) {
    Forget(request.key);
    return kube::Action::Done();
  }
  const base::SteadyTime start = manager_.clock().SteadyNow();
  const absl::StatusOr<kube::Action> result = Process(pass, stop);
  const bool all_well = std::all_of(pass.plans.begin(), pass.plans.end(),
                                    [](const RulePlan& plan) { return plan.problem.empty(); });
  Observe(kProcessMetric, result.ok() && all_well, start);
  return result;
}

absl::StatusOr<kube::Action> CronFederatedHpaReconciler::Process(Pass& pass,
                                                                 const base::StopToken& stop) {
  Plan(pass);
  pass.runs = unrecorded_.Of(*pass.object);
  if (!DueInOrder(pass.plans).empty() || !pass.runs.empty()) {
    const absl::Status read = Reread(pass, stop);
    if (kube::IsGone(read)) return kube::Action::Done();
    RETURN_IF_ERROR(read);
    if (pass.object->IsDeleting()) return kube::Action::Done();
    RETURN_IF_ERROR(LearnOfEdit(pass, stop));
  }
  ReportProblems(pass);
  ExecuteDue(pass, stop);
  const absl::Status written = WriteStatus(pass, stop);
  if (kube::IsGone(written)) return kube::Action::Done();
  RETURN_IF_ERROR(written);
  ReportMissed(pass);
  if (absl::IsCancelled(pass.delayed)) return pass.delayed;
  return UntilNext(pass);
}

void CronFederatedHpaReconciler::Forget(const kube::ObjectKey& key) {
  unrecorded_.Forget(key);
  absl::MutexLock lock(&mu_);
  reported_.erase(key);
}

void CronFederatedHpaReconciler::Plan(Pass& pass) const {
  pass.plans =
      PlanRules(api::CronFederatedHpaView(*pass.object), manager_.clock().Now(), pass.edited);
}

absl::Status CronFederatedHpaReconciler::LearnOfEdit(Pass& pass,
                                                     const base::StopToken& stop) const {
  const absl::Time promptly = manager_.clock().Now() - kPromptly;
  const bool is_late = std::any_of(pass.plans.begin(), pass.plans.end(), [&](const RulePlan& plan) {
    return plan.plan.due.has_value() && plan.plan.due_since < promptly;
  });
  if (!is_late) return absl::OkStatus();
  ASSIGN_OR_RETURN(const json::Value managed,
                   manager_.cluster().raw().GetManagedFields(api::CronFederatedHpas(),
                                                             pass.object->key(), stop));
  const std::optional<absl::Time> edited = kube::LastChangeByOwners(managed, {"spec", "rules"});
  pass.edited = edited.value_or(pass.edited);
  Plan(pass);
  return absl::OkStatus();
}

absl::Status CronFederatedHpaReconciler::Reread(Pass& pass, const base::StopToken& stop) const {
  ASSIGN_OR_RETURN(kube::Object live, manager_.cluster().raw().Get(api::CronFederatedHpas(),
                                                                   pass.object->key(), stop));
  pass.object = kube::Share(std::move(live));
  pass.runs = Unrecorded(*pass.object, std::move(pass.runs));
  Plan(pass);
  return absl::OkStatus();
}

void CronFederatedHpaReconciler::ExecuteDue(Pass& pass, const base::StopToken& stop) {
  for (const size_t i : DueInOrder(pass.plans)) {
    const RulePlan& plan = pass.plans[i];
    if (!IsUnfinished(plan, pass.runs)) continue;  // An earlier pass has executed it.
    // Many rules take their time, and somebody may have stopped them all by deleting the object.
    const kube::ObjectPtr now =
        manager_.cluster().Find(api::CronFederatedHpas(), pass.object->key());
    if (now == nullptr || now->uid() != pass.object->uid() || now->IsDeleting()) return;
    const base::SteadyTime start = manager_.clock().SteadyNow();
    const absl::Status result = ApplyRule(manager_.cluster(), *pass.object, plan.rule, stop);
    const bool late = manager_.clock().Now() - WaitsSince(plan, pass.runs) >= kRetryFor;
    if (absl::IsCancelled(result) || (MayPass(result) && !late)) {
      // Rules that follow would be overtaken by this one, so they wait, too.
      pass.delayed = result;
      base::LogWarning("a rule of a CronFederatedHPA has to be executed again",
                       {{"object", pass.object->Describe()},
                        {"rule", plan.rule.name},
                        {"error", result.ToString()}});
      return;
    }
    Observe(kRuleMetric, result.ok(), start);
    Finish(pass, plan, result);
  }
}

void CronFederatedHpaReconciler::Finish(Pass& pass, const RulePlan& plan,
                                        const absl::Status& result) {
  const api::CronRule& rule = plan.rule;
  api::CronExecution execution{.scheduled = *plan.plan.due,
                               .executed = manager_.clock().Now(),
                               .failure = {},
                               .replicas = rule.replicas,
                               .min_replicas = rule.min_replicas,
                               .max_replicas = rule.max_replicas};
  if (!result.ok()) {
    execution.failure = std::string(result.message());
    recorder_.Warning(kube::InvolvedObject::Of(*pass.object), api::reason::kScaleFailed,
                      OfRule(result.message(), rule.name));
  }
  base::LogInfo("a rule of a CronFederatedHPA was executed",
                {{"object", pass.object->Describe()},
                 {"rule", rule.name},
                 {"scheduled", kube::FormatTime(execution.scheduled)},
                 {"result", result.ok() ? "ok" : result.ToString()}});
  pass.runs.push_back({rule.name, std::move(execution)});
}

absl::Status CronFederatedHpaReconciler::WriteStatus(Pass& pass, const base::StopToken& stop) {
  absl::Status written = TryWriteStatus(pass, stop);
  for (int i = 1; i < kStatusTries && kube::IsConflict(written); ++i) {
    written = Reread(pass, stop);
    if (written.ok()) written = TryWriteStatus(pass, stop);
  }
  KeepRuns(pass, written);
  if (!written.ok() && !kube::IsGone(written) && !kube::IsNoOutcome(written)) {
    recorder_.Warning(
        kube::InvolvedObject::Of(*pass.object),
        pass.runs.empty() ? api::reason::kUpdateCronFederatedHpaFailed
                          : api::reason::kUpdateStatusFailed,
        kube::InGoWords(written, kube::GoCall("put", api::CronFederatedHpas(), pass.object->name()))
            .message());
  }
  return base::Annotate(written, "writing the status of ", pass.object->Describe());
}

void CronFederatedHpaReconciler::KeepRuns(const Pass& pass, const absl::Status& written) {
  std::vector<RuleRun> left = pass.runs;
  if (kube::IsGone(written)) left.clear();
  if (written.ok()) {
    // A rule that still has to be executed keeps its old history, so its runs are not recorded yet.
    std::erase_if(left, [&pass](const RuleRun& run) {
      return std::none_of(pass.plans.begin(), pass.plans.end(), [&](const RulePlan& plan) {
        return plan.rule.name == run.rule && IsUnfinished(plan, pass.runs);
      });
    });
  }
  unrecorded_.Keep(*pass.object, std::move(left));
}

absl::Status CronFederatedHpaReconciler::TryWriteStatus(Pass& pass, const base::StopToken& stop) {
  kube::Object after = *pass.object;
  api::SetExecutionHistories(
      after, HistoriesAfter(api::CronFederatedHpaView(*pass.object), pass.plans, pass.runs));
  return manager_.cluster()
      .Update(api::CronFederatedHpas(), pass.object, after, {.subresource = "status"}, stop)
      .status();
}

void CronFederatedHpaReconciler::ReportProblems(const Pass& pass) {
  Problems problems;
  for (const RulePlan& plan : pass.plans) {
    if (!plan.problem.empty()) problems.emplace(plan.rule.name, plan.problem);
  }
  Problems known;
  {
    absl::MutexLock lock(&mu_);
    if (problems.empty() && !reported_.contains(pass.object->key())) return;
    known = std::exchange(reported_[pass.object->key()], problems);
  }
  for (const auto& [rule, problem] : problems) {
    if (known.contains({rule, problem})) continue;
    recorder_.Warning(kube::InvolvedObject::Of(*pass.object), api::reason::kStartRuleFailed,
                      OfRule(problem, rule));
  }
}

void CronFederatedHpaReconciler::ReportMissed(const Pass& pass) {
  for (const RulePlan& plan : pass.plans) {
    if (!plan.plan.missed.has_value() || HasRun(plan, pass.runs, *plan.plan.missed)) continue;
    const std::string why =
        *plan.plan.missed < pass.edited
            ? absl::StrCat("the rules were edited after that, at ", kube::FormatTime(pass.edited),
                           ", and a time before an edit does not count.")
            : absl::StrCat("now it is more than ", absl::FormatDuration(kLatestExecution),
                           " late.");
    recorder_.Warning(
        kube::InvolvedObject::Of(*pass.object), api::reason::kExecutionMissed,
        absl::StrCat(
            "Rule ", plan.rule.name, " was not executed at ", kube::FormatTime(*plan.plan.missed),
            ": no controller manager led then or had the time, or clocks were wrong, and ", why));
  }
}

kube::Action CronFederatedHpaReconciler::UntilNext(const Pass& pass) const {
  std::optional<absl::Time> next;
  for (const RulePlan& plan : pass.plans) {
    if (IsUnfinished(plan, pass.runs)) return kube::Action::After(kRetryAfter);
    if (!plan.plan.next.has_value()) continue;
    next = std::min(next.value_or(absl::InfiniteFuture()), *plan.plan.next);
  }
  if (!next.has_value()) return kube::Action::Done();
  const absl::Duration left = *next - manager_.clock().Now();
  return kube::Action::After(std::clamp(left, absl::ZeroDuration(), kLongestWait));
}

void CronFederatedHpaReconciler::Observe(const char* metric, bool ok, base::SteadyTime start) {
  MetricOf(manager_.registry(), metric, ok)
      .Observe(absl::ToDoubleSeconds(manager_.clock().SteadyNow() - start));
}

absl::Status RegisterCronFederatedHpa(const Context& context, int workers) {
  context.NewController(api::kCronFederatedHpaController, workers)
      .Watches(api::CronFederatedHpas(), {.when = {.update = OtherSpecOrStatus}})
      // A target whose server is slow delays only its own rules.
      .WithLanes([](const kube::Request& request) { return request.key.ToString(); })
      .Build(std::make_unique<CronFederatedHpaReconciler>(context.manager));
  return absl::OkStatus();
}

}  // namespace controllers
