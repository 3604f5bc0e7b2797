// Who answers which request: a row for each kind of request.
#include "search/proxy/internal/routing.h"

#include <catch2/catch.hpp>

#include "api/search_paths.h"
#include "tests/search/proxy/requests.h"

namespace search {
namespace {

constexpr bool kRegistered = true, kNotRegistered = false;

struct Row {
  std::string method, target;
  Route route;
};

TEST_CASE("requests for registered resources") {
  const std::vector<Row> rows = {
      {"GET", "/api/v1/namespaces/ns/pods/x", Route::kCache},
      {"HEAD", "/api/v1/namespaces/ns/pods/x", Route::kCache},
      {"GET", "/api/v1/namespaces/ns/pods", Route::kCache},
      {"GET", "/api/v1/pods", Route::kCache},
      {"GET", "/api/v1/pods?watch=true", Route::kCache},
      {"GET", "/api/v1/watch/pods", Route::kCache},
      {"GET", "/api/v1/watch/namespaces/ns/pods/x", Route::kCache},
      {"GET", "/api/v1/pods?cluster=member1", Route::kCache},
      {"GET", "/api/v1/namespaces/ns", Route::kCache},
      {"POST", "/api/v1/namespaces/ns/pods/x/exec", Route::kMember},
      {"POST", "/api/v1/namespaces/ns/pods/x/attach", Route::kMember},
      {"POST", "/api/v1/namespaces/ns/pods/x/portforward", Route::kMember},
      {"POST", "/api/v1/namespaces/ns/pods/x/eviction", Route::kMember},
      {"POST", "/api/v1/namespaces/ns/pods/x/binding", Route::kMember},
      {"POST", "/api/v1/namespaces/ns/serviceaccounts/x/token", Route::kMember},
      {"GET", "/api/v1/namespaces/ns/pods/x/exec", Route::kMember},
      {"GET", "/api/v1/namespaces/ns/pods/x/log?follow=true", Route::kMember},
      {"GET", "/api/v1/namespaces/ns/pods/x/status", Route::kMember},
      {"GET", "/apis/apps/v1/namespaces/ns/deployments/x/scale", Route::kMember},
      {"GET", "/api/v1/namespaces/ns/services/x/proxy/a/b", Route::kMember},
      {"PUT", "/api/v1/namespaces/ns/pods/x", Route::kMember},
      {"PUT", "/api/v1/namespaces/ns/pods/x/status", Route::kMember},
      {"PATCH", "/api/v1/namespaces/ns/pods/x", Route::kMember},
      {"PATCH", "/apis/apps/v1/namespaces/ns/deployments/x/scale", Route::kMember},
      {"DELETE", "/api/v1/namespaces/ns/pods/x", Route::kMember},
      {"OPTIONS", "/api/v1/namespaces/ns/pods/x", Route::kMember},
      // A caller who chooses a cluster may do there what several cannot do at once.
      {"POST", "/api/v1/namespaces/ns/pods?cluster=member1", Route::kMember},
      {"DELETE", "/api/v1/namespaces/ns/pods?cluster=member1", Route::kMember},
  };
  for (const Row& row : rows) {
    CAPTURE(row.method, row.target);
    const auto route = RouteOf(Inner(row.method, row.target), kRegistered);
    REQUIRE(route.ok());
    CHECK(*route == row.route);
  }
}

TEST_CASE("what cannot be done to objects of several clusters is refused") {
  struct Refusal {
    std::string method, target, message;
  };
  const std::string choose =
      " of all clusters together; choose one: proxying/<cluster>/proxy, cluster=<cluster> or the "
      "header X-Karmada-Cluster";
  const std::vector<Refusal> rows = {
      {"POST", "/api/v1/namespaces/ns/pods",
       absl::StrCat("create is not supported on resources of kind \"pods\"", choose)},
      {"POST", "/apis/apps/v1/namespaces/ns/deployments/x",
       absl::StrCat("create is not supported on resources of kind \"deployments.apps\"", choose)},
      {"DELETE", "/api/v1/namespaces/ns/pods",
       absl::StrCat("deletecollection is not supported on resources of kind \"pods\"", choose)},
      {"PUT", "/api/v1/namespaces/ns/pods",
       "update is not supported on resources of kind \"pods\""},
      {"PATCH", "/api/v1/pods", "patch is not supported on resources of kind \"pods\""},
      {"OPTIONS", "/api/v1/pods", "OPTIONS is not supported on resources of kind \"pods\""},
      {"POST", "/api/v1/watch/pods", "POST is not supported on resources of kind \"pods\""},
  };
  for (const Refusal& row : rows) {
    CAPTURE(row.method, row.target);
    const absl::Status refused = RouteOf(Inner(row.method, row.target), kRegistered).status();
    const kube::server::ApiError error = kube::server::ErrorOf(refused);
    CHECK(error.code == 405);
    CHECK(error.reason == "MethodNotAllowed");
    CHECK(error.message == row.message);
  }
}

TEST_CASE("everything else is the control plane's") {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"GET", ""},
      {"GET", "/api"},
      {"GET", "/apis/apps/v1"},
      {"GET", "/openapi/v3"},
      {"GET", "/version"},
      {"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"},
      {"GET", "/api/v1/namespaces/ns/secrets/x"},
      {"GET", "/api/v1/secrets?watch=1"},
      {"POST", "/api/v1/namespaces/ns/secrets"},
      {"PUT", "/api/v1/namespaces/ns/secrets/x"},
      {"PATCH", "/api/v1/namespaces/ns/secrets/x"},
      {"DELETE", "/api/v1/namespaces/ns/secrets"},
      {"GET", "/apis/search.karmada.io/v1alpha1/resourceregistries"},
  };
  for (const auto& [method, target] : rows) {
    CAPTURE(method, target);
    const auto route = RouteOf(Inner(method, target), kNotRegistered);
    REQUIRE(route.ok());
    CHECK(*route == Route::kControlPlane);
  }
}

