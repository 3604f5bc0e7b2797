// Requests and responses in both dialects.
#include "interpreter/webhook/codec.h"

#include <catch2/catch.hpp>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "interpreter/webhook/failure.h"
#include "tests/interpreter/webhook/hooks.h"

namespace {

using interpreter::Answer;
using interpreter::AnswerAs;
using interpreter::Question;
using interpreter::webhook::CodecOf;
using interpreter::webhook::Dialect;
using interpreter::webhook::FailureReason;
using interpreter::webhook::ReasonOf;
using tests::Json;
using tests::Operation;

constexpr Dialect kContext = Dialect::kInterpreterContext, kReview = Dialect::kExploreReview;

Question Ask(Operation op) {
  Question question{.operation = op, .object = tests::Workload()};
  question.observed = tests::Workload(7);
  question.replicas = 5;
  question.items = Json(R"([{"clusterName":"m1","status":{"readyReplicas":1},"applied":true}])");
  return question;
}

json::Value Message(Dialect dialect, const Question& question) {
  return Json(CodecOf(dialect).Encode({question, "u1"}));
}

json::Value Request(Dialect dialect, const Question& question) {
  return Message(dialect, question)["request"];
}

absl::StatusOr<Answer> DecodeBody(Dialect dialect, Operation op, const std::string& body) {
  const Question question = Ask(op);
  return CodecOf(dialect).Decode({question, "u1"}, body);
}

absl::StatusOr<Answer> Decode(Dialect dialect, Operation op, const std::string& response) {
  return DecodeBody(dialect, op, absl::StrCat(R"({"response":)", response, "}"));
}

// Returns the answer to an operation that returns JSON.
json::Value JsonOf(Dialect dialect, Operation op, const std::string& response) {
  return AnswerAs<json::Value>(Decode(dialect, op, response)).value();
}

std::string Base64(const std::string& text) { return absl::Base64Escape(text); }

}  // namespace

