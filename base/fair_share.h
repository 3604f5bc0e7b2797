// A number of places, or of bytes, that many use together, so that nobody can take all of them.
//
//   FairShare bodies(32 << 20);
//   const FairShare::Taken taken = bodies.Take("alice", 3 << 20);
//   if (taken == nullptr) ...  // Too much is in use.
#ifndef BASE_FAIR_SHARE_H_
#define BASE_FAIR_SHARE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace base {

// The owner of what is nobody's in particular, or of somebody whom no share may keep out. He has no
// share: what he takes counts, so that less is left to the others, and only a limit of all together
// keeps him out, where there is one.
inline constexpr char kNoOwner[] = "";
inline bool HasShare(absl::string_view owner) { return owner != kNoOwner; }

// What each of many owners has of a whole.
//
// Whoever takes has to leave as much as he has then: the first owner gets at most half, the next
// one half of the rest, and so on. So a newcomer finds room whatever one other does, and no number
// of owners has to be known beforehand. Not thread-safe.
class Shares {
 public:
  // Returns whether somebody who has `own` of what all together have (`used`) may take `more`.
  static bool Allows(int64_t own, int64_t used, int64_t more, int64_t limit) {
    return own + more <= limit - used;
  }
  // As Allows; kNoOwner may always.
  bool Allows(absl::string_view owner, int64_t more, int64_t limit) const {
    if (!HasShare(owner)) return true;
    const auto own = of_.find(owner);
    return Allows(own == of_.end() ? 0 : own->second, used_, more, limit);
  }

  void Add(absl::string_view owner, int64_t amount) {
    if (amount == 0) return;
    of_[owner] += amount;
    used_ += amount;
  }
  // REQUIRES: the owner has so much.
  void Remove(absl::string_view owner, int64_t amount) {
    if (amount == 0) return;
    const auto own = of_.find(owner);
    if ((own->second -= amount) == 0) of_.erase(own);
    used_ -= amount;
  }
  // Returns what is taken by all together.
  int64_t used() const { return used_; }

 private:
  absl::flat_hash_map<std::string, int64_t> of_;
  int64_t used_ = 0;
};

// A limit of which each owner has a share (see Shares). Thread-safe.
class FairShare {
 public:
  // Counts for as long as it is held; it may outlive the whole.
  using Taken = std::shared_ptr<const void>;

  // `limit` 0: any amount.
  explicit FairShare(int64_t limit) : state_(std::make_shared<State>(limit)) {}

  // Returns nullptr if `amount` is too much for the owner, or for all together: the latter keeps
  // kNoOwner out, too.
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
      if (limit_ > 0 && shares_.used() + amount > limit_) return false;
      if (limit_ > 0 && !shares_.Allows(owner, amount, limit_)) return false;
      shares_.Add(owner, amount);
      return true;
    }
    void Return(absl::string_view owner, int64_t amount) {
      absl::MutexLock lock(&mu_);
      shares_.Remove(owner, amount);
    }
    int64_t used() const {
      absl::MutexLock lock(&mu_);
      return shares_.used();
    }

   private:
    const int64_t limit_;
    mutable absl::Mutex mu_;
    Shares shares_ ABSL_GUARDED_BY(mu_);
  };

  const std::shared_ptr<State> state_;
};

}  // namespace base

#endif  // BASE_FAIR_SHARE_H_
