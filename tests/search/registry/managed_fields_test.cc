// Who owns which field, and what an apply may change.
#include "search/registry/managed_fields.h"

#include <catch2/catch.hpp>
#include <string>

#include "kube/server/api_errors.h"
#include "tests/search/registry/etcd_fixture.h"

namespace search {
namespace {

using kube::server::FieldWriter;

FieldWriter By(const std::string& manager) {
  return {manager, "", absl::FromUnixSeconds(1'700'000'000)};
}

kube::Object Config(absl::string_view spec) {
  return kube::Object(*json::Parse(
      absl::StrCat(R"({"apiVersion":"search.karmada.io/v1alpha1","kind":"ResourceRegistry",)"
                   R"("metadata":{"name":"r"},"spec":)",
                   spec, "}")));
}

std::string Owners(const kube::Object& object) {
  std::string out;
  for (const json::Value& item : object.metadata()["managedFields"].items()) {
    absl::StrAppend(&out, item["manager"].AsString(), " ", item["operation"].AsString(), " ",
                    json::Write(item["fieldsV1"]), "\n");
  }
  return out;
}

constexpr char kNames[] = R"({"targetCluster":{"clusterNames":["m1"]}})";

TEST_CASE("an update owns what it changed, and takes it from the others") {
  kube::Object first = Config(kNames);
  RecordUpdate({}, By("a"), first);
  CHECK(Owners(first) == R"(a Update {"f:spec":{"f:targetCluster":{"f:clusterNames":{}}}})"
                         "\n");
  kube::Object second = first;
  second.Set({"spec", "targetCluster", "clusterNames"}, json::Value::Array({"m2"}));
  RecordUpdate(first, By("b"), second);
  CHECK(Owners(second) == R"(b Update {"f:spec":{"f:targetCluster":{"f:clusterNames":{}}}})"
                          "\n");
}

TEST_CASE("a write that changes nothing keeps the entries as they are, byte for byte") {
  kube::Object before = Config(kNames);
  before.Set({"metadata", "managedFields"},
             *json::Parse(R"([{"manager":"x","operation":"Update",)"
                          R"("apiVersion":"search.karmada.io/v1alpha1","fieldsType":"FieldsV1",)"
                          R"("fieldsV1":{"f:metadata":{"f:finalizers":{".":{},"v:\"a\"":{}}}}}])"));
  kube::Object after = before;
  after.Erase({"metadata", "managedFields"});  // Clients that do not send them do not mean that.
  RecordUpdate(before, By("b"), after);
  CHECK(after == before);
}

TEST_CASE("an applier takes back what it does not apply any more") {
  const auto first = Applied(
      {}, Config(R"({"targetCluster":{"clusterNames":["m1"],"exclude":["m2"]}})"), By("a"), false);
  REQUIRE(first.ok());
  const auto second = Applied(*first, Config(kNames), By("a"), false);
  REQUIRE(second.ok());
  CHECK(json::Write(second->spec()) == R"({"targetCluster":{"clusterNames":["m1"]}})");
}

TEST_CASE("a field that another applier applies too stays when one drops it") {
  auto live = Applied({}, Config(kNames), By("a"), false);
  live = Applied(*live, Config(kNames), By("b"), false);
  REQUIRE(live.ok());
  live = Applied(*live, Config("{}"), By("a"), false);
  REQUIRE(live.ok());
  CHECK(json::Write(live->spec()["targetCluster"]) == R"({"clusterNames":["m1"]})");
}

TEST_CASE("another value for a field of another manager is a conflict, unless it is forced") {
  kube::Object live = Config(kNames);
  RecordUpdate({}, By("kubectl-edit"), live);
  const kube::Object config = Config(R"({"targetCluster":{"clusterNames":["m9"]}})");
  const auto refused = Applied(live, config, By("a"), false);
  CHECK(kube::server::ErrorOf(refused.status()).code == 409);
  CHECK(kube::server::ErrorOf(refused.status()).message ==
        "Apply failed with 1 conflict: conflict with \"kubectl-edit\" using "
        "search.karmada.io/v1alpha1: .spec.targetCluster.clusterNames");
  const auto forced = Applied(live, config, By("a"), true);
  REQUIRE(forced.ok());
  CHECK(Owners(*forced) == R"(a Apply {"f:spec":{"f:targetCluster":{"f:clusterNames":{}}}})"
                           "\n");
}

TEST_CASE("applying the same again changes nothing") {
  const auto once = Applied({}, Config(kNames), By("a"), false);
  REQUIRE(once.ok());
  FieldWriter later = By("a");
  later.now += absl::Hours(1);
  const auto twice = Applied(*once, Config(kNames), later, false);
  REQUIRE(twice.ok());
  CHECK(*twice == *once);
}

TEST_CASE("ever new names of managers do not make the object grow") {
  kube::Object object = Config(kNames);
  RecordUpdate({}, By("first"), object);
  for (int i = 0; i < 40; ++i) {
    kube::Object next = object;
    next.SetLabel(absl::StrCat("l", i), "x");
    RecordUpdate(object, By(absl::StrCat("m", i)), next);
    object = next;
  }
  CHECK(object.metadata()["managedFields"].size() == 10);
}

TEST_CASE("the time does not grow with the square of the number of fields") {
  const auto many = [](int n, const char* value) {
    kube::Object object = Config(kNames);
    std::vector<json::Member> labels;
    for (int i = 0; i < n; ++i) labels.emplace_back(json::Value(absl::StrCat("l", i)), value);
    object.Set({"metadata", "labels"}, json::Value::OfMembers(std::move(labels)));
    return object;
  };
  // With every pair of paths compared this takes minutes.
  kube::Object before = many(50'000, "a"), after = many(50'000, "b");
  RecordUpdate({}, By("a"), before);
  RecordUpdate(before, By("b"), after);
  CHECK(after.metadata()["managedFields"].size() == 2);
  CHECK_FALSE(Applied(after, many(50'000, "c"), By("c"), false).ok());
}

}  // namespace
}  // namespace search
