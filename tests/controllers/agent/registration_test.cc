#include "controllers/agent/registration.h"

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "api/resources.h"
#include "kube/client/errors.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace controllers {
namespace {

const kube::Resource kAccounts{{"", "v1", "ServiceAccount"}, "serviceaccounts", true};

// A member that has issued its tokens already, and a control plane.
struct Fixture {
  std::shared_ptr<tests::FakeApiServer> plane = std::make_shared<tests::FakeApiServer>();
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  kube::Client control_plane{plane, {.name = "plane"}, clock, nullptr};
  kube::Client member{server, {.name = "m1"}, clock, nullptr};
  OwnCluster own{.name = "m1", .api_endpoint = "https://m1", .region = "north"};

  Fixture() {
    kube::Object system = kube::Object::Make(api::Namespaces().gvk, {"", "kube-system"});
    system.Set({"metadata", "uid"}, "the-id");
    server->Put(api::Namespaces(), system);
    PutToken("karmada-m1", "dA==");
    PutToken("karmada-impersonator", "aQ==");
  }
  void PutToken(const std::string& account, const std::string& token) {
    kube::Object secret = kube::Object::Make(api::Secrets().gvk, {"karmada-cluster", account});
    secret.Set({"data"}, json::Value::Object({{"token", token}, {"ca.crt", "Y2E="}}));
    server->Put(api::Secrets(), secret);
  }
  absl::Status Register() {
    const auto id = RegisterOwnCluster(own, {control_plane, member}, {});
    if (id.ok()) CHECK(*id == "the-id");
    return id.status();
  }
  // Registers the name as another cluster would.
  void RegisterAnother() {
    kube::Object other = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    other.Set({"spec", "id"}, "another-id");
    plane->Put(api::Clusters(), other);
  }
  kube::Object Cluster() { return plane->Find(api::Clusters(), {"", "m1"}); }
  kube::Object Secret(const std::string& name) {
    return plane->Find(api::Secrets(), {"karmada-cluster", name});
  }
  size_t Writes() {
    size_t writes = 0;
    for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
      writes += plane->Requests(method).size() + server->Requests(method).size();
    }
    return writes;
  }
};

TEST_CASE_METHOD(Fixture, "a cluster is registered with its tokens, which its Cluster owns") {
  REQUIRE(Register().ok());
  const kube::Object cluster = Cluster();
  CHECK(cluster.spec()["syncMode"].AsString() == "Pull");
  CHECK(cluster.spec()["id"].AsString() == "the-id");
  CHECK(cluster.spec()["apiEndpoint"].AsString() == "https://m1");
  CHECK(cluster.spec()["region"].AsString() == "north");
  CHECK_FALSE(cluster.spec().Has("provider"));
  CHECK(cluster.Get({"spec", "secretRef", "name"}).AsString() == "m1");
  CHECK(Secret("m1").Get({"data", "caBundle"}).AsString() == "Y2E=");
  CHECK(Secret("m1").ControllerOwner().uid == cluster.uid());
  CHECK(Secret("m1-impersonator").Get({"data", "token"}).AsString() == "aQ==");
  CHECK(Secret("m1-impersonator").ControllerOwner().uid == cluster.uid());
  CHECK_FALSE(server->Find(kAccounts, {"karmada-cluster", "karmada-m1"}).empty());
}

TEST_CASE_METHOD(Fixture, "a registration that is right is not written again") {
  REQUIRE(Register().ok());
  kube::Object cluster = Cluster();
  cluster.Set({"spec", "taints"}, json::Value::Array({json::Value::Object({{"key", "k"}})}));
  cluster.Set({"spec", "provider"}, "somebody else's");
  plane->Put(api::Clusters(), cluster);
  const size_t before = Writes();
  REQUIRE(Register().ok());
  CHECK(Writes() == before);
  CHECK(Cluster().spec() == cluster.spec());
}

TEST_CASE_METHOD(Fixture, "what has changed in the member or the flags is brought up to date") {
  REQUIRE(Register().ok());
  PutToken("karmada-m1", "bmV3");
  own.region = "south";
  own.zones = {"a", "b"};
  REQUIRE(Register().ok());
  CHECK(Secret("m1").Get({"data", "token"}).AsString() == "bmV3");
  CHECK(Cluster().spec()["region"].AsString() == "south");
  CHECK(Cluster().spec()["zones"].size() == 2);
}

TEST_CASE_METHOD(Fixture, "no token is reported that must not be") {
  own.reports_credentials = own.reports_impersonator = false;
  REQUIRE(Register().ok());
  CHECK(plane->All(api::Secrets()).empty());
  CHECK(server->Find(kAccounts, {"karmada-cluster", "karmada-m1"}).empty());
  CHECK_FALSE(Cluster().spec().Has("secretRef"));
  CHECK_FALSE(Cluster().spec().Has("impersonatorSecretRef"));
}

