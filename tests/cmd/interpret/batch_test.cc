// The batch protocol: one request a line, one answer a line, in order.
#include "cmd/interpret/batch.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "tests/cmd/interpret/tool.h"
#include "tests/support/temp_directory.h"
#include "tests/support/upstream_answers.h"

namespace {

using tests::Ran;
using tests::RunTool;

std::vector<json::Value> AnswersTo(const std::string& requests,
                                   const std::vector<std::string>& flags = {}) {
  std::vector<std::string> arguments = {"batch"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const Ran ran = RunTool(arguments, requests);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  std::vector<json::Value> answers;
  for (const absl::string_view line : absl::StrSplit(ran.out, '\n', absl::SkipEmpty())) {
    answers.push_back(json::Parse(line).value());
  }
  return answers;
}

constexpr char kReplicas[] =
    R"({"id":"r","operation":"InterpretReplica","object":{"apiVersion":"apps/v1","kind":"Deployment",)"
    R"("spec":{"replicas":2,"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}}}})";

}  // namespace

TEST_CASE("Answers come in the order of requests, with their ids") {
  const auto answers = AnswersTo(
      R"({"id":7,"operation":"InterpretHealth","object":{"apiVersion":"v1","kind":"Service"}})"
      "\n\n"
      R"({"id":"x","operation":"InterpretStatus","object":{"apiVersion":"v1","kind":"Pod"}})");
  REQUIRE(answers.size() == 3);
  CHECK(json::Write(answers[0]) == R"({"by":"Service","id":7,"layer":"native","result":true})");
  CHECK(json::Write(answers[1]) == R"({"error":"an empty line is not a request","id":null})");
  CHECK(json::Write(answers[2]) == R"({"by":"Pod","id":"x","layer":"native","result":null})");
}

TEST_CASE("Ids come back as they are written") {
  const std::string rest = R"("operation":"InterpretHealth","object":{"apiVersion":"v1",)"
                           R"("kind":"Service","id":"no","x":["}\"",{"id":1}]})";
  for (const std::string id : {"12345678901234567890", "-0", "1e2", "0.10", R"("\u0041\"}")",
                               R"({"b":[1, "}"], "a":{}})", "[]", "true", "null"}) {
    const std::string first = absl::StrCat(R"({ "id" : )", id, " , ", rest, "}");
    const std::string last = absl::StrCat("{", rest, R"(,"id":0,"\u0069d":)", id, " }");
    const std::string failing = absl::StrCat(R"({"operation":"Dance","id":)", id, "}");
    CHECK(RunTool({"batch"}, absl::StrCat(first, "\n", last)).out ==
          absl::StrCat(R"({"by":"Service","id":)", id, R"(,"layer":"native","result":true})", "\n",
                       R"({"by":"Service","id":)", id, R"(,"layer":"native","result":true})",
                       "\n"));
    CHECK_THAT(RunTool({"batch"}, failing).out,
               Catch::Contains(absl::StrCat(R"(,"id":)", id, "}\n")));
  }
  CHECK_THAT(RunTool({"batch"}, R"([{"id":1}])").out, Catch::Contains(R"("id":null)"));
}

TEST_CASE("Answers do not depend on earlier requests that used up a script's budget") {
  const tests::TempDirectory dir;
  const std::string rules =
      dir.Write("rules.yaml", tests::WidgetCustomization("healthInterpretation",
                                                         R"(function InterpretHealth(observedObj)
  -- A megabyte each time, so that memory ends long before the time that a script may take.
  local t, s = {}, string.rep('x', 2 ^ 20)
  while observedObj.spec.hungry do t[#t + 1] = s .. #t end
  return true
end)"));
  const auto request = [](const std::string& name, bool hungry) {
    return absl::StrCat(R"({"operation":"InterpretHealth","object":{"apiVersion":"example.io/v1",)"
                        R"("kind":"Widget","metadata":{"name":")",
                        name, R"("},"spec":{"hungry":)", hungry ? "true" : "false", "}}}\n");
  };
  std::string requests;
  for (const char* name : {"a", "b", "c", "a", "a", "a"}) requests += request(name, true);
  const auto answers = AnswersTo(requests + request("d", false), {"-f", rules});
  REQUIRE(answers.size() == 7);
  CHECK_THAT(answers[0]["error"].ToString(), Catch::Contains("memory"));
  CHECK(answers[5]["error"] == answers[0]["error"]);
  CHECK(answers[6]["result"] == json::Value(true));
}

