#include "works/work_status_writer.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/condition.h"
#include "api/work.h"
#include "tests/support/members_fixture.h"

namespace {

using tests::Eventually;
using tests::Json;
using tests::Parse;
using works::News;
using works::WithChange;
using works::WorkStatusChange;

kube::Condition Applied(const std::string& status, const std::string& message = "") {
  return {.type = "Applied", .status = status, .reason = "R", .message = message};
}
kube::Condition Dispatching(const std::string& status) {
  return {.type = "Dispatching", .status = status, .reason = "D", .message = ""};
}

kube::Object Manifest(int64_t n) {
  return kube::Object::Make({"", "v1", "ConfigMap"}, {"ns", absl::StrCat("c", n)});
}
// Returns the status of Manifest(ordinal).
json::Value Item(const std::string& health, int64_t ordinal = 0) {
  api::ManifestStatus status;
  status.identifier = api::ManifestIdentifier::Of(Manifest(ordinal), ordinal);
  status.health = health;
  return status.ToJson();
}

const absl::Time kOne = absl::FromUnixSeconds(1'700'000'000);
const absl::Time kTwo = kOne + absl::Minutes(1);

std::string TransitionOf(const json::Value& status, const char* type) {
  return (*kube::FindCondition(status["conditions"], type))["lastTransitionTime"].ToString();
}

TEST_CASE("a manifest's status keeps what its item has besides, unless it is another manifest's") {
  json::Value before = WithChange({}, {{Applied("True")}, {Item("Healthy")}}, kOne);
  json::Value& item = before.Mutable("manifestStatuses").MutableAt(0);
  item.Set("later", 1);
  item.Set({"identifier", "later"}, 2);
  const auto items = [&](const json::Value& next) {
    return WithChange(before, {{}, {next}}, kTwo)["manifestStatuses"];
  };
  json::Value want = Item("Unhealthy");
  want.Set("later", 1);
  want.Set({"identifier", "later"}, 2);
  CHECK(items(Item("Unhealthy")) == json::Value::Array({want}));
  json::Value other = Item("Unhealthy");
  other.Set({"identifier", "name"}, "other");
  CHECK(items(other) == json::Value::Array({other}));
  json::Value withdrawn = Item("");
  CHECK(items(withdrawn).is_null());
}

TEST_CASE("conditions and manifest status are put into an empty status") {
  const json::Value status = WithChange({}, {{Applied("True", "m")}, {Item("Healthy")}}, kOne);
  CHECK(status == Json(R"({"conditions": [{"type": "Applied", "status": "True", "reason": "R",
                            "message": "m", "lastTransitionTime": "2023-11-14T22:13:20Z"}],
                          "manifestStatuses": [{"health": "Healthy", "identifier": {"ordinal": 0,
                              "version": "v1", "kind": "ConfigMap", "resource": "", "namespace": "ns",
                              "name": "c0"}}]})"));
}

TEST_CASE("a change leaves alone what it does not speak of") {
  const json::Value before = WithChange({}, {{Applied("True")}, {Item("Healthy")}}, kOne);
  const json::Value after = WithChange(before, {{Dispatching("True")}, {}}, kTwo);
  CHECK(after["manifestStatuses"] == before["manifestStatuses"]);
  CHECK(after["conditions"].size() == 2);
  CHECK(after["conditions"].At(0) == before["conditions"].At(0));
  CHECK(WithChange(after, {}, kTwo) == after);
}

TEST_CASE("the status of a manifest is replaced as a whole") {
  json::Value unhealthy = Item("Unhealthy");
  unhealthy.Set("status", Json(R"({"a": 1})"));
  const json::Value before = WithChange({}, {{}, {unhealthy}}, kOne);
  const json::Value after = WithChange(before, {{}, {Item("Healthy")}}, kTwo);
  CHECK(after["manifestStatuses"] == json::Value::Array({Item("Healthy")}));
}