TEST_CASE("a ResourceInterpreterContext carries what upstream's does") {
  CHECK(Message(kContext, Ask(Operation::kInterpretHealth)) == Json(R"({
    "apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterContext",
    "request": {"uid": "u1",
      "kind": {"group": "workload.example.io", "version": "v1alpha1", "kind": "Workload"},
      "name": "web", "namespace": "default", "operation": "InterpretHealth", "replicas": 0,
      "object": {"apiVersion": "workload.example.io/v1alpha1", "kind": "Workload",
                 "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 2}}}})"));
}

TEST_CASE("an ExploreReview carries what its proposal says") {
  CHECK(Message(kReview, Ask(Operation::kPrune)) == Json(R"({
    "apiVersion": "config.karmada.io/v1alpha1", "kind": "ExploreReview",
    "request": {"uid": "u1",
      "kind": {"group": "workload.example.io", "version": "v1alpha1", "kind": "Workload"},
      "name": "web", "namespace": "default", "operation": "ExplorePacking",
      "object": {"apiVersion": "workload.example.io/v1alpha1", "kind": "Workload",
                 "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 2}}}})"));
}

TEST_CASE("each operation has its own name and its own members in a request") {
  for (const Dialect dialect : {kContext, kReview}) {
    for (const Operation op : tests::OperationsOf(dialect)) {
      CAPTURE(OperationNameIn(dialect, op));
      const json::Value request = Request(dialect, Ask(op));
      CHECK(request["operation"].AsString() == OperationNameIn(dialect, op));
      CHECK(request.Has("observedObject") == (op == Operation::kRetain));
      CHECK(request.Has("aggregatedStatus") == (op == Operation::kAggregateStatus));
      const bool revise = op == Operation::kReviseReplica;
      CHECK(request.Has("replicas") == (dialect == kContext || revise));
      CHECK(request["replicas"].AsInt() == (revise ? 5 : 0));
    }
  }
  CHECK(Request(kContext, Ask(Operation::kRetain))["observedObject"] == tests::Workload(7).root());
}

TEST_CASE("requests leave out the namespace of cluster-scoped objects and an empty status list") {
  Question question = Ask(Operation::kAggregateStatus);
  question.object = kube::Object::Make({"", "v1", "Node"}, {"", "n"});
  question.items = json::Value::Array();
  const json::Value request = Request(kContext, question);
  CHECK_FALSE(request.Has("namespace"));
  CHECK_FALSE(request.Has("aggregatedStatus"));
  CHECK(request["kind"] == Json(R"({"group":"","version":"v1","kind":"Node"})"));
}

TEST_CASE("replicas are cut to 32 bits, as upstream does") {
  Question question = Ask(Operation::kReviseReplica);
  question.replicas = (int64_t{1} << 32) + 3;
  CHECK(Request(kContext, question)["replicas"].AsInt() == 3);
  CHECK(Request(kReview, question)["replicas"].AsInt() == 3);
}

TEST_CASE("responses give what each operation asks for") {
  struct Dialected {
    Dialect dialect;
    const char* head;  // The members of every response of the dialect.
  };
  for (const auto& [dialect, head] : {Dialected{kContext, R"({"uid":"u1","successful":true,)"},
                                      Dialected{kReview, R"({"uid":"u1",)"}}) {
    CAPTURE(head);
    const auto decode = [&, dialect = dialect, head = head](Operation op, const char* rest) {
      const auto answer = Decode(dialect, op, absl::StrCat(head, rest, "}"));
      INFO(answer.status());
      REQUIRE(answer.ok());
      return *answer;
    };
    const auto replicas = std::get<interpreter::Replicas>(decode(
        Operation::kInterpretReplica, R"("replicas":3,"replicaRequirements":{"namespace":"x"})"));
    CHECK(replicas.replicas == 3);
    CHECK(replicas.requirements == Json(R"({"namespace":"x"})"));
    CHECK(std::get<interpreter::Replicas>(decode(Operation::kInterpretReplica, R"("replicas":0)"))
              .requirements.is_null());
    const auto health = [&](const char* rest) {
      return std::get<interpreter::Health>(decode(Operation::kInterpretHealth, rest));
    };
    CHECK(health(R"("healthy":true)").healthy);
    CHECK_FALSE(health(R"("healthy":false)").healthy);
    CHECK(health(R"("healthy":false)").message.empty());
    const interpreter::Health explained = health(R"("healthy":false,"healthMessage":"0 of 3")");
    CHECK_FALSE(explained.healthy);
    CHECK(explained.message == "0 of 3");
    const auto dependencies = [&](const std::string& list) {
      return std::get<json::Value>(decode(Operation::kInterpretDependency,
                                          absl::StrCat(R"("dependencies":)", list).c_str()));
    };
    CHECK(dependencies("null").empty());
    // Order and repetitions are kept.
    const char* list =
        R"([{"apiVersion":"v1","kind":"Secret","name":"b"},{"apiVersion":"v1","kind":"Secret","name":"a"},{"apiVersion":"v1","kind":"Secret","name":"b"}])";
    CHECK(dependencies(list) == Json(list));
    const std::string patch =
        absl::StrCat(R"("patchType":"JSONPatch","patch":")",
                     Base64(R"([{"op":"replace","path":"/spec/replicas","value":3}])"), "\"");
    for (const Operation op :
         {Operation::kReviseReplica, Operation::kRetain, Operation::kAggregateStatus}) {
      CHECK(std::get<kube::Object>(decode(op, patch.c_str())) == tests::Workload(3));
      CHECK(std::get<kube::Object>(decode(op, R"("more":1)")) == tests::Workload());
    }
  }
}

TEST_CASE("typed members are read as a script's are: what the struct has, in canonical form") {
  const std::string head = R"({"uid":"u1","successful":true,)";
  const auto replicas = AnswerAs<interpreter::Replicas>(Decode(
      kContext, Operation::kInterpretReplica,
      head + R"("replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":0.5,)" +
          R"("memory":"1024Mi"},"resourceLimit":1,"nodeClaim":{"nodeSelector":{"a":null}}}})"));
  CHECK(replicas->requirements == Json(R"({"nodeClaim":{"nodeSelector":{"a":""}},)"
                                       R"("resourceRequest":{"cpu":"500m","memory":"1Gi"}})"));
  CHECK(JsonOf(kContext, Operation::kInterpretComponent,
               head + R"("components":[{"Name":"a","replicas":1,"size":2},null]})") ==
        Json(R"([{"name":"a","replicas":1},{"name":"","replicas":0}])"));
  CHECK(JsonOf(kContext, Operation::kInterpretDependency,
               head + R"("dependencies":[{"apiVersion":"v1","kind":"A","name":"b","uid":"c"}]})") ==
        Json(R"([{"apiVersion":"v1","kind":"A","name":"b"}])"));
}

TEST_CASE("members that only one dialect has") {
  CHECK(JsonOf(kContext, Operation::kInterpretStatus,
               R"({"uid":"u1","successful":true,"rawStatus":{"a":1}})") == Json(R"({"a":1})"));
  CHECK(JsonOf(kReview, Operation::kInterpretStatus, R"({"uid":"u1","status":{"a":1}})") ==
        Json(R"({"a":1})"));
  CHECK(JsonOf(kReview, Operation::kInterpretStatus, R"({"uid":"u1"})").is_null());
  CHECK(JsonOf(kContext, Operation::kInterpretComponent,
               R"({"uid":"u1","successful":true,"components":[{"name":"a","replicas":1}]})")
            .size() == 1);
  CHECK(JsonOf(kContext, Operation::kInterpretComponent, R"({"uid":"u1","successful":true})") ==
        json::Value::Array());
  const auto aggregated = AnswerAs<kube::Object>(
      Decode(kReview, Operation::kAggregateStatus, R"({"uid":"u1","status":{"a":1}})"));
  CHECK(aggregated->status() == Json(R"({"a":1})"));
  CHECK(aggregated->spec() == tests::Workload().spec());
  // A status together with a success is ignored.
  const auto health = AnswerAs<interpreter::Health>(
      Decode(kContext, Operation::kInterpretHealth,
             R"({"uid":"u1","successful":true,"healthy":true,"status":{"code":500}})"));
  CHECK(health->healthy);
}

TEST_CASE(
    "a patch that changes nothing leaves the object, and one that does not apply is refused") {
  const auto patched = [](const Question& question, const char* patch) {
    return CodecOf(kReview).Decode(
        {question, "u1"},
        absl::StrCat(R"({"response":{"uid":"u1","patchType":"JSONPatch","patch":")", Base64(patch),
                     "\"}}"));
  };
  const Question question = Ask(Operation::kRetain);
  const auto same = AnswerAs<kube::Object>(
      patched(question, R"([{"op":"replace","path":"/spec/replicas","value":2}])"));
  CHECK(same->root().SharesWith(question.object.root()));
  for (const char* patch :
       {R"([{"op":"remove","path":"/a"}])", R"([{"op":"remove","path":"/kind"}])"}) {
    CHECK(ReasonOf(patched(question, patch).status()) == FailureReason::kPatch);
  }
}

TEST_CASE("a response may say which version it is, but not another one") {
  const auto decode = [](Dialect dialect, const std::string& head) {
    return DecodeBody(dialect, Operation::kInterpretHealth,
                      absl::StrCat("{", head,
                                   R"("response":{"uid":"u1","successful":true,"healthy":true}})"))
        .ok();
  };
  CHECK(decode(kContext, ""));
  CHECK(decode(kContext, R"("apiVersion":"config.karmada.io/v1alpha1",)"));
  CHECK(decode(kContext, R"("kind":"ResourceInterpreterContext",)"));
  CHECK_FALSE(decode(kContext, R"("apiVersion":"config.karmada.io/v1beta1",)"));
  CHECK_FALSE(decode(kContext, R"("kind":"ExploreReview",)"));
  CHECK_FALSE(decode(kContext, R"("apiVersion":1,)"));
  CHECK_FALSE(decode(kContext, R"("kind":{},)"));
  CHECK(decode(kContext, R"("apiVersion":null,)"));
  CHECK(decode(kReview, R"("kind":"ExploreReview",)"));
  CHECK_FALSE(decode(kReview, R"("kind":"ResourceInterpreterContext",)"));
}

TEST_CASE("bad responses are refused in upstream's words") {
  struct Case {
    Operation op;
    std::string response;
    std::string error;
    FailureReason reason = FailureReason::kInvalidResponse;
  };
  const std::string invalid = "received invalid webhook response: ";
  const std::string undecodable = "failed to call webhook: ";
  const std::string ok = R"({"uid":"u1","successful":true)";
  const Case cases[] = {
      {Operation::kRetain, "null", invalid + "webhook response was absent",
       FailureReason::kUnreadable},
      {Operation::kRetain, "3", undecodable + "response is not an object",
       FailureReason::kUnreadable},
      {Operation::kRetain, "{}", invalid + R"(expected response.uid "u1", got "")"},
      {Operation::kRetain, R"({"uid":"B"})", invalid + R"(expected response.uid "u1", got "B")"},
      {Operation::kRetain, R"({"uid":1})", undecodable + "response.uid is not a string"},
      {Operation::kRetain, R"({"uid":"u1"})",
       invalid + "webhook require response.status when response.successful is false"},
      {Operation::kRetain, R"({"uid":"u1","successful":"yes"})",
       undecodable + "response.successful is not a boolean"},
      {Operation::kRetain,
       R"({"uid":"u1","successful":false,"status":{"code":403,"message":"no"}})",
       "webhook call failed, get status code: 403, msg: no", FailureReason::kRejected},
      {Operation::kInterpretReplica, ok + "}", invalid + "webhook returned nil response.replicas"},
      {Operation::kInterpretReplica, ok + R"(,"replicas":"3"})",
       undecodable + "response.replicas is not a 32-bit number"},
      {Operation::kInterpretReplica, ok + R"(,"replicas":2147483648})",
       undecodable + "response.replicas is not a 32-bit number"},
      {Operation::kInterpretReplica, ok + R"(,"replicas":1.5})",
       undecodable + "response.replicas is not a 32-bit number"},
      {Operation::kInterpretReplica, ok + R"(,"replicas":1,"replicaRequirements":[]})",
       undecodable + "response.replicaRequirements: expected an object, got an array"},
      {Operation::kInterpretReplica,
       ok + R"(,"replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"much"}}})",
       undecodable + "response.replicaRequirements: resourceRequest: cpu: quantities must match "
                     "the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {Operation::kInterpretHealth, ok + "}", invalid + "webhook returned nil response.healthy"},
      {Operation::kInterpretHealth, ok + R"(,"healthy":false,"healthMessage":["0 of 3"]})",
       undecodable + "response.healthMessage is not a string"},
      {Operation::kInterpretStatus, ok + R"(,"rawStatus":null})",
       invalid + "webhook returned nill response.rawStatus"},
      {Operation::kInterpretStatus, ok + R"(,"rawStatus":"fine"})",
       undecodable + "response.rawStatus is not an object"},
      {Operation::kInterpretComponent, ok + R"(,"components":[1]})",
       undecodable + "response.components: [0]: expected an object, got a number"},
      {Operation::kInterpretComponent, ok + R"(,"components":[{"name":"a","replicas":1.5}]})",
       undecodable + "response.components: [0]: replicas: 1.5 is not a whole number of 64 bits"},
      {Operation::kInterpretDependency, ok + R"(,"dependencies":[{"kind":"A","name":"b"}]})",
       invalid + R"(dependencies[0].apiVersion: Invalid value: "": missing required apiVersion)"},
      {Operation::kRetain, ok + R"(,"patch":"W10="})",
       invalid + "webhook returned nil response.patchType"},
      {Operation::kRetain, ok + R"(,"patchType":"JSONPatch"})",
       invalid + "webhook returned empty response.patch"},
      {Operation::kRetain, ok + R"(,"patchType":"X","patch":"W10="})",
       invalid + R"(webhook returned invalid response.patchType of "X")"},
      {Operation::kRetain, ok + R"(,"patchType":"JSONPatch","patch":"*"})",
       undecodable + "response.patch is not base64"},
      {Operation::kRetain, ok + R"(,"patchType":"JSONPatch","patch":"e30="})",
       "response.patch is not a JSON patch: it is not a list of operations", FailureReason::kPatch},
  };
  for (const Case& c : cases) {
    CAPTURE(c.response);
    const absl::Status status = Decode(kContext, c.op, c.response).status();
    CHECK(status.message() == c.error);
    CHECK(ReasonOf(status) == c.reason);
  }
  CHECK_THAT(std::string(DecodeBody(kContext, Operation::kRetain, "no").status().message()),
             Catch::StartsWith("failed to call webhook: the body is not JSON: "));
  CHECK(DecodeBody(kContext, Operation::kRetain, "[]").status().message() ==
        "failed to call webhook: the body is not a JSON object");
  for (const char* body : {"no", "[]", "{}", R"({"kind":"Status"})"}) {
    CHECK(ReasonOf(DecodeBody(kContext, Operation::kRetain, body).status()) ==
          FailureReason::kUnreadable);
  }
}

