// What becomes of a joined cluster, or of one that cannot join, when something changes.
#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/controllers/cluster_api_fixture.h"

namespace {

using tests::Eventually;
using Fixture = tests::ClusterApiFixture;

}  // namespace

TEST_CASE_METHOD(Fixture, "what a kubeconfig may not have is refused before anything is done") {
  AddWorkload("https://w1", "id-1");
  PutSource("Provisioned");
  const std::string text =
      GENERATE(Kubeconfig("https://w1", "",
                          "{exec: {apiVersion: client.authentication.k8s.io/v1, "
                          "command: touch, args: [/tmp/x]}}"),
               Kubeconfig("https://w1", "", "{tokenFile: /etc/passwd}"),
               Kubeconfig("https://w1", "", "{client-certificate: /a, client-key: /b}"),
               Kubeconfig("https://w1", "", "{auth-provider: {name: x}}"),
               Kubeconfig("https://w1", ", certificate-authority: /etc/passwd"),
               Kubeconfig("ftp://w1"), std::string("a: ["), std::string("[]"), std::string(" "));
  CAPTURE(text);
  PutKubeconfig(text);
  Restart();
  const auto action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->delay() == controllers::ClusterApiReconciler::kRecheck);
  CHECK(joins == 0);
  CHECK(Writes() == 0);
  CHECK(absl::StartsWith(LastEvent(), "Warning JoinClusterFailed Cluster: the "));
  CHECK(absl::StrContains(LastEvent(), "Secret fleet/w1-kubeconfig"));
  CHECK_FALSE(absl::StrContains(LastEvent(), "root:"));

  PutKubeconfig(Kubeconfig("https://w1"));
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Cluster().empty());
  CHECK(absl::StartsWith(LastEvent(), "Normal JoinClusterSucceed"));
}

TEST_CASE_METHOD(Fixture, "a join that cannot be made now is tried again, with an event") {
  PutSource("Provisioned");
  Restart();
  CHECK_FALSE(Reconcile().ok());  // There is no Secret.
  CHECK(absl::StrContains(LastEvent(), "fleet/w1-kubeconfig"));
  PutKubeconfig(Kubeconfig("https://w1"));
  CHECK_FALSE(Reconcile().ok());  // Nobody answers.
  CHECK(absl::StrContains(LastEvent(), "connection refused"));
  CHECK(Writes() == 0);
  AddWorkload("https://w1", "id-1");
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Cluster().empty());
}

TEST_CASE_METHOD(Fixture, "a cluster of an impossible name is refused, and one that has joined") {
  AddWorkload("https://w1", "id-1");
  PutCached(api::Clusters(), tests::Parse(R"({"apiVersion": "cluster.karmada.io/v1alpha1",
      "kind": "Cluster", "metadata": {"name": "first"}, "spec": {"id": "id-1"}})"));
  const std::string name = GENERATE(as<std::string>{}, "w1", "with.dot", std::string(49, 'x'));
  PutKubeconfig(Kubeconfig("https://w1"), {"fleet", name});
  PutSource("Provisioned", {"fleet", name});
  Restart();
  REQUIRE(Reconcile(name).ok());
  CHECK(absl::StrContains(LastEvent(), name == "w1" ? "has joined as first" : "name"));
  CHECK(Cluster(name).empty());
  CHECK(Writes() == 0);
}

TEST_CASE_METHOD(Fixture, "of Clusters with one name the oldest is joined, then the next") {
  AddWorkload("https://w1", "id-1");
  AddWorkload("https://w2", "id-2");
  PutKubeconfig(Kubeconfig("https://w1"), {"a", "w1"});
  PutKubeconfig(Kubeconfig("https://w2"), {"b", "w1"});
  PutSource("Provisioned", {"b", "w1"});
  PutSource("Provisioned", {"a", "w1"}, "source-2");
  Restart();
  REQUIRE(Reconcile().ok());
  CHECK(Cluster().spec()["id"].AsString() == "id-1");
  CHECK(recorded->All().front() ==
        "Warning JoinClusterFailed Cluster: Cluster b/w1 of Cluster API "
        "cannot be joined: Cluster a/w1 has its name");
  EraseSource({"b", "w1"});
  REQUIRE(Reconcile().ok());
  CHECK(Cluster().spec()["id"].AsString() == "id-1");
  PutSource("Provisioned", {"b", "w1"});
  EraseSource({"a", "w1"});
  REQUIRE(Reconcile().ok());
  CHECK(Cluster().empty());
  REQUIRE(Reconcile().ok());
  CHECK(Cluster().spec()["id"].AsString() == "id-2");
}

