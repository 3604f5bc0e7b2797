// The view of all members: always a list, from the cache or from OpenSearch.
#include "search/proxy/view_handler.h"

#include <catch2/catch.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "api/search_paths.h"
#include "base/json.h"
#include "search/proxy/cache_reads.h"
#include "tests/search/cache/members.h"
#include "tests/search/proxy/requests.h"

namespace search {
namespace {

using tests::kPods;

class Recorder : public base::HttpResponder {
 public:
  void Send(base::HttpResponse answer) override {
    response = std::move(answer);
    answered.Notify();
  }
  std::shared_ptr<base::HttpStream> StartStream(base::HttpResponse) override { return nullptr; }
  void Abort() override {}

  base::HttpResponse response;
  absl::Notification answered;
};

class NothingAllowed : public kube::aggregation::Authorizer {
 public:
  void Authorize(const kube::aggregation::Attributes& attributes, Done done) override {
    asked = absl::StrCat(attributes.verb, " ", attributes.resource, " ", attributes.ns, "/",
                         attributes.name);
    done(kube::aggregation::Decision{.allowed = false});
  }
  std::string asked;
};

struct Fixture : tests::SearchMembers {
  // Returns the code and the names of a list, or the message of an error.
  std::string Ask(const std::string& target) { return Ask(handler, target); }
  std::string Ask(ViewHandler& from, const std::string& target) {
    const auto responder = std::make_shared<Recorder>();
    kube::aggregation::ApiRequest request;
    request.http = Outer("GET", absl::StrCat(api::kSearchPath, target));
    from.Handle(std::move(request), responder);
    responder->answered.WaitForNotification();
    const json::Value body = json::Parse(responder->response.body).value_or(json::Value());
    std::string out = absl::StrCat(responder->response.code, " ", body["message"].AsString());
    for (const json::Value& item : body["items"].items()) {
      const kube::Object object(item);
      absl::StrAppend(&out, object.Annotation("resource.karmada.io/cached-from-cluster"), "/",
                      object.name(), " ");
    }
    return out;
  }

