#include "api/agent_version.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace api {
namespace {

std::string RenewTime(const kube::Object& lease) {
  return std::string(lease.spec()["renewTime"].AsString());
}

}  // namespace

void SetAgentVersion(kube::Object& lease, absl::string_view version) {
  lease.SetAnnotation(kRenewedByAnnotation, absl::StrCat(version, " ", RenewTime(lease)));
}

std::string AgentVersion(const kube::Object& lease) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(lease.Annotation(kRenewedByAnnotation), absl::MaxSplits(' ', 1));
  const bool is_of_this_renewal = !parts.second.empty() && parts.second == RenewTime(lease);
  return is_of_this_renewal ? parts.first : "";
}

}  // namespace api
