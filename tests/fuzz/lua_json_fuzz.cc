// JSON comes back from Lua unchanged: untouched, after every table was visited, and after every
// table was changed and changed back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/json.h"
#include "lua/script.h"
#include "lua/script_runner.h"

namespace {

constexpr char kScript[] = R"lua(
local function Visit(t, change)
  for k, v in pairs(t) do
    if type(v) == "table" then
      Visit(v, change)
    elseif change then
      t[k] = {}
      t[k] = v
    end
  end
end
function Return(o) return o end
function Touch(o) if type(o) == "table" then Visit(o, false) end return o end
function Change(o) if type(o) == "table" then Visit(o, true) end return o end
)lua";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto& script =
      *new std::shared_ptr<const lua::Script>(lua::Script::Compile("fuzz", kScript).value());
  static const auto& runner = *new lua::ScriptRunner(lua::ScriptRunner::Options());
  // Limits depth, because the script's recursion ends before the parser's.
  const absl::StatusOr<json::Value> value =
      json::Parse(absl::string_view(reinterpret_cast<const char*>(data), size), {.max_depth = 100});
  if (!value.ok() || size > 65536) return 0;
  const std::string text = json::Write(*value);
  for (const char* function : {"Return", "Touch", "Change"}) {
    const absl::StatusOr<lua::Outcome> outcome = runner.Run(*script, {function, {*value}});
    if (!outcome.ok() || json::Write(outcome->results[0].json) != text) std::abort();
  }
  return 0;
}