TEST_CASE("the statuses of several manifests stand side by side, in the order of the manifests") {
  const json::Value second = WithChange({}, {{}, {Item("Healthy", 1)}}, kOne);
  const json::Value both = WithChange(second, {{}, {Item("Unhealthy", 0)}}, kOne);
  CHECK(both["manifestStatuses"] == json::Value::Array({Item("Unhealthy", 0), Item("Healthy", 1)}));
  CHECK(WithChange(both, {{}, {Item("Unknown", 1)}}, kOne)["manifestStatuses"] ==
        json::Value::Array({Item("Unhealthy", 0), Item("Unknown", 1)}));
}

TEST_CASE("statuses of manifests that the Work has no more are dropped") {
  const json::Value status =
      WithChange({}, {{}, {Item("Healthy", 0), Item("Healthy", 1), Item("Healthy", 2)}}, kOne);
  const std::vector<json::Value> manifests = {Manifest(0).root(), Manifest(7).root()};
  CHECK(works::WithoutStrangers(status, manifests)["manifestStatuses"] ==
        json::Value::Array({Item("Healthy", 0)}));
  CHECK(works::WithoutStrangers({}, manifests).is_null());
}

TEST_CASE("an item with its identifier alone withdraws the status of a manifest") {
  const json::Value status = Json(R"({"manifestStatuses": [
      {"identifier": {"ordinal": 0}, "health": "Healthy"},
      {"identifier": {"ordinal": 1}, "health": "Healthy"}]})");
  const auto withdrawn = [](int ordinal) {
    return json::Value::Object({{"identifier", json::Value::Object({{"ordinal", ordinal}})}});
  };
  CHECK(works::WithChange(status, {{}, {withdrawn(0)}}, absl::Now()) ==
        Json(R"({"manifestStatuses": [{"identifier": {"ordinal": 1}, "health": "Healthy"}]})"));
  CHECK(works::WithChange(status, {{}, {withdrawn(0), withdrawn(1)}}, absl::Now()) == Json("{}"));
  CHECK(works::WithChange(Json("{}"), {{}, {withdrawn(0)}}, absl::Now()) == Json("{}"));
}

TEST_CASE("the transition time moves when the status flips and only then") {
  const json::Value first = WithChange({}, {{Applied("False", "a")}, {}}, kOne);
  const json::Value reworded = WithChange(first, {{Applied("False", "b")}, {}}, kTwo);
  CHECK(TransitionOf(reworded, "Applied") == TransitionOf(first, "Applied"));
  CHECK((*kube::FindCondition(reworded["conditions"], "Applied"))["message"].AsString() == "b");
  const json::Value flipped = WithChange(first, {{Applied("True")}, {}}, kTwo);
  CHECK(TransitionOf(flipped, "Applied") == "2023-11-14T22:14:20Z");
}

const kube::ObjectKey kKey = {"karmada-es-m1", "web"};

// A running manager with the writer's loop, and one Work.
struct Fixture : tests::MembersFixture {
  std::optional<works::WorkStatusWriter> writer;
  kube::Object work;

  explicit Fixture(const kube::RateLimiterOptions& limiter = {},
                   int workers = works::WorkStatusWriter::kLeastWorkers) {
    Sync({api::Works()});
    work = PutWork();
    writer.emplace(Make(), limiter, workers);
    Start();
  }
  ~Fixture() override { base::IgnoreError(Finish(), "ends the loops before the writer goes"); }

  kube::Object PutWork() {
    kube::Object wanted = kube::Object::Make(api::Works().gvk, kKey);
    wanted.Set({"spec", "workload", "manifests"},
               json::Value::Array({Manifest(0).root(), Manifest(1).root()}));
    return PutCached(api::Works(), wanted);
  }
  // Stores a Work of another name that has the status of the first one.
  kube::Object PutCopy(const std::string& name) {
    kube::Object copy = server->Find(api::Works(), kKey);
    copy.Set({"metadata", "name"}, name);
    copy.Erase({"metadata", "uid"});
    return PutCached(api::Works(), copy);
  }
  json::Value Status() const { return server->Find(api::Works(), kKey).status(); }
  size_t Patches() const { return server->Requests("PATCH").size(); }
  // Advances the clock until the loop has sent `n` patches.
  bool AwaitPatches(size_t n, absl::Duration step) {
    return Eventually([&] {
      if (Patches() < n) clock.Advance(step);
      return Patches() >= n;
    });
  }
  bool AwaitStatus(const char* type, const std::string& status) {
    return Eventually([&] {
      const json::Value now = Status();
      const json::Value* found = kube::FindCondition(now["conditions"], type);
      return found != nullptr && (*found)["status"].AsString() == status;
    });
  }
};

