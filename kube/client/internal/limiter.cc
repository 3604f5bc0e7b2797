// ConcurrencyLimiter. A call waits until fewer than limit_ calls are under way. A good answer
// raises the limit by 1/limit_ if all places were taken, and, up to where it began, in any case: a
// limit that has fallen must not stay there only because few calls come. An overloaded server
// halves it, and an answer that is slow, absolutely and against the best one seen, takes a fifth of
// it. One overload is seen by many calls: what was sent before the last decrease, or ends soon
// after it, does not decrease the limit again. The best latency seen grows a little with each good
// answer.
//
// RequestPace. A caller takes its token at once, even one that does not exist yet, and sleeps
// without the lock until it would exist. A caller whose token would come after its deadline takes
// none. A caller that is stopped in its sleep does not give its token back.

#include "kube/client/internal/limiter.h"

#include <algorithm>

#include "base/status.h"
#include "base/stop_flag.h"

namespace kube {
namespace {

// The decrease is strong after refusals; high latency alone is a weaker sign.
constexpr double kDecreaseOnOverload = 0.5;
constexpr double kDecreaseOnSlowness = 0.8;
// The best latency is slowly forgotten, so that a server that has moved is not compared with its
// past for ever.
constexpr double kBestDecay = 1.001;

}  // namespace

ConcurrencyLimiter::ConcurrencyLimiter(const base::Clock& clock, const Options& options)
    : clock_(clock), options_(options), limit_(options.initial) {}

bool ConcurrencyLimiter::HasPlace() const { return in_flight_ < static_cast<int>(limit_); }

absl::Status ConcurrencyLimiter::Acquire(base::SteadyTime deadline, const base::StopToken& stop) {
  {
    absl::MutexLock lock(&mu_);
    if (HasPlace()) {
      ++in_flight_;
      return absl::OkStatus();
    }
  }
  const base::StopFlag stopped(mu_, stop);
  absl::MutexLock lock(&mu_);
  auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopped.IsSet() || HasPlace(); };
  if (!clock_.AwaitUntil(mu_, absl::Condition(&ready), deadline)) {
    return absl::DeadlineExceededError("waiting for a free connection slot");
  }
  if (stopped.IsSet())
    return absl::CancelledError("stopped while waiting for a free connection slot");
  ++in_flight_;
  return absl::OkStatus();
}

bool ConcurrencyLimiter::IsSlow(absl::Duration took) {
  best_ = std::min(took, best_ == absl::InfiniteDuration() ? took : best_ * kBestDecay);
  return took > options_.slow && took > best_ * options_.slow_factor;
}

void ConcurrencyLimiter::Release(Outcome outcome, base::SteadyTime started) {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  const bool was_holding_back = in_flight_ >= static_cast<int>(limit_);
  --in_flight_;
  if (outcome == Outcome::kNeutral) return;
  const bool slow = outcome == Outcome::kGood && IsSlow(now - started);
  if (outcome == Outcome::kGood && !slow) {
    const double ceiling = was_holding_back ? options_.max : options_.initial;
    if (limit_ < ceiling) limit_ = std::min(ceiling, limit_ + 1 / limit_);
    return;
  }
  if (started <= last_decrease_ || now - last_decrease_ < options_.decrease_interval) return;
  last_decrease_ = now;
  limit_ = std::max(options_.min, limit_ * (slow ? kDecreaseOnSlowness : kDecreaseOnOverload));
}

int ConcurrencyLimiter::limit() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int>(limit_);
}

absl::StatusOr<absl::Duration> RequestPace::Reserve(base::SteadyTime deadline) {
  absl::MutexLock lock(&mu_);
  const base::SteadyTime now = clock_.SteadyNow();
  if (now + bucket_.WaitFor(now) > deadline) {
    return absl::DeadlineExceededError(
        "the client's rate limit leaves no call before the deadline");
  }
  return bucket_.Reserve(now);
}

absl::Status RequestPace::Take(base::SteadyTime deadline, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const absl::Duration wait, Reserve(deadline));
  if (wait <= absl::ZeroDuration() || clock_.SleepFor(wait, stop)) return absl::OkStatus();
  return absl::CancelledError("stopped while waiting for the client's rate limit");
}

}  // namespace kube
