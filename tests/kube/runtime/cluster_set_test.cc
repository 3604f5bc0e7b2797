#include "kube/runtime/cluster_set.h"

#include <catch2/catch.hpp>

#include "base/byte_budget.h"
#include "tests/support/eventually.h"
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

// A transport to a fake server, with a token that can be replaced.
class TokenTransport : public Transport {
 public:
  TokenTransport(std::shared_ptr<Transport> server, std::string& token)
      : server_(std::move(server)), token_(token) {}
  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override {
    return server_->Send(request, stop);
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    return server_->Open(request, std::move(callbacks));
  }
  bool ReplaceToken(const std::string& token) override {
    token_ = token;
    return true;
  }

 private:
  const std::shared_ptr<Transport> server_;
  std::string& token_;
};

struct Fixture {
  std::string token_in_use;
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
      token_in_use = config.token;
      return std::make_shared<TokenTransport>(server, token_in_use);
    };
    return options;
  }
  ClusterSet clusters{Options(), source, clock, nullptr};

  Fixture() { source.configs["m1"].server = "https://m1:6443/prefix"; }
  // Returns an informer of m1 that watches.
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

TEST_CASE_METHOD(Fixture, "what members of several sets take together is bounded, and shared out") {
  ClusterSet::Options options = Options();
  options.member_bytes = int64_t{8} << 20;
  options.total_bytes = std::make_shared<base::TotalBytes>(int64_t{2} << 20);
  const auto small_server = std::make_shared<tests::FakeApiServer>();
  ClusterSet::Options of_other = options;
  of_other.new_transport = [&](const ConnectionConfig&) { return small_server; };
  ClusterSet full(options, source, clock, nullptr), other(of_other, source, clock, nullptr);
  const auto put = [](tests::FakeApiServer& to, const std::string& name) {
    Object pod = tests::Pod(name);
    pod.SetAnnotation("text", std::string(400 << 10, static_cast<char>(120)));
    to.Put(kPods, pod);
  };
  const auto watching = [](ClusterSet& set) {
    const auto informer = (*set.Get("m1"))->client().informers().Get(kPods);
    REQUIRE(informer->WaitForSync(base::SteadyTime::InfiniteFuture(), {}).ok());
    return informer;
  };

  const auto large = watching(full), small = watching(other);
  for (int i = 0; i < 12; ++i) put(*server, "pod" + std::to_string(i));
  REQUIRE(tests::Eventually([&] { return large->LeavesOut(); }));
  CHECK(large->store().size() >= 3);
  CHECK(large->store().size() <= 5);
  for (const char* name : {"a", "b"}) put(*small_server, name);
  CHECK(tests::Eventually([&] { return small->store().size() == 2; }));
  CHECK_FALSE(small->LeavesOut());
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

  SECTION("the server, and the token with it") {
    source.configs["m1"].server = "https://elsewhere";
    source.configs["m1"].token = "new";
  }
  SECTION("the CA") { source.configs["m1"].ca_pem = "another"; }
  SECTION("the proxy") { source.configs["m1"].proxy_url = "http://proxy"; }
  SECTION("the server") { source.configs["m1"].server = "https://elsewhere"; }
  SECTION("the exec plugin") { source.configs["m1"].exec = std::make_unique<ExecPlugin>(); }
  REQUIRE(clusters.Refresh("m1").ok());
  CHECK(clusters.Find("m1") != before);
  CHECK(announced.size() == 2);
  CHECK(server->watches() == 0);  // The informers of the old connection have stopped.
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

TEST_CASE_METHOD(Fixture, "a new token is taken over without a new connection, watch or list") {
  source.configs["m1"].token = "first";
  const std::shared_ptr<MemberCluster> before = *clusters.Get("m1");
  int reconnected = 0;
  const auto subscription = clusters.OnReconnected([&](const std::string&) { ++reconnected; });
  Watching();
  const size_t requests = server->Requests().size();
  for (const char* token : {"second", "third"}) {
    source.configs["m1"].token = token;
    REQUIRE(clusters.Refresh("m1").ok());
    CHECK(token_in_use == token);
  }
  CHECK(clusters.Find("m1") == before);
  CHECK(transports == 1);
  CHECK(reconnected == 0);
  CHECK(server->watches() == 1);
  CHECK(server->Requests().size() == requests);
}

TEST_CASE_METHOD(Fixture, "after a refused token the next one makes a new connection") {
  source.configs["m1"].token = "wrong";
  const std::shared_ptr<MemberCluster> before = *clusters.Get("m1");
  int reconnected = 0;
  const auto subscription = clusters.OnReconnected([&](const std::string&) { ++reconnected; });
  server->FailNext("GET", 401, "Unauthorized");
  SECTION("by a request") { CHECK((*before).client().raw().GetRaw("/readyz", {})->code == 401); }
  SECTION("by a list") {
    const auto informer = before->client().informers().Get(kPods);
    REQUIRE(tests::Eventually([&] { return !informer->last_error().ok(); }));
  }
  REQUIRE(clusters.Refresh("m1").ok());
  CHECK(clusters.Find("m1") == before);
  source.configs["m1"].token = "right";
  REQUIRE(clusters.Refresh("m1").ok());
  CHECK(clusters.Find("m1") != before);
  CHECK(token_in_use == "right");
  CHECK(reconnected == 1);
}

TEST_CASE_METHOD(Fixture, "a refusal that has passed costs no new connection") {
  source.configs["m1"].token = "first";
  const std::shared_ptr<MemberCluster> before = *clusters.Get("m1");
  Client& client = before->client().raw();
  SECTION("the same token was accepted later") {
    server->FailNext("GET", 401, "Unauthorized");
    CHECK(client.GetRaw("/readyz", {})->code == 401);
    CHECK(client.GetRaw("/readyz", {})->code == 200);
  }
  SECTION("only an extension server refuses it") {
    server->FailNext("GET", 401, "Unauthorized");
    CHECK(client.GetRaw("/apis/metrics.k8s.io/v1beta1", {})->code == 401);
  }
  source.configs["m1"].token = "second";
  REQUIRE(clusters.Refresh("m1").ok());
  CHECK(clusters.Find("m1") == before);
  CHECK(token_in_use == "second");
}

TEST_CASE_METHOD(Fixture,
                 "subscribers are called when a member was replaced, and at no other time") {
  std::vector<std::string> called;
  auto subscription = clusters.OnReconnected([&](const std::string& cluster) {
    called.push_back(cluster);
    // The old informers have stopped, and the new connection is used.
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

TEST_CASE_METHOD(Fixture, "a subscription may outlive the set") {
  auto set = std::make_unique<ClusterSet>(ClusterSet::Options{}, source, clock, nullptr);
  auto subscription = set->OnReconnected([](const std::string&) {});
  set.reset();
  subscription = {};  // A sanitizer reports this if it uses the destroyed set.
  SUCCEED();
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

TEST_CASE_METHOD(Fixture,
                 "who waits for an informer of a member that has gone gets a whole error") {
  const std::string name = "a-cluster-whose-name-does-not-fit-into-a-short-string";
  source.configs[name].server = "https://m2:6443";
  server->Block("GET");
  const auto informer = (*clusters.Get(name))->client().informers().Get(kPods);
  clusters.Remove(name);  // The last one who has the member.
  const absl::Status waited = informer->WaitForSync(base::SteadyTime::InfiniteFuture(), {});
  CHECK(waited == absl::CancelledError("waiting for v1/pods of " + name + ": stopped"));
}

}  // namespace
}  // namespace kube
