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

// At most `max_entries` answers are kept; the one that was used longest ago goes first. Errors are
// not kept: the next who asks causes a new question. Thread-safe.
template <class Answer>
class ReviewCache {
 public:
  using Done = std::function<void(const absl::StatusOr<Answer>&)>;
  // Asks, and passes on the answer, once, on any thread. It may drop its argument instead: then
  // nobody who waits is called.
  using Ask = std::function<void(Done)>;
  // Returns for how long an answer may be used.
  using LifetimeFn = std::function<absl::Duration(const Answer&)>;

  // REQUIRES: `clock` outlives the cache; no question is under way when it is destroyed.
  ReviewCache(size_t max_entries, LifetimeFn lifetime, const base::Clock& clock)
      : max_entries_(max_entries), lifetime_(std::move(lifetime)), clock_(clock) {}
  ReviewCache(const ReviewCache&) = delete;

  // Calls `done` with the answer for `key`: on this thread if it is known, else when it comes.
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

  size_t size() const {
    absl::MutexLock lock(&mu_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Answer> answer;
    base::SteadyTime expires;
  };
  using Entries = std::list<Entry>;

  std::shared_ptr<const Answer> Find(const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto place = places_.find(key);
    if (place == places_.end()) return nullptr;
    const typename Entries::iterator entry = place->second;
    if (clock_.SteadyNow() >= entry->expires) {
      places_.erase(place);
      entries_.erase(entry);
      return nullptr;
    }
    entries_.splice(entries_.begin(), entries_, entry);
    return entry->answer;
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
    const absl::Duration lifetime = lifetime_(answer);
    if (lifetime <= absl::ZeroDuration() || max_entries_ == 0) return;
    if (const auto old = places_.find(key); old != places_.end()) {
      entries_.erase(old->second);
      places_.erase(old);
    }
    if (entries_.size() == max_entries_) {
      places_.erase(entries_.back().key);
      entries_.pop_back();
    }
    entries_.push_front(
        {key, std::make_shared<const Answer>(answer), clock_.SteadyNow() + lifetime});
    places_.emplace(entries_.front().key, entries_.begin());
  }

  const size_t max_entries_;
  const LifetimeFn lifetime_;
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  Entries entries_ ABSL_GUARDED_BY(mu_);  // The most recently used first.
  // The keys are views of those in entries_.
  absl::flat_hash_map<absl::string_view, typename Entries::iterator> places_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::vector<Done>> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_REVIEW_CACHE_H_
