#include "search/opensearch/document.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "search/opensearch/document_version.h"
#include "tests/search/opensearch/hostile_objects.h"

namespace tests {
namespace {

const kube::Gvk kPod = {"", "v1", "Pod"};

json::Value DocumentOf(const kube::Gvk& kind, const std::string& text) {
  return search::MakeDocument("m1", kind, kube::Object(json::Parse(text).value()),
                              absl::FromUnixSeconds(1'700'000'000));
}

TEST_CASE("Versions are ordered by epoch, resourceVersion and schema") {
  using search::DocumentVersion;
  const auto encoded = [](int64_t epoch, int64_t version, int64_t schema) {
    return DocumentVersion{epoch, version, schema}.Encode();
  };
  CHECK(encoded(0, 5, 1) < encoded(0, 5, 2));
  CHECK(encoded(0, 5, DocumentVersion::kDeletion) < encoded(0, 6, 1));
  CHECK(encoded(0, DocumentVersion::kMaxResourceVersion, 127) < encoded(1, 0, 0));
  CHECK(encoded(DocumentVersion::kMaxEpoch, DocumentVersion::kMaxResourceVersion, 127) > 0);
  CHECK(encoded(999, -1, 500) == encoded(DocumentVersion::kMaxEpoch, 0, 127));
  const DocumentVersion back = DocumentVersion::Decode(encoded(3, 123456789, 7));
  CHECK(back.epoch == 3);
  CHECK(back.resource_version == 123456789);
  CHECK(back.schema == 7);
}

TEST_CASE("An index is named after group, version and kind") {
  CHECK(search::IndexName("karmada-search", kPod) == "karmada-search-core-v1-pod");
  CHECK(search::IndexName("p", {"kafka.strimzi.io", "v1beta2", "KafkaTopic"}) ==
        "p-kafka.strimzi.io-v1beta2-kafkatopic");
  const std::string group(253, 'g');
  const std::string name = search::IndexName("p", {group, "v1", "A"});
  CHECK(name.size() == 250);
  CHECK(name != search::IndexName("p", {group, "v1", "B"}));
}

TEST_CASE("A document has the fields that people search by") {
  const json::Value document = DocumentOf(kPod, R"({
    "metadata":{"name":"web","namespace":"shop","uid":"u1","resourceVersion":"7",
      "creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"web"},
      "managedFields":[{"manager":"kubectl"}],
      "ownerReferences":[{"kind":"ReplicaSet","name":"web-1","uid":"u0","apiVersion":"apps/v1"}]},
    "spec":{"nodeName":"n1","initContainers":[{"image":"init:1"}],
      "containers":[{"image":"web:1"},{"image":"web:1"}]},
    "status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}],
      "containerStatuses":[{"restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}}},
        {"restartCount":1}]}})");
  CHECK(document["kind"].AsString() == "Pod");
  CHECK(document["cluster"].AsString() == "m1");
  CHECK(document["created"].AsString() == "2026-01-02T03:04:05Z");
  CHECK(json::Write(document["owners"]) == R"([{"kind":"ReplicaSet","name":"web-1","uid":"u0"}])");
  CHECK(json::Write(document["labelKeys"]) == R"(["app"])");
  CHECK(json::Write(document["summary"]) ==
        R"({"conditions":["Ready=False"],"images":["init:1","web:1"],"node":"n1",)"
        R"("phase":"Running","ready":false,"reason":"CrashLoopBackOff","restarts":4})");
  CHECK_FALSE(absl::StrContains(json::Write(document), "managedFields"));
  CHECK_FALSE(document["rest"].Has("spec"));
}

TEST_CASE("Workloads have their images and replicas in the summary") {
  const json::Value deployment = DocumentOf({"apps", "v1", "Deployment"}, R"({
    "metadata":{"uid":"u"},"spec":{"replicas":3,"template":{"spec":{"containers":[{"image":"a"}]}}},
    "status":{"readyReplicas":2}})");
  CHECK(json::Write(deployment["summary"]) == R"({"images":["a"],"readyReplicas":2,"replicas":3})");
  const json::Value cron = DocumentOf({"batch", "v1", "CronJob"}, R"({"metadata":{"uid":"u"},
    "spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"image":"b"}]}}}}}})");
  CHECK(json::Write(cron["summary"]["images"]) == R"(["b"])");
}

TEST_CASE("The contents of Secrets stay in the member") {
  const std::string text = R"({"metadata":{"name":"s","uid":"u","annotations":{
    "kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"p\":\"aHVudGVyMg==\"}}",
    "note":"kept"}},"data":{"p":"aHVudGVyMg=="},"stringData":{"q":"aHVudGVyMg=="},"type":"Opaque"})";
  const std::string secret = json::Write(DocumentOf({"", "v1", "Secret"}, text));
  CHECK_FALSE(absl::StrContains(secret, "aHVudGVyMg"));
  CHECK(absl::StrContains(secret, "kept"));
  CHECK(absl::StrContains(secret, "Opaque"));
  CHECK(absl::StrContains(json::Write(DocumentOf({"x.io", "v1", "Secret"}, text)), "aHVudGVyMg"));
}

