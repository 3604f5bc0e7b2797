#include "base/log.h"

#include <catch2/catch.hpp>

#include "base/internal/log_format.h"
#include "base/json.h"
#include "base/verbosity.h"

namespace {

using base::LogFields;
using base::internal::FormatJson;
using base::internal::FormatText;
using base::internal::VerbosityRules;

TEST_CASE("a text line is the message and its fields") {
  CHECK(FormatText("cluster joined", {}) == "cluster joined");
  CHECK(FormatText("cluster joined", {{"cluster", "member1"}, {"nodes", 3}}) ==
        "cluster joined cluster=member1 nodes=3");
  CHECK(FormatText("lost", {{"err", absl::NotFoundError("gone")}}) ==
        "lost err=\"NOT_FOUND: gone\"");
}

TEST_CASE("what a status carries for programs is not logged") {
  absl::Status status = absl::NotFoundError("gone");
  status.SetPayload("type.kube/api-failure", absl::Cord("404"));
  CHECK(FormatText("lost", {{"err", status}}) == "lost err=\"NOT_FOUND: gone\"");
}

TEST_CASE("values that could be read otherwise are quoted") {
  CHECK(FormatText("m", {{"k", ""}}) == "m k=\"\"");
  CHECK(FormatText("m", {{"k", "a b"}}) == "m k=\"a b\"");
  CHECK(FormatText("m", {{"k", "a=b"}}) == "m k=\"a=b\"");
  CHECK(FormatText("m", {{"k", "a\"b\\c"}}) == R"(m k="a\"b\\c")");
  CHECK(FormatText("m", {{"k", "Deployment default/web"}}) == "m k=\"Deployment default/web\"");
}

TEST_CASE("no value can start a second line") {
  CHECK(FormatText("m\nE1 forged", {{"k", "a\nb\rc\x1b[0m"}}) ==
        R"(m\nE1 forged k="a\nb\rc\033[0m")");
}

TEST_CASE("apostrophes and letters outside ASCII stay readable") {
  CHECK(FormatText("can't", {{"k", "it's \xc3\xa9\\'"}}) == "can't k=\"it's \xc3\xa9\\\\'\"");
}

TEST_CASE("a JSON line is one object with time, level, caller, message and fields") {
  const std::string line =
      FormatJson({absl::FromUnixMillis(1'700'000'000'123) + absl::Microseconds(456), "info",
                  "file.cc:12", "a \"message\"\n"},
                 {{"cluster", "m 1"}, {"n", 2}});
  CHECK(line ==
        R"({"ts":1700000000123.456,"level":"info","caller":"file.cc:12","msg":"a \"message\"\n",)"
        R"("cluster":"m 1","n":"2"})"
        "\n");
  CHECK(json::Parse(line).ok());
}

TEST_CASE("verbosity is chosen by the first pattern that fits the file") {
  const VerbosityRules rules("reflector=4, work*=2,?ueue=3,broken,also=x,work_writer=9");
  CHECK(rules.LevelFor("kube/cache/reflector.cc", 0) == 4);
  CHECK(rules.LevelFor("reflector.h", 0) == 4);
  CHECK(rules.LevelFor("works/work_writer.cc", 0) == 2);
  CHECK(rules.LevelFor("queue.cc", 0) == 3);
  CHECK(rules.LevelFor("workqueue.cc", 1) == 2);
  CHECK(rules.LevelFor("my_reflector.cc", 1) == 1);
  CHECK(rules.LevelFor("also.cc", 1) == 1);
  CHECK(VerbosityRules("").LevelFor("a.cc", 5) == 5);
  CHECK(VerbosityRules("*=1").LevelFor("a.cc", 5) == 1);
  CHECK(VerbosityRules("*a*b=1").LevelFor("xaayb.cc", 0) == 1);
}

TEST_CASE("a pattern may name a part of the program instead of the file") {
  const VerbosityRules rules("binding-*=4,controller=3,execution-controller=5");
  const std::string file = "kube/runtime/controller.cc";
  CHECK(rules.LevelFor(file, 0, "binding-controller") == 4);
  CHECK(rules.LevelFor(file, 0, "execution-controller") == 3);  // The first one that fits.
  CHECK(rules.LevelFor(file, 0) == 3);
  CHECK(rules.LevelFor("other.cc", 0, "execution-controller") == 5);
  CHECK(rules.LevelFor("other.cc", 1, "cluster-controller") == 1);
}

TEST_CASE("levels up to the verbosity are on") {
  base::InitLogging("base_test", {.verbosity = 2, .vmodule = "log_test=4"});
  CHECK(base::VlogOn(4));
  CHECK_FALSE(base::VlogOn(5));
  base::InitLogging("base_test", {.verbosity = 1, .vmodule = "a-part=4"});
  CHECK(base::VlogOnFor("a-part", 4));
  CHECK_FALSE(base::VlogOnFor("another", 2));
  CHECK(base::VlogOnFor("another", 1));
  base::InitLogging("base_test", {.verbosity = 2});
  CHECK(base::VlogOn(2));
  CHECK_FALSE(base::VlogOn(3));
  base::InitLogging("base_test", {});
  CHECK(base::VlogOn(0));
  CHECK_FALSE(base::VlogOn(1));
}

}  // namespace
