// karmada-search as its clients see it.
#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "api/resource_registry.h"
#include "base/json.h"
#include "tests/cmd/search/search_plane.h"
#include "tests/search/opensearch/fake_opensearch.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_directory.h"

namespace tests {
namespace {

constexpr char kOrigin[] = "resource.karmada.io/cached-from-cluster";
const kube::Resource kConfigMaps{{"", "v1", "ConfigMap"}, "configmaps", true};
const kube::Resource kClusters{{"cluster.karmada.io", "v1alpha1", "Cluster"}, "clusters", false};
const kube::Resource kSecrets{{"", "v1", "Secret"}, "secrets", true};

void PutConfigMap(SearchPlane& plane, const std::string& cluster, const std::string& name) {
  plane.Create(plane.cluster(cluster), kConfigMaps,
               absl::StrCat("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, "
                            "name: ",
                            name, "}, data: {k: v}}"));
}

// Returns "member1/name" for each ConfigMap in the namespace default.
std::set<std::string> Listed(kube::Client& client) {
  std::set<std::string> names;
  const auto page = client.List(kConfigMaps, "default", {}, {});
  if (!page.ok()) return {page.status().ToString()};
  for (const kube::Object& item : page->items) {
    if (item.name() == "kube-root-ca.crt") continue;
    names.insert(absl::StrCat(item.annotations()[kOrigin].AsString(), "/", item.name()));
  }
  return names;
}

// Returns "True Reason" of a condition of a registry; "" when there is none.
std::string Condition(SearchPlane& plane, const std::string& registry, const std::string& type) {
  const auto object = plane.search().Get(api::ResourceRegistryResource(), {"", registry}, {});
  if (!object.ok()) return object.status().ToString();
  const json::Value* found = kube::FindCondition(object->status()["conditions"], type);
  if (found == nullptr) return "";
  return absl::StrCat((*found)["status"].AsString(), " ", (*found)["reason"].AsString());
}

// Collects the names of the objects that a watch reports.
class Names : public kube::WatchHandler {
 public:
  void OnEvent(EventType type, kube::Object object) override {
    absl::MutexLock lock(&mu_);
    if (type == EventType::kAdded) names_.emplace(object.name());
    if (type == EventType::kDeleted) names_.erase(std::string(object.name()));
  }
  void OnEnd(absl::Status) override {
    absl::MutexLock lock(&mu_);
    ended_ = true;
  }
  bool Has(const std::string& name) const {
    absl::MutexLock lock(&mu_);
    return names_.contains(name);
  }
  bool ended() const {
    absl::MutexLock lock(&mu_);
    return ended_;
  }

