// find, match, gmatch and gsub give the results of LuaJIT's own functions. The input is a start, a
// length, a pattern of that many bytes, and the subject.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/json.h"
#include "lua/script.h"
#include "lua/script_runner.h"
#include "tests/lua/native_pattern.h"

namespace {

// LuaJIT's matching may take the subject's length to the power of the pattern's items.
constexpr size_t kMaxPattern = 14;
constexpr size_t kMaxSubject = 24;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto& script = *new std::shared_ptr<const lua::Script>(
      lua::Script::Compile("fuzz", lua::NativePattern::kScript).value());
  static const auto& runner = *new lua::ScriptRunner(lua::ScriptRunner::Options());
  static const auto& native = *new lua::NativePattern();
  if (size < 2) return 0;
  const absl::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t pattern_size = std::min<size_t>(data[1] % (kMaxPattern + 1), text.size());
  const json::Value arguments =
      json::Value::Array({text.substr(0, pattern_size), text.substr(pattern_size, kMaxSubject),
                          static_cast<int64_t>(data[0] % 8) - 4});
  const json::Value swapped =
      json::Value::Array({arguments.At(1), arguments.At(0), arguments.At(2)});
  const absl::StatusOr<lua::Outcome> outcome = runner.Run(*script, {"All", {swapped}});
  if (!outcome.ok() || outcome->results[0].json.AsString() != native.Run(swapped)) std::abort();
  return 0;
}
