// How far behind the reads of a client are, as if it were connected to another API server of the
// same control plane whose watch cache lags.
#ifndef SANDBOX_HTTP_LAG_H_
#define SANDBOX_HTTP_LAG_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/http/hold.h"

namespace sandbox {

class HeldWatch;

// A test returns it from OnRequest for the requests that read through it, and moves it on. Writes
// are never late. Reads show the state as of version(); the history of the store has to reach back
// to it (ApiServerOptions::history_events), otherwise they get 410.
//
// A read of "not older than" a version that it has not reached waits for it, for up to 3 seconds;
// then it is refused with 504 "Too large resource version". So is the watch that begins with the
// state (sendInitialEvents). A watch that goes on from such a version begins at once, and shows
// what comes after it, as with a kube-apiserver.
//
// Thread-safe.
class Lag {
 public:
  // Which reads lag.
  enum class Reads {
    // What a kube-apiserver answers from its watch cache: all watches; lists and gets with
    // resourceVersion "0", and those "not older than" a version unless they have a limit. All other
    // lists and gets are consistent: they show the present state. The bookmark that ends the
    // initial events of a watch without resourceVersion comes when the cache has reached the
    // version of the watch's beginning.
    kFromCache,
    // Every read, also those that a real API server would answer consistently.
    kAll,
  };
  explicit Lag(int64_t version, Reads reads = Reads::kFromCache)
      : reads_(reads), version_(version) {}
  Lag(const Lag&) = delete;

  int64_t version() const;
  Reads reads() const { return reads_; }

  // Moves on to a version; never back. Answers the reads that have waited for it and delivers what
  // was held back up to it, watch by watch, each in order, on this thread. REQUIRES: the caller
  // holds no lock that a function of Interference takes.
  void MoveTo(int64_t version);
  // Has it catch up for good: nothing that reads through it lags any more.
  void End() { MoveTo(std::numeric_limits<int64_t>::max()); }

  // For the server. Attach has the watch told when more may be delivered; ReleaseAt releases the
  // hold when the version is reached.
  void Attach(std::weak_ptr<HeldWatch> watch);
  void ReleaseAt(int64_t version, std::shared_ptr<Hold> hold);

 private:
  struct Waiter {
    int64_t version = 0;
    std::shared_ptr<Hold> hold;
  };

  const Reads reads_;
  mutable absl::Mutex mu_;
  int64_t version_ ABSL_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<HeldWatch>> watches_ ABSL_GUARDED_BY(mu_);
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_LAG_H_
