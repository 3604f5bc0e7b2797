// Answers of a slow authority, kept for a short time, with one question for all who ask the same at
// the same time.
#ifndef KUBE_AGGREGATION_REVIEW_CACHE_H_
#define KUBE_AGGREGATION_REVIEW_CACHE_H_

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace kube::aggregation {

// Keeps at most `max_entries` answers that count, and as many others; the one that was used longest
// ago is dropped first. So whoever asks for what does not count has nobody else's answer
// dropped. Errors are not kept: the next who asks causes a new question. Thread-safe.
template <class Answer>
class ReviewCache {
 public:
  using Done = std::function<void(const absl::StatusOr<Answer>&)>;
  // Asks, and passes on the answer, once, on any thread. It may drop its argument instead: then
  // nobody who waits is called.
  using Ask = std::function<void(Done)>;
  // Returns for how long an answer may be used.
  using LifetimeFn = std::function<absl::Duration(const Answer&)>;
  // Returns whether the answer is one that counts: a user, or a permission.
  using CountsFn = std::function<bool(const Answer&)>;

  // REQUIRES: `clock` outlives the cache; no question is under way when it is destroyed.
  ReviewCache(size_t max_entries, LifetimeFn lifetime, CountsFn counts, const base::Clock& clock)
      : max_entries_(max_entries),
        lifetime_(std::move(lifetime)),
        counts_(std::move(counts)),
        clock_(clock) {}
  ReviewCache(const ReviewCache&) = delete;

  // Calls `done` with the answer for `key`: on this thread if it is known, else when it arrives.
  // `ask` is called on this thread if nobody has asked yet. With `keep` false the answer serves
  // those who wait for it and nobody later.
  void Get(const std::string& key, bool keep, const Ask& ask, Done done) {
    std::shared_ptr<const Answer> known;
    {
      absl::MutexLock lock(&mu_);
      known = Find(key);
      if (known == nullptr) {
        std::vector<Done>& waiting = waiting_[key];
        waiting.push_back(std::move(done));
        if (waiting.size() > 1) return;
      }
    }
    if (known != nullptr) return done(*known);
    ask([this, key, keep](const absl::StatusOr<Answer>& answer) { Answered(key, keep, answer); });
  }

  // Returns the answer that may be used now; nullptr if there is none.
  std::shared_ptr<const Answer> Known(const std::string& key) {
    absl::MutexLock lock(&mu_);
    return Find(key);
  }
  // Returns an answer that counts, or did before its time was over; nullptr if none is remembered.
  std::shared_ptr<const Answer> Former(const std::string& key) const {
    absl::MutexLock lock(&mu_);
    const auto place = places_.find(key);
    return place == places_.end() || !place->second->counts ? nullptr : place->second->answer;
  }

  size_t size() const {
    absl::MutexLock lock(&mu_);
    return counting_.size() + others_.size();
  }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Answer> answer;
    base::SteadyTime expires;
    bool counts;
  };
  using Entries = std::list<Entry>;

  std::shared_ptr<const Answer> Find(const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto place = places_.find(key);
    if (place == places_.end()) return nullptr;
    const typename Entries::iterator entry = place->second;
    if (clock_.SteadyNow() >= entry->expires) return nullptr;
    Entries& entries = With(entry->counts);
    entries.splice(entries.begin(), entries, entry);
    return entry->answer;
  }
  // Returns those among which an answer is kept.
  Entries& With(bool counts) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return counts ? counting_ : others_;
  }

  void Answered(const std::string& key, bool keep, const absl::StatusOr<Answer>& answer) {
    std::vector<Done> waiting;
    {
      absl::MutexLock lock(&mu_);
      if (keep && answer.ok()) Keep(key, *answer);
      const auto place = waiting_.find(key);
      if (place == waiting_.end()) return;
      waiting = std::move(place->second);
      waiting_.erase(place);
    }
    for (const Done& done : waiting) done(answer);
  }

  void Keep(const std::string& key, const Answer& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (const auto old = places_.find(key); old != places_.end()) {
      const typename Entries::iterator entry = old->second;
      places_.erase(old);
      With(entry->counts).erase(entry);
    }
    const absl::Duration lifetime = lifetime_(answer);
    if (lifetime <= absl::ZeroDuration() || max_entries_ == 0) return;
    const bool counts = counts_(answer);
    Entries& entries = With(counts);
    if (entries.size() == max_entries_) {
      places_.erase(entries.back().key);
      entries.pop_back();
    }
    entries.push_front(
        {key, std::make_shared<const Answer>(answer), clock_.SteadyNow() + lifetime, counts});
    places_.emplace(entries.front().key, entries.begin());
  }

  const size_t max_entries_;
  const LifetimeFn lifetime_;
  const CountsFn counts_;
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  // Those whose time is over stay until others need their place: see Former. The most recently used
  // first.
  Entries counting_ ABSL_GUARDED_BY(mu_), others_ ABSL_GUARDED_BY(mu_);
  // The keys are views of those in the entries.
  absl::flat_hash_map<absl::string_view, typename Entries::iterator> places_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::vector<Done>> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_REVIEW_CACHE_H_
