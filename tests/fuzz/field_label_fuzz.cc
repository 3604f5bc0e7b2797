// A field selector (the first line) is refused as the client's mistake or evaluated on any object
// (the rest), for kinds with fields of their own, without any, and with declared ones.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/json.h"
#include "kube/server/api_errors.h"
#include "kube/server/field_labels.h"

namespace {

using kube::server::FieldLabels;

void Check(const FieldLabels& labels, const kube::FieldSelector& selector,
           const json::Value& object) {
  const auto matcher = labels.Compile(selector);
  if (!matcher.ok()) {
    if (kube::server::ErrorOf(matcher.status()).code != 400) std::abort();
    return;
  }
  if (matcher->MatchesEverything() && !matcher->Matches(object)) std::abort();
  if (matcher->MatchesEverything() != matcher->Labels().empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line = text.find('\n');
  const auto selector = kube::FieldSelector::Parse(text.substr(0, line));
  if (!selector.ok()) return 0;
  const auto object =
      json::Parse(line == absl::string_view::npos ? absl::string_view() : text.substr(line));
  const json::Value value = object.ok() ? *object : json::Value();
  for (const kube::Gvk& gvk : {kube::Gvk{"", "v1", "Pod"}, kube::Gvk{"", "v1", "Event"},
                               kube::Gvk{"", "v1", "Node"}, kube::Gvk{"a.io", "v1", "Unknown"}}) {
    Check(FieldLabels::Of(gvk), *selector, value);
  }
  Check(FieldLabels::OfCustom(true, {".spec.color", ".spec.deep.er", ".spec.list[*].x", "."}),
        *selector, value);
  return 0;
}
