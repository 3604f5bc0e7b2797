#include "works/stored_size.h"

#include "base/json.h"
#include "kube/client/errors.h"

namespace works {

std::optional<size_t> SuspiciousSize(const kube::Object& object, const absl::Status& written) {
  constexpr size_t kSuspicious = 1 << 20;
  if (written.ok() || kube::IsNoOutcome(written)) return std::nullopt;
  const size_t bytes = json::Write(object.root()).size();
  return bytes < kSuspicious ? std::nullopt : std::optional<size_t>(bytes);
}

}  // namespace works
