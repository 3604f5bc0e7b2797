// Scripts that use up their budget.
#include "interpreter/customized/script_probation.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/metrics.h"
#include "tests/interpreter/customized/scripts_fixture.h"
#include "tests/support/fake_clock.h"

namespace {

using interpreter::Operation;
using interpreter::customized::ScriptProbation;

const absl::Status kOutOfTime = absl::DeadlineExceededError("too long");
const absl::Status kOutOfMemory = absl::ResourceExhaustedError("too much");

constexpr char kScript[] = "function InterpretHealth() while true do end end";

using Arguments = std::vector<json::Value>;

Arguments Object(const std::string& name, int generation = 1, const std::string& uid = "") {
  kube::Object object = kube::Object::Make(tests::kWidget, {"ns", name});
  object.Set({"metadata", "generation"}, generation);
  object.Set({"metadata", "uid"}, uid);
  return {object.root()};
}

struct Fixture {
  // A run that has begun.
  struct Begun {
    ScriptProbation::Run run;
    absl::StatusOr<ScriptProbation::Ticket> ticket;
  };
  Begun Begin(const Arguments& arguments) {
    const ScriptProbation::Run run{*script, "my-ric", Operation::kInterpretHealth, arguments};
    return {run, probation.Begin(run)};
  }
  void End(const Begun& begun, const absl::Status& outcome) {
    probation.End(begun.run, *begun.ticket, outcome);
  }
  // Makes a run with this outcome; returns false when it was refused.
  bool Run(const absl::Status& outcome, const Arguments& arguments) {
    const Begun begun = Begin(arguments);
    if (begun.ticket.ok()) End(begun, outcome);
    return begun.ticket.ok();
  }
  bool Run(const absl::Status& outcome) { return Run(outcome, w); }
  void Suspect(const Arguments& arguments) {
    for (int i = 0; i < 3; ++i) REQUIRE(Run(kOutOfTime, arguments));
  }
  // Makes the script a suspect as a whole, with three objects.
  void SuspectAll() {
    for (const char* name : {"a", "b", "c"}) REQUIRE(Run(kOutOfTime, Object(name)));
  }
  std::string Refusal(const Arguments& arguments) {
    return std::string(Begin(arguments).ticket.status().message());
  }
  // Makes so many runs, which all fail; returns the seconds before each of them.
  std::vector<int64_t> Waits(int runs, const Arguments& arguments) {
    std::vector<int64_t> waits;
    while (runs-- > 0) {
      int64_t seconds = 0;
      for (; !Run(kOutOfTime, arguments); ++seconds) clock.Advance(absl::Seconds(1));
      waits.push_back(seconds);
    }
    return waits;
  }

  const Arguments w = Object("w");
  tests::FakeClock clock;
  metrics::Registry registry;
  ScriptProbation probation{clock, &registry};
  std::shared_ptr<const lua::Script> script =
      lua::Script::Compile("my-ric/healthInterpretation", kScript).value();
};

}  // namespace

TEST_CASE_METHOD(Fixture, "after three ends by the budget in a row calls are refused") {
  CHECK(Run(kOutOfTime));
  CHECK(Run(kOutOfMemory));
  CHECK(Run(kOutOfTime));
  const absl::Status refused = Begin(w).ticket.status();
  CHECK(absl::IsUnavailable(refused));
  CHECK(refused.message() ==
        "customization my-ric ran out of time or memory several times in a row on this object, so "
        "it is not run; it is tried again after pauses, which grow to five minutes");
}

TEST_CASE_METHOD(Fixture, "an end that is not by the budget breaks the row") {
  const absl::Status other = GENERATE(absl::OkStatus(), absl::InvalidArgumentError("raised"));
  Run(kOutOfTime);
  Run(kOutOfTime);
  Run(other);
  Run(kOutOfTime);
  Run(kOutOfTime);
  CHECK(Begin(w).ticket.ok());
}