TEST_CASE("Items are read as the daemon reads them; wrong types are reported") {
  const tests::TempDirectory dir;
  const std::string rules = dir.Write("rules.yaml", tests::kWidgetAggregation);
  const auto request = [](const std::string& items) {
    return absl::StrCat(R"({"id":1,"operation":"AggregateStatus","object":)"
                        R"({"apiVersion":"example.io/v1","kind":"Widget"},"items":)",
                        items, "}");
  };
  CHECK(json::Write(AnswersTo(request(R"([{"clusterName":"a","applied":false,"zz":1,)"
                                      R"("status":{"applied":false}}])"),
                              {"-f", rules})
                        .at(0)
                        .Get({"result", "status"})) == R"({"seen":"clusterName,status"})");
  CHECK(
      AnswersTo(request(R"([{"clusterName":"a","applied":"no"}])"), {"-f", rules}).at(0)["error"] ==
      "items: [0]: applied: expected a boolean, got a string");
  CHECK(AnswersTo(request("{}"), {"-f", rules}).at(0)["error"] ==
        "items: expected an array, got an object");
}

TEST_CASE("Replicas are a number with requirements") {
  const auto answers = AnswersTo(kReplicas);
  CHECK(json::Write(answers.at(0)["result"]) ==
        R"({"replica":2,"requirements":{"resourceRequest":{"cpu":"1"}}})");
}

TEST_CASE(
    "What cannot be answered is an error with the request's id, and the next one is answered") {
  const auto answers = AnswersTo(absl::StrCat(
      "{broken\n", R"({"id":1,"operation":"Dance","object":{}})", "\n",
      R"({"id":2,"operation":"Retain","object":{"apiVersion":"v1","kind":"Pod"}})", "\n",
      R"({"id":3,"operation":"InterpretHealth","object":{"apiVersion":"v1","kind":"Ghost"}})", "\n",
      R"({"id":4,"operation":"InterpretHealth","object":"a string"})", "\n[]\n", kReplicas));
  REQUIRE(answers.size() == 7);
  for (int i = 0; i < 6; ++i) {
    CHECK(answers[i].Has("error"));
    CHECK_FALSE(answers[i].Has("result"));
  }
  CHECK(answers[0]["id"].is_null());
  CHECK(answers[0].Has("id"));
  CHECK(answers[3]["id"].AsInt() == 3);
  CHECK(answers[3]["error"].AsString() ==
        "default InterpretHealth interpreter for \"/v1, Kind=Ghost\" not found");
  CHECK(answers[6].Has("result"));
}

TEST_CASE("A given customization answers before the built-in rules, and is named") {
  const tests::TempDirectory dir;
  const std::string file = dir.Write("widgets.yaml", tests::kWidgetHealth);
  const std::string request =
      R"({"id":1,"operation":"InterpretHealth","object":{"apiVersion":"example.io/v1",)"
      R"("kind":"Widget","status":{"ready":true}}})";
  CHECK(json::Write(AnswersTo(request, {"--customization", file}).at(0)) ==
        R"({"by":"widgets","id":1,"layer":"customization","result":true})");
  CHECK(AnswersTo(request).at(0).Has("error"));
}

