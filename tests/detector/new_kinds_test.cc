#include "detector/new_kinds.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/members_fixture.h"

namespace {

using detector::NewKinds;

const kube::Gvk kDeployment{"apps", "v1", "Deployment"};
const kube::Gvk kFoo{"example.io", "v1", "Foo"};

kube::ObjectPtr Cluster(const std::string& name, bool lists_foo, bool ready = true) {
  return std::make_shared<const kube::Object>(tests::Parse(absl::StrCat(
      R"({"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": ")",
      name, R"("}, "status": {"conditions": [{"type": "Ready", "status": ")",
      ready ? "True" : "False", R"("}], "apiEnablements": [)",
      lists_foo ? R"({"groupVersion": "example.io/v1",
                      "resources": [{"name": "foos", "kind": "Foo"}]})"
                : "",
      "]}}")));
}

struct Fixture {
  const base::SteadyTime t0;
  NewKinds kinds{absl::Seconds(10)};

  // Foo is served from t0 on.
  Fixture() {
    kinds.SetServed({kDeployment}, t0 - absl::Minutes(1));
    CHECK_FALSE(kinds.MustWait(kDeployment, {}, t0 - absl::Seconds(1)));
    kinds.SetServed({kDeployment, kFoo}, t0);
  }
  bool WaitsAt(absl::Duration after, const std::vector<kube::ObjectPtr>& clusters) {
    return kinds.MustWait(kFoo, clusters, t0 + after);
  }
};

TEST_CASE("Kinds: none waits where nobody brings the status of clusters up to date") {
  NewKinds kinds(absl::ZeroDuration());
  kinds.SetServed({kFoo}, {});
  CHECK_FALSE(kinds.IsNew(kFoo));
  CHECK_FALSE(kinds.MustWait(kFoo, {Cluster("m1", false)}, {}));
}

TEST_CASE_METHOD(Fixture, "a new kind waits until every ready cluster lists it") {
  CHECK_FALSE(kinds.IsNew(kDeployment));
  CHECK(kinds.IsNew(kFoo));
  CHECK(WaitsAt(absl::Seconds(1), {Cluster("a", false), Cluster("b", false)}));
  CHECK(WaitsAt(absl::Seconds(2), {Cluster("a", true), Cluster("b", false)}));
  CHECK_FALSE(WaitsAt(absl::Seconds(3), {Cluster("a", true), Cluster("b", true)}));
}

TEST_CASE("a kind that is served at the start waits as well") {
  NewKinds kinds(absl::Seconds(10));
  kinds.SetServed({kFoo}, base::SteadyTime());
  CHECK(kinds.IsNew(kFoo));
  CHECK_FALSE(kinds.MustWait(kFoo, {Cluster("a", true)}, base::SteadyTime()));
  CHECK_FALSE(kinds.IsNew(kFoo));
}

TEST_CASE_METHOD(Fixture, "a cluster that is not ready is not waited for") {
  CHECK(WaitsAt(absl::Seconds(1), {Cluster("a", true, false), Cluster("b", false)}));
  CHECK_FALSE(WaitsAt(absl::Seconds(2), {Cluster("a", false, false), Cluster("b", true)}));
}

TEST_CASE_METHOD(Fixture, "the other clusters have two rounds of status after the first") {
  const std::vector<kube::ObjectPtr> one = {Cluster("a", true), Cluster("b", false)};
  CHECK(detector::ClustersWithout(kFoo, one) == std::vector<std::string>{"b"});
  CHECK(WaitsAt(absl::Seconds(5), one));
  CHECK(WaitsAt(absl::Seconds(24), one));
  CHECK_FALSE(WaitsAt(absl::Seconds(25), one));
}

TEST_CASE("with short rounds of status the other clusters still have 5 s") {
  NewKinds kinds(absl::Milliseconds(100));
  kinds.SetServed({kFoo}, base::SteadyTime());
  const std::vector<kube::ObjectPtr> one = {Cluster("a", true), Cluster("b", false)};
  CHECK(kinds.MustWait(kFoo, one, base::SteadyTime()));
  CHECK(kinds.MustWait(kFoo, one, base::SteadyTime::At(absl::Seconds(4))));
  CHECK_FALSE(kinds.MustWait(kFoo, one, base::SteadyTime::At(absl::Seconds(5))));
}

TEST_CASE_METHOD(Fixture, "a kind that no cluster serves waits no longer than 30 s") {
  CHECK(WaitsAt(absl::Seconds(29), {Cluster("a", false)}));
  CHECK_FALSE(WaitsAt(absl::Seconds(30), {Cluster("a", false)}));
  kinds.SetServed({kDeployment, kFoo}, t0 + absl::Minutes(1));
  CHECK_FALSE(kinds.IsNew(kFoo));
}

TEST_CASE_METHOD(Fixture, "a kind that returns is new again") {
  CHECK_FALSE(WaitsAt(absl::Seconds(1), {Cluster("a", true)}));
  kinds.SetServed({kDeployment}, t0 + absl::Minutes(1));
  CHECK_FALSE(kinds.IsNew(kFoo));
  kinds.SetServed({kDeployment, kFoo}, t0 + absl::Minutes(2));
  CHECK(kinds.IsNew(kFoo));
}

}  // namespace
