// The server over a simulated control plane, as a browser or a script sees it.
#include "lens/serve/server.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/keys.h"
#include "base/clock.h"
#include "kube/http/http_transport.h"
#include "lens/serve/assets.h"
#include "lens/serve/bounds.h"
#include "lens/serve/routes.h"
#include "lens/serve/viewer.h"
#include "tests/base/raw_client.h"
#include "tests/lens/serve/shown_server.h"
#include "tests/support/eventually.h"

namespace lens::serve {
namespace {

using Catch::Contains;

constexpr char kIdlePolicy[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: idle, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: wbe}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)";

// The binding of a Deployment in the namespace "shop".
kube::Object BindingOf(const std::string& name) {
  kube::Object binding = kube::Object::Make({"work.karmada.io", "v1alpha2", "ResourceBinding"},
                                            {"shop", absl::StrCat(name, "-deployment")});
  binding.Set({"spec", "resource"}, json::Value::Object({{"apiVersion", "apps/v1"},
                                                         {"kind", "Deployment"},
                                                         {"namespace", "shop"},
                                                         {"name", name}}));
  return binding;
}

// A server that shows a control plane with two members.
struct Shown : tests::ShownServer {
  Shown() : ShownServer(2) { CreateAll(kIdlePolicy); }
};

}  // namespace

TEST_CASE("Serve: the page loads nothing from elsewhere, and may run nothing but its own script") {
  for (const char* path : {"/", "/page.css", "/main.js", "/dom.js", "/net.js", "/journey.js",
                           "/list-views.js", "/ask-views.js", "/object-view.js", "/icon.svg"}) {
    INFO(path);
    const Asset* asset = FindAsset(path);
    REQUIRE(asset != nullptr);
    std::string text(asset->text);
    // The name of SVG is no address.
    const size_t name = text.find("http://www.w3.org/2000/svg");
    if (name != std::string::npos) text.erase(name, 7);
    CHECK_THAT(text, !Contains("http://") && !Contains("https://"));
    CHECK_THAT(text, !Contains("innerHTML") && !Contains("eval(") && !Contains("document.write"));
  }
}

TEST_CASE_METHOD(Shown, "Serve: every answer has the policy that keeps scripts of others out") {
  Start(Mode::kLocal);
  for (const char* path : {"/", "/main.js", "/api/", "/api/about", "/nothing", "/api/nothing"}) {
    INFO(path);
    const kube::HttpResponse answer = Get(path);
    CHECK_THAT(answer.headers.at("content-security-policy"),
               Contains("default-src 'none'") && Contains("frame-ancestors 'none'") &&
                   !Contains("unsafe"));
    CHECK(answer.headers.at("x-content-type-options") == "nosniff");
  }
  CHECK(Get("/nothing").code == 404);
  CHECK(Get("/", "", "POST").code == 405);
  CHECK(Get("/api/about", "", "HEAD").code == 200);
}

TEST_CASE_METHOD(Shown, "Serve: what is not fine, the clusters, the policies and the last hour") {
  Start(Mode::kLocal);
  const json::Value fleet = Json("/api/fleet");
  CHECK(fleet["headline"].AsString() == "1 of 1 template is not fine.");
  const json::Value& first = fleet["groups"].At(0)["templates"].At(0);
  CHECK(first["type"].AsString() == "Deployment.v1.apps");
  CHECK(first["name"].AsString() == "web");
  CHECK(Json("/api/fleet?namespace=other")["templates"].AsInt() == 0);

  const json::Value clusters = Json("/api/clusters");
  CHECK(clusters["clusters"].size() == 2);
  CHECK(clusters["clusters"].At(0)["name"].AsString() == "member1");
  CHECK(clusters["unread"].empty());

  const json::Value policy = Json("/api/policies")["policies"].At(0);
  CHECK(policy["claims"].AsInt() == 0);
  CHECK(policy["selectors"].At(0)["selectsNothing"].AsBool());
  CHECK_THAT(policy["headline"].ToString(), Contains("governs no template") && Contains("web"));

  CHECK(Json("/api/policies?namespace=shop")["unknown"].empty());
  CHECK(Json("/api/policies?namespace=nope")["unknown"].At(0).AsString() ==
        "The control plane has no namespace nope.");

  const json::Value hour = Json("/api/hour?minutes=5");
  bool has_policy = false;
  for (const json::Value& entry : hour["entries"].items()) {
    has_policy = has_policy || entry["about"]["name"].AsString() == "idle";
  }
  CHECK(has_policy);
}