TEST_CASE("The message of a health stands beside the result") {
  const auto answers =
      AnswersTo(R"({"id":1,"operation":"InterpretHealth","object":{"apiVersion":"v1",)"
                R"("kind":"PersistentVolumeClaim","status":{"phase":"Pending"}}})");
  CHECK(json::Write(answers.at(0)) == R"({"by":"PersistentVolumeClaim","id":1,"layer":"native",)"
                                      R"("message":"the claim is Pending","result":false})");
}

TEST_CASE("Prune answers with what a manifest keeps, whatever the kind") {
  const auto answers = AnswersTo(
      R"({"id":1,"operation":"Prune","object":{"apiVersion":"example.io/v1","kind":"Widget",)"
      R"("metadata":{"name":"w","uid":"u","resourceVersion":"5"},"spec":{"a":1},"status":{}}})");
  CHECK(json::Write(answers.at(0)) ==
        R"({"by":"Widget","id":1,"layer":"native","result":{"apiVersion":"example.io/v1",)"
        R"("kind":"Widget","metadata":{"name":"w"},"spec":{"a":1}}})");
}

TEST_CASE("Customizations cannot come from the input that holds the requests") {
  const Ran ran = RunTool({"batch", "-f", "-"}, tests::kWidgetHealth);
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
}

namespace {

constexpr char kAggregation[] =
    R"({"id":1,"operation":"AggregateStatus","object":{"apiVersion":"batch/v1","kind":"Job","x":1},)"
    R"("items":[{"clusterName":"m","status":{"failed":1,"conditions":[{"type":"Failed","status":"True"}]}}]})";

}  // namespace

TEST_CASE("Built-in answers have upstream's form, or the daemon's when asked for") {
  const json::Value upstream = AnswersTo(kAggregation).at(0)["result"];
  CHECK_FALSE(upstream.Has("x"));
  CHECK(json::Write(upstream["spec"]) ==
        R"({"template":{"metadata":{},"spec":{"containers":null}}})");
  const json::Value daemon = AnswersTo(kAggregation, {"--as-daemon"}).at(0)["result"];
  CHECK(daemon["x"] == 1);
  CHECK_FALSE(daemon.Has("spec"));
  CHECK(daemon.Get({"status", "failed"}) == 1);
}

TEST_CASE("Conditions that are made get the time of --now") {
  const auto answer = AnswersTo(kAggregation, {"--now", "2026-01-02T03:04:05Z"}).at(0);
  const json::Value& condition = answer.Get({"result", "status", "conditions"}).At(0);
  CHECK(condition["lastProbeTime"] == "2026-01-02T03:04:05Z");
  CHECK(RunTool({"batch", "--now", "soon"}, kAggregation).code == 2);
}

TEST_CASE("Recorded requests get upstream's answers") {
  const std::string text = base::ReadFile("tests/data/upstream/native-requests.jsonl").value();
  const std::vector<std::string> asked = absl::StrSplit(text, '\n');
  const auto got = AnswersTo(text, {"--no-shipped", "--now", "2026-11-20T16:10:52Z"});
  std::ifstream answers("tests/data/upstream/native-answers.jsonl");
  size_t lines = 0;
  for (std::string recorded; std::getline(answers, recorded); ++lines) {
    const json::Value want = json::Parse(recorded).value();
    REQUIRE(got.at(lines)["id"] == want["id"]);
    // Malformed requests may have any answer.
    if (want["id"].AsString().substr(0, 1) == "w") continue;
    CHECK(got[lines].Has("error") == want.Has("error"));
    CHECK(got[lines]["layer"] == want["layer"]);
    // Upstream's dependencies are in no particular order.
    if (want["result"].is_array()) continue;
    const json::Value request = json::Parse(asked.at(lines)).value();
    if (tests::AnswersAnother(request)) continue;
    CHECK(tests::WithoutDeliberate(request, got[lines]["result"]) ==
          tests::WithoutDeliberate(request, want["result"]));
  }
  CHECK(lines == 3000);
}
