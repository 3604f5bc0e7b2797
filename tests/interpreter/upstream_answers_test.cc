// Runs requests recorded with upstream's interpreter and compares the answers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "interpreter/interpreter.h"

namespace {

using interpreter::Interpreter;

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
  const auto healthy = interpreter.InterpretHealth(object);
  if (!healthy.ok()) return healthy.status();
  return json::Value(*healthy);
}

json::Value WithoutNulls(const json::Value& v) {
  if (v.is_array()) {
    json::Value out = json::Value::Array();
    for (const json::Value& item : v.items()) out.Append(WithoutNulls(item));
    return out;
  }
  if (!v.is_object()) return v;
  json::Value out = json::Value::Object();
  for (const json::Member& member : v.members()) {
    if (!member.value.is_null()) out.Set(member.name(), WithoutNulls(member.value));
  }
  return out;
}

json::Value Sorted(const json::Value& list) {
  if (!list.is_array()) return list;
  std::map<std::string, json::Value> by_text;
  for (const json::Value& item : list.items()) by_text[json::Write(item)] = item;
  json::Value out = json::Value::Array();
  for (const auto& [text, item] : by_text) out.Append(item);
  return out;
}

// Condition times are those of the recording.
json::Value WithoutNow(json::Value status) {
  json::Value& conditions = status.Mutable("conditions");
  for (size_t i = 0; i < conditions.size(); ++i) {
    conditions.MutableAt(i).Erase("lastProbeTime");
    conditions.MutableAt(i).Erase("lastTransitionTime");
  }
  return status;
}

// The counters an aggregation adds up, for the kinds whose other status members stay.
const std::set<std::string>& CountersOf(absl::string_view kind) {
  static const std::map<std::string, std::set<std::string>, std::less<>> counters = {
      {"Deployment",
       {"replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "unavailableReplicas",
        "observedGeneration"}},
      {"ReplicaSet", {"replicas", "readyReplicas", "availableReplicas", "observedGeneration"}},
      {"StatefulSet",
       {"replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "currentReplicas",
        "observedGeneration"}},
      {"DaemonSet",
       {"currentNumberScheduled", "desiredNumberScheduled", "numberAvailable", "numberMisscheduled",
        "numberReady", "updatedNumberScheduled", "numberUnavailable", "observedGeneration"}}};
  static const std::set<std::string> none;
  const auto it = counters.find(std::string(kind));
  return it == counters.end() ? none : it->second;
}

// Only the status of an aggregation is used. Upstream's has been through a typed struct: null times
// appear, and members the struct does not know are gone, where ours keeps them as they were.
bool SameAggregate(const json::Value& request, const json::Value& want, const json::Value& got) {
  const json::Value& before = request["object"]["status"];
  const absl::string_view kind = request["object"]["kind"].AsString();
  if (kind == "Pod" && request["items"].is_null()) return got["status"] == before;
  const json::Value expected = WithoutNulls(want["status"]);
  json::Value found = WithoutNulls(got["status"]);
  const std::set<std::string>& counters = CountersOf(kind);
  for (const json::Member& member : before.members()) {
    if (counters.empty() || counters.count(std::string(member.name())) > 0) continue;
    const json::Value kept = WithoutNulls(member.value);
    if (!expected.Has(member.name()) && found[member.name()] == kept) found.Erase(member.name());
  }
  return WithoutNow(expected) == WithoutNow(found);
}

// What a Pod retains, canonical forms of the rest left aside.
json::Value RetainedOfPod(const json::Value& pod) {
  const json::Value& spec = pod["spec"];
  json::Value out = json::Value::Array({spec["nodeName"], spec["serviceAccountName"]});
  for (const json::Value& volume : spec["volumes"].items()) out.Append(volume["name"]);
  for (const char* containers : {"containers", "initContainers"}) {
    for (const json::Value& container : spec[containers].items()) {
      out.Append(json::Value::Array({container["name"], container["volumeMounts"]}));
    }
  }
  return out;
}

// No list and an empty one are the same to the API server.
json::Value WithoutEmptyReferences(json::Value account) {
  for (const char* field : {"secrets", "imagePullSecrets"}) {
    if (account[field].empty()) account.Erase(field);
  }
  return account;
}

bool SameRetained(const json::Value& want, const json::Value& got) {
  const absl::string_view kind = want["kind"].AsString();
  if (kind == "Pod") return RetainedOfPod(want) == RetainedOfPod(got);
  if (kind == "ServiceAccount") return WithoutEmptyReferences(want) == WithoutEmptyReferences(got);
  return want == got;
}

bool Same(const json::Value& request, const json::Value& want, const json::Value& got) {
  const absl::string_view op = request["operation"].AsString();
  if (op == "InterpretDependency") return Sorted(want) == Sorted(got);
  if (op == "AggregateStatus") return SameAggregate(request, want, got);
  if (op == "Retain") return SameRetained(want, got);
  return want == got;
}

}  // namespace

TEST_CASE("recorded requests get upstream's answers") {
  const auto requests = ReadLines("tests/data/upstream/native-requests.jsonl");
  const auto answers = ReadLines("tests/data/upstream/native-answers.jsonl");
  REQUIRE(requests.size() == 3000);
  REQUIRE(answers.size() == requests.size());
  std::vector<std::unique_ptr<interpreter::Backend>> backends;
  backends.push_back(interpreter::NewNativeBackend());
  const auto chain = interpreter::NewChain(std::move(backends));
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto got = Answer(*chain, requests[i]);
    // Malformed requests: any answer will do, a crash will not.
    if (absl::StartsWith(requests[i]["id"].AsString(), "w")) continue;
    const bool same = answers[i].Has("error")
                          ? !got.ok()
                          : got.ok() && Same(requests[i], answers[i]["result"], *got);
    if (same) continue;
    FAIL_CHECK("request " << json::Write(requests[i]) << "\nwant " << json::Write(answers[i])
                          << "\ngot " << (got.ok() ? json::Write(*got) : got.status().ToString()));
  }
}
