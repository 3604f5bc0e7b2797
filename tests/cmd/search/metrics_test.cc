// What /metrics says of the cache, of registries and of requests.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/resource_registry.h"
#include "base/files.h"
#include "cmd/search/request_subject.h"
#include "tests/cmd/search/search_plane.h"
#include "tests/support/eventually.h"

namespace tests {
namespace {

const kube::Resource kConfigMaps{{"", "v1", "ConfigMap"}, "configmaps", true};
const kube::Resource kLeases{{"coordination.k8s.io", "v1", "Lease"}, "leases", true};

// Returns whether a line of the metrics begins with this.
bool Shows(SearchPlane& plane, const std::string& series) {
  return absl::StrContains(plane.Get("/metrics").body, absl::StrCat("\n", series));
}

// Returns -1 when there is no such series.
double ValueOf(SearchPlane& plane, const std::string& series) {
  const std::string text = plane.Get("/metrics").body;
  const size_t at = text.find(absl::StrCat("\n", series, " "));
  if (at == std::string::npos) return -1;
  const absl::string_view rest = absl::string_view(text).substr(at + series.size() + 2);
  double value = -1;
  return absl::SimpleAtod(rest.substr(0, rest.find('\n')), &value) ? value : -1;
}

std::string OfCache(const std::string& metric, const std::string& cluster,
                    const std::string& more = "") {
  return absl::StrCat("karmada_search_cache_", metric, R"({group="",member_cluster=")", cluster,
                      "\",", more, R"(resource="configmaps",version="v1"})");
}

TEST_CASE("the metrics have objects, lag and errors of each resource of each cluster") {
  SearchPlane plane;
  plane.CreateRegistry("all");
  REQUIRE(Eventually([&] { return Shows(plane, OfCache("synced", "member2") + " 1"); }));
  CHECK(Shows(plane, OfCache("synced", "member1") + " 1"));
  const double objects = ValueOf(plane, OfCache("objects", "member1"));
  CHECK(objects >= 0);
  plane.Create(plane.cluster("member1"), kConfigMaps,
               "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: one}}");
  CHECK(Eventually([&] { return ValueOf(plane, OfCache("objects", "member1")) == objects + 1; }));
  CHECK(Shows(plane, OfCache("lag_seconds", "member1")));
  CHECK_FALSE(absl::StrContains(plane.Get("/metrics").body, "karmada_search_cache_last_error{"));

  plane.member("member2").faults().SetPartitioned(true);
  const std::string error = OfCache("last_error", "member2", R"(reason="UNAVAILABLE",)");
  REQUIRE(Eventually([&] { return Shows(plane, error + " 1"); }));
  CHECK(Shows(plane, OfCache("synced", "member2") + " 0"));
  CHECK(Shows(plane, OfCache("synced", "member1") + " 1"));
  plane.member("member2").faults().SetPartitioned(false);
  // Nothing changes in the member: that it accepts a watch is enough.
  CHECK(Eventually([&] { return Shows(plane, OfCache("synced", "member2") + " 1"); }));
  CHECK_FALSE(Shows(plane, error));

  REQUIRE(plane.search().Delete(api::ResourceRegistryResource(), {"", "all"}, {}, {}).ok());
  CHECK(Eventually([&] { return !Shows(plane, "karmada_search_cache_"); }));
}

TEST_CASE("every metric that is served is described in docs/metrics.md") {
  SearchPlane plane;
  plane.CreateRegistry("all");
  REQUIRE(Eventually([&] { return Shows(plane, OfCache("lag_seconds", "member2")); }));
  const std::string page = base::ReadFile("docs/metrics.md").value();
  const std::string described = page.substr(page.find("## karmada-search"));
  int families = 0;
  for (const absl::string_view line : absl::StrSplit(plane.Get("/metrics").body, '\n')) {
    if (!absl::StartsWith(line, "# TYPE ")) continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    const std::string name = absl::StartsWith(words.at(2), "process_") ? "process_*" : words.at(2);
    INFO(name);
    CHECK(absl::StrContains(described, absl::StrCat("`", name, "`")));
    ++families;
  }
  CHECK(families > 10);
}

TEST_CASE("the metrics and the conditions have what a registry names and nobody has") {
  SearchPlane plane;
  plane.Create(plane.search(), api::ResourceRegistryResource(), R"(
apiVersion: search.karmada.io/v1alpha1
kind: ResourceRegistry
metadata: {name: misspelt}
spec:
  targetCluster: {clusterNames: [member1, membre2]}
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: ConfigMop}]
)");
  REQUIRE(Eventually([&] {
    return Shows(plane, R"(karmada_search_registry_absent_clusters{registry="misspelt"} 1)");
  }));
  CHECK(Shows(plane, R"(karmada_search_registry_unresolved_kinds{registry="misspelt"} 1)"));
  const auto message = [&](const char* type) {
    const auto object = plane.search().Get(api::ResourceRegistryResource(), {"", "misspelt"}, {});
    REQUIRE(object.ok());
    const json::Value* found = kube::FindCondition(object->status()["conditions"], type);
    if (found == nullptr || (*found)["status"].AsString() != "False") return std::string();
    return (*found)["message"].ToString();
  };
  CHECK(Eventually([&] { return absl::StrContains(message("ClustersResolved"), "membre2"); }));
  CHECK(absl::StrContains(message("KindsResolved"), "ConfigMop"));
  CHECK(absl::StrContains(message("Synced"), "membre2"));
  CHECK(absl::StrContains(message("Synced"), "ConfigMop"));
}

