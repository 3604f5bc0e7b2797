#include "kube/client/internal/errands.h"

#include <deque>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace kube {
namespace {

// Enough that the slow name server of a few members does not stop the lookups of the others.
constexpr int kMaxThreads = 8;
constexpr absl::Duration kIdleTime = absl::Seconds(5);

// Never destroyed: a thread may be stuck in a name lookup when the process ends.
class Errands {
 public:
  void Run(std::function<void()> errand) {
    absl::MutexLock lock(&mu_);
    queue_.push_back(std::move(errand));
    if (static_cast<int>(queue_.size()) <= idle_ || threads_ >= kMaxThreads) return;
    ++threads_;
    std::thread([this] { Work(); }).detach();
  }

  bool AwaitNone(absl::Duration patience) {
    absl::MutexLock lock(&mu_);
    ending_ = true;  // Idle threads leave at once.
    const auto none = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return threads_ == 0 && queue_.empty();
    };
    const bool done = mu_.AwaitWithTimeout(absl::Condition(&none), patience);
    ending_ = false;
    return done;
  }

 private:
  void Work() {
    absl::MutexLock lock(&mu_);
    const auto due = [this]()
                         ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return ending_ || !queue_.empty(); };
    while (true) {
      ++idle_;
      mu_.AwaitWithTimeout(absl::Condition(&due), kIdleTime);
      --idle_;
      if (queue_.empty()) break;
      std::function<void()> errand = std::move(queue_.front());
      queue_.pop_front();
      mu_.Unlock();
      errand();
      errand = nullptr;  // What it owns may lead back here when it is destroyed.
      mu_.Lock();
    }
    --threads_;
  }

  absl::Mutex mu_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mu_);
  int threads_ ABSL_GUARDED_BY(mu_) = 0;
  int idle_ ABSL_GUARDED_BY(mu_) = 0;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
};

Errands& TheErrands() {
  static auto* const errands = new Errands;
  return *errands;
}

}  // namespace

void RunErrand(std::function<void()> errand) { TheErrands().Run(std::move(errand)); }
bool AwaitNoErrand(absl::Duration patience) { return TheErrands().AwaitNone(patience); }

}  // namespace kube