 private:
  mutable absl::Mutex mu_;
  std::set<std::string> names_;
  bool ended_ = false;
};

TEST_CASE("a registry makes the objects of all members readable, and writes reach their member") {
  SearchPlane plane;
  PutConfigMap(plane, "member1", "one");
  PutConfigMap(plane, "member2", "two");
  // What no registry names is the control plane's.
  CHECK(Eventually([&] { return Listed(plane.proxy()).empty(); }));
  plane.CreateRegistry("all", "member1, member2");
  const std::set<std::string> both = {"member1/one", "member2/two"};
  REQUIRE(Eventually([&] { return Listed(plane.proxy()) == both; }));
  CHECK(Eventually([&] { return plane.Get("/readyz").code == 200; }));

  const RawResponse view =
      plane.Get(absl::StrCat(kViewPath, "/api/v1/namespaces/default/configmaps"));
  CHECK(view.code == 200);
  CHECK(absl::StrContains(view.body, "\"one\""));
  CHECK(absl::StrContains(view.body, "\"two\""));

  const auto two = plane.proxy().Get(kConfigMaps, {"default", "two"}, {});
  REQUIRE(two.ok());
  CHECK(two->annotations()[kOrigin].AsString() == "member2");
  kube::Object changed = *two;
  changed.Set({"data", "k"}, "changed");
  const auto replaced = plane.proxy().Replace(kConfigMaps, changed, {}, {});
  INFO(replaced.status().ToString());
  REQUIRE(replaced.ok());
  const auto in_member = plane.cluster("member2").Get(kConfigMaps, {"default", "two"}, {});
  REQUIRE(in_member.ok());
  CHECK(in_member->Get({"data", "k"}).AsString() == "changed");
  CHECK(in_member->annotations()[kOrigin].is_null());
  // The version is that of the state before.
  CHECK(absl::IsAborted(plane.proxy().Replace(kConfigMaps, changed, {}, {}).status()));
}

TEST_CASE("a server that is ready stays so when a cluster joins whose Secret cannot be read") {
  SearchPlane plane;
  PutConfigMap(plane, "member1", "one");
  plane.CreateRegistry("all");
  REQUIRE(Eventually([&] { return plane.Get("/readyz").code == 200; }));
  plane.fleet().control_plane().faults().FailNext(1000, 500, "", "/namespaces/later/secrets");
  plane.Create(plane.cluster("karmada"), kClusters, R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: member3}
spec:
  syncMode: Push
  apiEndpoint: https://127.0.0.1:1
  secretRef: {namespace: later, name: member3}
  impersonatorSecretRef: {namespace: later, name: member3}
)");
  REQUIRE(Eventually([&] { return !Condition(plane, "all", "member3/Synced").empty(); }));
  CHECK(plane.Get("/readyz/informer-sync").code == 200);
  CHECK(Listed(plane.proxy()) == std::set<std::string>{"member1/one"});
}

TEST_CASE("a cluster that can never be read stops no write to the objects of others") {
  SearchPlane plane;
  PutConfigMap(plane, "member1", "one");
  plane.CreateRegistry("all");
  REQUIRE(Eventually([&] { return Listed(plane.proxy()).contains("member1/one"); }));
  // A pull cluster may have no credentials in the control plane.
  plane.Create(plane.cluster("karmada"), kClusters, R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: member3}
spec: {syncMode: Pull}
)");
  REQUIRE(Eventually([&] { return !Condition(plane, "all", "member3/Synced").empty(); }));
  const json::Value patch = json::Value::Object({{"data", json::Value::Object({{"k", "new"}})}});
  const auto patched =
      plane.proxy().Patch(kConfigMaps, {"default", "one"}, kube::PatchType::kMerge, patch, {}, {});
  INFO(patched.status().ToString());
  CHECK(patched.ok());
  const std::string answer = plane.Exchange(
      absl::StrCat("DELETE ", kProxyPath, "/api/v1/namespaces/default/configmaps/one HTTP/1.1\r\n",
                   "Host: test\r\nConnection: close\r\n\r\n"));
  CHECK_THAT(answer, Catch::StartsWith("HTTP/1.1 200") && Catch::Contains("Warning: 299 ") &&
                         Catch::Contains("cluster member3 has not been read, and may have one of "
                                         "this name: "));
  CHECK(
      absl::IsNotFound(plane.cluster("member1").Get(kConfigMaps, {"default", "one"}, {}).status()));
}

TEST_CASE("a watch through the proxy sees both members, also one that a registry adds later") {
  SearchPlane plane;
  PutConfigMap(plane, "member2", "two");
  plane.CreateRegistry("first", "member1");
  REQUIRE(Eventually(
      [&] { return plane.Get("/readyz").code == 200 && Listed(plane.proxy()).empty(); }));
  Names names;
  const auto watch = plane.proxy().StartWatch(kConfigMaps, "default", {}, names);
  PutConfigMap(plane, "member1", "one");
  CHECK(Eventually([&] { return names.Has("one"); }));
  CHECK_FALSE(names.Has("two"));
  plane.CreateRegistry("second", "member2");
  CHECK(Eventually([&] { return names.Has("two"); }));
  REQUIRE(plane.search().Delete(api::ResourceRegistryResource(), {"", "second"}, {}, {}).ok());
  CHECK(Eventually([&] { return !names.Has("two"); }));
  CHECK(names.Has("one"));
  CHECK_FALSE(names.ended());
  // The end of the service ends the watch properly.
  CHECK(plane.Stop());
  CHECK(Eventually([&] { return names.ended(); }));
}

TEST_CASE("a watch of the control plane's objects ends when a registry names their kind") {
  SearchPlane plane;
  REQUIRE(Eventually([&] { return Listed(plane.proxy()).empty(); }));
  PutConfigMap(plane, "karmada", "template");
  Names names;
  const auto watch = plane.proxy().StartWatch(kConfigMaps, "default", {}, names);
  REQUIRE(Eventually([&] { return names.Has("template"); }));
  plane.CreateRegistry("all", "member1");
  CHECK(Eventually([&] { return names.ended(); }));
}

TEST_CASE("requests that could be read in two ways are refused") {
  SearchPlane plane;
  plane.CreateRegistry("all", "member1, member2");
  const std::string group = "/apis/search.karmada.io/v1alpha1";
  const std::string secrets = "/api/v1/namespaces/karmada-cluster/secrets";
  for (const std::string& target :
       {group + "/watch/proxying/karmada/proxy" + secrets,
        group + "/proxy/proxying/karmada/proxy" + secrets, group + "/watch/search/cache" + secrets,
        "/" + group + "/proxying/karmada/proxy" + secrets,
        kProxyPath + std::string("/api/v1/namespaces/default/../karmada-cluster/secrets"),
        kProxyPath + std::string("/api/v1/namespaces/default/%2e%2e/karmada-cluster/secrets"),
        kProxyPath + std::string("/api/v1/namespaces/karmada-cluster%2fsecrets"),
        kProxyPath + std::string("//api/v1/pods"), kProxyPath + std::string("/api/v1/pods%00"),
        group + "/proxying/other/proxy/api/v1/pods", group + "/search/disk/api/v1/pods"}) {
    CAPTURE(target);
    const RawResponse answer = plane.Get(target);
    CAPTURE(answer.body);
    CHECK(answer.code >= 400);
    CHECK(answer.code < 500);
  }
}

