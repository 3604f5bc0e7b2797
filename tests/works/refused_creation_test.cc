// What becomes of a manifest whose creation a member refuses: the object may be there all the same,
// without the label by which the cache would show it.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "api/reasons.h"
#include "kube/client/errors.h"
#include "tests/support/members_fixture.h"
#include "works/member_errors.h"

namespace {

using tests::kServices;
using tests::Parse;
using works::ApplyResult;

const kube::ObjectKey kKey = {"ns", "app"};

struct Refusal {
  const char* name;
  int code;
  const char* reason;
};

// An API server looks for an object of the name last, so each of these may stand for it.
const std::vector<Refusal> kRefusals = {
    {"the name", 409, "AlreadyExists"},
    {"a node port or an address that is allocated", 422, "Invalid"},
    {"a ResourceQuota, or an admission policy", 403, "Forbidden"},
    {"a webhook that names no code", 400, "BadRequest"},
    {"a quota that somebody else changes", 409, "Conflict"},
    {"a webhook that fails", 500, "InternalError"},
    {"a size", 413, "RequestEntityTooLarge"},
};

kube::Object Manifest(bool overwrite) {
  kube::Object manifest = Parse(R"({"apiVersion": "v1", "kind": "Service",
    "metadata": {"name": "app", "namespace": "ns", "labels": {"karmada.io/managed": "true"},
                 "annotations": {"work.karmada.io/namespace": "karmada-es-m1",
                                 "work.karmada.io/name": "app-1"}},
    "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]}})");
  manifest.SetAnnotation(api::kConflictResolutionAnnotation, overwrite ? "overwrite" : "abort");
  return manifest;
}

struct Fixture : tests::MembersFixture {
  tests::FakeApiServer& m1 = member("m1");

  kube::Object Held() const { return m1.Find(kServices, kKey); }
  // Puts somebody else's Service there.
  void PutTheirs() {
    kube::Object theirs = Manifest(false);
    theirs.Erase({"metadata", "labels"});
    theirs.Erase({"metadata", "annotations"});
    theirs.Set({"spec", "clusterIP"}, "10.0.0.7");
    theirs.Set({"spec", "sessionAffinity"}, "ClientIP");
    m1.Put(kServices, theirs);
  }
  size_t Gets() const { return m1.Requests("GET").size(); }
};

TEST_CASE_METHOD(Fixture, "a creation that is refused is the take-over of an object that exists") {
  const Refusal refusal = GENERATE(from_range(kRefusals));
  const bool applies = GENERATE(false, true);
  CAPTURE(refusal.name, applies);
  works::MemberObjects objects({mapper, members, *chain, clock, registry, applies});
  PutTheirs();
  REQUIRE(*objects.Find("m1", Manifest(false), {}) == nullptr);
  const size_t before = Gets();
  m1.FailNext("POST", refusal.code, refusal.reason);
  SECTION("overwrite") {
    const auto result = objects.Apply("m1", Manifest(true), {});
    REQUIRE(result.ok());
    CHECK(*result == ApplyResult::kUpdated);
    CHECK(Held().Label(api::kManagedLabel) == "true");
    CHECK(Held().spec()["clusterIP"].AsString() == "10.0.0.7");
    // Once it is Karmada's it is neither created nor asked for.
    const size_t gets = Gets(), posts = m1.Requests("POST").size();
    CHECK(objects.Apply("m1", Manifest(true), {}).ok());
    CHECK(Gets() == gets);
    CHECK(m1.Requests("POST").size() == posts);
  }
  SECTION("overwrite, by the loop that makes deleted objects again") {
    const auto result = objects.Recreate("m1", Manifest(true), {});
    REQUIRE(result.ok());
    CHECK(*result == ApplyResult::kUpdated);
  }
  SECTION("abort") {
    const auto result = objects.Apply("m1", Manifest(false), {});
    CHECK(result.status() == works::RefuseForeign("m1", Manifest(false)));
    CHECK(Held().Label(api::kManagedLabel).empty());
    CHECK(m1.Requests("PATCH").empty());
    CHECK(Gets() == before + 1);
  }
}

TEST_CASE_METHOD(Fixture,
                 "a creation that is refused of an object that is not there fails as such") {
  const Refusal refusal = GENERATE(from_range(kRefusals));
  const bool overwrite = GENERATE(false, true);
  CAPTURE(refusal.name, overwrite);
  if (std::string(refusal.reason) == "AlreadyExists") return;
  REQUIRE(*objects.Find("m1", Manifest(false), {}) == nullptr);
  const size_t before = Gets();
  m1.FailNext("POST", refusal.code, refusal.reason);
  const auto result = objects.Apply("m1", Manifest(overwrite), {});
  CHECK(kube::FailureOf(result.status()).code == refusal.code);
  CHECK(kube::FailureOf(result.status()).reason == refusal.reason);
  CHECK(absl::StrContains(result.status().message(), "create Service ns/app"));
  CHECK(Gets() == before + 1);  // One question for each refusal.
  CHECK(Held().empty());
}

TEST_CASE_METHOD(Fixture, "what says nothing about the object does not lead to a question") {
  const auto [code, reason] =
      GENERATE(table<int, const char*>({{401, "Unauthorized"}, {404, "NotFound"}}));
  CAPTURE(code);
  PutTheirs();
  REQUIRE(*objects.Find("m1", Manifest(false), {}) == nullptr);
  const size_t before = Gets();
  m1.FailNext("POST", code, reason, 100);
  CHECK_FALSE(objects.Apply("m1", Manifest(true), {}).ok());
  CHECK(Gets() == before);
}

TEST_CASE_METHOD(Fixture, "a refusal is the result when the question is refused, too") {
  PutTheirs();
  REQUIRE(*objects.Find("m1", Manifest(false), {}) == nullptr);
  m1.FailNext("POST", 403, "Forbidden");
  m1.FailNext("GET", 403, "Forbidden");
  const auto result = objects.Apply("m1", Manifest(true), {});
  CHECK(absl::StrContains(result.status().message(), "create Service ns/app"));
}

TEST_CASE_METHOD(Fixture, "what is created without a refusal costs no question") {
  REQUIRE(*objects.Find("m1", Manifest(false), {}) == nullptr);
  const size_t before = Gets();
  CHECK(*objects.Apply("m1", Manifest(false), {}) == ApplyResult::kCreated);
  CHECK(Gets() == before);
}

}  // namespace
