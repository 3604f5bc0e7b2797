// Policies from the cache: parsed once, and always those that the cache has.
#include "overrides/policy.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "tests/support/manager_fixture.h"

namespace {

struct Fixture : tests::ManagerFixture {
  overrides::ParsedPolicies policies{cluster};

  Fixture() {
    for (const kube::Resource* r : {&api::OverridePolicies(), &api::ClusterOverridePolicies()}) {
      REQUIRE(informers.Get(*r)->WaitForSync(base::SteadyTime::InfiniteFuture(), {}).ok());
    }
  }
  // Stores a policy in server and cache.
  void Put(const kube::Resource& r, const kube::ObjectKey& key) {
    informers.Get(r)->Written(server->Put(r, kube::Object::Make(r.gvk, key)));
  }
};

TEST_CASE_METHOD(Fixture, "OverridePolicies are those of the namespace") {
  CHECK(policies.For("ns").empty());
  Put(api::ClusterOverridePolicies(), {"", "c"});
  Put(api::OverridePolicies(), {"ns", "o"});
  Put(api::OverridePolicies(), {"other", "o"});
  const overrides::Policies found = policies.For("ns");
  REQUIRE(found.cluster_wide.size() == 1);
  REQUIRE(found.of_namespace.size() == 1);
  CHECK(found.of_namespace[0]->ns() == "ns");
  CHECK(policies.For("").of_namespace.empty());
  CHECK(policies.For("").cluster_wide.size() == 1);
}

TEST_CASE_METHOD(Fixture, "a policy is parsed once for each of its states") {
  Put(api::ClusterOverridePolicies(), {"", "c"});
  const overrides::PolicyPtr first = policies.For("").cluster_wide.at(0);
  CHECK(policies.For("").cluster_wide.at(0) == first);
  for (int i = 0; i < 300; ++i) {
    Put(api::ClusterOverridePolicies(), {"", "c"});
    const overrides::PolicyPtr now = policies.For("").cluster_wide.at(0);
    REQUIRE(now != first);
    REQUIRE(&now->object() == cluster.Find(api::ClusterOverridePolicies(), {"", "c"}).get());
  }
}

}  // namespace
