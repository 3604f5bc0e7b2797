#include "sandbox/http/request_metrics.h"

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace sandbox {
namespace {

std::string VerbOf(const std::string& verb) {
  constexpr std::array<std::pair<absl::string_view, absl::string_view>, 2> kVerbs = {
      {{"create", "POST"}, {"update", "PUT"}}};
  for (const auto& [audit, metric] : kVerbs) {
    if (verb == audit) return std::string(metric);
  }
  return absl::AsciiStrToUpper(verb);
}

}  // namespace

std::string RequestMetrics(const std::vector<RequestCount>& counts) {
  std::map<std::tuple<int, std::string, std::string, std::string>, int64_t> sums;
  for (const RequestCount& one : counts) {
    // What is no resource has a path in its place.
    const bool is_path = !one.resource.empty() && one.resource[0] == '/';
    const size_t slash = is_path ? 0 : one.resource.find('/');
    const std::string resource = one.resource.substr(0, slash);
    const std::string subresource =
        is_path || slash == std::string::npos ? "" : one.resource.substr(slash + 1);
    sums[{one.code, resource, subresource, VerbOf(one.verb)}] += one.count;
  }
  std::string text =
      "# HELP apiserver_request_total Counter of apiserver requests broken out for each verb, "
      "resource and HTTP response code.\n# TYPE apiserver_request_total counter\n";
  for (const auto& [key, count] : sums) {
    const auto& [code, resource, subresource, verb] = key;
    absl::StrAppend(&text, "apiserver_request_total{code=\"", code, "\",resource=\"", resource,
                    "\",subresource=\"", subresource, "\",verb=\"", verb, "\"} ", count, "\n");
  }
  return text;
}

}  // namespace sandbox