TEST_CASE("bad reviews are refused too") {
  struct Case {
    Operation op;
    const char* response;
    const char* error;
  };
  const Case cases[] = {
      {Operation::kInterpretHealth, R"({"uid":"B","healthy":true})",
       R"(received invalid webhook response: expected response.uid "u1", got "B")"},
      {Operation::kInterpretHealth, R"({"uid":"u1"})",
       "received invalid webhook response: webhook returned nil response.healthy"},
      {Operation::kInterpretReplica, R"({"uid":"u1"})",
       "received invalid webhook response: webhook returned nil response.replicas"},
      {Operation::kAggregateStatus,
       R"({"uid":"u1","status":{"a":1},"patchType":"JSONPatch","patch":"W10="})",
       "received invalid webhook response: webhook returned both response.patch and "
       "response.status"},
      {Operation::kAggregateStatus, R"({"uid":"u1","status":3})",
       "failed to call webhook: response.status is not an object"},
      {Operation::kPrune, R"({"uid":"u1","patchType":"JSONPatch"})",
       "received invalid webhook response: webhook returned empty response.patch"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.response);
    const absl::Status status = Decode(kReview, c.op, c.response).status();
    CHECK(status.message() == c.error);
    CHECK(ReasonOf(status) == FailureReason::kInvalidResponse);
  }
}
