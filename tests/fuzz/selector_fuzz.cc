// A selector that can be parsed prints a text that can be parsed, and printing that gives the same
// text. (The first text may have another order: field selectors are sorted as written, and "==" is
// printed as "=".)
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kube/meta/selector.h"

namespace {

template <class Selector>
void CheckRoundTrip(absl::string_view text) {
  const auto selector = Selector::Parse(text);
  if (!selector.ok()) return;
  const auto again = Selector::Parse(selector->ToString());
  if (!again.ok()) std::abort();
  const auto settled = Selector::Parse(again->ToString());
  if (!settled.ok() || settled->ToString() != again->ToString()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  CheckRoundTrip<kube::LabelSelector>(text);
  CheckRoundTrip<kube::FieldSelector>(text);
  if (const auto selector = kube::LabelSelector::Parse(text); selector.ok()) {
    selector->Matches(json::Value::Object({{"a", "b"}, {"x", "5"}}));
  }
  if (const auto value = json::Parse(text); value.ok()) {
    const auto selector = kube::LabelSelector::FromJson(*value);
    if (selector.ok() && !kube::LabelSelector::Parse(selector->ToString()).ok()) std::abort();
  }
  return 0;
}
