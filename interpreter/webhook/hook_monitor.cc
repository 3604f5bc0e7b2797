// These steps surround each call of a hook: Admit asks the breaker; the call is made; Ended counts
// and logs it; Note records a question that was not answered; Judge reports to the breaker, and
// settles a doubt by asking another question. Callbacks are called without any lock held.
//
// A thread calls Probe whenever NextProbe is due. A suspended hook is asked the question that
// HookState proposes; a hook whose failures were ignored is asked one of those questions again
// (AskAgain). When a hook answers again, the kinds and operations that it did not answer are
// reported, so that only those are looked at again.

#include "interpreter/webhook/hook_monitor.h"

#include <algorithm>

#include "api/webhook_configuration.h"
#include "base/log.h"
#include "interpreter/metric_names.h"

namespace interpreter::webhook {

namespace {

// Upstream logs a trace of calls that take longer.
constexpr absl::Duration kSlow = absl::Milliseconds(500);

HookHealth HealthOf(const absl::Status& status) {
  return status.ok() ? HookHealth::kUp : HealthAfter(ReasonOf(status));
}

// The dialect is a label because configurations of different kinds may have the same names.
metrics::Labels LabelsOf(const Hook& hook) {
  const bool exploring = hook.dialect == Dialect::kExploreReview;
  return {{"hook", hook.uid},
          {"dialect", exploring ? api::kExploreReviewKind : api::kInterpreterContextKind}};
}

metrics::Labels With(metrics::Labels labels, const metrics::Labels& more) {
  labels.insert(more.begin(), more.end());
  return labels;
}

}  // namespace

HookMonitor::HookMonitor(HookMonitorOptions options, const base::Clock& clock, Asker ask)
    : options_(std::move(options)), clock_(clock), ask_(std::move(ask)) {}

void HookMonitor::Track(const HookSet& hooks) {
  // The new hooks with their earlier states: all that differ, and those of them that answer alike.
  std::vector<Tracked> changed, alike;
  {
    absl::MutexLock lock(&mu_);
    std::map<Key, Tracked> before = std::exchange(tracked_, {});
    for (const Hook& hook : hooks.hooks()) {
      const auto it = before.find(KeyOf(hook));
      const bool same = it != before.end() && it->second.hook == hook;
      tracked_.emplace(KeyOf(hook),
                       Tracked{hook, same ? it->second.state
                                          : std::make_shared<HookState>(clock_, options_.breaker)});
      if (it == before.end()) continue;
      if (!same) changed.push_back({hook, it->second.state});
      if (!same && AnswerAlike(it->second.hook, hook)) alike.push_back({hook, it->second.state});
      // What is left in `before` at the end are the hooks that are gone.
      before.erase(it);
    }
    SetSeries(before);
  }
  // Without mu_: those who are told may ask this object again.
  for (const Tracked& one : changed) ReportAbandoned(one);
  for (const Tracked& one : alike) ReportWaiting(one.hook, one.state->TakeWaiting());
}

void HookMonitor::ReportAbandoned(const Tracked& changed) const {
  const std::optional<BreakerChange> change = changed.state->breaker().Abandon();
  if (change.has_value() && options_.on_breaker_change) {
    options_.on_breaker_change(changed.hook, *change, {});
  }
}

void HookMonitor::SetSeries(const std::map<Key, Tracked>& gone) {
  if (options_.metrics == nullptr) return;
  for (const auto& [key, tracked] : gone) options_.metrics->RemoveSeries(LabelsOf(tracked.hook));
  for (const auto& [key, tracked] : tracked_) {
    SetOpenGauge(tracked.hook, tracked.state->breaker().IsOpen());
  }
}

void HookMonitor::ServiceChanged(const kube::ObjectKey& service) {
  std::vector<Tracked> behind;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [key, tracked] : tracked_) {
      const auto& reference = tracked.hook.client.service;
      if (reference.has_value() && reference->ns == service.ns && reference->name == service.name) {
        behind.push_back(tracked);
      }
    }
  }
  for (const Tracked& one : behind) ReportWaiting(one.hook, one.state->TakeWaiting());
}