TEST_CASE("Each object comes back as it was") {
  for (const auto& [name, text] : HostileObjects()) {
    INFO(name);
    const kube::Object object(json::Parse(text).value());
    const json::Value document = search::MakeDocument("m1", object.gvk(), object, absl::Now());
    const auto back = search::ObjectOf(json::Parse(json::Write(document)).value());
    REQUIRE(back.ok());
    CHECK(json::Write(back->root()) == json::Write(object.root()));
  }
}

// Returns how many objects and arrays are around the innermost value.
int DepthOf(const json::Value& value) {
  int deepest = 0;
  for (const json::Member& member : value.members()) {
    deepest = std::max(deepest, DepthOf(member.value));
  }
  for (size_t i = 0; value.is_array() && i < value.size(); ++i) {
    deepest = std::max(deepest, DepthOf(value.At(i)));
  }
  return value.is_object() || value.is_array() ? deepest + 1 : 0;
}

std::string Nested(int levels, const std::string& open, const std::string& close) {
  std::string text = "1";
  for (int i = 0; i < levels; ++i) text = absl::StrCat(open, text, close);
  return text;
}

TEST_CASE("What is nested too deep is kept and not indexed") {
  const std::string text = absl::StrCat(
      R"({"apiVersion":"x.io/v1","kind":"Thing","metadata":{"uid":"u"},"spec":{"size":3,"deep":)",
      Nested(500, R"({"a":)", "}"), R"(},"status":{"deep":)", Nested(500, "[", "]"), "}}");
  const json::Value document = DocumentOf({"x.io", "v1", "Thing"}, text);
  CHECK(document["spec"]["size"] == json::Value(3));
  CHECK(DepthOf(document["spec"]) == 101);
  CHECK(DepthOf(document["status"]) == 101);
  const auto back = search::ObjectOf(document);
  REQUIRE(back.ok());
  CHECK(back->root() == json::Parse(text).value());
}

TEST_CASE("What real objects have is indexed whole") {
  const std::string text = absl::StrCat(R"({"metadata":{"uid":"u"},"spec":)",
                                        Nested(100, R"({"properties":)", "}"), "}");
  const json::Value document = DocumentOf({"x.io", "v1", "Thing"}, text);
  CHECK(DepthOf(document["spec"]) == 100);
  CHECK_FALSE(document["rest"].Has("spec"));
}

TEST_CASE("Something else is no document") {
  CHECK_FALSE(search::ObjectOf(json::Value::Object()).ok());
  CHECK_FALSE(search::ObjectOf(json::Value("x")).ok());
  CHECK_FALSE(search::ObjectOf(json::Parse(R"({"rest":{},"uid":""})").value()).ok());
}

}  // namespace
}  // namespace tests
