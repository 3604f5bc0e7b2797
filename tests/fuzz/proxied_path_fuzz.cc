// A target that the proxy passes on has no segment that another program could read as several, or
// as a way up, and asks for the same when the member reads it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/search_paths.h"
#include "search/proxy/internal/inner_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  base::HttpRequest outer;
  outer.method = "GET";
  outer.target = absl::StrCat(api::kProxyingPath, text);
  outer.path = api::kProxyingPath;
  const auto inner = search::InnerRequestOf(std::move(outer));
  if (!inner.ok()) return 0;
  const std::string& target = inner->request.target;
  for (const char c : target) {
    if (c <= 0x20 || c >= 0x7f) std::abort();
  }
  // A question mark in it was encoded, and does not begin the query.
  for (const absl::string_view segment : absl::StrSplit(inner->request.path, '/')) {
    if (segment == "." || segment == "..") std::abort();
  }
  if (target.empty() || target[0] != '/') std::abort();
  // What was accepted once is accepted again, unchanged.
  base::HttpRequest again;
  again.method = "GET";
  again.target = absl::StrCat(api::kProxyingPath, "/karmada/proxy", target);
  const auto second = search::InnerRequestOf(std::move(again));
  if (!second.ok() || second->request.target != target || second->info.gvr != inner->info.gvr ||
      second->info.key != inner->info.key || second->info.subresource != inner->info.subresource) {
    std::abort();
  }
  return 0;
}
