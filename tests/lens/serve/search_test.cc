// Searches in the members: each asked by itself, or the cache of karmada-search in their place.
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "api/resources.h"
#include "api/search_keys.h"
#include "api/search_paths.h"
#include "base/http_server.h"
#include "base/yaml.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/relay/relay.h"
#include "sandbox/delegation.h"
#include "tests/lens/serve/shown_server.h"
#include "tests/support/eventually.h"

namespace lens::serve {
namespace {

using Catch::Contains;

constexpr char kNamespace[] = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}";
constexpr char kWeb[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example/NGINX:1.25"}]}
)";
constexpr char kJob[] = R"(
apiVersion: v1
kind: Pod
metadata: {name: lone, namespace: shop, labels: {app: lone}}
spec: {containers: [{name: main, image: "busybox:1"}]}
)";
// By it the group is in the discovery.
constexpr char kRegistries[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: resourceregistries.search.karmada.io}
spec:
  group: search.karmada.io
  scope: Cluster
  names: {plural: resourceregistries, singular: resourceregistry, kind: ResourceRegistry}
  versions:
    - name: v1alpha1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";

// Two members that are ready, with web in both and one Pod in member2 alone.
struct Searched : tests::ShownServer {
  Searched() : ShownServer(2) {
    for (const char* name : {"member1", "member2"}) {
      MakeReady(name);
      ServeProxy(name);
      CreateIn(name, kNamespace);
      CreateIn(name, kWeb);
    }
    CreateIn("member2", kJob);
  }

  void CreateIn(const std::string& member, const std::string& manifest) {
    sandbox::Backend& backend = fleet->member(member)->backend();
    const kube::Object object(*yaml::Parse(manifest));
    REQUIRE(backend.Create(backend.Find(object.gvk()).gvr(), object).ok());
  }

  // As Karmada's aggregated API server does.
  void ServeProxy(const std::string& name) {
    const auto member = kube::ParseKubeconfig(*fleet->Kubeconfig(name), directory.path(), "");
    const std::string path =
        absl::StrCat("/apis/cluster.karmada.io/v1alpha1/clusters/", name, "/proxy");
    sandbox::Delegate(
        fleet->control_plane(), path,
        [path, forwarder = std::shared_ptr<kube::Forwarder>(*kube::Forwarder::Create(*member))](
            const base::HttpRequest& request, std::shared_ptr<base::HttpResponder> responder) {
          kube::RelayOptions options;
          options.path = request.target.substr(path.size());
          options.on_error = [](const absl::Status& error) {
            return base::HttpResponse{502, "text/plain", {}, std::string(error.message())};
          };
          kube::Relay(request, std::move(responder), *forwarder, std::move(options));
        });
  }

  // As the controller manager does.
  void MakeReady(const std::string& name) {
    sandbox::Backend& backend = fleet->control_plane().backend();
    kube::Object cluster = **backend.Get(api::Clusters().gvr(), {"", name});
    cluster.Set({"status", "conditions"},
                *yaml::Parse("[{type: Ready, status: 'True', reason: ClusterReady, message: '',"
                             " lastTransitionTime: '2026-01-01T00:00:00Z'}]"));
    REQUIRE(backend.Update(api::Clusters().gvr(), cluster, "status").ok());
  }

  json::Value Found(const std::string& query) { return Json("/api/search?" + query); }
  // What is found, as "member1 Pod lone"; of a Pod of web without the end of its name.
  std::multiset<std::string> Places(const std::string& query) {
    std::multiset<std::string> places;
    const json::Value found = Found(query);
    for (const json::Value& one : found["items"].items()) {
      const std::string name = one["name"].ToString();
      places.insert(absl::StrCat(one["cluster"].AsString(), " ", one["kind"].AsString(), " ",
                                 name.substr(0, name.find('-'))));
    }
    return places;
  }
};

// A control plane with a karmada-search of which the test says what it answers.
struct Cached : Searched {
  Cached() {
    CreateAll(kRegistries);
    sandbox::Delegate(fleet->control_plane(), std::string(api::kSearchPath),
                      [this](const base::HttpRequest& request, const auto& responder) {
                        responder->Send(Answer(request));
                      });
    Start(Mode::kLocal);
  }
  ~Cached() { server.reset(); }

  void Say(int code, std::string body, std::string warning = "") {
    absl::MutexLock lock(&mu_);
    answer_ = {.code = code, .body = std::move(body)};
    if (!warning.empty()) answer_.headers.push_back({"Warning", std::move(warning)});
  }
  std::vector<std::string> asked() {
    absl::MutexLock lock(&mu_);
    return asked_;
  }

  // A Pod as the cache has it.
  static std::string Pod(const std::string& cluster, const std::string& name) {
    return absl::StrCat(R"({"metadata": {"namespace": "shop", "name": ")", name,
                        R"(", "annotations": {")", api::kCachedFromClusterAnnotation, R"(": ")",
                        cluster, R"("}}, "spec": {"nodeName": "node-1", "containers": [)",
                        R"({"image": "nginx:1.25"}]}, "status": {"phase": "Running"}})");
  }
  static std::string List(const std::string& items, const std::string& next = "") {
    return absl::StrCat(R"({"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": ")",
                        next, R"("}, "items": [)", items, "]}");
  }

 private:
  base::HttpResponse Answer(const base::HttpRequest& request) {
    absl::MutexLock lock(&mu_);
    asked_.push_back(request.target);
    if (request.Query("continue") == "more") return {.body = List(Pod("member2", "late"))};
    return answer_;
  }

  absl::Mutex mu_;
  base::HttpResponse answer_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> asked_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

