// A place is in one of three states: its body is being received, was received, or was too slow and
// has lost the place to another one that needed it. In the last one it counts nothing; its
// connection learns of it by Claim::cut.

#include "base/internal/body_budget.h"

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/synchronization/mutex.h"
#include "base/fair_share.h"

namespace base::internal {

class BodyBudget::State : public std::enable_shared_from_this<BodyBudget::State> {
 public:
  State(const Options& options, const Clock& clock) : options_(options), clock_(clock) {}

  PlacePtr Take(Claim claim) {
    // Declared before the lock, because they may own anything.
    std::vector<std::function<void()>> cuts;
    PlacePtr place;
    {
      absl::MutexLock lock(&mu_);
      while (!Fits(claim)) {
        const auto slow = FindSlow();
        if (slow == held_.end()) break;
        cuts.push_back(std::move(slow->second.claim.cut));
        Remove(slow);
      }
      if (Fits(claim)) {
        place = std::make_shared<Place>(shared_from_this(), ++last_);
        shares_.Add(claim.owner, static_cast<int64_t>(claim.bytes));
        held_.emplace(last_, Held{std::move(claim), clock_.SteadyNow(), place.get()});
      }
    }
    // Without the lock: a cut ends a connection, whose place is returned here.
    for (const auto& cut : cuts) {
      if (cut) cut();
    }
    return place;
  }

  void Complete(uint64_t id) {
    std::function<void()> unused;
    absl::MutexLock lock(&mu_);
    const auto held = held_.find(id);
    if (held == held_.end()) return;
    held->second.receiving = nullptr;
    unused.swap(held->second.claim.cut);
  }
  void Return(uint64_t id) {
    std::function<void()> unused;
    absl::MutexLock lock(&mu_);
    const auto held = held_.find(id);
    if (held == held_.end()) return;  // The place has been given to somebody else.
    unused.swap(held->second.claim.cut);
    Remove(held);
  }

 private:
  struct Held {
    Claim claim;
    SteadyTime since;
    const Place* receiving;  // Null once the body was received.
  };
  using HeldMap = absl::btree_map<uint64_t, Held>;

  bool Fits(const Claim& claim) const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    const auto limit = static_cast<double>(options_.bytes),
               used = static_cast<double>(shares_.used());
    const auto bytes = static_cast<double>(claim.bytes);
    // Administrators get in even if others fill the budget.
    if (claim.privileged) return used + bytes <= 2 * limit;
    if (used + bytes > limit || options_.bytes == SIZE_MAX) return used + bytes <= limit;
    return shares_.Allows(claim.owner, static_cast<int64_t>(claim.bytes),
                          static_cast<int64_t>(options_.bytes));
  }
  // Returns the oldest body that is too slow to be complete in time.
  HeldMap::iterator FindSlow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const SteadyTime now = clock_.SteadyNow();
    for (auto held = held_.begin(); held != held_.end(); ++held) {
      const auto& [claim, since, receiving] = held->second;
      if (receiving == nullptr || now - since < options_.least) continue;
      // A body of n bytes has to arrive evenly within options_.time; what it is behind is judged
      // after options_.least.
      const double due =
          static_cast<double>(claim.bytes) * absl::FDivDuration(now - since, options_.time);
      if (static_cast<double>(receiving->received()) < due) return held;
    }
    return held_.end();
  }
  void Remove(HeldMap::iterator held) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const Claim& claim = held->second.claim;
    shares_.Remove(claim.owner, static_cast<int64_t>(claim.bytes));
    held_.erase(held);
  }

  const Options options_;
  const Clock& clock_;
  absl::Mutex mu_;
  uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;
  Shares shares_ ABSL_GUARDED_BY(mu_);
  HeldMap held_ ABSL_GUARDED_BY(mu_);  // In the order in which they were taken.
};

BodyBudget::BodyBudget(const Options& options, const Clock& clock)
    : state_(std::make_shared<State>(options, clock)) {}

BodyBudget::PlacePtr BodyBudget::Take(Claim claim) { return state_->Take(std::move(claim)); }

BodyBudget::Place::~Place() { state_->Return(id_); }

void BodyBudget::Place::NoteComplete() { state_->Complete(id_); }

}  // namespace base::internal
