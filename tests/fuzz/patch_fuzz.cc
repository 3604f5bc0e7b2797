// The input is a document and a patch, one JSON text each, with a newline between them. Every patch
// format is tried; results must be writable, and the merge patch computed from document and result
// must turn the one into the other.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kube/meta/patch.h"
#include "kube/schema/strategic_merge_patch.h"

namespace {

void CheckDiff(const json::Value& before, const json::Value& after) {
  if (!before.is_object() || !after.is_object()) return;
  const json::Value patch = kube::DiffMergePatch(before, after);
  const json::Value reached = patch.is_null() ? before : kube::ApplyMergePatch(before, patch);
  // Nulls cannot be expressed, but nothing else may differ.
  if (!kube::DiffMergePatch(reached, after).is_null()) std::abort();
}

void CheckResult(const json::Value& document, const absl::StatusOr<json::Value>& result) {
  if (!result.ok()) return;
  if (!json::Parse(json::Write(*result)).ok()) std::abort();
  CheckDiff(document, *result);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t newline = text.find('\n');
  if (newline == absl::string_view::npos) return 0;
  const auto document = json::Parse(text.substr(0, newline));
  const auto patch = json::Parse(text.substr(newline + 1));
  if (!document.ok() || !patch.ok()) return 0;
  CheckResult(*document, kube::ApplyMergePatch(*document, *patch));
  CheckResult(*document, kube::ApplyJsonPatch(*document, *patch));
  CheckResult(*document, kube::ApplyStrategicMergePatch(*document, *patch));
  kube::PatchTouchesList(*document, *patch);
  return 0;
}
