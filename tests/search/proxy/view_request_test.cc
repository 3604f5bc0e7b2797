// What the view of all clusters is asked for, and what it refuses.
#include "search/proxy/internal/view_request.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "api/search_paths.h"
#include "tests/search/proxy/requests.h"

namespace search {
namespace {

absl::StatusOr<ViewRequest> View(const std::string& target, const std::string& method = "GET") {
  return ViewRequestOf(Outer(method, absl::StrCat(api::kSearchPath, target)));
}

TEST_CASE("the view is asked for the path of a resource") {
  struct Row {
    std::string target, verb, resource, ns, name;
  };
  for (const Row& row : std::vector<Row>{
           {"/cache/api/v1/pods", "list", "v1/pods", "", ""},
           {"/cache/api/v1/namespaces/ns/pods?labelSelector=a", "list", "v1/pods", "ns", ""},
           {"/cache/api/v1/namespaces/ns/pods/web", "get", "v1/pods", "ns", "web"},
           {"/cache/api/v1/namespaces/ns", "get", "v1/namespaces", "", "ns"},
           {"/opensearch/apis/apps/v1/deployments/", "list", "apps/v1/deployments", "", ""},
       }) {
    CAPTURE(row.target);
    const auto view = View(row.target);
    REQUIRE(view.ok());
    CHECK(view->info.verb == row.verb);
    CHECK(view->info.gvr.ToString() == row.resource);
    CHECK(view->info.key == kube::ObjectKey{row.ns, row.name});
    CHECK(absl::StrCat(view->category == ViewRequest::Category::kCache ? "/cache" : "/opensearch",
                       view->request.target) == row.target);
  }
}

TEST_CASE("other requests to the view are refused with upstream's words") {
  struct Row {
    std::string method, target;
    int code;
    std::string message;
  };
  for (const Row& row : std::vector<Row>{
           {"GET", "/cache/v1/pods", 400,
            "k8s native Request URL(v1/pods) is not a resource request"},
           {"GET", "/cache/apis/apps/v1", 400,
            "k8s native Request URL(apis/apps/v1) is not a resource request"},
           {"GET", "/cache/api/v1/namespaces/ns/pods/a/log", 400,
            "invalid request parts([pods a log]) for k8s native request URL"},
           {"GET", "/cache/api/v1/namespaces/ns/pods/a/log/b", 400,
            "invalid request parts([pods a log b]) for k8s native request URL"},
           {"GET", "/cache", 400, "invalid requestInfo parts: [search cache]"},
           {"GET", "/opensearch/", 400, "invalid requestInfo parts: [search opensearch]"},
           {"GET", "/foo/api/v1/pods", 404, "connect with unrecognized search category foo"},
           {"GET", "/cache/api/v1/pods?watch=true", 400,
            "the view of all clusters cannot be watched; watch through the proxy instead"},
           {"GET", "/cache/api/v1/watch/pods", 400,
            "the view of all clusters cannot be watched; watch through the proxy instead"},
           {"POST", "/cache/api/v1/pods", 405,
            "POST is not supported on resources of kind \"search.karmada.io\""},
       }) {
    CAPTURE(row.method, row.target);
    const kube::server::ApiError error =
        kube::server::ErrorOf(View(row.target, row.method).status());
    CHECK(error.code == row.code);
    CHECK(error.message == row.message);
  }
}

TEST_CASE("paths that programs read differently are refused by the view, too") {
  for (const std::string target : {"/cache/api/v1/../../x", "/cache//api/v1/pods", "//cache/api",
                                   "/cache/api/v1/namespaces/a%2Fb/pods", "/cach%65/api/v1/pods"}) {
    CAPTURE(target);
    CHECK(CodeOf(View(target).status()) >= 400);
  }
  CHECK(IsViewPath("/apis/search.karmada.io/v1alpha1/search/cache/api/v1/pods"));
  CHECK_FALSE(IsViewPath("/apis/search.karmada.io/v1alpha1/searching"));
}

}  // namespace
}  // namespace search
