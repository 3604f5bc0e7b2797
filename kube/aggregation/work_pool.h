// A bounded number of threads for work that waits for something, with a bounded queue.
#ifndef KUBE_AGGREGATION_WORK_POOL_H_
#define KUBE_AGGREGATION_WORK_POOL_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "base/fair_share.h"

namespace kube::aggregation {

// Threads start on demand and stay. Owners whose work waits have their turns one after the other.
// One of them leaves as many places in the queue to the others as he has (base::Shares), and
// half of the threads. Thread-safe.
class WorkPool {
 public:
  // `name` (up to 15 characters) is that of the threads.
  WorkPool(std::string name, int max_threads, size_t max_waiting);
  ~WorkPool();  // Calls Stop.
  WorkPool(const WorkPool&) = delete;

  // Runs `work` as soon as a thread is free; in the order of the calls of its owner. Returns false,
  // and drops it, when too much is waiting, of the owner or of all, or the pool has stopped. An
  // owner of base::kNoOwner may have all threads and all places in the queue. An exception of
  // `work` is logged, and ends nothing else; who waits for an answer gets none, so work that owes
  // one catches it itself.
  bool Run(const std::string& owner, std::function<void()> work);
  bool Run(std::function<void()> work) { return Run(base::kNoOwner, std::move(work)); }
  // Drops work that has not begun, and waits for that which has. REQUIRES: not called on a thread
  // of the pool.
  void Stop();

 private:
  // What one owner has in the pool.
  struct Owned {
    std::deque<std::function<void()>> waiting;
    size_t running = 0;
  };

  void Loop();
  // Returns whether a thread may run work of the owner now.
  bool MayRun(const std::string& owner, const Owned& owned) const;
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Returns the owner whose turn it is. REQUIRES: HasWork().
  std::string NextOwner() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RunGuarded(const std::function<void()>& work) const;
  // Returns false when the system has no further thread.
  bool StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string name_;
  const size_t max_threads_;
  const size_t max_waiting_;
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Owned> owned_ ABSL_GUARDED_BY(mu_);
  std::list<std::string> turns_ ABSL_GUARDED_BY(mu_);  // Those for whom work waits.
  size_t waiting_ ABSL_GUARDED_BY(mu_) = 0;            // Work of all owners.
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mu_);
  size_t idle_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_WORK_POOL_H_