TEST_CASE_METHOD(Shown, "Serve: a selector whose object another policy governs selects something") {
  CreateAll(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: first, namespace: shop}
spec:
  priority: 1
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: second, namespace: shop}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment, name: web}
  - {apiVersion: apps/v1, kind: Deployment}
  - {apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {app: web}}}
  - {apiVersion: apps/v1, kind: StatefulSet}
)");
  kube::Object binding = BindingOf("web");
  binding.Set({"metadata", "labels"},
              json::Value::Object({{api::kPropagationPolicyIdLabel, "id"}}));
  binding.Set({"metadata", "annotations"},
              json::Value::Object({{api::kPropagationPolicyNamespaceAnnotation, "shop"},
                                   {api::kPropagationPolicyNameAnnotation, "first"}}));
  Create(binding);
  Start(Mode::kLocal);
  std::map<std::string, json::Value> policies;
  const json::Value answer = Json("/api/policies");
  for (const json::Value& one : answer["policies"].items()) {
    policies[one["name"].ToString()] = one["selectors"];
  }
  CHECK(policies["idle"].At(0)["selectsNothing"].AsBool());
  CHECK_FALSE(policies["first"].At(0)["selectsNothing"].AsBool(true));
  CHECK(policies["first"].At(0)["governedBy"].AsString().empty());
  const json::Value& second = policies["second"];
  CHECK_FALSE(second.At(0)["selectsNothing"].AsBool(true));
  CHECK(second.At(0)["governedBy"].AsString() == "PropagationPolicy shop/first");
  CHECK_FALSE(second.At(1)["selectsNothing"].AsBool(true));
  CHECK(second.At(2)["selectsNothing"].is_null());
  CHECK(second.At(3)["selectsNothing"].AsBool());
}

TEST_CASE_METHOD(Shown, "Serve: the last hour has the last writer of each template") {
  sandbox::Backend& backend = fleet->control_plane().backend();
  const auto apply = [&](const char* name, const char* manager, const json::Value& labels) {
    kube::Object object = kube::Object::Make({"apps", "v1", "Deployment"}, {"shop", name});
    const kube::Gvr gvr = backend.Find(object.gvk()).gvr();
    object.Set({"spec"}, backend.Get(gvr, {"shop", "web"}).value()->spec());
    object.Set({"metadata", "labels"}, labels);
    sandbox::PatchRequest request;
    request.type = sandbox::PatchRequest::Type::kApply;
    request.patch = object.root();
    request.field_manager = manager;
    request.force = true;
    REQUIRE(backend.Patch(gvr, object.key(), request).ok());
  };
  const json::Value claim = json::Value::Object({{api::kPropagationPolicyIdLabel, "id"}});
  apply("claimed", "flux", claim);
  apply("claimed", "karmada-controller-manager", claim);
  apply("own", "flux", json::Value::Object());
  Create(BindingOf("claimed"));
  Start(Mode::kLocal);
  std::vector<std::string> edits;
  for (const json::Value& entry : Json("/api/hour")["entries"].items()) {
    if (entry["about"]["kind"].AsString() != "Deployment") continue;
    edits.push_back(
        absl::StrCat(entry["about"]["name"].ToString(), " ", entry["message"].ToString()));
  }
  CHECK(edits == std::vector<std::string>{"claimed was created by flux"});
}

TEST_CASE_METHOD(Shown, "Serve: one object with its way, its commands and what hangs together") {
  Start(Mode::kLocal);
  const json::Value web = Json("/api/object?type=deployment&namespace=shop&name=web");
  CHECK_THAT(web["headline"].ToString(), Contains("No policy selects Deployment shop/web"));
  CHECK(web["object"]["exists"].AsBool());
  CHECK_FALSE(web["arrived"].AsBool());
  CHECK(web["commands"].At(1)["command"].AsString() ==
        "kubectl --kubeconfig /k -n shop get deployments.apps web -o yaml");
  CHECK(web["way"]["children"].size() > 1);
  const json::Value graph = Json("/api/graph?type=PropagationPolicy&namespace=shop&name=idle");
  CHECK_THAT(graph["svg"].ToString(), Contains("<svg"));
  CHECK(Get("/api/object?type=deployment&name=web").code == 400);
  CHECK(Get("/api/object?type=nothing&name=web").code == 404);
  CHECK(Get("/api/object?type=deployment&namespace=shop&name=..%2F..%2Fx").code == 400);
}

