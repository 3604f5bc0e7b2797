#include "kube/discovery/rest_mapper.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "kube/client/errors.h"
#include "tests/kube/client/scripted_transport.h"
#include "tests/support/fake_clock.h"

namespace kube {
namespace {

using tests::Answer;

const char kAggregatedCore[] =
    R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2",
  "items":[{"versions":[{"version":"v1","freshness":"Current","resources":[
    {"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},"scope":"Namespaced",
     "verbs":["get","list","watch"],"shortNames":["po"],"subresources":[{"subresource":"status"}]},
    {"resource":"nodes","responseKind":{"kind":"Node"},"scope":"Cluster","verbs":["list"]},
    {"resource":"nokind","scope":"Cluster","verbs":["get"]}]}]}]})";

const char kAggregatedGroups[] = R"({"kind":"APIGroupDiscoveryList","items":[
  {"metadata":{"name":"autoscaling"},"versions":[
    {"version":"v2","resources":[{"resource":"hpas","responseKind":{"kind":"HPA"},"scope":"Namespaced"}]},
    {"version":"v1","resources":[{"resource":"hpas","responseKind":{"kind":"HPA"},"scope":"Namespaced"},
                                 {"resource":"olds","responseKind":{"kind":"Old"},"scope":"Cluster"}]}]},
  {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}]})";

using Content = std::map<std::string, std::string>;

const Content kAggregated = {{"/api", kAggregatedCore}, {"/apis", kAggregatedGroups}};

const Content kLegacy = {
    {"/api", R"({"kind":"APIVersions","versions":["v1"]})"},
    {"/apis", R"({"kind":"APIGroupList","groups":[
        {"name":"autoscaling","versions":[{"version":"v1"},{"version":"v2"}],
         "preferredVersion":{"version":"v2"}},
        {"name":"metrics.k8s.io","versions":[{"version":"v1beta1"}],
         "preferredVersion":{"version":"v1beta1"}}]})"},
    {"/api/v1", R"({"kind":"APIResourceList","resources":[
        {"name":"pods","kind":"Pod","namespaced":true,"verbs":["get","list","watch"],
         "shortNames":["po"]},
        {"name":"pods/status","kind":"Pod","namespaced":true,"verbs":["get"]},
        {"name":"nodes","kind":"Node","namespaced":false,"verbs":["list"]}]})"},
    {"/apis/autoscaling/v2",
     R"({"resources":[{"name":"hpas","kind":"HPA","namespaced":true,"verbs":[]}]})"},
    {"/apis/autoscaling/v1", R"({"resources":[{"name":"hpas","kind":"HPA","namespaced":true},
                                              {"name":"olds","kind":"Old","namespaced":false}]})"},
};

// A server that answers these paths and 404 to all others.
struct Fixture {
  explicit Fixture(Content content) : paths(std::move(content)) {}
  Content paths;
  absl::StatusOr<HttpResponse> failure = Answer(404, "404 page not found");
  std::shared_ptr<tests::ScriptedTransport> transport = std::make_shared<tests::ScriptedTransport>(
      [this](const HttpRequest& request, int) -> absl::StatusOr<HttpResponse> {
        const auto found = paths.find(request.path);
        return found == paths.end() ? failure : Answer(200, found->second);
      });
  tests::FakeClock clock;
  Client client{transport, {}, clock, nullptr};
};

std::vector<std::string> Describe(const Discovery& discovery) {
  std::vector<std::string> out;
  for (const ApiResource& r : discovery.resources) {
    out.push_back(absl::StrCat(r.resource.gvk.ApiVersion(), " ", r.resource.gvk.kind, " ",
                               r.resource.plural, r.resource.namespaced ? " ns" : "",
                               r.preferred ? " preferred" : ""));
  }
  return out;
}

}  // namespace

TEST_CASE("Aggregated and per-group discovery find the same resources") {
  for (const auto& paths : {kAggregated, kLegacy}) {
    Fixture f(paths);
    const auto found = Discover(f.client, {});
    INFO(found.status());
    REQUIRE(found.ok());
    CHECK(Describe(*found) == std::vector<std::string>{
                                  "v1 Pod pods ns preferred",
                                  "v1 Node nodes preferred",
                                  "autoscaling/v2 HPA hpas ns preferred",
                                  "autoscaling/v1 HPA hpas ns",
                                  "autoscaling/v1 Old olds preferred",
                              });
    CHECK(found->failed_groups == std::vector<std::string>{"metrics.k8s.io/v1beta1"});
    CHECK(found->resources[0].short_names == std::vector<std::string>{"po"});
    CHECK(found->resources[0].HasVerbs({"list", "watch"}));
    CHECK_FALSE(found->resources[1].HasVerbs({"list", "watch"}));
  }
}

