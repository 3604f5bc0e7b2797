// What method and path of a request stand for.
#include <catch2/catch.hpp>

#include "kube/server/request_info.h"

namespace kube::server {
namespace {

std::string Summary(absl::string_view method, absl::string_view path, bool watch = false) {
  const RequestInfo info = ReadRequest(method, path, watch);
  if (!info.is_resource) return info.verb;
  return info.verb + " " + info.gvr.group + "/" + info.gvr.version + " " + info.ResourceText() +
         " " + info.key.ns + "/" + info.key.name + info.sub_path;
}

TEST_CASE("a path stands for a verb, a resource and an object") {
  struct Case {
    const char *method, *path, *summary;
  };
  const Case cases[] = {
      {"GET", "/api/v1/pods", "list /v1 pods /"},
      {"GET", "/api/v1/namespaces/a/pods/", "list /v1 pods a/"},
      {"HEAD", "/api/v1/namespaces/a/pods/b", "get /v1 pods a/b"},
      {"GET", "/api/v1/namespaces/a/pods/b/log", "get /v1 pods/log a/b"},
      {"POST", "/apis/apps/v1/namespaces/a/deployments", "create apps/v1 deployments a/"},
      {"PUT", "/apis/apps/v1/namespaces/a/deployments/b/status",
       "update apps/v1 deployments/status a/b"},
      {"PATCH", "/apis/apps/v1/namespaces/a/deployments/b", "patch apps/v1 deployments a/b"},
      {"DELETE", "/api/v1/nodes/n", "delete /v1 nodes /n"},
      {"DELETE", "/api/v1/nodes", "deletecollection /v1 nodes /"},
      {"GET", "/api/v1/namespaces", "list /v1 namespaces /"},
      {"GET", "/api/v1/namespaces/a", "get /v1 namespaces /a"},
      {"PUT", "/api/v1/namespaces/a/finalize", "update /v1 namespaces/finalize /a"},
      {"GET", "/api/v1/watch/namespaces/a/pods", "watch /v1 pods a/"},
      {"GET", "/api/v1/watch/nodes/n", "watch /v1 nodes /n"},
      {"GET", "/api/v1/proxy/nodes/n/x", "proxy /v1 nodes /n"},
      {"GET", "/apis/search.karmada.io/v1alpha1/proxying/karmada/proxy//api/v1/pods/",
       "get search.karmada.io/v1alpha1 proxying/proxy /karmada/api/v1/pods"},
      {"GET", "/api/v1", "get"},
      {"GET", "/api/v1/watch", "get"},
      {"POST", "/apis/apps/v1", "post"},
      {"GET", "/", "get"},
      {"OPTIONS", "/healthz", "options"}};
  for (const Case& c : cases) {
    INFO(c.method << " " << c.path);
    CHECK(Summary(c.method, c.path) == c.summary);
  }
}

TEST_CASE("the watch parameter counts for collections only, as Go decodes it") {
  CHECK(Summary("GET", "/api/v1/pods", true) == "watch /v1 pods /");
  CHECK(Summary("GET", "/api/v1/namespaces/a/pods/b", true) == "get /v1 pods a/b");
  CHECK(Summary("DELETE", "/api/v1/pods", true) == "deletecollection /v1 pods /");
  for (const char* value : {"1", "true", "True", "yes", ""}) {
    base::HttpRequest request;
    request.query = {{"watch", value}, {"watch", "false"}};
    CHECK(QueryFlag(request, "watch"));
  }
  for (const char* value : {"0", "false", "FALSE"}) {
    base::HttpRequest request;
    request.query = {{"watch", value}};
    CHECK_FALSE(QueryFlag(request, "watch"));
  }
  CHECK_FALSE(QueryFlag({}, "watch"));
}

}  // namespace
}  // namespace kube::server
