// The breaker is closed, in doubt, open or probing.
//
//   closed    Calls go through. Outages in a row are counted; any answer sets the count to zero.
//   in doubt  From the fifth outage in a row on. Report returns this once, and its caller asks the
//             hook something that it has answered before. Settle opens the breaker when that fails,
//             too, or, when there was nothing to ask, when the outages alone prove an outage of the
//             hook (IsOutageByItself).
//   open      Admit refuses all calls until next_probe_.
//   probing   One call has been let through. An answer closes the breaker; an outage doubles the
//             pause and leaves it open.
//
// A breaker that opens again soon after it closed starts with twice the pause it had. All state is
// under one mutex, which is never held while a call is made.

#include "interpreter/webhook/circuit_breaker.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kube/meta/object.h"

namespace interpreter::webhook {

CircuitBreaker::CircuitBreaker(const base::Clock& clock, BreakerOptions options)
    : clock_(clock), options_(options) {}

absl::StatusOr<CircuitBreaker::Ticket> CircuitBreaker::Admit() {
  absl::MutexLock lock(&mu_);
  if (!open_) return Ticket{};
  if (!probing_ && clock_.SteadyNow() >= next_probe_) {
    probing_ = true;
    return Ticket{.probe = true};
  }
  return absl::UnavailableError(absl::StrCat(
      "calls are suspended since ", kube::FormatTime(first_failure_wall_), ": ", last_failure_));
}

CircuitBreaker::Verdict CircuitBreaker::Report(Ticket ticket, const Result& result) {
  absl::MutexLock lock(&mu_);
  if (ticket.probe) probing_ = false;
  if (result.health == HookHealth::kUp) return {.change = Close()};
  if (open_) {
    // Calls that began before the breaker opened do not count.
    if (ticket.probe) FailProbe(result);
    return {};
  }
  return {.in_doubt = result.health == HookHealth::kDown && CountOutage(result)};
}

std::optional<BreakerChange> CircuitBreaker::Settle(const std::optional<Result>& check) {
  absl::MutexLock lock(&mu_);
  in_doubt_ = false;
  if (check.has_value() && check->health == HookHealth::kUp) return Close();
  const bool down = check.has_value() ? check->health == HookHealth::kDown : IsOutageByItself();
  // Another call may have been answered in the meantime.
  if (!down || open_ || failures_ < options_.failures_to_open) return std::nullopt;
  return Open();
}

bool CircuitBreaker::IsOutageByItself() const {
  return several_objects_ || clock_.SteadyNow() - first_failure_ >= options_.lone_failures_to_open;
}

std::optional<BreakerChange> CircuitBreaker::Close() {
  failures_ = 0;
  if (!open_) return std::nullopt;
  open_ = false;
  closed_at_ = clock_.SteadyNow();
  return Change();
}

BreakerChange CircuitBreaker::Open() {
  const base::SteadyTime now = clock_.SteadyNow();
  const bool again = now - closed_at_ < options_.longest_pause;
  pause_ = again ? std::min(pause_ * 2, options_.longest_pause) : options_.first_pause;
  next_probe_ = now + pause_;
  open_ = true;
  return Change();
}

BreakerChange CircuitBreaker::Change() const {
  return {.open = open_, .since = first_failure_wall_, .at = clock_.Now(), .reason = last_failure_};
}

// Returns whether the hook is in doubt because of this outage.
bool CircuitBreaker::CountOutage(const Result& result) {
  last_failure_ = std::string(result.status.message());
  if (failures_++ == 0) {
    first_failure_ = clock_.SteadyNow();
    first_failure_wall_ = clock_.Now();
    first_object_ = result.object;
    several_objects_ = false;
  }
  if (result.object != first_object_) several_objects_ = true;
  if (in_doubt_ || failures_ < options_.failures_to_open) return false;
  in_doubt_ = true;
  return true;
}

void CircuitBreaker::FailProbe(const Result& result) {
  if (!result.status.ok() && !absl::IsCancelled(result.status)) {
    last_failure_ = std::string(result.status.message());
  }
  // A probe without a result (it was cancelled, or a proxy answered) is repeated after the same
  // pause. Without a pause the prober would do nothing else.
  if (result.health == HookHealth::kDown) pause_ = std::min(pause_ * 2, options_.longest_pause);
  next_probe_ = clock_.SteadyNow() + pause_;
}

std::optional<BreakerChange> CircuitBreaker::Abandon() {
  absl::MutexLock lock(&mu_);
  std::optional<BreakerChange> change = Close();
  if (change.has_value()) change->abandoned = true;
  return change;
}

bool CircuitBreaker::IsOpen() const {
  absl::MutexLock lock(&mu_);
  return open_;
}

base::SteadyTime CircuitBreaker::NextProbe() const {
  absl::MutexLock lock(&mu_);
  if (!open_) return base::SteadyTime::InfiniteFuture();
  return probing_ ? clock_.SteadyNow() + options_.first_pause : next_probe_;
}

}  // namespace interpreter::webhook
