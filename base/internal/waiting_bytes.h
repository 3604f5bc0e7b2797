// The bytes that a server keeps because its peers are slow: of heads of requests that are not
// complete, or of answers that were not taken. Private to base/.
#ifndef BASE_INTERNAL_WAITING_BYTES_H_
#define BASE_INTERNAL_WAITING_BYTES_H_

#include <cstddef>
#include <functional>
#include <list>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace base::internal {

// Beyond the limit the peers are cut for whom bytes have waited for the longest time without
// progress. Thread-safe.
class WaitingBytes {
 public:
  // What waits for one peer. It is used by one thread at a time.
  class Account {
   public:
    // `cut` ends the connection. It is called with locks held, and must only post.
    explicit Account(std::function<void()> cut) : cut_(std::move(cut)) {}
    Account(const Account&) = delete;

   private:
    friend WaitingBytes;
    const std::function<void()> cut_;
    size_t bytes_ = 0;
    bool over_ = false;
    std::list<Account*>::iterator place_;  // While bytes wait.
  };

  explicit WaitingBytes(size_t limit) : limit_(limit) {}

  // So many bytes wait now. `progress`: some of those that waited before do so no more.
  void Set(Account& account, size_t bytes, bool progress) {
    absl::MutexLock lock(&mu_);
    if (account.over_) return;
    const size_t before = account.bytes_;
    Change(account, bytes);
    if (before > 0 && (bytes == 0 || progress)) waiting_.erase(account.place_);
    if (bytes > 0 && (before == 0 || progress)) {
      account.place_ = waiting_.insert(waiting_.end(), &account);
    }
    while (used_ > limit_ && !waiting_.empty()) {
      Account& slowest = *waiting_.front();
      slowest.cut_();
      Forget(slowest);
    }
  }
  // The account is not used any more.
  void End(Account& account) {
    absl::MutexLock lock(&mu_);
    if (!account.over_) Forget(account);
  }
  // Returns whether more than half of the limit is used.
  bool IsTight() const {
    absl::MutexLock lock(&mu_);
    return used_ > limit_ / 2;
  }

 private:
  void Change(Account& account, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    used_ += bytes - account.bytes_;
    account.bytes_ = bytes;
  }
  void Forget(Account& account) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (account.bytes_ > 0) waiting_.erase(account.place_);
    Change(account, 0);
    account.over_ = true;
  }

  const size_t limit_;
  mutable absl::Mutex mu_;
  size_t used_ ABSL_GUARDED_BY(mu_) = 0;
  // Those for whom bytes wait; who has waited longest is the first.
  std::list<Account*> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace base::internal

#endif  // BASE_INTERNAL_WAITING_BYTES_H_
