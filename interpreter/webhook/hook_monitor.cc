#include "interpreter/webhook/hook_monitor.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace interpreter::webhook {

namespace {

// When upstream logs a trace.
constexpr absl::Duration kSlow = absl::Milliseconds(500);

CircuitBreaker::Outcome OutcomeOf(const absl::Status& status) {
  if (status.ok()) return CircuitBreaker::Outcome::kWorks;
  const FailureReason reason = ReasonOf(status);
  if (IsOutage(reason)) return CircuitBreaker::Outcome::kOutage;
  const bool unasked = reason == FailureReason::kStopped || reason == FailureReason::kConfiguration;
  return unasked ? CircuitBreaker::Outcome::kUnknown : CircuitBreaker::Outcome::kWorks;
}

}  // namespace

HookMonitor::HookMonitor(HookMonitorOptions options, const base::Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

void HookMonitor::Track(const HookSet& hooks) {
  absl::MutexLock lock(&mu_);
  std::map<Key, Tracked> before = std::exchange(tracked_, {});
  for (const Hook& hook : hooks.hooks()) {
    const auto it = before.find(KeyOf(hook));
    const bool same = it != before.end() && it->second.hook == hook;
    tracked_.emplace(KeyOf(hook), Tracked{hook, same ? it->second.breaker
                                                     : std::make_shared<CircuitBreaker>(
                                                           clock_, options_.breaker)});
    if (it != before.end()) before.erase(it);
  }
  if (options_.metrics == nullptr) return;
  for (const auto& [key, gone] : before) options_.metrics->RemoveSeries("hook", key.first);
  for (const auto& [key, tracked] : tracked_) {
    SetOpenGauge(tracked.hook, tracked.breaker->IsOpen());
  }
}

std::shared_ptr<CircuitBreaker> HookMonitor::BreakerOf(const Hook& hook) {
  absl::MutexLock lock(&mu_);
  const auto it = tracked_.find(KeyOf(hook));
  if (it != tracked_.end() && it->second.hook == hook) return it->second.breaker;
  // Of a set that was replaced a moment ago.
  return std::make_shared<CircuitBreaker>(clock_, options_.breaker);
}

bool HookMonitor::IsTracked(const Hook& hook) const {
  const auto it = tracked_.find(KeyOf(hook));
  return it != tracked_.end() && it->second.hook == hook;
}

absl::Status HookMonitor::Suspended(const Hook& hook, const absl::Status& why) {
  absl::MutexLock lock(&mu_);
  if (IsTracked(hook)) CountFailure(hook, FailureReason::kSuspended);
  return WithReason(why, FailureReason::kSuspended);
}

void HookMonitor::Ended(const CallRecord& record, CircuitBreaker& breaker,
                        CircuitBreaker::Ticket ticket, const absl::Status& status) {
  Count(record, status);
  if (options_.on_call) options_.on_call(record, status);
  if (record.took > kSlow) {
    base::LogInfo("slow call of an interpreter webhook",
                  {{"webhook", record.hook.uid},
                   {"operation", OperationName(record.op)},
                   {"took", absl::FormatDuration(record.took)}});
  }
  const std::optional<BreakerChange> change = breaker.Report(ticket, OutcomeOf(status), status);
  if (!change.has_value()) return;
  {
    absl::MutexLock lock(&mu_);
    if (!IsTracked(record.hook)) return;
    SetOpenGauge(record.hook, breaker.IsOpen());
  }
  if (options_.on_breaker_change) options_.on_breaker_change(record.hook, *change);
}

void HookMonitor::Count(const CallRecord& record, const absl::Status& status) {
  if (options_.metrics == nullptr) return;
  absl::MutexLock lock(&mu_);
  if (!IsTracked(record.hook)) return;
  if (!status.ok()) CountFailure(record.hook, ReasonOf(status));
  // 1 ms to 33 s: from a hook next door to the longest timeout.
  options_.metrics
      ->GetHistogram("karmada_interpreter_webhook_duration_seconds",
                     "Time one call of an interpreter webhook takes, retries included.",
                     metrics::ExponentialBuckets(0.001, 2, 16),
                     {{"hook", record.hook.uid},
                      {"operation", std::string(OperationName(record.op))},
                      {"result", status.ok() ? "success" : "error"}})
      .Observe(absl::ToDoubleSeconds(record.took));
}

void HookMonitor::CountFailure(const Hook& hook, FailureReason reason) {
  if (options_.metrics == nullptr) return;
  options_.metrics
      ->GetCounter("karmada_interpreter_webhook_failures_total",
                   "Questions that an interpreter webhook did not answer, by reason.",
                   {{"hook", hook.uid}, {"reason", std::string(FailureReasonName(reason))}})
      .Increment();
}

void HookMonitor::SetOpenGauge(const Hook& hook, bool open) {
  if (options_.metrics == nullptr) return;
  options_.metrics
      ->GetGauge("karmada_interpreter_webhook_open",
                 "1 while calls of an interpreter webhook are suspended, else 0.",
                 {{"hook", hook.uid}})
      .Set(open ? 1 : 0);
}

}  // namespace interpreter::webhook