TEST_CASE("who a front proxy names is believed, and nobody else's header") {
  const TempDirectory directory;
  const std::string log = directory.Write("audit.log", "");
  SearchPlane plane({"--audit-level=Metadata", "--audit-log-path=" + log});
  const std::string bob = "X-Remote-User: bob\r\nX-Remote-Group: dev\r\n";
  const std::string list = "/apis/search.karmada.io/v1alpha1/resourceregistries";
  CHECK(plane.GetAs(plane.ProxyCertificate("front-proxy"), bob, list + "?a=proxy").code == 200);
  CHECK(plane.GetAs(plane.ProxyCertificate("somebody"), bob, list).code == 401);
  CHECK(plane.GetAs(plane.ClientCertificate("eve", "dev"), bob, list + "?a=client").code == 200);
  CHECK(plane.GetAs({}, bob, list + "?a=none").code == 200);  // The sandbox permits everything.
  CHECK(plane.GetAs({}, "Authorization: Bearer nonsense\r\n", list).code == 401);
  CHECK(plane.GetAs({}, "", "/livez").code == 200);
  // Returns who has sent the request, as the log has it.
  const auto user_of = [&](const std::string& mark) {
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);) {
      if (!absl::StrContains(line, mark)) continue;
      const auto event = json::Parse(line);
      if (event.ok()) return event->Get({"user", "username"}).ToString();
    }
    return std::string();
  };
  CHECK(Eventually([&] { return user_of("?a=proxy") == "bob"; }));
  CHECK(Eventually([&] { return user_of("?a=client") == "eve"; }));
  CHECK(Eventually([&] { return user_of("?a=none") == "system:anonymous"; }));
}

TEST_CASE("the Secret of a Cluster goes to no OpenSearch") {
  if (TestOpenSearch::IsReal()) return;
  TestOpenSearch open_search;
  std::atomic<int> requests = 0;
  open_search.SetFault([&](const base::HttpRequest&) -> std::optional<base::HttpResponse> {
    ++requests;
    return std::nullopt;
  });
  SearchPlane plane;
  plane.Create(plane.search(), api::ResourceRegistryResource(),
               absl::StrCat(R"(
apiVersion: search.karmada.io/v1alpha1
kind: ResourceRegistry
metadata: {name: greedy}
spec:
  targetCluster: {}
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  backendStore:
    openSearch:
      addresses: [")",
                            open_search.url(), R"("]
      secretRef: {namespace: karmada-cluster, name: member1}
)"));
  CHECK(Eventually([&] { return Condition(plane, "greedy", "Mirrored") == "False RequestsFail"; }));
  CHECK(requests == 0);
}

TEST_CASE("a registry's OpenSearch gets the members' objects, and a Secret's new password") {
  if (TestOpenSearch::IsReal()) return;  // The names of its indices are not the test's.
  TestOpenSearch open_search;
  // Base64 of u:good.
  open_search.SetFault([](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
    if (request.Header("authorization") == "Basic dTpnb29k") return std::nullopt;
    return base::HttpResponse{.code = 401};
  });
  SearchPlane plane;
  PutConfigMap(plane, "member1", "one");
  constexpr char kPassword[] =
      "{apiVersion: v1, kind: Secret, metadata: {namespace: default, name: os}, stringData: "
      "{username: u, password: bad}}";
  plane.Create(plane.cluster("karmada"), kSecrets, kPassword);
  plane.Create(plane.search(), api::ResourceRegistryResource(),
               absl::StrCat(R"(
apiVersion: search.karmada.io/v1alpha1
kind: ResourceRegistry
metadata: {name: mirrored}
spec:
  targetCluster: {}
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, namespace: default}]
  backendStore:
    openSearch:
      addresses: [")",
                            open_search.url(), R"("]
      secretRef: {namespace: default, name: os}
)"));
  REQUIRE(Eventually([&] { return Listed(plane.proxy()).contains("member1/one"); }));
  CHECK(
      Eventually([&] { return Condition(plane, "mirrored", "Mirrored") == "False RequestsFail"; }));
  const json::Value good =
      json::Value::Object({{"stringData", json::Value::Object({{"password", "good"}})}});
  REQUIRE(plane.cluster("karmada")
              .Patch(kSecrets, {"default", "os"}, kube::PatchType::kMerge, good, {}, {})
              .ok());
  const auto count = [&](const std::string& cluster) {
    return open_search.Count("karmada-search-core-v1-configmap", cluster);
  };
  REQUIRE(Eventually([&] { return count("member1") > 0; }));
  CHECK(Eventually([&] { return Condition(plane, "mirrored", "Mirrored") == "True Mirrored"; }));
  CHECK(Condition(plane, "mirrored", "KindsResolved") == "True AllResolved");
  // No controller manager says that the members are ready.
  CHECK(Condition(plane, "mirrored", "member1/Synced") == "False ClusterNotReady");
  const int64_t before = count("member1");
  PutConfigMap(plane, "member1", "more");
  CHECK(Eventually([&] { return count("member1") == before + 1; }));
  REQUIRE(plane.cluster("member1").Delete(kConfigMaps, {"default", "one"}, {}, {}).ok());
  CHECK(Eventually([&] { return count("member1") == before; }));
  REQUIRE(plane.search().Delete(api::ResourceRegistryResource(), {"", "mirrored"}, {}, {}).ok());
  CHECK(Eventually([&] { return count("member1") == 0; }));
}

