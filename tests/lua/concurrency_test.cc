// Runs side by side.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/lua/lua_fixture.h"

namespace lua {
namespace {

TEST_CASE("many threads use one runner") {
  const ScriptRunner runner(SmallBudget());
  const auto script = MustCompile(R"(
calls = (calls or 0) + 1
function F(o, n)
  for _, item in ipairs(o.items) do item.n = item.n + n end
  o.calls = calls
  return o
end)");
  const json::Value object = MustParse(R"({"items":[{"n":1},{"n":2}]})");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::string want =
          absl::StrCat(R"({"calls":1,"items":[{"n":)", 1 + t, R"(},{"n":)", 2 + t, "}]}");
      for (int i = 0; i < 200; ++i) {
        const absl::StatusOr<Outcome> outcome =
            runner.Run(*script, {"F", {object, json::Value(t)}, 1, true});
        if (!outcome.ok() || json::Write(outcome->results[0].json) != want) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(json::Write(object) == R"({"items":[{"n":1},{"n":2}]})");
}

TEST_CASE("while a hostile script runs, others do not wait for it") {
  ScriptRunner::Options options = SmallBudget();
  options.budget.time = absl::Milliseconds(300);
  const ScriptRunner runner(options);
  const auto hostile = MustCompile("function F() while true do end end");
  const auto normal = MustCompile("function F(o) return o end");
  std::atomic<bool> running{true};
  std::thread worker([&] {
    if (runner.Run(*hostile, {"F"}).ok()) std::abort();
    running = false;
  });
  // All runs that fit into the hostile one's time are over before it is.
  int done = 0;
  for (; running && done < 200; ++done) {
    if (!runner.Run(*normal, {"F", {json::Value(1)}}).ok()) break;
  }
  const bool finished_first = running;
  worker.join();
  CHECK(finished_first);
  CHECK(done == 200);
}

}  // namespace
}  // namespace lua
