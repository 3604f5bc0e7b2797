#include "kube/server/requirements.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kube/server/api_errors.h"

namespace kube::server {
namespace {

constexpr size_t kMostRequirements = 1000;

// Commas inside parentheses separate the values of a set.
size_t CountLabelRequirements(absl::string_view selector) {
  if (selector.empty()) return 0;
  size_t count = 1;
  bool in_set = false;
  for (const char c : selector) {
    if (c == '(' || c == ')') in_set = c == '(';
    if (c == ',' && !in_set) ++count;
  }
  return count;
}

// A backslash takes the meaning from the character behind it. Empty terms are left out.
size_t CountFieldTerms(absl::string_view selector) {
  size_t count = 0;
  bool in_term = false;
  for (size_t i = 0; i < selector.size(); ++i) {
    const bool separates = selector[i] == ',';
    if (!separates && !in_term) ++count;
    in_term = !separates;
    if (selector[i] == '\\') ++i;
  }
  return count;
}

bool HasSelectors(const RequestInfo& info) {
  return info.is_resource &&
         (info.verb == "list" || info.verb == "watch" || info.verb == "deletecollection");
}

}  // namespace

size_t CountRequirements(const base::HttpRequest& request) {
  return CountLabelRequirements(request.Query("labelSelector")) +
         CountFieldTerms(request.Query("fieldSelector"));
}

absl::Status CheckRequirements(const RequestInfo& info, const base::HttpRequest& request) {
  if (!HasSelectors(info)) return absl::OkStatus();
  const size_t count = CountRequirements(request);
  if (count <= kMostRequirements) return absl::OkStatus();
  return BadRequest(absl::StrCat("the selectors have ", count, " requirements, at most ",
                                 kMostRequirements,
                                 " may be; sets of values are one: a in (b, c)"));
}

}  // namespace kube::server