TEST_CASE_METHOD(Fixture, "a name or a cluster that is registered otherwise is refused") {
  kube::Object other = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
  SECTION("the name") { other.Set({"spec", "id"}, "another-id"); }
  SECTION("the cluster") {
    other = kube::Object::Make(api::Clusters().gvk, {"", "m2"});
    other.Set({"spec", "id"}, "the-id");
  }
  plane->Put(api::Clusters(), other);
  const absl::Status refused = Register();
  CHECK(absl::StrContains(refused.message(),
                          "the cluster ID the-id or the cluster name m1 has been registered"));
  if (other.name() == "m2") {
    CHECK(absl::StrContains(refused.message(), "Is that the kubeconfig of m1?"));
    CHECK(absl::StrContains(refused.message(), "deletes there all that Karmada has put into it"));
  }
  CHECK(Writes() == 0);
}

TEST_CASE_METHOD(Fixture, "a cluster that is the control plane itself is refused, unwritten") {
  std::string its = "the-id";
  SECTION("by its identity") {}
  SECTION("by its address, where the control plane does not tell its identity") {
    own.has_address_of_control_plane = true;
    its = "";
  }
  if (!its.empty()) {
    kube::Object system = kube::Object::Make(api::Namespaces().gvk, {"", "kube-system"});
    system.Set({"metadata", "uid"}, its);
    plane->Put(api::Namespaces(), system);
  }
  const absl::Status refused = Register();
  CHECK(absl::IsFailedPrecondition(refused));
  CHECK(absl::StrContains(refused.message(), "would be the control plane itself"));
  CHECK(Writes() == 0);
}

TEST_CASE_METHOD(Fixture,
                 "a cluster at the address of the control plane is another by its identity") {
  own.has_address_of_control_plane = true;
  kube::Object system = kube::Object::Make(api::Namespaces().gvk, {"", "kube-system"});
  system.Set({"metadata", "uid"}, "the-planes-id");
  plane->Put(api::Namespaces(), system);
  CHECK(Register().ok());
}

TEST_CASE_METHOD(Fixture, "credentials that the cluster refuses are said to be the cluster's") {
  server->FailNext("GET", 401, "Unauthorized");
  const absl::Status refused = Register();
  CHECK(absl::StartsWith(refused.message(), "the cluster refuses the credentials"));
}

TEST_CASE_METHOD(Fixture, "a push cluster that becomes a pull cluster is warned of once") {
  kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
  cluster.Set({"spec", "id"}, "the-id");
  cluster.Set({"spec", "syncMode"}, "Push");
  cluster.Set({"spec", "apiEndpoint"}, "https://before");
  plane->Put(api::Clusters(), cluster);
  tests::CapturedStderr log;
  CHECK(Register().ok());
  const std::string first = log.Text();
  CHECK(absl::StrContains(first, "the cluster was of mode Push"));
  CHECK(absl::StrContains(first, "https://before"));
  CHECK(Cluster().spec()["syncMode"].AsString() == "Pull");
  CHECK(Register().ok());
  CHECK(log.Text() == first);
}

TEST_CASE_METHOD(Fixture,
                 "a name that another cluster gets while tokens are waited for is refused") {
  server->Erase(api::Secrets(), {"karmada-cluster", "karmada-m1"});
  std::future<absl::Status> refused = std::async(std::launch::async, [&] { return Register(); });
  clock.AwaitWaiters(1);
  RegisterAnother();
  PutToken("karmada-m1", "dA==");
  clock.Advance(absl::Seconds(1));
  CHECK(absl::IsAlreadyExists(refused.get()));
  CHECK(plane->All(api::Secrets()).empty());
  CHECK(Cluster().spec()["id"].AsString() == "another-id");
}

TEST_CASE_METHOD(Fixture, "a Cluster that another cluster makes meanwhile is not written over") {
  plane->Block("POST");
  std::future<absl::Status> refused = std::async(std::launch::async, [&] { return Register(); });
  REQUIRE(plane->AwaitRequests("POST", 1));
  RegisterAnother();
  plane->Unblock();
  CHECK(absl::IsAlreadyExists(refused.get()));
  CHECK(Cluster().spec()["id"].AsString() == "another-id");
}

TEST_CASE_METHOD(Fixture, "of all Clusters a cluster that is registered reads its own only") {
  REQUIRE(Register().ok());
  const auto lists = [&] {
    const std::vector<std::string> gets = plane->Requests("GET");
    return std::count_if(gets.begin(), gets.end(), [](const std::string& get) {
      return absl::StrContains(get, "/clusters") && !absl::StrContains(get, "/clusters/m1");
    });
  };
  const auto before = lists();
  CHECK(before > 0);
  REQUIRE(Register().ok());
  CHECK(lists() == before);
}

TEST_CASE_METHOD(Fixture, "a registration that was interrupted is completed by the next one") {
  plane->FailNext("POST cluster.karmada.io/v1alpha1/clusters", 500, "InternalError");
  REQUIRE_FALSE(Register().ok());
  REQUIRE(Register().ok());
  CHECK(Secret("m1").ControllerOwner().uid == Cluster().uid());
}

}  // namespace
}  // namespace controllers