struct ManyWorkers : Fixture {
  ManyWorkers() : Fixture({}, 8) {}
};

TEST_CASE_METHOD(ManyWorkers, "as many statuses are written at once as there are workers") {
  std::vector<kube::Object> copies;
  for (int i = 0; i < 8; ++i) copies.push_back(PutCopy(absl::StrCat("copy", i)));
  server->Block("PATCH");
  for (const kube::Object& copy : copies) {
    writer->Submit(copy, {{Applied("True")}, {}}, News::kSettled);
  }
  clock.Advance(works::kSettledHold);
  CHECK(Eventually([&] { return Patches() == 8; }));
  server->Unblock();
}

TEST_CASE_METHOD(Fixture,
                 "steps that follow each other quickly become one write of the last state") {
  writer->Submit(work, {{Dispatching("True")}, {}}, News::kProgress);
  writer->Submit(work, {{Applied("False", "first")}, {}}, News::kProgress);
  writer->Submit(work, {{}, {Item("Unhealthy")}}, News::kProgress);
  writer->Submit(work, {{Applied("True", "last")}, {Item("Healthy")}}, News::kProgress);
  CHECK(Patches() == 0);
  clock.Advance(works::kProgressHold);
  REQUIRE(AwaitStatus("Applied", "True"));
  CHECK(Patches() == 1);
  CHECK(server->Requests("PATCH").front() ==
        "PATCH /apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works/web/status");
  CHECK(Status()["conditions"].size() == 2);
  CHECK((*kube::FindCondition(Status()["conditions"], "Applied"))["message"].AsString() == "last");
  CHECK(Status()["manifestStatuses"] == json::Value::Array({Item("Healthy")}));
}

// A pass that finds nothing to do must not take back what another one has just reported.
TEST_CASE_METHOD(Fixture, "that all is applied does not replace the news that something was done") {
  const auto reason = [&] {
    return (*kube::FindCondition(Status()["conditions"], "Applied"))["reason"].ToString();
  };
  const auto done = [](const char* why) {
    return works::WorkStatusChange{{api::ConditionOf("Applied", true, why, "m")}, {}};
  };
  const works::WorkStatusChange nothing_to_do{.is_applied = true};
  writer->Submit(work, done("ReCreateSuccessful"), News::kProgress);
  writer->Submit(work, nothing_to_do, News::kProgress);
  REQUIRE(AwaitPatches(1, works::kProgressHold));
  CHECK(reason() == "ReCreateSuccessful");
  // Neither when it has been written already.
  writer->Submit(work, nothing_to_do, News::kProgress);
  clock.Advance(works::kProgressHold);
  // But news replaces what was written, also when a pass without work follows it at once.
  writer->Submit(work, done("AppliedSuccessful"), News::kProgress);
  writer->Submit(work, nothing_to_do, News::kProgress);
  REQUIRE(AwaitPatches(2, works::kProgressHold));
  CHECK(reason() == "AppliedSuccessful");
  // A failure that waits, or was written, is over.
  writer->Submit(work, {{Applied("False", "no")}, {}}, News::kProgress);
  writer->Submit(work, nothing_to_do, News::kProgress);
  writer->Submit(work, {{Dispatching("True")}, {}}, News::kProgress);
  REQUIRE(AwaitPatches(3, works::kProgressHold));
  CHECK(reason() == "AppliedSuccessful");
  writer->Submit(work, {{Applied("False", "no")}, {}}, News::kSettled);
  REQUIRE(AwaitStatus("Applied", "True"));
  clock.Advance(works::kSettledHold);
  REQUIRE(AwaitStatus("Applied", "False"));
  writer->Submit(work, nothing_to_do, News::kProgress);
  REQUIRE(AwaitPatches(5, works::kProgressHold));
  CHECK(reason() == "AppliedSuccessful");
}