TEST_CASE_METHOD(Searched, "Serve: what members have is found by name, labels, image and more") {
  Start(Mode::kLocal);
  const std::multiset<std::string> web = {"member1 Pod web", "member1 Pod web", "member2 Pod web",
                                          "member2 Pod web"};
  const std::multiset<std::string> lone = {"member2 Pod lone"};
  // The members' programs make the Pods, and what was found just before is shown for a second.
  CHECK(tests::Eventually([&] { return Places("name=WEB") == web; }));
  CHECK(Places("image=nginx") == web);
  CHECK(Places("labels=app%3Dweb") == web);
  CHECK(Places("owner=replicaset%2Fweb") == web);
  CHECK(Places("namespace=shop&owner=web") == web);
  CHECK(Places("namespace=default").empty());
  CHECK(Places("name=lone&image=busybox") == lone);
  CHECK(Places("labels=app%21%3Dweb") == lone);
  CHECK(Places("cluster=member1").count("member1 Pod web") == 2);
  CHECK(Places("cluster=member1").count("member2 Pod web") == 0);
  CHECK(Places("cluster=member1&name=lone").empty());
  const json::Value found = Found("name=lone");
  const json::Value& pod = found["items"].At(0);
  CHECK(found["via"].AsString() == "members");
  CHECK(found["clustersAsked"].AsInt() == 2);
  CHECK(found["unread"].empty());
  CHECK(pod["images"].At(0).AsString() == "busybox:1");
  const std::string node = pod["node"].ToString();
  REQUIRE_THAT(node, Contains("member2"));
  CHECK(Places("node=" + node).count("member2 Pod lone") == 1);
  CHECK(Places("node=" + node.substr(0, node.size() - 1)).empty());
  CHECK(Places("type=deploy") ==
        std::multiset<std::string>{"member1 Deployment web", "member2 Deployment web"});
  CHECK(Places("type=deploy&image=busybox").empty());
}

TEST_CASE_METHOD(Cached, "Serve: karmada-search is asked once for all clusters where it answers") {
  Say(200, List(absl::StrCat(Pod("member2", "b"), ",", Pod("member1", "a")), "more"),
      R"(299 - "member3 is missing")");
  const json::Value found = Found("image=nginx&namespace=shop&labels=app%3Dweb");
  CHECK(found["via"].AsString() == "karmada-search");
  CHECK(found["clustersAsked"].AsInt() == 0);
  std::vector<std::string> places;
  for (const json::Value& one : found["items"].items()) {
    places.push_back(absl::StrCat(one["cluster"].AsString(), " ", one["kind"].AsString(), " ",
                                  one["namespace"].AsString(), "/", one["name"].AsString(), " ",
                                  one["node"].AsString(), " ", one["state"].AsString()));
  }
  CHECK(places == std::vector<std::string>{"member1 Pod shop/a node-1 Running",
                                           "member2 Pod shop/b node-1 Running",
                                           "member2 Pod shop/late node-1 Running"});
  REQUIRE(found["unread"].size() == 1);
  CHECK_THAT(found["unread"].At(0).ToString(), Contains("member3 is missing"));
  REQUIRE(asked().size() == 2);
  CHECK_THAT(asked()[0], Contains("/search/cache/api/v1/namespaces/shop/pods?") &&
                             Contains("labelSelector=app%3Dweb") && !Contains("cluster="));
  // What the cache has and nobody wants is no reason to ask the members.
  CHECK(Found("name=nothing")["via"].AsString() == "karmada-search");
  CHECK(Found("name=nothing")["items"].empty());
}

TEST_CASE_METHOD(Cached, "Serve: karmada-search is asked for the one cluster that is searched") {
  // One that does not know the choice, as upstream's, answers with all.
  Say(200, List(absl::StrCat(Pod("member2", "b"), ",", Pod("member1", "a"))));
  CHECK(Places("cluster=member2") == std::multiset<std::string>{"member2 Pod b"});
  REQUIRE(asked().size() == 1);
  CHECK_THAT(asked()[0], Contains("cluster=member2"));
  // And what it has of others says nothing about this one.
  Say(200, List(Pod("member1", "a")));
  CHECK(Places("cluster=member2&name=lone") == std::multiset<std::string>{"member2 Pod lone"});
}

TEST_CASE_METHOD(Cached, "Serve: members are asked for what karmada-search does not have") {
  const std::string body =
      GENERATE(as<std::string>(),
               R"({"kind": "Status", "code": 404, "message": "no ResourceRegistry selects"})",
               R"({"kind": "PodList", "items": []})");
  // Upstream's has an empty list for what no registry selects.
  Say(absl::StrContains(body, "404") ? 404 : 200, body);
  const json::Value found = Found("name=lone");
  CHECK(found["via"].AsString() == "members");
  CHECK(found["items"].size() == 1);
  CHECK(found["unread"].empty());
  CHECK(asked().size() == 1);
}

}  // namespace lens::serve
