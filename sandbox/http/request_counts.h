// Counts the requests of each client, by verb, resource and answer.
#ifndef SANDBOX_HTTP_REQUEST_COUNTS_H_
#define SANDBOX_HTTP_REQUEST_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace sandbox {

// The number of requests served so far for one (first word of the user agent, verb as in audit
// logs, resource, code).
struct RequestCount {
  std::string client, verb, resource;
  int code = 0;
  int64_t count = 0;
};

// Thread-safe.
class RequestCounts {
 public:
  // `user_agent` is cut to its first word ("kubectl/v1.32.4 (linux/amd64)" -> "kubectl/v1.32.4").
  void Add(absl::string_view user_agent, const std::string& verb, const std::string& resource,
           int code);
  std::vector<RequestCount> All() const;  // Sorted.

 private:
  using Key = std::tuple<std::string, std::string, std::string, int>;
  mutable absl::Mutex mu_;
  std::map<Key, int64_t> counts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_REQUEST_COUNTS_H_
