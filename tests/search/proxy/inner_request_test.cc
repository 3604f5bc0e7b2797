// What is inside a request to the proxy, and which paths are refused.
#include "search/proxy/internal/inner_request.h"

#include <catch2/catch.hpp>

#include "api/search_paths.h"
#include "tests/search/proxy/requests.h"

namespace search {
namespace {

TEST_CASE("the inner request is what follows the proxy's path") {
  struct Row {
    std::string method, target;
    std::string verb, resource, ns, name, subresource;
  };
  const std::vector<Row> rows = {
      {"GET", "/api/v1/pods", "list", "v1/pods", "", "", ""},
      {"HEAD", "/api/v1/pods", "list", "v1/pods", "", "", ""},
      {"GET", "/api/v1/pods/", "list", "v1/pods", "", "", ""},
      {"GET", "/api/v1/pods?watch=true", "watch", "v1/pods", "", "", ""},
      {"GET", "/api/v1/pods?watch=1", "watch", "v1/pods", "", "", ""},
      {"GET", "/api/v1/pods?watch", "watch", "v1/pods", "", "", ""},
      {"GET", "/api/v1/pods?watch=False", "list", "v1/pods", "", "", ""},
      {"GET", "/api/v1/pods?watch=0", "list", "v1/pods", "", "", ""},
      {"GET", "/api/v1/watch/pods", "watch", "v1/pods", "", "", ""},
      {"GET", "/api/v1/watch/namespaces/ns/pods/x", "watch", "v1/pods", "ns", "x", ""},
      {"GET", "/api/v1/namespaces/ns/pods/x", "get", "v1/pods", "ns", "x", ""},
      {"GET", "/api/v1/namespaces/ns/pods/x?watch=true", "get", "v1/pods", "ns", "x", ""},
      {"GET", "/api/v1/namespaces/ns", "get", "v1/namespaces", "", "ns", ""},
      {"PUT", "/api/v1/namespaces/ns/status", "update", "v1/namespaces", "", "ns", "status"},
      {"GET", "/api/v1/namespaces/ns/pods/x/log", "get", "v1/pods", "ns", "x", "log"},
      {"POST", "/api/v1/namespaces/ns/pods/x/exec", "create", "v1/pods", "ns", "x", "exec"},
      {"POST", "/api/v1/namespaces/ns/pods", "create", "v1/pods", "ns", "", ""},
      {"PATCH", "/apis/apps/v1/namespaces/ns/deployments/d", "patch", "apps/v1/deployments", "ns",
       "d", ""},
      {"DELETE", "/apis/apps/v1/namespaces/ns/deployments", "deletecollection",
       "apps/v1/deployments", "ns", "", ""},
      {"DELETE", "/api/v1/nodes/n", "delete", "v1/nodes", "", "n", ""},
      {"GET", "/api/v1/namespaces/ns/services/s/proxy/a/b", "get", "v1/services", "ns", "s",
       "proxy"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.method, row.target);
    const InnerRequest inner = Inner(row.method, row.target);
    CHECK(inner.info.is_resource);
    CHECK(inner.info.verb == row.verb);
    CHECK(inner.info.gvr.ToString() == row.resource);
    CHECK(inner.info.key == kube::ObjectKey{row.ns, row.name});
    CHECK(inner.info.subresource == row.subresource);
    CHECK(inner.request.target == row.target);
    CHECK(inner.cluster.empty());
  }
}

TEST_CASE("paths of discovery are no resources") {
  for (const std::string path : {"", "/", "/api", "/apis", "/apis/apps/v1", "/api/v1", "/version",
                                 "/openapi/v3/apis/apps/v1", "/apis/"}) {
    CAPTURE(path);
    const InnerRequest inner = Inner("GET", path);
    CHECK_FALSE(inner.info.is_resource);
    CHECK(inner.request.target == (path.empty() ? "/" : path));
  }
}

TEST_CASE("a path that ends before the proxy leads nowhere") {
  const std::string base = api::kProxyingPath;
  for (const std::string path :
       {"", "/", "/karmada", "/karmada/", "/member1", "/member1/api/v1/pods",
        "/karmada/api/v1/pods", "//karmada/proxy/api", "/karmada//proxy", "/Karmada/proxy",
        "/karmada/proxying", "/%6barmada/proxy/api"}) {
    CAPTURE(path);
    CHECK(CodeOf(InnerRequestOf(Outer("GET", base + path)).status()) == 404);
  }
  // The decoded path leads here; whoever authorized the request may have seen another one.
  base::HttpRequest encoded = Outer("GET", base + "/karmada/proxy/api");
  encoded.target = "/apis/search.karmada.io/v1alpha1/proxyin%67/karmada/proxy/api";
  CHECK(CodeOf(InnerRequestOf(encoded).status()) == 400);
}

TEST_CASE("the path may name one cluster, which no other choice replaces") {
  const std::string base = absl::StrCat(api::kProxyingPath, "/member1/proxy");
  const auto inner = InnerRequestOf(Outer("GET", base + "/api/v1/pods?limit=5"));
  REQUIRE(inner.ok());
  CHECK(inner->cluster == "member1");
  CHECK(inner->cluster_in_path);
  CHECK(inner->request.target == "/api/v1/pods?limit=5");
  CHECK(inner->info.gvr.ToString() == "v1/pods");
  CHECK(InnerRequestOf(Outer("GET", base + "/api/v1/pods?cluster=member1"))->cluster == "member1");
  CHECK_FALSE(Inner("GET", "/api/v1/pods?cluster=member1").cluster_in_path);

  // Rights were asked about for member1 only.
  const auto other = InnerRequestOf(Outer("GET", base + "/api/v1/pods?cluster=member2")).status();
  CHECK(CodeOf(other) == 400);
  CHECK_THAT(std::string(other.message()), Catch::Contains("member1 and member2"));
  base::HttpRequest by_header = Outer("GET", base + "/api/v1/pods");
  SetHeader(by_header, "X-Karmada-Cluster", "member2");
  CHECK(CodeOf(InnerRequestOf(by_header).status()) == 400);
  // Nor is any other spelling of a name, or what is no name.
  for (const std::string name : {"member%31", "Member1", "member1,member2", "*", "a..b", ".", "..",
                                 "-a", "member1%2fproxy", "member1;x"}) {
    CAPTURE(name);
    const std::string path = absl::StrCat(api::kProxyingPath, "/", name, "/proxy/api/v1/pods");
    CHECK(CodeOf(InnerRequestOf(Outer("GET", path)).status()) == 404);
  }
}

TEST_CASE("what cannot be a cluster's name is refused with what is expected") {
  const absl::Status refused = TryInner("GET", "/api/v1/pods?cluster=a,b").status();
  CHECK(CodeOf(refused) == 400);
  CHECK_THAT(kube::server::ErrorOf(refused).message,
             Catch::StartsWith("\"a,b\" is not the name of a cluster: ") &&
                 Catch::Contains("take the name of one cluster"));
}

TEST_CASE("paths that programs read differently are refused, not normalised") {
  for (const std::string path : {
           "/api/v1/../../apis",
           "/api/v1/./pods",
           "/api/v1/%2e%2e/%2E%2e/apis",
           "/..",
           "/.",
           "/api/v1/%2e/pods",
           "//api/v1/pods",
           "/api//v1/pods",
           "/api/v1/pods//",
           "//",
           "/api/v1/namespaces/ns%2Fpods/x",
           "/api/v1/namespaces/a%2f..%2fb/pods",
           "/api/v1/namespaces//pods",
           "/api/v1/pods%00",
           "/api/v1/pods%0a",
           "/api/v1/pods%7f",
           "/api/v1/pods%",
           "/api/v1/pods%4",
           "/api/v1/pods%zz",
           "/api/v1/po ds",
           "/api/v1/pods\t",
           "/api/v1/pods\\x",
           "/api/v1/p\xc3\xb6"
           "ds",
           "/api/v1/namespaces/ns/services/s/proxy/../..",
           "/api/v1/namespaces/ns/services/s/proxy/%2e%2e/x",
           "/api/v1/nodes/n/proxy/a%2f..%2fb",
           "/api/v1/proxy/namespaces/proxy/pods/a%2fb",
           "/api/v1/watch/namespaces/proxy/pods%2fx",
       }) {
    CAPTURE(path);
    CHECK(CodeOf(TryInner("GET", path).status()) == 400);
  }
  for (const std::string query : {"?labelSelector=a b", "?x=\x01", "?x=\xff", "?x=1#/../api"}) {
    CAPTURE(query);
    CHECK(CodeOf(TryInner("GET", "/api/v1/pods" + query).status()) == 400);
  }
}

TEST_CASE("the path of an application behind the cluster is its own") {
  for (const std::string path : {"/api/v1/namespaces/ns/services/s/proxy/a%2Fb//c/?cluster=blue",
                                 "/api/v1/nodes/n/proxy//metrics", "/api/v1/nodes/n/proxy/"}) {
    CAPTURE(path);
    const InnerRequest inner = Inner("GET", path);
    CHECK(inner.request.target == path);
    CHECK(inner.info.subresource == "proxy");
    CHECK(inner.cluster.empty());
  }
}

TEST_CASE("encoded characters that mean nothing stay encoded") {
  const InnerRequest inner = Inner("GET", "/api/v1/namespaces/ns/pods/a%3Ab?x=%2F&y");
  CHECK(inner.info.key.name == "a:b");
  CHECK(inner.request.target == "/api/v1/namespaces/ns/pods/a%3Ab?x=%2F&y");
}

TEST_CASE("a caller chooses a cluster by parameter or header") {
  const InnerRequest by_query = Inner("GET", "/api/v1/pods?limit=5&cluster=member1&x=%20");
  CHECK(by_query.cluster == "member1");
  CHECK(by_query.request.target == "/api/v1/pods?limit=5&x=%20");
  CHECK(by_query.request.Query("cluster").empty());
  CHECK(by_query.request.Query("limit") == "5");
  CHECK(Inner("GET", "/api/v1/pods?cluster=member1").request.target == "/api/v1/pods");

  base::HttpRequest request = Outer("GET", absl::StrCat(kProxyUrl, "/api/v1/pods"));
  SetHeader(request, "X-Karmada-Cluster", "member2");
  SetHeader(request, "Accept", "*/*");
  const auto by_header = InnerRequestOf(request);
  REQUIRE(by_header.ok());
  CHECK(by_header->cluster == "member2");
  CHECK(by_header->request.headers.size() == 1);
  CHECK(by_header->request.fields.size() == 1);

  CHECK(CodeOf(TryInner("GET", "/api/v1/pods?cluster=").status()) == 400);
  CHECK(CodeOf(TryInner("GET", "/api/v1/pods?cluster=a&cluster=b").status()) == 400);
  CHECK(Inner("GET", "/api/v1/pods?cluster=a&cluster=a").cluster == "a");
  SetHeader(request, "X-Karmada-Cluster", "member2");
  CHECK(InnerRequestOf(request)->cluster == "member2");
  request.target += "?cluster=member1";
  CHECK(CodeOf(InnerRequestOf(request).status()) == 400);
}

}  // namespace
}  // namespace search
