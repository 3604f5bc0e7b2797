// The requests that go on until somebody ends them.
#ifndef KUBE_AGGREGATION_SESSIONS_H_
#define KUBE_AGGREGATION_SESSIONS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/stop_token.h"

namespace kube::aggregation {

// The long-running requests, which are asked to end when the service does. Thread-safe.
class Sessions : public std::enable_shared_from_this<Sessions> {
 public:
  // The request is in the list for as long as the returned handle exists.
  std::shared_ptr<const void> Add(const base::StopSource& stop) {
    absl::MutexLock lock(&mu_);
    const uint64_t id = ++last_;
    stops_.emplace(id, stop);
    return {this, [self = shared_from_this(), id](const void*) { self->Remove(id); }};
  }
  std::vector<base::StopSource> All() const {
    std::vector<base::StopSource> all;
    absl::MutexLock lock(&mu_);
    for (const auto& [id, stop] : stops_) all.push_back(stop);
    return all;
  }

 private:
  void Remove(uint64_t id) {
    absl::MutexLock lock(&mu_);
    stops_.erase(id);
  }

  mutable absl::Mutex mu_;
  uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<uint64_t, base::StopSource> stops_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_SESSIONS_H_