  absl::Status registries;  // Whether they are known.
  std::string searched;     // What OpenSearch was asked for.
  CacheReads reads{{.cache = cache(),
                    .clock = clock,
                    .resource = [](const kube::Gvr&) { return std::optional(kPods); },
                    .clusters = [](const kube::Gvr&) -> std::vector<std::string> {
                      return {"m1", "m2"};
                    }}};
  ViewHandler::Parts Parts() {
    return {.is_registered = [this](const kube::server::RequestInfo& info,
                                    const std::string& cluster) -> absl::StatusOr<bool> {
              if (!registries.ok()) return registries;
              return info.gvr == kPods.gvr() && cluster != "m3";
            },
            .cache = reads,
            .open_search =
                [this](kube::aggregation::ApiRequest request,
                       const std::shared_ptr<base::HttpResponder>& responder) {
                  searched = absl::StrCat(request.info.verb, " ", request.http.target);
                  responder->Send({});
                }};
  }
  ViewHandler handler{Parts()};
};

TEST_CASE("the view lists the objects of all members, and all of one name") {
  Fixture f;
  REQUIRE(f.Cache({"m1", "m2"}));
  f.Put("m1", "a", "x");
  f.Put("m2", "a", "x");
  f.Put("m2", "b", "y");
  CHECK(f.Ask("/cache/api/v1/pods") == "200 m1/x m2/x m2/y ");
  CHECK(f.Ask("/cache/api/v1/namespaces/b/pods") == "200 m2/y ");
  CHECK(f.Ask("/cache/api/v1/namespaces/a/pods/x") == "200 m1/x m2/x ");
  CHECK(f.Ask("/cache/api/v1/namespaces/a/pods/none") == "200 ");
  CHECK(f.Ask("/cache/api/v1/pods?limit=1") == "200 m1/x ");
  CHECK(f.Ask("/cache/api/v1/pods?cluster=m2") == "200 m2/x m2/y ");
  CHECK(f.Ask("/cache/api/v1/namespaces/a/pods/x?cluster=m1") == "200 m1/x ");
}

TEST_CASE("what no registry selects is not found, and OpenSearch is asked by its own path") {
  Fixture f;
  CHECK(f.Ask("/cache/api/v1/secrets") == "404 no ResourceRegistry selects v1/secrets");
  CHECK(f.Ask("/cache/api/v1/pods?cluster=m3") ==
        "404 no ResourceRegistry selects v1/pods of cluster m3; it is selected in clusters [m1, "
        "m2]");
  CHECK_THAT(f.Ask("/cache/api/v1/pods?cluster=m1,m2"),
             Catch::StartsWith("400 \"m1,m2\" is not the name of a cluster"));
  CHECK(f.Ask("/cache") == "400 invalid requestInfo parts: [search cache]");
  CHECK(f.Ask("/opensearch/api/v1/secrets?limit=5") == "200 ");
  CHECK(f.searched == "list /api/v1/secrets?limit=5");
}

TEST_CASE("what cannot be the name of a cluster is refused by both lists") {
  Fixture f;
  for (const char* from : {"/cache", "/opensearch"}) {
    CHECK_THAT(f.Ask(absl::StrCat(from, "/api/v1/pods?cluster=m1,m2")),
               Catch::StartsWith("400 \"m1,m2\" is not the name of a cluster"));
  }
  CHECK(f.searched.empty());
}

TEST_CASE("the view keeps no selectors that are longer than may be, and asks for no rights") {
  Fixture f;
  NothingAllowed authorizer;
  CacheReads reads{{.cache = f.cache(),
                    .clock = f.clock,
                    .resource = [](const kube::Gvr&) { return std::optional(kPods); },
                    .clusters = [](const kube::Gvr&) { return std::vector<std::string>(); },
                    .authorizer = &authorizer}};
  ViewHandler view{{.is_registered = f.Parts().is_registered,
                    .cache = reads,
                    .open_search = f.Parts().open_search,
                    .read_authorizer = &authorizer}};
  std::string many = "a";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&many, ",a", i);
  for (const char* from : {"/cache", "/opensearch"}) {
    CHECK_THAT(f.Ask(view, absl::StrCat(from, "/api/v1/pods?labelSelector=", many)),
               Catch::StartsWith("400 the selectors have 1001 requirements"));
  }
  CHECK(authorizer.asked.empty());
}

TEST_CASE("the view waits until it is known what the registries select") {
  Fixture f;
  f.registries = kube::server::ServiceUnavailable("wait", absl::Seconds(1));
  CHECK(f.Ask("/cache/api/v1/pods") == "503 wait");
  CHECK(f.Ask("/cache/api/v1/secrets") == "503 wait");
}

TEST_CASE("the view shows nothing that its reader may not read in the control plane") {
  Fixture f;
  REQUIRE(f.Cache({"m1"}));
  NothingAllowed authorizer;
  CacheReads reads{{.cache = f.cache(),
                    .clock = f.clock,
                    .resource = [](const kube::Gvr&) { return std::optional(kPods); },
                    .clusters = [](const kube::Gvr&) { return std::vector<std::string>(); },
                    .authorizer = &authorizer}};
  ViewHandler view{{.is_registered = f.Parts().is_registered,
                    .cache = reads,
                    .open_search = f.Parts().open_search,
                    .read_authorizer = &authorizer}};
  CHECK_THAT(f.Ask(view, "/cache/api/v1/namespaces/a/pods/x"), Catch::StartsWith("403 "));
  CHECK(authorizer.asked == "list pods a/x");
  CHECK_THAT(f.Ask(view, "/opensearch/api/v1/secrets"), Catch::StartsWith("403 "));
  CHECK(authorizer.asked == "list secrets /");
  CHECK(f.searched.empty());
}

}  // namespace
}  // namespace search
