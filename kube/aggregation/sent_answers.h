// Limits the answers that are being sent.
#ifndef KUBE_AGGREGATION_SENT_ANSWERS_H_
#define KUBE_AGGREGATION_SENT_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/http_server.h"

namespace kube::aggregation {

// The answers that have begun and are being sent. They have no place among the requests in flight,
// so that nobody waits for those who read slowly. Beyond a number of them the oldest one is cut for
// a new one, if it has had its time; beyond four times the number in any case. So many clients that
// list at once do not cut one another off. Thread-safe.
class SentAnswers : public std::enable_shared_from_this<SentAnswers> {
 public:
  using Cut = std::function<void(base::HttpResponse)>;
  // How long an answer is not cut for another one.
  static constexpr absl::Duration kLeast = absl::Seconds(15);

  // `most` 0: any number. REQUIRES: `clock` outlives this object and all handles.
  SentAnswers(int most, const base::Clock& clock)
      : most_(static_cast<size_t>(most)), clock_(clock) {}

  // The answer counts for as long as the returned handle exists.
  std::shared_ptr<const void> Add(Cut cut) {
    Cut oldest;
    uint64_t id;
    {
      absl::MutexLock lock(&mu_);
      id = ++last_;
      const base::SteadyTime now = clock_.SteadyNow();
      if (most_ > 0 && cuts_.size() >= most_ &&
          (now - cuts_.begin()->second.since >= kLeast || cuts_.size() >= 4 * most_)) {
        oldest = std::move(cuts_.begin()->second.cut);
        cuts_.erase(cuts_.begin());
      }
      cuts_.emplace(id, Sent{now, std::move(cut)});
    }
    if (oldest) oldest({});
    return {this, [self = shared_from_this(), id](const void*) { self->Remove(id); }};
  }

 private:
  void Remove(uint64_t id) {
    Cut removed;  // Destroyed after the lock is released.
    absl::MutexLock lock(&mu_);
    const auto found = cuts_.find(id);
    if (found == cuts_.end()) return;
    removed = std::move(found->second.cut);
    cuts_.erase(found);
  }

  struct Sent {
    base::SteadyTime since;
    Cut cut;
  };
  const size_t most_;
  const base::Clock& clock_;
  absl::Mutex mu_;
  uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<uint64_t, Sent> cuts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_SENT_ANSWERS_H_