void HookMonitor::ReportWaiting(const Hook& hook, const std::set<KindQuestion>& waiting) const {
  if (options_.on_worth_asking && !waiting.empty()) options_.on_worth_asking(hook, waiting);
}

void HookMonitor::Note(HookState& state, const Question& question, const absl::Status& status) {
  if (status.ok()) return;
  const FailureReason reason = ReasonOf(status);
  if (HealthAfter(reason) == HookHealth::kDown) state.NoteUnanswered(question);
  if (reason == FailureReason::kConfiguration || reason == FailureReason::kServiceLookup) {
    state.NoteUnasked(question);
  }
}

std::shared_ptr<HookState> HookMonitor::StateOf(const Hook& hook) {
  absl::MutexLock lock(&mu_);
  const auto it = tracked_.find(KeyOf(hook));
  if (it != tracked_.end() && it->second.hook == hook) return it->second.state;
  // The hook is from a set that was replaced a moment ago, and gets a state of its own.
  return std::make_shared<HookState>(clock_, options_.breaker);
}

absl::StatusOr<CircuitBreaker::Ticket> HookMonitor::Admit(HookState& state,
                                                          const Question& question) const {
  auto ticket = state.breaker().Admit();
  if (ticket.ok()) return ticket;
  // Record the question before the final refusal, so that a thread that closes the breaker in
  // between finds it.
  state.NoteUnanswered(question);
  return state.breaker().Admit();
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

void HookMonitor::Ended(const CallRecord& record, const absl::Status& status) {
  Count(record, status);
  if (options_.on_call) options_.on_call(record, status);
  if (record.took <= kSlow) return;
  base::LogInfo("slow call of an interpreter webhook",
                {{"webhook", record.hook.uid},
                 {"operation", OperationName(record.op)},
                 {"took", absl::FormatDuration(record.took)}});
}

void HookMonitor::Judge(const Hook& hook, HookState& state, const Asked& asked) {
  const HookHealth health = HealthOf(asked.status);
  CircuitBreaker& breaker = state.breaker();
  auto [change, in_doubt] =
      breaker.Report(asked.ticket, {health, ObjectOf(asked.question), asked.status});
  // An error may be of this object alone, so a question that was answered before is asked again to
  // tell whether the hook is down.
  if (in_doubt) change = breaker.Settle(Check(hook, state));
  if (change.has_value()) ReportChange(hook, state, *change);
  if (health == HookHealth::kUp) state.NoteAnswered(asked.question);
  if (asked.status.ok() && state.ignored().NoteAnswered(asked.question)) WantProbe();
}

void HookMonitor::NoteIgnored(const Hook& hook, const Question& question) {
  if (!hook.unusable.ok()) return;  // A new configuration is looked at anyway.
  if (StateOf(hook)->ignored().Note(question)) WantProbe();
}

void HookMonitor::WantProbe() const {
  if (options_.on_probe_wanted) options_.on_probe_wanted();
}

std::optional<CircuitBreaker::Result> HookMonitor::Check(const Hook& hook, const HookState& state) {
  const std::optional<Question> question = state.AnsweredQuestion();
  if (!question.has_value()) return std::nullopt;
  const absl::Status status = Ask(hook, *question, nullptr);
  return CircuitBreaker::Result{HealthOf(status), ObjectOf(*question), status};
}

absl::Status HookMonitor::Ask(const Hook& hook, const Question& question,
                              const base::StopToken* stop) {
  const base::SteadyTime began = clock_.SteadyNow();
  absl::Status status = ask_(hook, question, stop);
  Count({hook, question.operation, clock_.SteadyNow() - began}, status);
  return status;
}

base::SteadyTime HookMonitor::NextProbe() const {
  absl::MutexLock lock(&mu_);
  base::SteadyTime next = base::SteadyTime::InfiniteFuture();
  for (const auto& [key, tracked] : tracked_) {
    next = std::min(next, tracked.state->NextProbeTime());
  }
  return next;
}

std::vector<HookMonitor::Tracked> HookMonitor::DueForProbe() const {
  const base::SteadyTime now = clock_.SteadyNow();
  std::vector<Tracked> due;
  absl::MutexLock lock(&mu_);
  for (const auto& [key, tracked] : tracked_) {
    if (tracked.state->NextProbeTime() <= now) due.push_back(tracked);
  }
  return due;
}

void HookMonitor::Probe(const base::StopToken& stop) {
  for (const Tracked& due : DueForProbe()) {
    if (stop.stop_requested()) return;
    ProbeOne(due.hook, *due.state, stop);
  }
}

void HookMonitor::ProbeOne(const Hook& hook, HookState& state, const base::StopToken& stop) {
  if (!state.breaker().IsOpen()) return AskAgain(hook, state, stop);
  const auto ticket = state.breaker().Admit();
  if (!ticket.ok() || !ticket->probe) return;  // A real call became the probe.
  const std::optional<Question> question = state.NextProbe();
  if (!question.has_value()) {  // There is nothing to ask: the probe has no result.
    state.breaker().Report(*ticket, {});
    return;
  }
  Judge(hook, state, {*question, *ticket, Ask(hook, *question, &stop)});
}

void HookMonitor::AskAgain(const Hook& hook, HookState& state, const base::StopToken& stop) {
  const std::optional<Question> question = state.ignored().Due();
  if (!question.has_value()) return;
  const auto ticket = state.breaker().Admit();
  if (!ticket.ok()) return;
  const absl::Status status = Ask(hook, *question, &stop);
  if (!status.ok()) state.ignored().Failed();
  if (status.ok()) Healed(hook, state);
  Judge(hook, state, {*question, *ticket, status});
}

void HookMonitor::Healed(const Hook& hook, HookState& state) {
  const std::set<KindQuestion> ignored = state.ignored().Succeeded();
  {
    absl::MutexLock lock(&mu_);
    if (!IsTracked(hook)) return;
  }
  ReportWaiting(hook, ignored);
}

void HookMonitor::ReportChange(const Hook& hook, HookState& state, const BreakerChange& change) {
  if (!change.open) Healed(hook, state);
  const std::set<KindQuestion> unanswered =
      change.open ? std::set<KindQuestion>() : state.TakeUnanswered();
  {
    absl::MutexLock lock(&mu_);
    if (!IsTracked(hook)) return;
    SetOpenGauge(hook, state.breaker().IsOpen());
  }
  if (options_.on_breaker_change) options_.on_breaker_change(hook, change, unanswered);
}

void HookMonitor::Count(const CallRecord& record, const absl::Status& status) {
  if (options_.metrics == nullptr) return;
  absl::MutexLock lock(&mu_);
  if (!IsTracked(record.hook)) return;
  if (!status.ok()) CountFailure(record.hook, ReasonOf(status));
  // The buckets reach from 1 ms to 33 s: from a hook nearby to the longest timeout.
  options_.metrics
      ->GetHistogram(
          kWebhookDurationMetric,
          "Time one call of an interpreter webhook takes, retries included.",
          metrics::ExponentialBuckets(0.001, 2, 16),
          With(LabelsOf(record.hook), {{"operation", std::string(OperationName(record.op))},
                                       {"result", status.ok() ? "success" : "error"}}))
      .Observe(absl::ToDoubleSeconds(record.took));
}

void HookMonitor::CountFailure(const Hook& hook, FailureReason reason) {
  if (options_.metrics == nullptr) return;
  options_.metrics
      ->GetCounter("karmada_interpreter_webhook_failures_total",
                   "Questions that an interpreter webhook did not answer, by reason.",
                   With(LabelsOf(hook), {{"reason", std::string(FailureReasonName(reason))}}))
      .Increment();
}

void HookMonitor::SetOpenGauge(const Hook& hook, bool open) {
  if (options_.metrics == nullptr) return;
  options_.metrics
      ->GetGauge("karmada_interpreter_webhook_open",
                 "1 while calls of an interpreter webhook are suspended, else 0.", LabelsOf(hook))
      .Set(open ? 1 : 0);
}

}  // namespace interpreter::webhook
