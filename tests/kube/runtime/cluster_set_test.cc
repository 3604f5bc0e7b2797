#include "kube/runtime/cluster_set.h"

#include <catch2/catch.hpp>

#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/pods.h"

namespace kube {
namespace {

using tests::kPods;

class MapSource : public ClusterConfigSource {
 public:
  absl::StatusOr<ConnectionConfig> ConfigFor(const std::string& cluster) override {
    ++asked;
    const auto it = configs.find(cluster);
    if (it == configs.end()) return absl::NotFoundError("no cluster " + cluster);
    return it->second;
  }
  std::map<std::string, ConnectionConfig> configs;
  int asked = 0;
};

struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  MapSource source;
  std::vector<std::string> announced;
  int transports = 0;
  ClusterSet::Options Options() {
    ClusterSet::Options options;
    options.on_new = [this](MemberCluster& m) { announced.push_back(m.name()); };
    options.new_transport =
        [this](const ConnectionConfig& config) -> absl::StatusOr<std::shared_ptr<Transport>> {
      ++transports;
      if (config.server == "unusable") return absl::InvalidArgumentError("unusable");
      return server;
    };
    return options;
  }
  ClusterSet clusters{Options(), source, clock, nullptr};

  Fixture() { source.configs["m1"].server = "https://m1:6443/prefix"; }
  // An informer of m1 that watches.
  std::shared_ptr<Informer> Watching() {
    const auto informer = (*clusters.Get("m1"))->client().informers().Get(kPods);
    REQUIRE(informer->WaitForSync(base::SteadyTime::InfiniteFuture(), {}).ok());
    REQUIRE(server->AwaitWatches(1));
    return informer;
  }
};

TEST_CASE_METHOD(Fixture, "a member is connected when first asked for, without network traffic") {
  CHECK(clusters.Find("m1") == nullptr);
  const auto member = clusters.Get("m1");
  REQUIRE(member.ok());
  CHECK((*member)->name() == "m1");
  CHECK(*clusters.Get("m1") == *member);
  CHECK(clusters.Find("m1") == *member);
  CHECK(clusters.Names() == std::vector<std::string>{"m1"});
  CHECK(announced == std::vector<std::string>{"m1"});
  CHECK(server->Requests().empty());
}

TEST_CASE_METHOD(Fixture, "errors of source and transport are handed on") {
  CHECK(absl::IsNotFound(clusters.Get("unknown").status()));
  source.configs["m2"].server = "unusable";
  CHECK(absl::IsInvalidArgument(clusters.Get("m2").status()));
  CHECK(clusters.Names().empty());
}

TEST_CASE_METHOD(Fixture, "a refresh reconnects only when the configuration has changed") {
  const std::shared_ptr<MemberCluster> before = *clusters.Get("m1");
  Watching();
  REQUIRE(clusters.Refresh("m1").ok());
  CHECK(clusters.Find("m1") == before);
  CHECK(transports == 1);

  SECTION("the token") { source.configs["m1"].token = "new"; }
  SECTION("the server") { source.configs["m1"].server = "https://elsewhere"; }
  SECTION("the exec plugin") { source.configs["m1"].exec = std::make_unique<ExecPlugin>(); }
  REQUIRE(clusters.Refresh("m1").ok());
  CHECK(clusters.Find("m1") != before);
  CHECK(announced.size() == 2);
  CHECK(server->watches() == 0);  // The old one's informers have stopped.
}

TEST_CASE_METHOD(Fixture, "a refresh that cannot be done leaves the member as it is") {
  const std::shared_ptr<MemberCluster> before = *clusters.Get("m1");
  source.configs["m1"].server = "unusable";
  CHECK(absl::IsInvalidArgument(clusters.Refresh("m1")));
  source.configs.clear();
  CHECK(absl::IsNotFound(clusters.Refresh("m1")));
  CHECK(clusters.Find("m1") == before);
}

TEST_CASE_METHOD(Fixture, "a member nobody uses is not refreshed") {
  REQUIRE(clusters.Refresh("m1").ok());
  CHECK(source.asked == 0);
}

TEST_CASE_METHOD(Fixture,
                 "subscribers are called when a member was replaced, and at no other time") {
  std::vector<std::string> called;
  auto subscription = clusters.OnReconnected([&](const std::string& cluster) {
    called.push_back(cluster);
    // The old informers have stopped, and the new member is the one in use.
    CHECK(server->watches() == 0);
    CHECK(announced.size() == 2);
  });
  Watching();
  REQUIRE(clusters.Refresh("m1").ok());
  CHECK(called.empty());
  source.configs["m1"].server = "https://elsewhere";
  REQUIRE(clusters.Refresh("m1").ok());
  CHECK(called == std::vector<std::string>{"m1"});

  subscription = {};
  source.configs["m1"].server = "https://again.elsewhere";
  REQUIRE(clusters.Refresh("m1").ok());
  CHECK(called.size() == 1);
}

TEST_CASE_METHOD(Fixture, "a removed member's informers stop, what they hold stays readable") {
  server->Put(kPods, tests::Pod("a"));
  const auto informer = Watching();
  const std::shared_ptr<MemberCluster> held = clusters.Find("m1");
  clusters.Remove("m1");
  clusters.Remove("m1");
  CHECK(clusters.Find("m1") == nullptr);
  CHECK(server->watches() == 0);
  CHECK(informer->store().size() == 1);
  CHECK(held->client().Find(kPods, {"ns", "a"}) != nullptr);
}

}  // namespace
}  // namespace kube
