// Runs on several threads.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/lua/lua_fixture.h"

namespace lua {
namespace {

TEST_CASE("many threads use one runner") {
  const ScriptRunner runner(Patient());
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
  std::atomic<bool> started{false};
  ScriptRunner::Options options;
  options.budget.time = absl::Milliseconds(300);
  options.libraries = {{"test", {{"started", [&](absl::Span<const Value>) {
                                    started = true;
                                    return absl::StatusOr<std::vector<Value>>(std::vector<Value>());
                                  }}}}};
  const ScriptRunner runner(options);
  const auto hostile = MustCompile("function F() require('test').started() while true do end end");
  const auto normal = MustCompile("function F(o) return o end");
  std::atomic<bool> running{true};
  std::atomic<bool> stopped{false};
  std::thread worker([&] {
    stopped = absl::IsDeadlineExceeded(runner.Run(*hostile, {"F"}).status());
    running = false;
  });
  while (!started) std::this_thread::yield();
  int done = 0;
  while (running && done < 100) {
    if (runner.Run(*normal, {"F", {json::Value(1)}}).ok() && running) ++done;
  }
  worker.join();
  CHECK(stopped);
  CHECK(done > 0);
}

}  // namespace
}  // namespace lua