TEST_CASE_METHOD(Fixture, "news of two manifests become one write that has both") {
  writer->Submit(work, {{}, {Item("Unhealthy", 1)}}, News::kProgress);
  writer->Submit(work, {{}, {Item("Healthy", 0)}}, News::kProgress);
  writer->Submit(work, {{}, {Item("Healthy", 1)}}, News::kProgress);
  REQUIRE(AwaitPatches(1, works::kProgressHold));
  CHECK(Status()["manifestStatuses"] ==
        json::Value::Array({Item("Healthy", 0), Item("Healthy", 1)}));
  CHECK(Patches() == 1);
}

TEST_CASE_METHOD(Fixture, "settled news take along the progress that waits") {
  writer->Submit(work, {{Dispatching("True")}, {}}, News::kProgress);
  writer->Submit(work, {{Applied("True")}, {}}, News::kSettled);
  clock.Advance(works::kSettledHold);
  REQUIRE(AwaitStatus("Applied", "True"));
  REQUIRE(AwaitStatus("Dispatching", "True"));
  clock.Advance(works::kProgressHold);
  writer->Submit(work, {{Applied("False")}, {}}, News::kSettled);
  clock.Advance(works::kSettledHold);
  REQUIRE(AwaitStatus("Applied", "False"));
  CHECK(Patches() == 2);
}

TEST_CASE_METHOD(Fixture, "what is there already is not written") {
  writer->Submit(work, {{Applied("True")}, {}}, News::kSettled);
  clock.Advance(works::kSettledHold);
  REQUIRE(AwaitStatus("Applied", "True"));
  writer->Submit(work, {{Applied("True")}, {}}, News::kSettled);
  clock.Advance(works::kSettledHold);
  writer->Submit(work, {{Dispatching("True")}, {}}, News::kSettled);
  clock.Advance(works::kSettledHold);
  REQUIRE(AwaitStatus("Dispatching", "True"));
  CHECK(Patches() == 2);
}

// The rate limits writes: news that changes nothing must not use it up.
TEST_CASE_METHOD(Fixture, "news that changes nothing does not use up the rate of writes") {
  writer->Submit(work, {{Applied("True")}, {}}, News::kSettled);
  clock.Advance(works::kSettledHold);
  REQUIRE(AwaitStatus("Applied", "True"));
  for (int i = 0; i < 2 * works::kProgressBurst; ++i) {
    const kube::Object same = PutCopy(absl::StrCat("same", i));
    writer->Submit(same, {{Applied("True")}, {}}, News::kProgress);
  }
  clock.Advance(works::kProgressHold);
  writer->Submit(work, {{Dispatching("True")}, {}}, News::kProgress);
  clock.Advance(works::kProgressHold);
  CHECK(AwaitStatus("Dispatching", "True"));
}

TEST_CASE_METHOD(Fixture, "what could not be written is written later, under anything newer") {
  server->FailNext("PATCH", 500, "InternalError");
  writer->Submit(work, {{Applied("False", "old"), Dispatching("True")}, {Item("Unknown")}},
                 News::kSettled);
  REQUIRE(AwaitPatches(1, works::kSettledHold));
  writer->Submit(work, {{Applied("True", "new")}, {}}, News::kSettled);
  REQUIRE(Eventually([&] {
    clock.Advance(works::kSettledHold);
    const json::Value status = Status();
    return status["conditions"].size() == 2 &&
           kube::IsConditionTrue(status["conditions"], "Applied");
  }));
  CHECK(kube::IsConditionTrue(Status()["conditions"], "Dispatching"));
  CHECK(Status()["manifestStatuses"] == json::Value::Array({Item("Unknown")}));
}

