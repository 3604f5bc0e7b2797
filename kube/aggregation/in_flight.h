// Counts the requests that are being executed, and limits them.
#ifndef KUBE_AGGREGATION_IN_FLIGHT_H_
#define KUBE_AGGREGATION_IN_FLIGHT_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_flag.h"
#include "base/stop_token.h"

namespace kube::aggregation {

// One counter with a limit. Thread-safe.
class InFlight {
 public:
  // Held by a request while it counts. It may outlive the counter.
  using Place = std::shared_ptr<const void>;

  // `limit` 0: none. `gauge` may be null; else it outlives all places.
  explicit InFlight(int limit, metrics::Gauge* gauge = nullptr)
      : limit_(limit), count_(std::make_shared<Count>(gauge)) {}

  // Returns nullptr when there are too many, unless `privileged`.
  Place Enter(bool privileged) {
    if (!count_->Add(privileged ? 0 : limit_)) return nullptr;
    return Place(count_.get(), [count = count_](const void*) { count->Remove(); });
  }

  // Returns whether no place is taken, or becomes so by `deadline` and before a stop.
  bool AwaitNone(const base::Clock& clock, base::SteadyTime deadline,
                 const base::StopToken& stop) const {
    return count_->AwaitNone(clock, deadline, stop);
  }

 private:
  class Count {
   public:
    explicit Count(metrics::Gauge* gauge) : gauge_(gauge) {}

    bool Add(int limit) {
      absl::MutexLock lock(&mu_);
      if (limit > 0 && taken_ >= limit) return false;
      ++taken_;
      if (gauge_ != nullptr) gauge_->Set(taken_);
      return true;
    }
    void Remove() {
      absl::MutexLock lock(&mu_);
      --taken_;
      if (gauge_ != nullptr) gauge_->Set(taken_);
    }
    bool AwaitNone(const base::Clock& clock, base::SteadyTime deadline,
                   const base::StopToken& stop) const {
      const base::StopFlag stopped(mu_, stop);
      absl::MutexLock lock(&mu_);
      const auto over = [&]() ABSL_SHARED_LOCKS_REQUIRED(mu_) {
        return taken_ == 0 || stopped.IsSet();
      };
      clock.AwaitUntil(mu_, absl::Condition(&over), deadline);
      return taken_ == 0;
    }

   private:
    metrics::Gauge* const gauge_;
    mutable absl::Mutex mu_;
    int taken_ ABSL_GUARDED_BY(mu_) = 0;
  };

  const int limit_;
  const std::shared_ptr<Count> count_;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_IN_FLIGHT_H_
