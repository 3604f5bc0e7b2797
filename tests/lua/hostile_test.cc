// Scripts that try to break their bounds: tests/lua/hostile/*.lua, each with a header that says how
// its run ends.
//
//   -- ends: time | memory | bound (either) | error | fine
//   -- error: what the message contains
#include <time.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "base/files.h"
#include "tests/lua/lua_fixture.h"

namespace lua {
namespace {

struct Hostile {
  std::string name;
  std::string text;
  std::string ends;
  std::string error;
};

Hostile Read(const std::filesystem::path& path) {
  Hostile hostile{path.stem(), base::ReadFile(path).value(), "", ""};
  for (absl::string_view line : absl::StrSplit(hostile.text, '\n')) {
    if (absl::ConsumePrefix(&line, "-- ends: ")) hostile.ends = std::string(line);
    if (absl::ConsumePrefix(&line, "-- error: ")) hostile.error = std::string(line);
  }
  return hostile;
}

std::vector<Hostile> ReadAll() {
  std::vector<Hostile> all;
  for (const auto& entry : std::filesystem::directory_iterator("tests/lua/hostile")) {
    all.push_back(Read(entry.path()));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

std::string EndOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return "fine";
    case absl::StatusCode::kDeadlineExceeded:
      return "time";
    case absl::StatusCode::kResourceExhausted:
      return "memory";
    default:
      return "error";
  }
}

// Reads the CPU clock of this thread, which does not count other threads.
double CpuMilliseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Sanitizers check every byte of the megabytes that some scripts fill: ThreadSanitizer takes 40
// times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostMilliseconds = 5000;
#else
constexpr double kMostMilliseconds = 400;
#endif

// Scripts that should run out of time get little of it; the others get enough even on a busy
// machine.
ScriptRunner::Options HostileOptions(absl::string_view ends) {
  ScriptRunner::Options options = SmallBudget();
  options.budget.time =
      ends == "time" || ends == "bound" ? absl::Milliseconds(5) : absl::Minutes(1);
  options.budget.memory = size_t{8} << 20;
  options.budget.largest_block = size_t{2} << 20;
  options.budget.result = size_t{256} << 10;
  const auto answer = [](json::Value value) {
    return absl::StatusOr<std::vector<Value>>(std::vector<Value>{Value(std::move(value))});
  };
  options.libraries = {
      {"bound",
       {{"take", [=](absl::Span<const Value>) { return answer(1); }},
        {"make", [=](absl::Span<const Value>) {
           return answer(json::Value::Object({{"text", std::string(size_t{10} << 10, 'x')}}));
         }}}}};
  return options;
}

// A normal script that uses what hostile ones try to break.
constexpr char kNormal[] = R"(
function F(o)
  assert(getmetatable and not pcall(getmetatable, ""))
  local t = {}
  for k, v in pairs(o.list[1]) do table.insert(t, k .. "=" .. tostring(v)) end
  table.sort(t)
  o.text = string.format("%s;%d", table.concat(t, ","), math.floor(2.5)):upper():gsub(";", "/")
  o.take = require("bound").take(o)
  o.leaks = tostring(leak) .. type(os.time())
  return o
end)";

json::Value Argument() {
  return MustParse(R"({"kind":"K","list":[{"b":1,"a":"x"},{"c":[]}],"spec":{"replicas":1}})");
}

void CheckNormal(const ScriptRunner& runner, const Script& normal) {
  absl::StatusOr<Outcome> outcome = runner.Run(normal, {"F", {Argument()}});
  // A runner with little time may be interrupted by other processes.
  for (int i = 0; i < 20 && absl::IsDeadlineExceeded(outcome.status()); ++i) {
    outcome = runner.Run(normal, {"F", {Argument()}});
  }
  REQUIRE(outcome.ok());
  CHECK(json::Write(outcome->results[0].json) ==
        R"({"kind":"K","leaks":"nilnumber","list":[{"a":"x","b":1},{"c":[]}],)"
        R"("spec":{"replicas":1},"take":1,"text":"A=X,B=1/2"})");
}

TEST_CASE("hostile scripts end as they must, and the next script does not notice") {
  const ScriptRunner impatient(HostileOptions("time"));
  const ScriptRunner patient(HostileOptions("memory"));
  const auto normal = MustCompile(kNormal, "normal");
  const std::vector<Hostile> all = ReadAll();
  REQUIRE(all.size() >= 100);
  for (const Hostile& hostile : all) {
    CAPTURE(hostile.name);
    const bool patiently = hostile.ends != "time" && hostile.ends != "bound";
    const ScriptRunner& runner = patiently ? patient : impatient;
    const auto script = MustCompile(hostile.text, hostile.name);
    const double start = CpuMilliseconds();
    const absl::Status status = runner.Run(*script, {"F", {Argument()}}).status();
    const double took = CpuMilliseconds() - start;
    CAPTURE(std::string(status.message()));
    const std::string end = EndOf(status);
    if (hostile.ends == "bound") {
      CHECK((end == "time" || end == "memory"));
    } else {
      CHECK(end == hostile.ends);
    }
    CHECK(absl::StrContains(status.message(), hostile.error));
    if (!status.ok()) CHECK(absl::StartsWith(status.message(), hostile.name));
    CHECK(took < kMostMilliseconds);
    CheckNormal(runner, *normal);
  }
}

// Prints times with small bounds, or the usual ones: "lua_test '*within usual bounds'".
void PrintTimes(const std::function<ScriptRunner::Options(const Hostile&)>& options_for) {
  for (const Hostile& hostile : ReadAll()) {
    const ScriptRunner runner(options_for(hostile));
    const auto script = MustCompile(hostile.text, hostile.name);
    const absl::Time start = absl::Now();
    const double cpu = CpuMilliseconds();
    const absl::Status status = runner.Run(*script, {"F", {Argument()}}).status();
    std::printf("%8.2f ms  %8.2f ms of CPU  %-34s %s\n",
                absl::ToDoubleMilliseconds(absl::Now() - start), CpuMilliseconds() - cpu,
                hostile.name.c_str(), std::string(status.message()).substr(0, 120).c_str());
  }
}

TEST_CASE("how long hostile scripts last within small bounds", "[.bench]") {
  PrintTimes([](const Hostile& hostile) { return HostileOptions(hostile.ends); });
}

TEST_CASE("how long hostile scripts last within usual bounds", "[.bench]") {
  PrintTimes([](const Hostile& hostile) {
    ScriptRunner::Options options = HostileOptions(hostile.ends);
    options.budget = Budget();
    return options;
  });
}

}  // namespace
}  // namespace lua
