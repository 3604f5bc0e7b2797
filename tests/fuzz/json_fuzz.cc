// What can be parsed can be written, and parsing that gives an equal value. Exceptions that are
// stable from then on: Go, and so we, write a whole double beyond 2^53 with its shortest digits,
// which are another integer, and the double -0 with its sign.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<json::Value> value =
      json::Parse(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!value.ok()) return 0;
  const absl::StatusOr<json::Value> again = json::Parse(json::Write(*value));
  if (!again.ok()) std::abort();
  const absl::StatusOr<json::Value> settled = json::Parse(json::Write(*again));
  if (!settled.ok() || (*again != *value && *settled != *again)) std::abort();
  if (!json::Parse(json::Write(*value, {.indent = 2, .html_escape = true})).ok()) std::abort();
  return 0;
}
