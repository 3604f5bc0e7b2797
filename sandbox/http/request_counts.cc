#include "sandbox/http/request_counts.h"

namespace sandbox {

void RequestCounts::Add(absl::string_view user_agent, const std::string& verb,
                        const std::string& resource, int code) {
  const std::string client(user_agent.substr(0, user_agent.find(' ')));
  absl::MutexLock lock(&mu_);
  ++counts_[{client, verb, resource, code}];
}

std::vector<RequestCount> RequestCounts::All() const {
  std::vector<RequestCount> out;
  absl::MutexLock lock(&mu_);
  for (const auto& [key, count] : counts_) {
    const auto& [client, verb, resource, code] = key;
    out.push_back({client, verb, resource, code, count});
  }
  return out;
}

}  // namespace sandbox