TEST_CASE("a member that is away keeps its objects, with a warning, and is followed again") {
  SearchPlane plane;
  PutConfigMap(plane, "member1", "one");
  PutConfigMap(plane, "member2", "two");
  plane.CreateRegistry("all", "member1, member2");
  const std::set<std::string> both = {"member1/one", "member2/two"};
  REQUIRE(Eventually([&] { return Listed(plane.proxy()) == both; }));
  plane.member("member2").faults().SetPartitioned(true);
  const std::string list = absl::StrCat(kProxyPath, "/api/v1/namespaces/default/configmaps");
  CHECK(Eventually([&] {
    const RawResponse answer = plane.Get(list);
    const auto warning = answer.headers.find("warning");
    return answer.code == 200 && absl::StrContains(answer.body, "\"two\"") &&
           warning != answer.headers.end() && absl::StrContains(warning->second, "member2");
  }));
  const RawResponse log = plane.Get(
      absl::StrCat(kProxyPath, "/api/v1/namespaces/default/configmaps/two?cluster=member2"));
  CHECK(log.code == 200);
  plane.member("member2").faults().SetPartitioned(false);
  PutConfigMap(plane, "member2", "three");
  CHECK(Eventually([&] { return Listed(plane.proxy()).contains("member2/three"); }));
}

TEST_CASE("new tokens of a member are taken over, for its cache and for requests of users") {
  SearchPlane plane;
  PutConfigMap(plane, "member1", "one");
  plane.CreateRegistry("all", "member1");
  REQUIRE(Eventually([&] { return Listed(plane.proxy()).contains("member1/one"); }));
  for (const char* secret : {"member1", "member1-impersonator"}) {
    const kube::ObjectKey key{"karmada-cluster", secret};
    const auto before = plane.cluster("karmada").Get(kSecrets, key, {});
    REQUIRE(before.ok());
    std::string old;
    REQUIRE(absl::Base64Unescape(before->Get({"data", "token"}).AsString(), &old));
    const std::string fresh = absl::StrCat("fresh-token-of-", secret);
    plane.member("member1").AddToken(fresh, "system:serviceaccount:karmada-cluster:new");
    const json::Value patch =
        json::Value::Object({{"stringData", json::Value::Object({{"token", fresh}})}});
    REQUIRE(
        plane.cluster("karmada").Patch(kSecrets, key, kube::PatchType::kMerge, patch, {}, {}).ok());
    plane.member("member1").RevokeToken(old);
  }
  plane.member("member1").faults().DropWatches();
  PutConfigMap(plane, "member1", "two");
  CHECK(Eventually([&] { return Listed(plane.proxy()).contains("member1/two"); }));
  CHECK(Eventually([&] {
    return plane.proxy().Delete(kConfigMaps, {"default", "one"}, {}, {}).ok();
  }));
  CHECK(Eventually([&] { return !Listed(plane.proxy()).contains("member1/one"); }));
}

TEST_CASE("what is switched off is not found") {
  SearchPlane plane({"--disable-search", "--disable-proxy"});
  CHECK(plane.Get(absl::StrCat(kProxyPath, "/api/v1/pods")).code == 404);
  CHECK(plane.Get(absl::StrCat(kViewPath, "/api/v1/pods")).code == 404);
  CHECK(plane.Get("/apis/search.karmada.io/v1alpha1").code == 200);
  CHECK(plane.Get("/openapi/v3").code == 200);
  CHECK(plane.Get("/version").code == 200);
  CHECK(plane.Get("/metrics").code == 200);
  CHECK(plane.Get("/elsewhere").code == 404);
}

}  // namespace
}  // namespace tests