TEST_CASE("the metrics of requests have verb, resource and the part that has answered") {
  SearchPlane plane;
  plane.CreateRegistry("all");
  REQUIRE(Eventually([&] { return Shows(plane, OfCache("synced", "member1") + " 1"); }));
  const auto request = [](const std::string& endpoint, const std::string& resource) {
    return absl::StrCat(R"(apiserver_request_total{code="200",endpoint=")", endpoint,
                        R"(",group="",resource=")", resource,
                        R"(",subresource="",verb="LIST",version="v1"} )");
  };
  REQUIRE(plane.Get(absl::StrCat(kProxyPath, "/api/v1/configmaps")).code == 200);
  REQUIRE(plane.Get(absl::StrCat(kViewPath, "/api/v1/configmaps")).code == 200);
  CHECK(Eventually([&] { return Shows(plane, request("proxy", "configmaps") + "1"); }));
  CHECK(Eventually([&] { return Shows(plane, request("cache", "configmaps") + "1"); }));
  CHECK(Shows(plane,
              "apiserver_request_duration_seconds_count{endpoint=\"proxy\",group=\"\","
              "resource=\"configmaps\",subresource=\"\",verb=\"LIST\",version=\"v1\"} 1"));
  // Names that callers invent make no series.
  plane.Get(absl::StrCat(kProxyPath, "/apis/a.example/v1/inventions"));
  CHECK(Eventually(
      [&] { return absl::StrContains(plane.Get("/metrics").body, R"(resource="other")"); }));
  CHECK_FALSE(absl::StrContains(plane.Get("/metrics").body, "inventions"));
  CHECK_FALSE(absl::StrContains(plane.Get("/metrics").body, "a.example"));
}

TEST_CASE("the metrics have the cause for which requests are refused") {
  SearchPlane plane({"--max-connections=10"});  // So 8 places for watches, one for every 2 KiB.
  const auto refused = [&](const std::string& cause) {
    return ValueOf(plane, absl::StrCat("karmada_refused_requests_total{cause=\"", cause, "\"}"));
  };
  for (const char* cause :
       {"reads", "writes", "watches", "handlers", "token-reviews", "access-reviews", "long-lists",
        "cached-reads", "waiting-reads", "sorted-lists", "searches", "search-memory", "bodies",
        "impersonations"}) {
    INFO(cause);
    CHECK(refused(cause) == 0);
  }
  const std::string long_watch = absl::StrCat(
      kProxyPath, "/api/v1/configmaps?watch=1&labelSelector=", std::string(20'000, 'a'));
  CHECK(plane.GetAs(plane.ClientCertificate("alice", "shop"), "", long_watch).code == 429);
  CHECK(refused("watches") == 1);
  CHECK(refused("reads") == 0);
}

std::string SubjectText(const std::string& method, const std::string& path) {
  kube::aggregation::ApiRequest request;
  request.http.method = method;
  request.http.path = path;
  request.info = kube::server::ReadRequest(request.http);
  const auto subject =
      cmd::SubjectOf(request, [](const kube::Gvr& gvr) { return gvr.resource == "pods"; });
  return absl::StrCat(subject.endpoint, "|", subject.verb, "|", subject.gvr.ToString(), "|",
                      subject.subresource);
}

TEST_CASE("the subject of a request is what it asks for behind the proxy or the view") {
  const std::string own = "/apis/search.karmada.io/v1alpha1";
  CHECK(SubjectText("GET", own + "/resourceregistries/a/status") ==
        "|get|search.karmada.io/v1alpha1/resourceregistries|status");
  CHECK(SubjectText("POST", own + "/proxying/karmada/proxy/api/v1/namespaces/a/pods/b/exec") ==
        "proxy|create|v1/pods|exec");
  CHECK(SubjectText("POST", own + "/proxying/karmada/proxy/api/v1/namespaces/a/pods/b/zzz") ==
        "proxy|create|v1/pods|other");
  CHECK(SubjectText("GET", own + "/search/opensearch/api/v1/pods") == "opensearch|list|v1/pods|");
  CHECK(SubjectText("GET", own + "/search/nothing/api/v1/pods") == "|get|/other|");
  CHECK(SubjectText("GET", "/healthz") == "|get|/|");
}

TEST_CASE("the lease is released at the end, so that another replica writes the status at once") {
  SearchPlane plane;
  const auto holder = [&] {
    const auto lease =
        plane.cluster("karmada").Get(kLeases, {"karmada-system", "karmada-search"}, {});
    return lease.ok() ? lease->spec()["holderIdentity"].ToString() : "";
  };
  REQUIRE(Eventually([&] { return !holder().empty(); }));
  plane.Stop();
  CHECK(holder().empty());
}

}  // namespace
}  // namespace tests