TEST_CASE("Aggregated discovery takes two requests and offers both of its versions") {
  Fixture f(kAggregated);
  REQUIRE(Discover(f.client, {}).ok());
  const auto requests = f.transport->requests();
  CHECK(requests.size() == 2);
  CHECK_THAT(requests[0].accept, Catch::Contains("v=v2;as=APIGroupDiscoveryList") &&
                                     Catch::Contains("v=v2beta1;as=APIGroupDiscoveryList") &&
                                     Catch::EndsWith(",application/json"));
}

// A server that sends each document with the ETag that `etags` has for it, and answers 304 to
// requests that name it.
struct EtagFixture : Fixture {
  EtagFixture() : Fixture(kAggregated) {}
  HttpResponse AnswerTo(const HttpRequest& request) {
    const std::string etag = etags[request.path];
    if (!etag.empty() && request.if_none_match == etag) {
      ++unchanged;
      return {.code = 304, .headers = {{"etag", etag}}};
    }
    if (request.if_none_match == confused_by) return {.code = 304, .headers = {{"etag", "other"}}};
    const auto found = paths.find(request.path);
    if (found == paths.end()) return Answer(404, "404 page not found");
    HttpResponse answer = Answer(200, found->second);
    if (!etag.empty()) answer.headers["etag"] = etag;
    return answer;
  }
  std::map<std::string, std::string> etags = {{"/api", "\"core\""}, {"/apis", "\"groups\""}};
  std::string confused_by = "nothing";
  int unchanged = 0;
  Client asking{std::make_shared<tests::ScriptedTransport>(
                    [this](const HttpRequest& request, int) { return AnswerTo(request); }),
                {},
                clock,
                nullptr};
  RestMapper mapper{asking, clock};
};

TEST_CASE("What a server says is unchanged is not read again") {
  EtagFixture f;
  const auto first = f.mapper.Discover({});
  REQUIRE(first.ok());
  CHECK(f.unchanged == 0);
  CHECK(*f.mapper.Discover({}) == *first);  // The same shared result.
  CHECK(f.unchanged == 2);

  f.paths["/apis"] = R"({"kind":"APIGroupDiscoveryList","items":[]})";
  f.etags["/apis"] = "\"fewer\"";
  const auto second = f.mapper.Discover({});
  REQUIRE(second.ok());
  CHECK(f.unchanged == 3);
  CHECK(Describe(**second) ==
        std::vector<std::string>{"v1 Pod pods ns preferred", "v1 Node nodes preferred"});
  CHECK((*second)->failed_groups.empty());
  CHECK_FALSE(f.mapper.Known({"autoscaling", "v1", "Old"}).has_value());

  f.paths["/api"] = R"({"kind":"APIGroupDiscoveryList","items":[]})";
  f.etags = {{"/api", "\"none\""}, {"/apis", "\"groups\""}};
  f.paths["/apis"] = kAggregatedGroups;
  REQUIRE(f.mapper.Discover({}).ok());
  const auto last = f.mapper.Discover({});
  REQUIRE(last.ok());
  CHECK(Describe(**last).size() == 3);
  CHECK((*last)->failed_groups == std::vector<std::string>{"metrics.k8s.io/v1beta1"});
}

TEST_CASE("A look-up that asks the server again asks with the ETag, too") {
  EtagFixture f;
  const Gvk old = {"autoscaling", "v1", "Old"};
  REQUIRE(f.mapper.ForKindNow(old, {}).ok());
  f.clock.Advance(absl::Seconds(3));
  CHECK(f.mapper.ForKindNow(old, {})->plural == "olds");
  CHECK(f.unchanged == 2);
  // The result of another pass does not stay if the server reports otherwise.
  f.mapper.Update({});
  f.clock.Advance(absl::Seconds(3));
  CHECK(f.mapper.ForKindNow(old, {})->plural == "olds");
  f.mapper.Reset();
  CHECK(f.mapper.ForKindNow(old, {}).ok());
  CHECK(f.unchanged == 4);
}

TEST_CASE("Servers without ETags, and with wrong ones, are read as a whole each time") {
  EtagFixture f;
  SECTION("without") { f.etags = {}; }
  SECTION("lists of groups, with an ETag that says nothing about the groups") { f.paths = kLegacy; }
  SECTION("a 304 about something that was never read") {
    f.etags["/apis"] = "\"1\"";
    REQUIRE(f.mapper.Discover({}).ok());
    f.confused_by = f.etags["/apis"];
    f.etags = {{"/apis", "\"2\""}};
  }
  for (int i = 0; i < 2; ++i) {
    const auto found = f.mapper.Discover({});
    INFO(found.status());
    REQUIRE(found.ok());
    CHECK(Describe(**found).size() == 5);
    f.etags["/apis"].clear();
  }
}