TEST_CASE("a chosen cluster is no way around clusters/proxy") {
  for (const std::string target : {"/api/v1/secrets?cluster=member1", "/api?cluster=member1"}) {
    CAPTURE(target);
    CHECK(CodeOf(RouteOf(Inner("GET", target), kNotRegistered).status()) == 400);
  }
}

TEST_CASE("whoever asks for a cluster that is not selected learns which ones are") {
  const auto message = [](const std::vector<std::string>& clusters) {
    const InnerRequest inner = Inner("GET", "/api/v1/namespaces/ns/pods?cluster=member3");
    return kube::server::ErrorOf(RouteOf(inner, kNotRegistered, clusters).status()).message;
  };
  CHECK(
      message({"member1", "member2"}) ==
      "cluster member3 was chosen, but no ResourceRegistry selects pods of namespace ns there; it "
      "is selected in clusters [member1, member2]; for all that the cluster has use "
      "clusters/member3/proxy of cluster.karmada.io");
  CHECK_THAT(message({}), Catch::Contains("selects pods of namespace ns there; for all"));
  CHECK(SelectedIn(std::vector<std::string>(11, "m")) ==
        "; it is selected in clusters [m, m, m, m, m, m, m, m, m, m, ...]");
}

TEST_CASE("a client whose server is one cluster gets its discovery, and nothing of the rest") {
  const auto route = [](const std::string& method, const std::string& target, bool registered) {
    const auto inner =
        InnerRequestOf(Outer(method, absl::StrCat(api::kProxyingPath, "/member1/proxy", target)));
    REQUIRE(inner.ok());
    return RouteOf(*inner, registered);
  };
  for (const std::string target : {"/api", "/apis", "/apis/", "/api/v1", "/apis/apps/v1",
                                   "/openapi/v2", "/openapi/v3/apis/apps/v1", "/version"}) {
    CAPTURE(target);
    const auto discovery = route("GET", target, kNotRegistered);
    REQUIRE(discovery.ok());
    CHECK(*discovery == Route::kControlPlane);
    CHECK(CodeOf(route("POST", target, kNotRegistered).status()) == 400);
  }
  // It would show, or change, what is the control plane's.
  for (const auto& [method, target] :
       {std::pair("GET", "/api/v1/secrets"), std::pair("DELETE", "/api/v1/namespaces/ns/secrets/x"),
        std::pair("POST", "/api/v1/namespaces/ns/secrets"), std::pair("GET", "/metrics"),
        std::pair("GET", "/healthz"), std::pair("GET", "/"), std::pair("GET", "/logs/x"),
        std::pair("GET", "/apis/search.karmada.io/v1alpha1/proxying/karmada/proxy/api/v1/pods")}) {
    CAPTURE(method, target);
    CHECK(CodeOf(route(method, target, kNotRegistered).status()) == 400);
  }
  CHECK(*route("GET", "/api/v1/pods", kRegistered) == Route::kCache);
  CHECK(*route("POST", "/api/v1/namespaces/ns/pods", kRegistered) == Route::kMember);
  CHECK(*route("DELETE", "/api/v1/namespaces/ns/pods", kRegistered) == Route::kMember);
}

TEST_CASE("a request that would come back to the proxy is refused") {
  const std::string again = absl::StrCat(kProxyUrl, "/api/v1/pods");
  CHECK(CodeOf(RouteOf(Inner("GET", again), kNotRegistered).status()) == 400);
}

}  // namespace
}  // namespace search
