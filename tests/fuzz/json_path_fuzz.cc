// Any text is a JSONPath template or an error, and a template evaluates to an end.
#include <cstddef>
#include <cstdint>

#include "base/json.h"
#include "kube/meta/json_path.h"

namespace {

const json::Value& Status() {
  static const auto& status = *new json::Value(*json::Parse(
      R"({"replicas": 3, "a.b": "dotted", "list": [{"n": 1}, {"n": 2, "t": "x"}],
          "conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": null}]})"));
  return status;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto path = kube::JsonPath::Parse(text);
  if (!path.ok()) return 0;
  path->Find(Status(), kube::JsonPath::MissingKeys::kSkip).status().IgnoreError();
  path->Print(Status()).status().IgnoreError();
  return 0;
}