TEST_CASE("A 304 that nobody has asked for is a failure of that root, not an empty server") {
  EtagFixture f;
  f.confused_by = "";
  CHECK_FALSE(f.mapper.Discover({}).ok());
  f.confused_by = "nothing";
  CHECK(f.mapper.Discover({}).ok());
}

TEST_CASE("Servers that serve the same share one copy of it") {
  EtagFixture a, b;
  const auto pool = std::make_shared<DiscoveryPool>();
  RestMapper first(a.asking, a.clock, pool), second(b.asking, b.clock, pool);
  CHECK(*first.Discover({}) == *second.Discover({}));
  b.paths["/apis"] = R"({"kind":"APIGroupDiscoveryList","items":[]})";
  b.etags["/apis"] = "\"fewer\"";
  CHECK(*first.Discover({}) != *second.Discover({}));
  CHECK(first.Known({"autoscaling", "v1", "Old"}).has_value());
  CHECK_FALSE(second.Known({"autoscaling", "v1", "Old"}).has_value());
}

TEST_CASE("Discovery fails only when nothing can be read") {
  Fixture only_groups(Content{{"/apis", kAggregatedGroups}});
  const auto found = Discover(only_groups.client, {});
  REQUIRE(found.ok());
  CHECK(found->resources.size() == 3);

  Fixture nothing(Content{});
  nothing.failure = Answer(403, R"({"kind":"Status","message":"no access"})");
  const absl::Status error = Discover(nothing.client, {}).status();
  CHECK(absl::IsPermissionDenied(error));
  CHECK_THAT(std::string(error.message()), Catch::Contains("get /api: no access"));
}

// Returns "/apis" with `count` groups of one version.
std::string ManyGroups(int count) {
  std::string groups;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&groups, groups.empty() ? "" : ",", R"({"name":"g)", i,
                    R"(.io","versions":[{"version":"v1"}]})");
  }
  return absl::StrCat(R"({"kind":"APIGroupList","groups":[)", groups, "]}");
}

TEST_CASE("A server that lists many groups and takes long for each does not hold discovery up") {
  Fixture f(kLegacy);
  f.paths["/apis"] = ManyGroups(500);
  const base::SteadyTime began = f.clock.SteadyNow();
  f.transport = std::make_shared<tests::ScriptedTransport>(
      [&](const HttpRequest& request, int) -> absl::StatusOr<HttpResponse> {
        const auto found = f.paths.find(request.path);
        if (found != f.paths.end()) return Answer(200, found->second);
        f.clock.Advance(request.timeout);
        return absl::DeadlineExceededError("no answer in time");
      });
  Client client{f.transport, {}, f.clock, nullptr};
  const auto discovery = Discover(client, {});
  REQUIRE(discovery.ok());
  CHECK(f.clock.SteadyNow() - began <= absl::Minutes(2));
  CHECK(f.transport->requests().size() < 20);
  // The groups that were read count; the others are not regarded as gone.
  CHECK(Describe(*discovery).size() == 2);
  CHECK(discovery->failed_groups.size() == 500);
}

TEST_CASE("A server that lists more groups than there can be is read up to a bound") {
  Fixture f(kLegacy);
  f.paths["/apis"] = ManyGroups(10'000);
  const auto discovery = Discover(f.client, {});
  REQUIRE(discovery.ok());
  CHECK(f.transport->requests().size() < 2100);
  CHECK(std::count(discovery->failed_groups.begin(), discovery->failed_groups.end(), "/apis") == 1);
}

TEST_CASE("A kind is mapped from the cache after the first look-up") {
  Fixture f(kAggregated);
  RestMapper mapper(f.client, f.clock);
  const auto pods = mapper.ForKind({"", "v1", "Pod"}, {});
  REQUIRE(pods.ok());
  CHECK(pods->plural == "pods");
  CHECK(pods->namespaced);
  CHECK(mapper.ForKind({"autoscaling", "v1", "Old"}, {})->plural == "olds");
  CHECK(f.transport->requests().size() == 2);
}

TEST_CASE("An unknown kind causes discovery again, but only every few seconds") {
  Fixture f(kAggregated);
  RestMapper mapper(f.client, f.clock);
  const Gvk wanted = {"autoscaling", "v2", "New"};
  for (int i = 0; i < 5; ++i) {
    const absl::Status missing = mapper.ForKind(wanted, {}).status();
    CHECK(absl::IsNotFound(missing));
    CHECK(missing.message() == "no matches for kind \"New\" in version \"autoscaling/v2\"");
  }
  CHECK(f.transport->requests().size() == 2);
  f.paths["/apis"] = R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"autoscaling"},
    "versions":[{"version":"v2","resources":[{"resource":"news","responseKind":{"kind":"New"}}]}]}]})";
  f.clock.Advance(absl::Seconds(3));
  CHECK(mapper.ForKind(wanted, {})->plural == "news");
  CHECK(f.transport->requests().size() == 4);
}

