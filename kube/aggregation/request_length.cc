#include "kube/aggregation/request_length.h"

#include <algorithm>
#include <array>

#include "absl/strings/string_view.h"

namespace kube::aggregation {
namespace {

constexpr std::array<absl::string_view, 5> kSessions = {"attach", "exec", "proxy", "log",
                                                        "portforward"};

bool IsSession(const server::RequestInfo& info) {
  return info.is_resource &&
         std::find(kSessions.begin(), kSessions.end(), info.subresource) != kSessions.end();
}

}  // namespace

RequestLength LengthOf(const server::RequestInfo& info) {
  // "proxy" and "watch" are also verbs of the deprecated paths below /proxy/ and /watch/.
  const bool long_running = info.verb == "watch" || info.verb == "proxy" || IsSession(info);
  return long_running ? RequestLength::kLongRunning : RequestLength::kBounded;
}

RequestLength LengthOfForwarded(const server::RequestInfo& inner) {
  const RequestLength length = LengthOf(inner);
  if (length == RequestLength::kLongRunning) return length;
  return inner.is_resource && inner.verb == "list" ? RequestLength::kPatient : length;
}

}  // namespace kube::aggregation
