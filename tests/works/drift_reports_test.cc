// When objects in members that do not stay as Karmada put them are reported.
#include "works/drift_reports.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "api/binding_scope.h"
#include "tests/support/members_fixture.h"

namespace {

using tests::Json;

struct Fixture : tests::MembersFixture {
  std::optional<kube::EventRecorder> recorder;
  std::optional<works::DriftReports> reports;
  const std::string cluster = "m1";
  tests::FakeApiServer& m1 = member("m1");
  kube::Object work = kube::Object::Make(api::Works().gvk, {"karmada-es-m1", "app"});
  kube::Object now = kube::Object::Make(tests::kDeployments.gvk, {"ns", "app"});
  kube::Object drifted;

  Fixture() {
    Sync({api::Works(), api::ResourceBindings(), api::ClusterResourceBindings()});
    Make();
    recorder.emplace(*events, "test");
    reports.emplace(*manager, objects, *recorder);
    const kube::ObjectKey binding = {"ns", "app-deployment"};
    PutCached(api::ResourceBindings(), kube::Object::Make(api::ResourceBindings().gvk, binding));
    for (const auto& [name, value] : api::scope::Namespaced::NamingAnnotations(binding)) {
      work.SetAnnotation(name, value);
    }
    now.Set({"spec", "replicas"}, 2);
    now.Set({"metadata", "resourceVersion"}, "8");
    drifted = now;
    drifted.Set({"spec", "replicas"}, 5);
    drifted.Set({"metadata", "resourceVersion"}, "7");
    drifted.Set({"status", "replicas"}, 5);
    kube::Object there = drifted;
    there.Set({"metadata", "managedFields"}, Json(R"([
      {"manager": "karmada-controller-manager", "time": "2026-01-01T00:00:09Z",
       "fieldsV1": {"f:spec": {"f:replicas": {}}}},
      {"manager": "scaler", "subresource": "scale", "time": "2026-01-01T00:00:08Z",
       "fieldsV1": {"f:spec": {"f:replicas": {}}}},
      {"manager": "kubectl", "time": "2026-01-01T00:00:07Z",
       "fieldsV1": {"f:spec": {"f:replicas": {}}}},
      {"manager": "other", "time": "2026-01-01T00:00:10Z",
       "fieldsV1": {"f:spec": {"f:paused": {}}}}])"));
    m1.Put(tests::kDeployments, there);
  }

  void PutBack(int times, absl::Duration apart) {
    for (int i = 0; i < times; ++i) {
      const json::Value owners = reports->OwnersBefore(cluster, drifted, {});
      reports->Note({cluster, drifted, now, work, owners});
      clock.Advance(apart);
    }
  }
};

const std::string kText =
    ": Deployment ns/app in cluster m1 was put back 5 times within a minute: \"scaler\" changes "
    "spec.replicas there again and again. If the value shall be determined in the member, leave "
    "the field out of the template, or keep it by a rule for Retain "
    "(ResourceInterpreterCustomization).";

}  // namespace

TEST_CASE_METHOD(Fixture, "a fight over a field is reported once on Work and binding") {
  PutBack(4, absl::Seconds(2));
  CHECK(recorded->All().empty());
  CHECK(m1.Calls() == 0);
  PutBack(1, absl::Seconds(2));
  const std::vector<std::string> once = {"Warning RepeatedDrift Work" + kText,
                                         "Warning RepeatedDrift ResourceBinding" + kText};
  CHECK(recorded->All() == once);
  PutBack(200, absl::Seconds(2));
  CHECK(recorded->All() == once);
  CHECK(m1.Requests("GET").size() == 1);  // Who owns the fields is asked for each report.
  PutBack(200, absl::Seconds(2));
  CHECK(recorded->All().size() == 4);
  CHECK(m1.Requests("GET").size() == 2);
}

TEST_CASE_METHOD(Fixture, "changes that come now and then are no fight") {
  PutBack(100, absl::Seconds(20));
  CHECK(recorded->All().empty());
  reports->ForgetCluster("m1");
  PutBack(3, absl::Seconds(1));
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture, "a fight is reported although nobody tells who changes the object") {
  m1.FailNext("GET", 403, "Forbidden", 100);
  PutBack(5, absl::Seconds(2));
  REQUIRE(recorded->All().size() == 2);
  CHECK(absl::StrContains(recorded->All()[0], ": something changes spec.replicas there again"));
}