// As when a proxy delivers a request after the client has given up, or when it is the last one of a
// leader that was cut off.
TEST_CASE_METHOD(Fixture, "a write that the server gets late does not replace newer news") {
  server->FailNext("PATCH", 504, "Timeout");
  writer->Submit(work, {{Applied("False", "old")}, {Item("Unhealthy")}}, News::kSettled);
  REQUIRE(AwaitPatches(1, works::kSettledHold));
  const std::string late = server->last_body();
  writer->Submit(work, {{Applied("True", "new")}, {Item("Healthy")}}, News::kSettled);
  REQUIRE(Eventually([&] {
    clock.Advance(works::kSettledHold);
    return kube::IsConditionTrue(Status()["conditions"], "Applied");
  }));
  const json::Value newest = Status();
  const std::string path = server->Requests("PATCH").front();
  REQUIRE(server
              ->Send({.method = "PATCH",
                      .path = path.substr(path.find(' ') + 1),
                      .content_type = "application/merge-patch+json",
                      .body = late},
                     {})
              .ok());
  CHECK(Status() == newest);
}

TEST_CASE_METHOD(Fixture,
                 "news are added to what the server has, and the cache does not show yet") {
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());
  kube::Object stored = server->Find(api::Works(), kKey);
  stored.Set({"status", "manifestStatuses"}, json::Value::Array({Item("Healthy", 1)}));
  server->Put(api::Works(), stored);
  writer->Submit(work, {{}, {Item("Healthy", 0)}}, News::kSettled);
  CHECK(Eventually([&] {
    clock.Advance(works::kSettledHold);
    return Status()["manifestStatuses"] ==
           json::Value::Array({Item("Healthy", 0), Item("Healthy", 1)});
  }));
  server->Unblock();
}

struct PatientFixture : Fixture {
  PatientFixture() : Fixture({.base_delay = absl::Hours(1), .max_delay = absl::Hours(1)}) {}
};

TEST_CASE_METHOD(PatientFixture, "failed writes are repeated with the limiter's back-off") {
  const kube::Object other = PutCopy("other");
  server->FailNext("PATCH", 500, "InternalError");
  writer->Submit(work, {{Applied("True")}, {}}, News::kSettled);
  REQUIRE(AwaitPatches(1, works::kSettledHold));
  clock.Advance(absl::Minutes(1));
  writer->Submit(other, {{Applied("True")}, {}}, News::kSettled);
  REQUIRE(AwaitPatches(2, works::kSettledHold));
  CHECK(absl::EndsWith(server->Requests("PATCH").back(), "/other/status"));
}

TEST_CASE_METHOD(Fixture, "news of a Work are not written to one that has taken its name since") {
  writer->Submit(work, {{Applied("True")}, {Item("Healthy")}}, News::kProgress);
  server->Erase(api::Works(), kKey);
  REQUIRE(Eventually([&] { return cluster.Find(api::Works(), kKey) == nullptr; }));
  const kube::Object successor = PutWork();
  REQUIRE(successor.uid() != work.uid());
  writer->Submit(successor, {{Dispatching("True")}, {}}, News::kSettled);
  writer->Submit(work, {{Applied("True")}, {}}, News::kSettled);
  REQUIRE(AwaitPatches(1, works::kSettledHold));
  REQUIRE(AwaitStatus("Dispatching", "True"));
  CHECK(Status()["conditions"].size() == 1);
  CHECK(Status()["manifestStatuses"].is_null());
}

TEST_CASE_METHOD(Fixture, "news of a Work that is gone are dropped") {
  writer->Submit(kube::Object::Make(api::Works().gvk, {"karmada-es-m1", "never"}),
                 {{Applied("True")}, {}}, News::kSettled);
  server->FailNext("PATCH", 404, "NotFound");
  writer->Submit(work, {{Applied("True")}, {}}, News::kSettled);
  REQUIRE(AwaitPatches(1, works::kSettledHold));
  for (int i = 0; i < 5; ++i) clock.Advance(absl::Minutes(20));
  writer->Submit(work, {{Dispatching("True")}, {}}, News::kSettled);
  REQUIRE(AwaitPatches(2, works::kSettledHold));
  REQUIRE(AwaitStatus("Dispatching", "True"));
  // The dropped change is not written later.
  CHECK(Status()["conditions"].size() == 1);
}

}  // namespace
