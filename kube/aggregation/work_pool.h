// A bounded number of threads for work that waits for something, with a bounded queue.
#ifndef KUBE_AGGREGATION_WORK_POOL_H_
#define KUBE_AGGREGATION_WORK_POOL_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace kube::aggregation {

// Threads start on demand and stay. Thread-safe.
class WorkPool {
 public:
  // `name` (up to 15 characters) is that of the threads.
  WorkPool(std::string name, int max_threads, size_t max_waiting);
  ~WorkPool();  // Calls Stop.
  WorkPool(const WorkPool&) = delete;

  // Runs `work` as soon as a thread is free; in the order of the calls. Returns false, and drops
  // it, when too much is waiting or the pool has stopped. An exception of `work` is logged, and
  // ends nothing else; who waits for an answer gets none, so work that owes one catches it itself.
  bool Run(std::function<void()> work);
  // Drops work that has not begun, and waits for that which has. REQUIRES: not called on a thread
  // of the pool.
  void Stop();

 private:
  void Loop();
  void RunGuarded(const std::function<void()>& work) const;
  // Returns false when the system has no further thread.
  bool StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string name_;
  const size_t max_threads_;
  const size_t max_waiting_;
  absl::Mutex mu_;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mu_);
  size_t idle_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_WORK_POOL_H_