TEST_CASE_METHOD(Shown, "Serve: members are searched through the control plane's proxy") {
  Start(Mode::kLocal);
  // Nobody has made the clusters ready, so none is asked, and that is said.
  const json::Value found = Json("/api/search?type=Pod&image=nginx");
  CHECK(found["via"].AsString() == "members");
  CHECK(found["items"].empty());
  CHECK(found["unread"].size() == 2);
  CHECK(found["unknown"].empty());
  CHECK(Json("/api/search?namespace=shop")["unknown"].empty());
  CHECK(Json("/api/search?namespace=nope")["unknown"].At(0).AsString() ==
        "The control plane has no namespace nope.");
  CHECK(Get("/api/search?labels=%28").code == 400);
  CHECK(Get("/api/search?cluster=mamber1").code == 404);
  CHECK_THAT(Get("/api/search?cluster=mamber1").body,
             Contains("there is no cluster mamber1; did you mean member1?"));
}

TEST_CASE_METHOD(Shown, "Serve: what if, and what a reason means") {
  Start(Mode::kLocal);
  const json::Value plan = Json("/api/what-if?drain=member1");
  CHECK(plan["whatIf"]["changes"].size() == 1);
  CHECK(plan["command"].AsString() == "karmada-lens plan --drain member1 --kubeconfig /k");
  CHECK_FALSE(plan["readAt"].AsString().empty());
  CHECK(Get("/api/what-if").code == 400);
  CHECK_THAT(Get("/api/what-if?drain=").body, Contains("the parameter drain has no value"));
  const json::Value twice = Json("/api/what-if?drain=member1&drain=member1");
  CHECK(twice["whatIf"]["changes"].size() == 1);
  CHECK(twice["command"].AsString() == plan["command"].AsString());
  CHECK_FALSE(Json("/api/explain?text=SyncFailed")["reasons"].empty());
  CHECK_THAT(Json("/api/explain?text=SyncFaild")["message"].ToString(),
             Contains("did you mean SyncFailed?"));
}

TEST_CASE_METHOD(Shown,
                 "Serve: a parameter that is not known is an error that names those there are") {
  Start(Mode::kLocal);
  CHECK_THAT(Get("/api/fleet?namspace=shop").body, Contains("namspace") && Contains("namespace,"));
  CHECK(Get("/api/hour?minutes=-1").code == 400);
  CHECK_THAT(Get("/api/nope").body, Contains("there is no /api/nope; /api/ says"));
  CHECK(Get(absl::StrCat("/api/fleet?namespace=", std::string(kMostTargetBytes, 'a'))).code == 400);
  const json::Value index = Json("/api/");
  CHECK(index["questions"].size() == AllRoutes().size());
}

TEST_CASE_METHOD(Shown,
                 "Serve: with tokens each viewer shows one, and what is gone is not shown again") {
  fleet->control_plane().AddToken("alice-token", "alice");
  Start(Mode::kTokens);
  CHECK(Get("/").code == 200);
  const kube::HttpResponse without = Get("/api/fleet");
  CHECK(without.code == 401);
  CHECK_THAT(without.body, Contains("token"));
  CHECK(Get("/api/fleet", "mallory").code == 401);
  CHECK(Json("/api/fleet", "alice-token")["templates"].AsInt() == 1);
  // What alice has read is still there, and yet nobody gets it without a token that counts.
  CHECK(Get("/api/fleet", "mallory").code == 401);
  fleet->control_plane().RevokeToken("alice-token");
  CHECK(Get("/api/fleet", "alice-token").code == 401);
}

