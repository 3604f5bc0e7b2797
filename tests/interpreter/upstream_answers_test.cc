// Runs requests recorded with upstream's interpreter and compares the answers.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"
#include "tests/support/fake_clock.h"
#include "tests/support/upstream_answers.h"

namespace {

using interpreter::Interpreter;

// When upstream answered; it is in the conditions of the answers.
const absl::Time kRecorded = kube::ParseTime("2026-11-20T16:10:52Z").value();

std::vector<json::Value> ReadLines(const std::string& path) {
  std::vector<json::Value> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) out.push_back(json::Parse(line).value());
  return out;
}

json::Value ReplicasToJson(const interpreter::Replicas& replicas) {
  return json::Value::Object(
      {{"replica", replicas.replicas}, {"requirements", replicas.requirements}});
}

absl::StatusOr<json::Value> RootOf(absl::StatusOr<kube::Object> object) {
  if (!object.ok()) return object.status();
  return object->root();
}

absl::StatusOr<json::Value> Answer(const Interpreter& interpreter, const json::Value& request) {
  const kube::Object object(request["object"]);
  const absl::string_view op = request["operation"].AsString();
  if (op == "InterpretReplica") {
    const auto replicas = interpreter.GetReplicas(object);
    if (!replicas.ok()) return replicas.status();
    return ReplicasToJson(*replicas);
  }
  if (op == "ReviseReplica") {
    return RootOf(interpreter.ReviseReplica(object, request["replicas"].AsInt()));
  }
  if (op == "Retain") {
    return RootOf(interpreter.Retain(object, kube::Object(request["observed"])));
  }
  if (op == "AggregateStatus") {
    return RootOf(interpreter.AggregateStatus(object, request["items"]));
  }
  if (op == "InterpretDependency") return interpreter.GetDependencies(object);
  if (op == "InterpretStatus") return interpreter.ReflectStatus(object);
  const auto health = interpreter.InterpretHealth(object);
  if (!health.ok()) return health.status();
  return json::Value(health->healthy);
}

json::Value Sorted(const json::Value& list) {
  if (!list.is_array()) return list;
  std::map<std::string, json::Value> by_text;
  for (const json::Value& item : list.items()) by_text[json::Write(item)] = item;
  json::Value out = json::Value::Array();
  for (const auto& [text, item] : by_text) out.Append(item);
  return out;
}

// Dependencies are compared in any order, because upstream's have none.
bool Same(const json::Value& request, const json::Value& want, const json::Value& got) {
  if (request["operation"].AsString() != "InterpretDependency") return want == got;
  return Sorted(want) == Sorted(got);
}

}  // namespace

TEST_CASE("recorded requests get upstream's answers") {
  const auto requests = ReadLines("tests/data/upstream/native-requests.jsonl");
  const auto answers = ReadLines("tests/data/upstream/native-answers.jsonl");
  REQUIRE(requests.size() == 3000);
  REQUIRE(answers.size() == requests.size());
  std::vector<std::unique_ptr<interpreter::Backend>> backends;
  const tests::FakeClock clock(kRecorded);
  backends.push_back(interpreter::NewUpstreamFormBackend(clock));
  const auto chain = interpreter::NewChain(std::move(backends));
  for (size_t i = 0; i < requests.size(); ++i) {
    if (tests::AnswersAnother(requests[i])) continue;
    const auto got = Answer(*chain, requests[i]);
    // Malformed requests may have any answer, but must not crash.
    if (absl::StartsWith(requests[i]["id"].AsString(), "w")) continue;
    const bool same =
        answers[i].Has("error")
            ? !got.ok()
            : got.ok() && (Same(requests[i], answers[i]["result"], *got) ||
                           tests::WithoutDeliberate(requests[i], answers[i]["result"]) ==
                               tests::WithoutDeliberate(requests[i], *got));
    if (same) continue;
    FAIL_CHECK("request " << json::Write(requests[i]) << "\nwant " << json::Write(answers[i])
                          << "\ngot " << (got.ok() ? json::Write(*got) : got.status().ToString()));
  }
}