TEST_CASE("That a known kind has gone is found out when asked for, but only every few seconds") {
  Fixture f(kAggregated);
  RestMapper mapper(f.client, f.clock);
  const Gvk old = {"autoscaling", "v1", "Old"};
  REQUIRE(mapper.ForKindNow(old, {}).ok());
  f.paths["/apis"] = R"({"kind":"APIGroupDiscoveryList","items":[]})";
  CHECK(mapper.ForKindNow(old, {}).ok());
  CHECK(f.transport->requests().size() == 2);
  f.clock.Advance(absl::Seconds(3));
  for (int i = 0; i < 5; ++i) CHECK(IsNoSuchKind(mapper.ForKindNow(old, {}).status()));
  CHECK(f.transport->requests().size() == 4);
}

TEST_CASE("A kind of a group whose discovery failed is unavailable, and kept if it was known") {
  Fixture f(kAggregated);
  RestMapper mapper(f.client, f.clock);
  const Gvk metrics = {"metrics.k8s.io", "v1beta1", "NodeMetrics"};
  CHECK(absl::IsUnavailable(mapper.ForKind(metrics, {}).status()));

  mapper.Update({.resources = {{.resource = {metrics, "nodes", false}}}});
  f.clock.Advance(absl::Seconds(10));
  CHECK(mapper.ForKind({"", "v1", "Pod"}, {}).ok());  // Repeats discovery, with metrics stale.
  CHECK(mapper.ForKind(metrics, {})->plural == "nodes");
}

TEST_CASE("A failed discovery is reported, not taken for an unknown kind, and retried later") {
  Fixture f(Content{});
  f.failure = Answer(401, "");
  RestMapper mapper(f.client, f.clock);
  CHECK(absl::IsUnauthenticated(mapper.ForKind({"", "v1", "Pod"}, {}).status()));
  f.paths = kAggregated;
  CHECK(absl::IsUnauthenticated(mapper.ForKind({"", "v1", "Pod"}, {}).status()));
  f.clock.Advance(absl::Seconds(3));
  CHECK(mapper.ForKind({"", "v1", "Pod"}, {}).ok());
}

TEST_CASE("Reset forgets everything and looks again at once") {
  Fixture f(kAggregated);
  RestMapper mapper(f.client, f.clock);
  REQUIRE(mapper.ForKind({"", "v1", "Pod"}, {}).ok());
  mapper.Reset();
  REQUIRE(mapper.ForKind({"", "v1", "Pod"}, {}).ok());
  CHECK(f.transport->requests().size() == 4);
}

TEST_CASE("A pass that began earlier and ends later does not undo what a newer one has found") {
  // The first answer about groups is that of a server without them, and is slow on its way.
  absl::Notification begun;
  absl::Notification newer_is_done;
  std::atomic<int> answers = 0;
  const auto transport = std::make_shared<tests::ScriptedTransport>(
      [&](const HttpRequest& request, int) -> absl::StatusOr<HttpResponse> {
        if (request.path != "/apis") return Answer(200, kAggregatedCore);
        if (answers++ > 0) return Answer(200, kAggregatedGroups);
        begun.Notify();
        newer_is_done.WaitForNotification();
        return Answer(200, R"({"kind":"APIGroupDiscoveryList","items":[]})");
      });
  tests::FakeClock clock;
  Client client(transport, {}, clock, nullptr);
  RestMapper mapper(client, clock);
  absl::Status older_result;
  std::thread older([&] { older_result = mapper.Discover({}).status(); });
  begun.WaitForNotification();
  const Gvk kind = {"autoscaling", "v2", "HPA"};
  CHECK(mapper.ForKind(kind, {}).ok());
  newer_is_done.Notify();
  older.join();
  CHECK(older_result.ok());
  CHECK(mapper.ForKind(kind, {}).ok());
}

TEST_CASE("Many threads that miss a kind share one discovery") {
  Fixture f(kAggregated);
  RestMapper mapper(f.client, f.clock);
  std::vector<std::string> found(8);
  std::vector<std::thread> threads;
  for (std::string& plural : found) {
    threads.emplace_back([&] { plural = mapper.ForKind({"", "v1", "Pod"}, {})->plural; });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(found == std::vector<std::string>(8, "pods"));
  CHECK(f.transport->requests().size() == 2);
}

}  // namespace kube
