// Threads for tasks that have to block: asking a name server, running a plugin.
#ifndef KUBE_HTTP_INTERNAL_ERRANDS_H_
#define KUBE_HTTP_INTERNAL_ERRANDS_H_

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/threads.h"

namespace kube {

// Threads start when needed and end when idle. A caller that waits for an errand stops waiting at
// its deadline and leaves the errand running, so an errand must own everything that it uses.
// Thread-safe.
class Errands {
 public:
  // For whom an errand is run. Errands of one subject run one after the other.
  struct Subject {
    std::string name;  // A host, or a server's URL.
    // Set for the control plane, whose errands must not wait for those of members: it gets a thread
    // of its own when it needs one.
    bool urgent = false;
  };

  // At most `max_threads` errands that are not urgent run at once. Subjects whose last errand took
  // less than a second come first; all others together leave a quarter of the threads to them.
  explicit Errands(int max_threads) : max_threads_(max_threads) {}
  ~Errands();  // Waits for all errands.
  Errands(const Errands&) = delete;

  void Run(const Subject& subject, std::function<void()> errand);
  // Waits until no errand is under way and no thread is left; returns false after `patience`.
  bool AwaitNone(absl::Duration patience);

 private:
  // Served in this order.
  enum Rank { kUrgent, kQuick, kNew, kSlow, kRanks };
  struct Queue {
    Rank rank = kNew;
    bool running = false;
    std::deque<std::function<void()>> waiting;
    bool idle() const { return !running && waiting.empty(); }
  };

  void Work();
  bool AwaitNoWork(base::SteadyTime deadline) ABSL_LOCKS_EXCLUDED(mu_);
  void RunOne(Queue& queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the next queue whose errand may run now, or null.
  Queue* Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MayRun(Rank rank) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  void StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ForgetIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int max_threads_;
  absl::Mutex mu_;
  std::map<std::string, Queue> queues_ ABSL_GUARDED_BY(mu_);
  // Queues that have waiting errands and run none.
  std::array<std::deque<Queue*>, kRanks> ready_ ABSL_GUARDED_BY(mu_);
  std::array<int, kRanks> running_ ABSL_GUARDED_BY(mu_) = {};
  int threads_ ABSL_GUARDED_BY(mu_) = 0;
  int idle_ ABSL_GUARDED_BY(mu_) = 0;
  bool starting_ ABSL_GUARDED_BY(mu_) = false;  // True if a new thread has not looked for work yet.
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  base::DetachedThreads crew_{"name look-ups and credentials"};
};

// The errands of this process. They are separate, so that plugins that hang do not delay name
// lookups.
Errands& NameLookups();
Errands& CredentialErrands();

// Waits until no errand is under way; returns false after `patience`. For the end of the process.
bool AwaitNoErrand(absl::Duration patience);

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_ERRANDS_H_
