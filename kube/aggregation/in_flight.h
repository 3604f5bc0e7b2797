// Counts the requests that are being executed, and limits them.
#ifndef KUBE_AGGREGATION_IN_FLIGHT_H_
#define KUBE_AGGREGATION_IN_FLIGHT_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/fair_share.h"
#include "base/http_server.h"
#include "base/metrics.h"
#include "base/stop_flag.h"
#include "base/stop_token.h"
#include "kube/aggregation/request_fields.h"

namespace kube::aggregation {

// One counter with a limit, of which each user has a share (base::Shares). Thread-safe.
class InFlight {
 public:
  // Held by a request while it counts. It may outlive the counter.
  using Place = std::shared_ptr<const void>;

  // `limit` 0: none. `gauge` may be null; else it outlives all places.
  explicit InFlight(int limit, metrics::Gauge* gauge = nullptr)
      : limit_(limit), count_(std::make_shared<Count>(gauge)) {}

  // Takes `weight` places. Returns nullptr when too many are taken by all together, or by this
  // owner. base::kNoOwner always gets his, because the only limit is that of the shares.
  Place Enter(const std::string& owner, int weight = 1) {
    if (!count_->Add(owner, weight, limit_)) return nullptr;
    return Place(count_.get(),
                 [count = count_, owner, weight](const void*) { count->Remove(owner, weight); });
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

    bool Add(const std::string& owner, int weight, int limit) {
      absl::MutexLock lock(&mu_);
      if (limit > 0 && !taken_.Allows(owner, weight, limit)) return false;
      taken_.Add(owner, weight);
      Show();
      return true;
    }
    void Remove(const std::string& owner, int weight) {
      absl::MutexLock lock(&mu_);
      taken_.Remove(owner, weight);
      Show();
    }
    bool AwaitNone(const base::Clock& clock, base::SteadyTime deadline,
                   const base::StopToken& stop) const {
      const base::StopFlag stopped(mu_, stop);
      absl::MutexLock lock(&mu_);
      const auto over = [&]() ABSL_SHARED_LOCKS_REQUIRED(mu_) {
        return taken_.used() == 0 || stopped.IsSet();
      };
      clock.AwaitUntil(mu_, absl::Condition(&over), deadline);
      return taken_.used() == 0;
    }

   private:
    void Show() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
      if (gauge_ != nullptr) gauge_->Set(static_cast<double>(taken_.used()));
    }

    metrics::Gauge* const gauge_;
    mutable absl::Mutex mu_;
    base::Shares taken_ ABSL_GUARDED_BY(mu_);
  };

  const int limit_;
  const std::shared_ptr<Count> count_;
};

// Returns how many places a watch or session takes: one for every 2 KiB of its URL and headers that
// are begun, because it keeps its selectors, which take several times as much.
inline int WeightOf(const base::HttpRequest& request) {
  constexpr size_t kBytesOfPlace = 2 << 10;
  return static_cast<int>(1 + BytesOfHead(request) / kBytesOfPlace);
}

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_IN_FLIGHT_H_
