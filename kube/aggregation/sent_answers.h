// Limits the answers that are being sent.
#ifndef KUBE_AGGREGATION_SENT_ANSWERS_H_
#define KUBE_AGGREGATION_SENT_ANSWERS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/http_server.h"

namespace kube::aggregation {

// The answers that have begun and are being sent. They have no place among the requests in flight,
// so that nobody waits for those who read slowly. Beyond a number of them the oldest one of the
// user who has the most is cut for a new one, if it has had its time; beyond four times the number
// in any case. So many clients that list at once do not cut one another off, and nobody cuts those
// of others. Thread-safe.
class SentAnswers : public std::enable_shared_from_this<SentAnswers> {
 public:
  using Cut = std::function<void(base::HttpResponse)>;
  // How long an answer is not cut for another one.
  static constexpr absl::Duration kLeast = absl::Seconds(15);

  // `most` 0: any number. REQUIRES: `clock` outlives this object and all handles.
  SentAnswers(int most, const base::Clock& clock)
      : most_(static_cast<size_t>(most)), clock_(clock) {}

  // The answer counts for as long as the returned handle exists.
  std::shared_ptr<const void> Add(const std::string& owner, Cut cut) {
    Cut oldest;
    uint64_t id;
    {
      absl::MutexLock lock(&mu_);
      id = ++last_;
      const base::SteadyTime now = clock_.SteadyNow();
      ++of_[owner];
      if (most_ > 0 && cuts_.size() >= most_) {
        const auto victim = OldestOfLargest();
        if (now - victim->second.since >= kLeast || cuts_.size() >= 4 * most_) {
          oldest = std::move(victim->second.cut);
          Erase(victim);
        }
      }
      cuts_.emplace(id, Sent{now, owner, std::move(cut)});
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
    Erase(found);
  }

  struct Sent {
    base::SteadyTime since;
    std::string owner;
    Cut cut;
  };
  using Answers = std::map<uint64_t, Sent>;

  // Returns the oldest answer of the owner who has the most; of those who have equally many, the
  // oldest of all. REQUIRES: there is an answer.
  Answers::iterator OldestOfLargest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    size_t most = 0;
    for (const auto& [owner, count] : of_) most = std::max(most, count);
    const auto found = std::find_if(cuts_.begin(), cuts_.end(), [&](const auto& answer) {
      mu_.AssertHeld();
      return of_[answer.second.owner] == most;
    });
    return found == cuts_.end() ? cuts_.begin() : found;
  }
  void Erase(Answers::iterator answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto of = of_.find(answer->second.owner);
    if (--of->second == 0) of_.erase(of);
    cuts_.erase(answer);
  }

  const size_t most_;
  const base::Clock& clock_;
  absl::Mutex mu_;
  uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;
  Answers cuts_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, size_t> of_ ABSL_GUARDED_BY(mu_);  // How many each owner has.
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_SENT_ANSWERS_H_
