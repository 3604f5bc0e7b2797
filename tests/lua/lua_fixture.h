// Functions to run scripts in tests.
#ifndef TESTS_LUA_LUA_FIXTURE_H_
#define TESTS_LUA_LUA_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "lua/script.h"
#include "lua/script_runner.h"

namespace lua {

inline std::shared_ptr<const Script> MustCompile(absl::string_view text,
                                                 absl::string_view name = "test") {
  absl::StatusOr<std::shared_ptr<const Script>> script = Script::Compile(name, text);
  if (!script.ok()) throw std::runtime_error(std::string(script.status().message()));
  return *std::move(script);
}

inline json::Value MustParse(absl::string_view text) {
  absl::StatusOr<json::Value> value = json::Parse(text);
  if (!value.ok()) throw std::runtime_error(std::string(value.status().message()));
  return *std::move(value);
}

// Returns options with enough time on a busy machine, for tests of other bounds.
inline ScriptRunner::Options Patient() {
  ScriptRunner::Options options;
  options.budget.time = absl::Minutes(1);
  return options;
}

// Returns options with small bounds.
inline ScriptRunner::Options SmallBudget() {
  ScriptRunner::Options options;
  options.budget.time = absl::Milliseconds(100);
  options.budget.memory = size_t{16} << 20;
  options.budget.largest_block = size_t{4} << 20;
  options.budget.result = size_t{1} << 20;
  return options;
}

// Runs `body` as the body of a function F(a, b); returns its result as JSON text, or "ERROR:
// <message>".
inline std::string Eval(const ScriptRunner& runner, absl::string_view body,
                        std::vector<json::Value> arguments = {}, bool references = false) {
  absl::StatusOr<std::shared_ptr<const Script>> script =
      Script::Compile("test", absl::StrCat("function F(a, b) ", body, "\nend"));
  if (!script.ok()) return absl::StrCat("ERROR: ", script.status().message());
  Call call{"F", std::move(arguments), 1, references};
  const absl::StatusOr<Outcome> outcome = runner.Run(**script, call);
  if (!outcome.ok()) return absl::StrCat("ERROR: ", outcome.status().message());
  const Value& result = outcome->results[0];
  if (result.shapeless) return "shapeless";
  return result.is_nil() ? "nil" : json::Write(result.json);
}
inline std::string Eval(absl::string_view body, std::vector<json::Value> arguments = {},
                        bool references = false) {
  const ScriptRunner runner(Patient());
  return Eval(runner, body, std::move(arguments), references);
}

}  // namespace lua

#endif  // TESTS_LUA_LUA_FIXTURE_H_