TEST_CASE_METHOD(Shown, "Serve: so many live updates for each viewer and no more") {
  fleet->control_plane().AddToken("alice-token", "alice");
  Start(Mode::kTokens);
  const auto transport = *kube::NewHttpTransport(Address("alice-token"));
  kube::HttpRequest request;
  request.method = "GET";
  request.path = "/api/updates";
  std::atomic<int> opened = 0, events = 0;
  std::vector<std::unique_ptr<kube::HttpStream>> streams;
  for (size_t i = 0; i < kMostStreamsOfViewer; ++i) {
    streams.push_back(transport->Open(
        request,
        {[&](const kube::HttpResponse& head) { opened += head.code == 200 ? 1 : 0; },
         [&](absl::string_view text) { events += absl::StrContains(text, "event: fleet"); },
         [](const absl::Status&) {}}));
  }
  const int all = static_cast<int>(kMostStreamsOfViewer);
  CHECK(tests::Eventually([&] { return opened == all; }));
  // The fleet is read because somebody follows, and all of them are told.
  CHECK(tests::Eventually([&] { return events >= all; }));
  CHECK(Get("/api/updates", "alice-token").code == 429);
  streams.clear();
}

TEST_CASE_METHOD(Shown, "Serve: live updates have no body for HEAD, and the connection goes on") {
  Start(Mode::kLocal);
  tests::RawClient client(server->port());
  client.Send("HEAD /api/updates HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const tests::RawResponse head = client.ReadHead();
  CHECK(head.code == 200);
  CHECK(head.headers.at("content-type") == "text/event-stream");
  client.Send("GET /api/about HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK_THAT(client.ReadResponse().body, Contains("readsOnly"));
}

TEST_CASE_METHOD(Shown,
                 "Serve: what was read is not shown while nobody can say whose token counts") {
  fleet->control_plane().AddToken("alice-token", "alice");
  Start(Mode::kTokens);
  CHECK(Json("/api/fleet", "alice-token")["templates"].AsInt() == 1);
  for (const int code : {503, 500, 429}) {
    INFO(code);
    fleet->control_plane().faults().FailNext(1000, code, "GET", "/version");
    const kube::HttpResponse answer = Get("/api/fleet", "alice-token");
    CHECK(answer.code == 503);
    CHECK_THAT(answer.body, Contains(absl::StrCat("the code ", code)));
    fleet->control_plane().faults().Clear();
  }
  CHECK(Get("/api/fleet", "alice-token").code == 200);
}

TEST_CASE_METHOD(Shown, "Serve: with the kubeconfig's rights what can be read is shown") {
  Start(Mode::kLocal);
  fleet->control_plane().faults().FailNext(1000, 429, "GET", "/version");
  CHECK(Json("/api/clusters")["clusters"].size() == 2);
}

TEST_CASE_METHOD(Shown, "Serve: a control plane that goes away is said, and it may come back") {
  Start(Mode::kLocal);
  CHECK(Json("/api/clusters")["clusters"].size() == 2);
  fleet->control_plane().faults().SetPartitioned(true);
  // What was answered just before is still shown for a second.
  CHECK(tests::Eventually([&] {
    const kube::HttpResponse gone = Get("/api/clusters");
    return gone.code >= 500 && absl::StrContains(gone.body, "\"error\"");
  }));
  fleet->control_plane().faults().SetPartitioned(false);
  CHECK(tests::Eventually([&] { return Get("/api/clusters").code == 200; }));
}

TEST_CASE_METHOD(Shown, "Serve: so many viewers and no more") {
  for (size_t i = 0; i <= kMostViewers; ++i) {
    fleet->control_plane().AddToken(absl::StrCat("token-", i), absl::StrCat("user-", i));
  }
  Viewers viewers;
  const auto find = [&](const std::string& token) {
    return viewers.Find(OwnerOf(token), WithToken(plane, token), {});
  };
  for (size_t i = 0; i < kMostViewers; ++i) {
    REQUIRE(find(absl::StrCat("token-", i)).ok());
  }
  const auto one_more = find(absl::StrCat("token-", kMostViewers));
  CHECK(absl::IsResourceExhausted(one_more.status()));
  CHECK(absl::IsUnauthenticated(find("unknown").status()));
  CHECK(viewers.size() == kMostViewers);
  CHECK(find("token-0").ok());
}

}  // namespace lens::serve
