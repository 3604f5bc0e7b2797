// Makes log lines about caches that cannot be kept up to date: one line for all caches of one
// server that fail in the same way at the same time, as when the server is gone.
#ifndef KUBE_CACHE_INTERNAL_FAILURE_LOG_H_
#define KUBE_CACHE_INTERNAL_FAILURE_LOG_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/meta/names.h"

namespace kube::internal {

// A failure is reported a little later, together with similar ones that have occurred meanwhile;
// failures that differ in more than the resource's name are never combined. The recovery is
// reported when the last cache that failed in that way has recovered. Thread-safe.
class FailureLog {
 public:
  // Similar failures within this time are reported together.
  static constexpr absl::Duration kGather = absl::Milliseconds(500);

  // One resource of one server, as one informer sees it.
  struct Cache {
    const void* informer;  // Distinguishes informers of one resource.
    std::string server;
    const Resource& resource;
  };
  // The contents of one line.
  struct Report {
    size_t count = 0;    // The number of informers.
    std::string what;    // "v1/pods of m1", "v1/a, v1/b, v1/c and 9 more of m1".
    absl::Status error;  // The error of the first one; OK when all of them have recovered.
  };

  // Call it when the cache fails with another error than before.
  void Failed(const Cache& cache, const absl::Status& error, base::SteadyTime now);
  // Call it when a cache that had failed is up to date again.
  void Succeeded(const Cache& cache);
  // Call it when the cache is not needed any more.
  void Forget(const Cache& cache);

  // Returns what is to be logged by `now`. REQUIRES: after each failure, it is called again at the
  // next retry.
  std::vector<Report> TakeDue(base::SteadyTime now);

 private:
  using Names = std::map<const void*, std::string>;  // Names of resources, by informer.
  struct Group {
    std::string server;
    absl::Status example;
    base::SteadyTime since;  // The time of the first failure that is not reported yet.
    Names fresh;             // Failures that are not reported yet.
    Names failing;           // Caches that still fail in this way.
    Names restored;          // Caches that failed in this way and have recovered.
  };
  static Report ReportOf(const Names& names, const Group& group);
  void Leave(const Cache& cache, bool restored) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  std::map<std::string, Group> groups_ ABSL_GUARDED_BY(mu_);  // By server and kind of error.
  std::map<const void*, std::string> group_of_ ABSL_GUARDED_BY(mu_);  // By failing informer.
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_FAILURE_LOG_H_