TEST_CASE_METHOD(Fixture, "a kubeconfig with another address or authority is followed") {
  JoinOne();
  workloads["https://moved"] = workloads.at("https://w1");
  PutKubeconfig(Kubeconfig("https://moved", ", proxy-url: http://p"));
  REQUIRE(Reconcile().ok());
  CHECK(Cluster().spec()["apiEndpoint"].AsString() == "https://moved");
  CHECK(Cluster().spec()["proxyURL"].AsString() == "http://p");

  kube::Object token =
      workloads.at("https://w1")->Find(api::Secrets(), {"karmada-cluster", "karmada-w1"});
  token.Set({"data", "ca.crt"}, absl::Base64Escape("new authority"));
  workloads.at("https://w1")->Put(api::Secrets(), token);
  PutKubeconfig(Kubeconfig("https://moved", absl::StrCat(", certificate-authority-data: ",
                                                         absl::Base64Escape("new authority"))));
  REQUIRE(Reconcile().ok());
  CHECK(Cluster().spec()["proxyURL"].is_null());
  CHECK(Secret("w1").Get({"data", "caBundle"}).AsString() == absl::Base64Escape("new authority"));
}

TEST_CASE_METHOD(Fixture, "a kubeconfig that leads to another cluster changes nothing") {
  JoinOne();
  AddWorkload("https://w2", "id-2");
  PutKubeconfig(Kubeconfig("https://w2"));
  const size_t writes = Writes();
  REQUIRE(Reconcile().ok());
  CHECK(absl::StrContains(LastEvent(), "leads to the cluster with the id id-2"));
  CHECK(Writes() == writes);
  CHECK(Cluster().spec()["apiEndpoint"].AsString() == "https://w1");
}

TEST_CASE_METHOD(Fixture,
                 "a Cluster that was made again is joined again if it is another cluster") {
  JoinOne();
  const bool same = GENERATE(true, false);
  Forget();
  management->Erase(Sources(), {"fleet", "w1"});
  if (!same) {
    AddWorkload("https://w2", "id-2");
    PutKubeconfig(Kubeconfig("https://w2"));
  }
  PutSource("Provisioned", {"fleet", "w1"}, "source-2");
  Restart();
  if (same) {
    REQUIRE(Reconcile().ok());
    CHECK(Cluster().spec()["id"].AsString() == "id-1");
    EraseSource();  // The new one is what it follows now.
    REQUIRE(Reconcile().ok());
    CHECK(Cluster().empty());
    return;
  }
  CHECK(absl::IsAborted(Reconcile().status()));
  CHECK(Cluster().empty());
  CHECK(absl::StrContains(LastEvent(), "was deleted and made again"));
  REQUIRE(Reconcile().ok());
  CHECK(Cluster().spec()["id"].AsString() == "id-2");
}

TEST_CASE_METHOD(Fixture,
                 "a Cluster that was moved to another management cluster is followed there") {
  JoinOne();
  Forget();
  management = std::make_shared<tests::FakeApiServer>();
  Identify(*management, "another one");
  ServeVersions({"v1beta2"});
  PutKubeconfig(Kubeconfig("https://w1"));
  kube::Object source = kube::Object::Make(Sources("v1beta2").gvk, {"fleet", "w1"});
  source.Set({"status", "phase"}, "Provisioned");
  management->Put(Sources("v1beta2"), source);
  Restart();
  REQUIRE(Reconcile().ok());
  management->Erase(Sources("v1beta2"), {"fleet", "w1"});
  REQUIRE(Eventually([&] { return watching->Find({"fleet", "w1"}) == nullptr; }));
  REQUIRE(Reconcile().ok());
  CHECK(Cluster().empty());
}

