// A request to stop, as a part of what a thread waits for under a mutex.
//
//   const base::StopFlag stopped(mu_, stop);  // Before the lock.
//   absl::MutexLock lock(&mu_);
//   const auto ready = [&] { return stopped.IsSet() || news_; };
//   clock_.AwaitUntil(mu_, absl::Condition(&ready), deadline);
#ifndef BASE_STOP_FLAG_H_
#define BASE_STOP_FLAG_H_

#include <atomic>

#include "absl/synchronization/mutex.h"
#include "base/stop_token.h"

namespace base {

// Is set, under the mutex, when a stop is requested, so that conditions on the mutex see it.
class StopFlag {
 public:
  // REQUIRES: `mu` outlives the flag. The caller does not hold it here, nor where the flag is
  // destroyed, which waits for a stop that is setting the flag: declare the flag before the lock.
  StopFlag(absl::Mutex& mu, const StopToken& stop) : mu_(mu), callback_(stop, Setter{*this}) {}
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;

  bool IsSet() const { return set_; }

 private:
  struct Setter {
    StopFlag& flag;
    void operator()() const {
      absl::MutexLock lock(&flag.mu_);
      flag.set_ = true;
    }
  };

  absl::Mutex& mu_;
  std::atomic<bool> set_ = false;
  const StopCallback<Setter> callback_;  // Last, because it may be called at once.
};

}  // namespace base

#endif  // BASE_STOP_FLAG_H_