TEST_CASE_METHOD(Fixture, "a suspected object is tried by one call at a time") {
  Suspect(w);
  clock.Advance(absl::Seconds(1));
  const Begun first = Begin(w);
  REQUIRE(first.ticket.ok());
  CHECK_FALSE(Refusal(w).empty());
  End(first, kOutOfTime);
  CHECK_FALSE(Begin(w).ticket.ok());
}

TEST_CASE_METHOD(Fixture, "the waiting time doubles from a second to five minutes") {
  const std::vector<int64_t> doubling = {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
  SECTION("for one object") {
    Suspect(w);
    CHECK(Waits(11, w) == doubling);
  }
  SECTION("for the script") {
    SuspectAll();
    std::vector<int64_t> waits;
    for (int i = 0; i < 11; ++i) waits.push_back(Waits(1, Object(absl::StrCat("n", i))).at(0));
    CHECK(waits == doubling);
  }
}

TEST_CASE_METHOD(Fixture, "one success clears an object") {
  Suspect(w);
  clock.Advance(absl::Seconds(1));
  CHECK(Run(absl::OkStatus()));
  CHECK(probation.size() == 0);
  CHECK(Run(kOutOfTime));
  CHECK(Run(kOutOfTime));
  CHECK(Begin(w).ticket.ok());
}

TEST_CASE_METHOD(Fixture, "runs that began before the suspicion do not lengthen it") {
  std::vector<Begun> early;
  for (int i = 0; i < 8; ++i) early.push_back(Begin(w));
  for (const Begun& begun : early) End(begun, kOutOfTime);
  CHECK_FALSE(Begin(w).ticket.ok());
  clock.Advance(absl::Seconds(1));
  CHECK(Begin(w).ticket.ok());
}

TEST_CASE_METHOD(Fixture, "good runs of other objects do not clear an object that always fails") {
  int runs = 0;
  for (int second = 0; second < 600; ++second) {
    if (Run(kOutOfTime)) ++runs;
    for (const char* other : {"a", "b"}) REQUIRE(Run(absl::OkStatus(), Object(other)));
    clock.Advance(absl::Seconds(1));
  }
  CHECK(runs == 3 + 9);  // Tries after 1, 2, 4, ... 256 s.
}

TEST_CASE_METHOD(Fixture, "an object that always fails does not keep others from being run") {
  for (int i = 0; i < 100; ++i) Run(kOutOfTime);
  CHECK(Run(absl::OkStatus(), Object("other")));
  // Two such objects do not either: a script becomes a suspect as a whole with three.
  for (int i = 0; i < 100; ++i) Run(kOutOfTime, Object("second"));
  CHECK(Run(absl::OkStatus(), Object("other")));
}

TEST_CASE_METHOD(Fixture, "objects of one name in several clusters are distinguished") {
  Suspect(Object("w", 1, "uid-in-m1"));
  CHECK(Run(absl::OkStatus(), Object("w", 1, "uid-in-m2")));
  CHECK_FALSE(Begin(Object("w", 1, "uid-in-m1")).ticket.ok());
}

TEST_CASE_METHOD(Fixture, "a script that fails for three objects in a row is not run for others") {
  SuspectAll();
  CHECK(Refusal(w) ==
        "customization my-ric ran out of time or memory several times in a row on several objects, "
        "so it is not run; it is tried again after pauses, which grow to five minutes");
  clock.Advance(absl::Seconds(1));
  const Begun attempt = Begin(w);
  REQUIRE(attempt.ticket.ok());
  CHECK_FALSE(Refusal(Object("d")).empty());
  End(attempt, absl::OkStatus());
  CHECK(Run(absl::OkStatus(), Object("d")));
}

TEST_CASE_METHOD(Fixture, "a changed object is tried at once, but once in a waiting time") {
  Suspect(w);
  CHECK(Run(kOutOfTime, Object("w", 2)));
  CHECK_FALSE(Begin(Object("w", 2)).ticket.ok());
  CHECK_FALSE(Begin(Object("w", 3)).ticket.ok());
  // A generation that changes every second adds at most one run per waiting time.
  int runs = 0;
  for (int second = 0; second < 600; ++second) {
    clock.Advance(absl::Seconds(1));
    if (Run(kOutOfTime, Object("w", 4 + second))) ++runs;
  }
  CHECK(runs <= 12);
  // A repaired object is released at once.
  clock.Advance(absl::Minutes(5));
  REQUIRE(Run(kOutOfTime, Object("w", 1000)));
  CHECK(Run(absl::OkStatus(), Object("w", 1001)));
  CHECK(Run(absl::OkStatus(), Object("w", 1001)));
}

TEST_CASE_METHOD(Fixture, "scripts are suspected one by one") {
  Suspect(w);
  const auto other =
      lua::Script::Compile("my-ric/healthInterpretation", "repeat until nil").value();
  CHECK(probation.Begin({*other, "my-ric", Operation::kInterpretHealth, w}).ok());
}

TEST_CASE_METHOD(Fixture, "what is remembered is bounded, and old failures are forgotten") {
  for (int i = 0; i < 3000; ++i) {
    // Good runs in between keep the script as a whole from becoming a suspect.
    REQUIRE(Run(kOutOfTime, Object(absl::StrCat("bad", i))));
    REQUIRE(Run(absl::OkStatus(), Object("good")));
    clock.Advance(absl::Milliseconds(1));
  }
  CHECK(probation.size() == ScriptProbation::kMaxPairs);
  // The latest pairs are kept.
  Run(kOutOfTime, Object("bad2999"));
  Run(kOutOfTime, Object("bad2999"));
  CHECK_FALSE(Begin(Object("bad2999")).ticket.ok());
  clock.Advance(ScriptProbation::kMemory);
  CHECK(Run(absl::OkStatus()));
  CHECK(probation.size() == 0);
}

TEST_CASE_METHOD(Fixture, "runs may end on many threads at once") {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 300; ++i) {
        const Arguments object = Object(absl::StrCat(i % 7));
        const absl::Status outcome = (i + t) % 3 == 0 ? kOutOfTime : absl::OkStatus();
        const Begun begun = Begin(object);
        if (begun.ticket.ok()) End(begun, outcome);
        clock.Advance(absl::Seconds(1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  clock.Advance(ScriptProbation::kLongestWait);
  for (int i = 0; i < 7; ++i) CHECK(Run(absl::OkStatus(), Object(absl::StrCat(i))));
  CHECK(probation.size() == 0);
}

TEST_CASE_METHOD(Fixture, "one object that eats up the budget makes no other run take the lock") {
  const auto watched = [&](const Arguments& arguments) {
    return probation.IsWatched({*script, "my-ric", Operation::kInterpretHealth, arguments});
  };
  CHECK_FALSE(watched(w));
  Suspect(w);
  CHECK(watched(Object("another")));  // The script as a whole may become a suspect.
  CHECK(Run(absl::OkStatus(), Object("another")));
  size_t others = 0;
  for (int i = 0; i < 100; ++i) others += watched(Object(absl::StrCat("o", i)));
  CHECK(others <= 2);  // Collisions in the filter.
  CHECK(watched(w));
  CHECK_FALSE(Begin(w).ticket.ok());
}

TEST_CASE_METHOD(Fixture, "ends by the budget are counted until the customization is gone") {
  for (int i = 0; i < 5; ++i) Run(kOutOfTime);
  CHECK_THAT(registry.Expose(),
             Catch::Contains("karmada_interpreter_script_budget_exceeded_total{"
                             "customization=\"my-ric\",operation=\"InterpretHealth\"} 3"));
  const auto same = tests::SetOf(tests::Customize("my-ric", {{"healthInterpretation", kScript}}));
  probation.KeepOnly(*same);
  CHECK_FALSE(Begin(w).ticket.ok());
  CHECK_THAT(registry.Expose(), Catch::Contains("my-ric"));
  probation.KeepOnly(*tests::SetOf());
  CHECK(probation.size() == 0);
  CHECK(Begin(w).ticket.ok());
  CHECK_THAT(registry.Expose(), !Catch::Contains("my-ric"));
}