TEST_CASE_METHOD(Fixture, "the version that the management cluster prefers is watched") {
  ServeVersions({"v1beta2", "v1beta1"});
  kube::Object source = kube::Object::Make(Sources("v1beta2").gvk, {"fleet", "w1"});
  management->Put(Sources("v1beta2"), source);
  Restart();
  CHECK(watching->Find({"fleet", "w1"}) != nullptr);
  CHECK(watching->Named("w1").size() == 1);
  CHECK(watching->Named("w2").empty());
}

TEST_CASE_METHOD(Fixture, "Clusters are looked up while another version begins to be watched") {
  queue.emplace(kube::WorkQueue::Options{.name = "q"}, clock);
  watching.emplace(management, "management", clock);
  watching->Feed(*queue);
  std::atomic<bool> is_over = false;
  std::atomic<int> found = 0, wrong = 0;
  std::thread looks_up([&] {
    while (!is_over) {
      const std::vector<kube::ObjectPtr> named = watching->Named("w1");
      if (named.empty()) continue;
      const bool is_right = named.size() == 1 && named[0]->key() == kube::ObjectKey{"fleet", "w1"};
      ++(is_right ? found : wrong);
    }
  });
  kube::Resource version;
  for (int i = 0; i < 300; ++i) {
    if (i > 0) watching->OnUnwatched(version.gvk);
    version = Sources(absl::StrCat("v", i));
    management->Put(version, kube::Object::Make(version.gvk, {"fleet", "w1"}));
    management->Put(version, kube::Object::Make(version.gvk, {"fleet", "w2"}));
    watching->HandlerFor(version);
  }
  CHECK(Eventually([&] { return found > 0; }));  // In the last version at the latest.
  is_over = true;
  looks_up.join();
  CHECK(wrong == 0);
}

// An ordinary back-off would have grown to 1000 s.
TEST_CASE_METHOD(Fixture,
                 "a kubeconfig that was missing for long is found soon after it was written") {
  AddWorkload("https://w1", "id-1");
  ServeVersions({"v1beta1"});
  const auto connect = [this](const kube::ConnectionConfig& config) { return Connect(config); };
  REQUIRE(controllers::BuildClusterApi(Context(), {management, "host", connect}, 3).ok());
  Start();
  PutSource("Provisioned");
  const auto tries = [&] {
    const std::vector<std::string> requests = management->Requests("GET");
    return std::count_if(requests.begin(), requests.end(), [](const std::string& request) {
      return absl::StrContains(request, "w1-kubeconfig");
    });
  };
  REQUIRE(Eventually([&] {
    clock.Advance(absl::Minutes(5));
    return tries() > 25;
  }));
  PutKubeconfig(Kubeconfig("https://w1"));
  int seconds = 0;
  CHECK(Eventually([&] {
    if (++seconds < 600) clock.Advance(absl::Seconds(1));
    return !Secret("w1").OwnerRefs().empty();
  }));
}

TEST_CASE_METHOD(Fixture, "the registered loop joins and un-joins by itself, once it is possible") {
  AddWorkload("https://w1", "id-1");
  PutKubeconfig(Kubeconfig("https://w1"));
  management->Serve({});
  const auto connect = [this](const kube::ConnectionConfig& config) { return Connect(config); };
  REQUIRE(controllers::BuildClusterApi(Context(), {management, "host", connect}, 3).ok());
  Start();
  REQUIRE(management->AwaitRequests("GET", 1));
  PutSource("Provisioning");
  ServeVersions({"v1beta1"});
  const auto passes = [&](const std::function<bool()>& condition) {
    return Eventually([&] {
      clock.Advance(absl::Milliseconds(200));
      return condition();
    });
  };
  REQUIRE(passes([&] { return management->watches() == 1; }));
  PutSource("Provisioned");
  CHECK(passes([&] { return !Secret("w1").OwnerRefs().empty(); }));
  server->Erase(api::Secrets(), {"karmada-cluster", "w1"});
  CHECK(passes([&] { return !Secret("w1").OwnerRefs().empty(); }));
  server->Erase(api::Clusters(), {"", "w1"});  // Somebody un-joins it, but it is still there.
  CHECK(passes([&] { return !Cluster().empty(); }));
  EraseSource();
  CHECK(passes([&] { return Cluster().empty(); }));
}
