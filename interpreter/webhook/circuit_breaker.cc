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
  if (!probing_ && clock_.Now() >= next_probe_) {
    probing_ = true;
    return Ticket{.probe = true};
  }
  return absl::UnavailableError(absl::StrCat(
      "calls are suspended since ", kube::FormatTime(first_failure_), ": ", last_failure_));
}

std::optional<BreakerChange> CircuitBreaker::Report(Ticket ticket, Outcome outcome,
                                                    const absl::Status& status) {
  absl::MutexLock lock(&mu_);
  if (ticket.probe) probing_ = false;
  switch (outcome) {
    case Outcome::kWorks:
      return Close();
    case Outcome::kOutage:
      return CountOutage(ticket, status);
    case Outcome::kUnknown:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<BreakerChange> CircuitBreaker::Close() {
  failures_ = 0;
  if (!open_) return std::nullopt;
  open_ = false;
  return BreakerChange{.open = false, .since = first_failure_, .reason = last_failure_};
}

std::optional<BreakerChange> CircuitBreaker::CountOutage(Ticket ticket,
                                                         const absl::Status& status) {
  // Calls that began before it opened say nothing new.
  if (open_ && !ticket.probe) return std::nullopt;
  const absl::Time now = clock_.Now();
  last_failure_ = std::string(status.message());
  if (open_) {
    pause_ = std::min(pause_ * 2, options_.longest_pause);
    next_probe_ = now + pause_;
    return std::nullopt;
  }
  if (failures_++ == 0) first_failure_ = now;
  if (failures_ < options_.failures_to_open) return std::nullopt;
  open_ = true;
  pause_ = options_.first_pause;
  next_probe_ = now + pause_;
  return BreakerChange{.open = true, .since = first_failure_, .reason = last_failure_};
}

bool CircuitBreaker::IsOpen() const {
  absl::MutexLock lock(&mu_);
  return open_;
}

}  // namespace interpreter::webhook
