// A number of places, or of bytes, that many use together, so that nobody can take all of them.
//
//   FairShare bodies(32 << 20);
//   const FairShare::Taken taken = bodies.Take("alice", 3 << 20);
//   if (taken == nullptr) ...  // Too much is in use.
#ifndef BASE_FAIR_SHARE_H_
#define BASE_FAIR_SHARE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace base {

// Whoever takes has to leave as much as he has then: the first user gets at most half, the next one
// half of the rest, and so on. So somebody who comes finds room whatever one other does, and no
// number of users has to be known beforehand. Thread-safe.
class FairShare {
 public:
  // Counts for as long as it is held; it may outlive the whole.
  using Taken = std::shared_ptr<const void>;

  // Returns whether somebody who has `own` of what all together have (`used`) may take `more`.
  static bool Allows(int64_t own, int64_t used, int64_t more, int64_t limit) {
    return own + more <= limit - used;
  }

  // `limit` 0: any amount.
  explicit FairShare(int64_t limit) : state_(std::make_shared<State>(limit)) {}

  // Returns nullptr if `amount` is too much. An owner of "" is nobody in particular: what he takes
  // has no share, but counts with the rest.
  Taken Take(absl::string_view owner, int64_t amount) {
    if (!state_->Take(owner, amount)) return nullptr;
    return Taken(state_.get(), [state = state_, owner = std::string(owner), amount](const void*) {
      state->Return(owner, amount);
    });
  }
  // Returns what is taken by all together.
  int64_t used() const { return state_->used(); }

 private:
  class State {
   public:
    explicit State(int64_t limit) : limit_(limit) {}
    bool Take(absl::string_view owner, int64_t amount) {
      absl::MutexLock lock(&mu_);
      if (limit_ > 0 && used_ + amount > limit_) return false;
      if (!owner.empty()) {
        const auto [own, is_new] = of_.try_emplace(std::string(owner), 0);
        if (limit_ > 0 && !Allows(own->second, used_, amount, limit_)) {
          if (is_new) of_.erase(own);
          return false;
        }
        own->second += amount;
      }
      used_ += amount;
      return true;
    }
    void Return(absl::string_view owner, int64_t amount) {
      absl::MutexLock lock(&mu_);
      used_ -= amount;
      const auto own = of_.find(owner);
      if (own != of_.end() && (own->second -= amount) <= 0) of_.erase(own);
    }
    int64_t used() const {
      absl::MutexLock lock(&mu_);
      return used_;
    }

   private:
    const int64_t limit_;
    mutable absl::Mutex mu_;
    int64_t used_ ABSL_GUARDED_BY(mu_) = 0;
    absl::flat_hash_map<std::string, int64_t> of_ ABSL_GUARDED_BY(mu_);
  };

  const std::shared_ptr<State> state_;
};

}  // namespace base

#endif  // BASE_FAIR_SHARE_H_
