// Log lines about caches that cannot be kept up to date: one for all of one server that fail in the
// same way at the same time, as when the server has gone.
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

// A failure is reported a little after it has come, together with those like it that have come
// meanwhile; failures that differ in more than the resource's name are never put together. That
// caches are well again is reported when the last one that failed in that way is. Thread-safe.
class FailureLog {
 public:
  // Others like a failure have this long to come.
  static constexpr absl::Duration kGather = absl::Milliseconds(500);

  // One resource of one server, as one informer sees it.
  struct Cache {
    const void* informer;  // Tells informers of one resource apart.
    std::string server;
    const Resource& resource;
  };
  // One line.
  struct Report {
    size_t count = 0;    // Of informers.
    std::string what;    // "v1/pods of m1", "v1/a, v1/b, v1/c and 9 more of m1".
    absl::Status error;  // Of the one that failed first; OK when all of them are well again.
  };

  // The cache fails with another error than before.
  void Failed(const Cache& cache, const absl::Status& error, base::SteadyTime now);
  // The cache that had failed is up to date again.
  void Succeeded(const Cache& cache);
  // Nobody wants to know any more how the cache fares.
  void Forget(const Cache& cache);

  // What is to be logged by now. Each failure is followed by another call at its retry.
  std::vector<Report> TakeDue(base::SteadyTime now);

 private:
  using Names = std::map<const void*, std::string>;  // Of resources, by informer.
  struct Group {
    std::string server;
    absl::Status example;
    base::SteadyTime since;  // The time of the first failure that is not reported yet.
    Names fresh;             // Not reported yet.
    Names failing;           // Still failing in this way.
    Names restored;          // Failed in this way, and are well again.
  };
  static Report ReportOf(const Names& names, const Group& group);
  void Leave(const Cache& cache, bool restored) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  std::map<std::string, Group> groups_ ABSL_GUARDED_BY(mu_);          // By what is alike.
  std::map<const void*, std::string> group_of_ ABSL_GUARDED_BY(mu_);  // By failing informer.
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_FAILURE_LOG_H_
