// resourceregistries as clients see them.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "search/registry/registry_handler.h"
#include "tests/search/registry/api_fixture.h"

namespace search {
namespace {

std::vector<std::string> NamesIn(const json::Value& list) {
  std::vector<std::string> out;
  for (const json::Value& item : list["items"].items()) {
    out.push_back(item["metadata"]["name"].ToString());
  }
  return out;
}

using Names = std::vector<std::string>;

TEST_CASE("a registry is created with an identity, without the status that was sent") {
  Api api;
  const Reply created = api.Do(
      "POST", "", R"({"metadata":{"generateName":"r-","uid":"mine"},"status":{"conditions":[]}})");
  CHECK(created.code == 201);
  const json::Value& metadata = created.body["metadata"];
  CHECK(metadata["name"].AsString().size() == 7);
  CHECK(metadata["uid"].AsString().size() == 36);
  CHECK_FALSE(metadata["resourceVersion"].AsString().empty());
  CHECK_FALSE(metadata.Has("generation"));
  CHECK(metadata["managedFields"].At(0)["manager"].AsString() == "kubectl");
  CHECK(json::Write(created.body["status"]) == "{}");
  const std::string name = metadata["name"].ToString();
  CHECK(api.Do("GET", "/" + name).body == created.body);
  CHECK(api.Create(name).code == 409);
  CHECK(api.Create(name).body["message"].AsString() ==
        absl::StrCat("resourceregistries.search.karmada.io \"", name, "\" already exists"));
  CHECK(api.Do("GET", "/none").body["message"].AsString() ==
        "resourceregistries.search.karmada.io \"none\" not found");
}

TEST_CASE("bodies that are not a registry are refused with upstream's words") {
  Api api;
  CHECK(api.Do("POST", "?fieldValidation=Strict", R"({"metadata":{"name":"r"},"spec":{"foo":1}})")
            .body["message"]
            .AsString() ==
        "ResourceRegistry in version \"v1alpha1\" cannot be handled as a ResourceRegistry: strict "
        "decoding error: unknown field \"spec.foo\"");
  const Reply warned =
      api.Do("POST", "?dryRun=All", R"({"metadata":{"name":"r"},"spec":{"foo":1}})");
  CHECK(warned.code == 201);
  CHECK(warned.whole.headers.back().second == "299 - \"unknown field \\\"spec.foo\\\"\"");
  CHECK(api.Do("GET", "/r").code == 404);  // A dry run stores nothing.
  const Reply invalid = api.Create("Bad_Name");
  CHECK(invalid.code == 422);
  CHECK(invalid.body["reason"].AsString() == "Invalid");
  CHECK(api.Do("POST", "", R"({"kind":"Pod","metadata":{"name":"r"}})").code == 400);
  CHECK(api.Do("POST", "", "{}", "text/plain").code == 415);
  CHECK(api.Do("PUT", "/r", R"({"metadata":{"name":"r"}})").code == 404);
  CHECK(api.Do("POST", "/r", "{}").code == 405);
}

TEST_CASE("the main resource leaves status alone, and /status everything else") {
  Api api;
  REQUIRE(api.Create("r").code == 201);
  const char* conditions =
      R"({"status":{"conditions":[{"type":"X","status":"True","reason":"R","message":"",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]},"spec":{"targetCluster":)"
      R"({"clusterNames":["a"]}}})";
  const Reply main = api.Do("PATCH", "/r", conditions, "application/merge-patch+json");
  CHECK(main.code == 200);
  CHECK(main.body["status"].empty());
  CHECK(main.body["spec"]["targetCluster"]["clusterNames"].size() == 1);
  json::Value other = *json::Parse(conditions);
  other.Set({"spec", "targetCluster", "clusterNames"}, json::Value::Array({"z"}));
  const Reply status =
      api.Do("PATCH", "/r/status", json::Write(other), "application/merge-patch+json");
  CHECK(status.body["status"]["conditions"].size() == 1);
  CHECK(status.body["spec"] == main.body["spec"]);
  json::Value whole = status.body;
  whole.Erase("status");
  CHECK(api.Do("PUT", "/r", json::Write(whole)).body["status"] == status.body["status"]);
}

// Returns "Synced=Unknown SpecChanged" for each condition of a reply.
Names ConditionsOf(const Reply& reply) {
  Names out;
  for (const json::Value& condition : reply.body["status"]["conditions"].items()) {
    out.push_back(absl::StrCat(condition["type"].AsString(), "=", condition["status"].AsString(),
                               " ", condition["reason"].AsString()));
  }
  return out;
}

TEST_CASE("after a change of the spec the conditions are unknown, so that nobody trusts the old") {
  Api api;
  REQUIRE(api.Create("r", R"(,"labels":{"x":"y"})").code == 201);
  const std::string merge = "application/merge-patch+json";
  const Reply written =
      api.Do("PATCH", "/r/status",
             R"({"status":{"conditions":[)"
             R"({"type":"Synced","status":"True","reason":"AllSynced","message":"",)"
             R"("lastTransitionTime":"2026-01-01T00:00:00Z"},)"
             R"({"type":"m1/Synced","status":"True","reason":"Synced","message":"",)"
             R"("lastTransitionTime":"2026-01-01T00:00:00Z"},)"
             R"({"type":"X","status":"True","reason":"R","message":"",)"
             R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
             merge);
  REQUIRE(written.code == 200);
  const Names before = {"Synced=True AllSynced", "m1/Synced=True Synced", "X=True R"};
  CHECK(ConditionsOf(written) == before);
  // What is no part of the spec changes nothing.
  const char* labels = R"({"metadata":{"labels":{"a":"b"}}})";
  CHECK(ConditionsOf(api.Do("PATCH", "/r", labels, merge)) == before);
  const Reply changed =
      api.Do("PATCH", "/r", R"({"spec":{"targetCluster":{"clusterNames":["a"]}}})", merge);
  CHECK(ConditionsOf(changed) ==
        Names{"Synced=Unknown SpecChanged", "m1/Synced=True Synced", "X=True R"});
  // The change of the status is not the client's.
  const std::string fields = json::Write(changed.body["metadata"]["managedFields"]);
  CHECK_THAT(fields, Catch::Contains("f:clusterNames"));
  for (const json::Value& entry : changed.body["metadata"]["managedFields"].items()) {
    if (entry["subresource"].AsString().empty()) CHECK_FALSE(entry["fieldsV1"].Has("f:status"));
  }
}

TEST_CASE("a PUT with an old version or another uid is a conflict, one without a version is not") {
  Api api;
  const json::Value first = api.Create("r").body;
  json::Value labelled = first;
  labelled.Set({"metadata", "labels", "a"}, "b");
  const Reply second = api.Do("PUT", "/r", json::Write(labelled));
  CHECK(second.code == 200);
  CHECK(second.body["metadata"]["uid"] == first["metadata"]["uid"]);
  const Reply stale = api.Do("PUT", "/r", json::Write(first));
  CHECK(stale.code == 409);
  CHECK_THAT(stale.body["message"].ToString(), Catch::Contains("please apply your changes"));
  json::Value free = first;
  free.Erase({"metadata", "resourceVersion"});
  CHECK(api.Do("PUT", "/r", json::Write(free)).code == 200);
  free.Set({"metadata", "uid"}, "other");
  CHECK(api.Do("PUT", "/r", json::Write(free)).code == 409);
  // Nothing to change: nothing is written.
  const json::Value now = api.Do("GET", "/r").body;
  CHECK(api.Do("PUT", "/r", json::Write(now)).body == now);
  CHECK(absl::StrCat(api.running.etcd.revision()) == now["metadata"]["resourceVersion"].AsString());
  CHECK(api.Do("PUT", "/r", R"({"metadata":{"name":"x"}})").code == 400);
}

TEST_CASE("all four patch formats work, and an apply owns what it sets") {
  Api api;
  const std::string config =
      R"({"apiVersion":"search.karmada.io/v1alpha1","kind":"ResourceRegistry",)"
      R"("spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"Pod"}]}})";
  const std::string apply = "application/apply-patch+yaml";
  const Reply created = api.Do("PATCH", "/r?fieldManager=flux", config, apply);
  CHECK(created.code == 201);
  CHECK(created.body["metadata"]["managedFields"].At(0)["operation"].AsString() == "Apply");
  CHECK(api.Do("PATCH", "/r?fieldManager=flux", config, apply).body == created.body);
  CHECK(api.Do("PATCH", "/r", config, apply).code == 400);
  CHECK(api.Do("PATCH", "/r", R"([{"op":"add","path":"/metadata/labels","value":{"a":"b"}}])",
               "application/json-patch+json")
            .body["metadata"]["labels"]["a"]
            .AsString() == "b");
  CHECK(api.Do("PATCH", "/r", R"([{"op":"test","path":"/spec/x","value":1}])",
               "application/json-patch+json")
            .code == 422);
  const Reply edited =
      api.Do("PATCH", "/r?fieldManager=me", R"({"spec":{"resourceSelectors":null}})",
             "application/strategic-merge-patch+json");
  CHECK(edited.code == 200);
  CHECK(edited.body["spec"]["resourceSelectors"].is_null());
  const Reply conflict = api.Do("PATCH", "/r?fieldManager=flux", config, apply);
  CHECK(conflict.code == 409);
  CHECK_THAT(conflict.body["message"].ToString(), Catch::Contains("conflict with \"me\""));
  CHECK(api.Do("PATCH", "/r?fieldManager=flux&force=true", config, apply).code == 200);
  CHECK(api.Do("PATCH", "/none", "{}", "application/merge-patch+json").code == 404);
  CHECK(api.Do("PATCH", "/r", "{}", "application/json").code == 415);
}

TEST_CASE("lists select by label and name, come in pages, and say how many are left") {
  Api api;
  for (const char* name : {"a", "b", "c"})
    api.Create(name, R"(,"labels":{"n":")" + std::string(name) + "\"}");
  CHECK(NamesIn(api.Do("GET", "").body) == Names{"a", "b", "c"});
  CHECK(api.Do("GET", "").body["kind"].AsString() == "ResourceRegistryList");
  CHECK_FALSE(api.Do("GET", "").body["items"].At(0).Has("kind"));
  CHECK(NamesIn(api.Do("GET", "?labelSelector=n!=b").body) == Names{"a", "c"});
  CHECK(NamesIn(api.Do("GET", "?fieldSelector=metadata.name=b").body) == Names{"b"});
  const Reply unknown = api.Do("GET", "?fieldSelector=spec.x=1");
  CHECK(unknown.code == 400);
  CHECK(unknown.body["message"].AsString() ==
        "\"spec.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");

  const json::Value first = api.Do("GET", "?limit=2").body;
  CHECK(NamesIn(first) == Names{"a", "b"});
  CHECK(first["metadata"]["remainingItemCount"].AsInt() == 1);
  api.Create("d");
  const std::string token = first["metadata"]["continue"].ToString();
  const json::Value rest = api.Do("GET", "?limit=2&continue=" + token).body;
  CHECK(NamesIn(rest) == Names{"c"});
  CHECK(rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]);
  api.running.etcd.Compact();
  CHECK(api.Do("GET", "?continue=" + token).code == 410);
  CHECK(api.Do("GET", "?continue=nonsense").code == 400);
  CHECK(api.Do("GET", "?resourceVersion=99999").code == 504);
  CHECK(api.Do("GET", "?resourceVersionMatch=Exact").code == 422);
  CHECK(api.Do("GET", "?limit=x").code == 400);
}

TEST_CASE("a Table has kinds, synced and age; metadata clients get metadata") {
  Api api;
  api.running.etcd.Put(Key("r"), Text("r", "Deployment"));
  const Reply table = api.Do("GET", "", "", "", "application/json;as=Table;g=meta.k8s.io;v=v1");
  Names columns;
  for (const json::Value& c : table.body["columnDefinitions"].items()) {
    columns.push_back(c["name"].ToString());
  }
  CHECK(columns == Names{"Name", "Kinds", "Synced", "Age", "Created At", "OpenSearch"});
  const json::Value& cells = table.body["rows"].At(0)["cells"];
  CHECK(cells.At(0).AsString() == "r");
  CHECK(cells.At(1).AsString() == "Deployment");
  CHECK(api.Do("GET", "?includeObject=Bad", "", "", "application/json;as=Table;g=meta.k8s.io;v=v1")
            .code == 400);
  const Reply partial =
      api.Do("GET", "/r", "", "", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
  CHECK(partial.body["kind"].AsString() == "PartialObjectMetadata");
  CHECK(api.Do("GET", "", "", "", "application/vnd.kubernetes.protobuf").code == 406);
}

TEST_CASE("a deletion honours preconditions, dry run and finalizers") {
  Api api;
  const json::Value r = api.Create("r", R"(,"finalizers":["a/b"])").body;
  const std::string uid = r["metadata"]["uid"].ToString();
  CHECK(api.Do("DELETE", "/r", R"({"preconditions":{"uid":"x"}})").code == 409);
  CHECK(api.Do("DELETE", "/r", R"({"preconditions":{"resourceVersion":"1"}})").code == 409);
  CHECK(api.Do("DELETE", "/r?dryRun=All").code == 200);
  CHECK_FALSE(api.Do("GET", "/r").body["metadata"].Has("deletionTimestamp"));
  const Reply marked = api.Do("DELETE", "/r", R"({"preconditions":{"uid":")" + uid + "\"}}");
  CHECK(marked.code == 200);
  CHECK(marked.body["metadata"].Has("deletionTimestamp"));
  CHECK(api.Do("PATCH", "/r", R"({"metadata":{"finalizers":["a/b","c/d"]}})",
               "application/merge-patch+json")
            .code == 422);
  CHECK(api.Do("PATCH", "/r", R"({"metadata":{"finalizers":null}})", "application/merge-patch+json")
            .code == 200);
  CHECK(api.Do("GET", "/r").code == 404);

  api.Create("s");
  const Reply gone = api.Do("DELETE", "/s");
  CHECK(gone.body["status"].AsString() == "Success");
  CHECK(gone.body["details"]["kind"].AsString() == "resourceregistries");
  CHECK(api.Do("DELETE", "/s").code == 404);
}

TEST_CASE("deletecollection removes what the selectors select") {
  Api api;
  for (const char* name : {"a", "b"}) api.Create(name);
  CHECK(NamesIn(api.Do("DELETE", "?fieldSelector=metadata.name=b").body) == Names{"b"});
  CHECK(NamesIn(api.Do("GET", "").body) == Names{"a"});
}

// Answers what nobody else does.
struct Rest : kube::aggregation::ApiHandler {
  bool MayBlock(const kube::aggregation::ApiRequest&) const override { return true; }
  void Handle(kube::aggregation::ApiRequest, std::shared_ptr<base::HttpResponder> to) override {
    to->Send({418, "text/plain", {}, ""});
  }
};

// Lets users read the Secrets that are named after them.
struct OwnSecrets : kube::aggregation::Authorizer {
  void Authorize(const kube::aggregation::Attributes& a, Done done) override {
    asked.push_back(absl::StrCat(a.user.name, " ", a.verb, " ", a.version, " ", a.resource, " ",
                                 a.ns, "/", a.name));
    done(kube::aggregation::Decision{.allowed = a.name == a.user.name});
  }
  std::vector<std::string> asked;
};

TEST_CASE("who has a Secret sent to an OpenSearch has to be allowed to read it") {
  tests::FakeClock clock;
  Api api(clock);
  Rest rest;
  OwnSecrets rights;
  RegistryHandler handler(api.api, rest, &rights, clock);
  const auto send = [&](const std::string& user, const std::string& method, const std::string& name,
                        const std::string& body) {
    kube::aggregation::ApiRequest request;
    request.http = Api::Request(
        method, "", body, method == "PATCH" ? "application/merge-patch+json" : "application/json");
    request.http.path = absl::StrCat(kPath, name.empty() ? "" : "/", name);
    request.info = kube::server::ReadRequest(request.http);
    request.user.name = user;
    request.stop = api.stop.get_token();
    auto responder = std::make_shared<Responder>();
    handler.Handle(std::move(request), responder);
    return responder->response();
  };
  const auto registry = [](const std::string& name, const std::string& secret) {
    return absl::StrCat(
        R"({"apiVersion":"search.karmada.io/v1alpha1","kind":"ResourceRegistry","metadata":{"name":")",
        name,
        R"("},"spec":{"targetCluster":{},"resourceSelectors":[{"apiVersion":"v1","kind":"Pod"}],)",
        R"("backendStore":{"openSearch":{"addresses":["http://a:9200"],"secretRef":{"namespace":"ns",)",
        R"("name":")", secret, R"("}}}}})");
  };
  const base::HttpResponse refused = send("eve", "POST", "", registry("r", "ann"));
  CHECK(refused.code == 403);
  CHECK_THAT(refused.body, Catch::Contains(R"(secrets \"ann\" is forbidden)"));
  CHECK(rights.asked == std::vector<std::string>{"eve get v1 secrets ns/ann"});
  CHECK(send("ann", "POST", "", registry("r", "ann")).code == 201);
  // Other addresses are as good as another Secret.
  const std::string elsewhere =
      R"({"spec":{"backendStore":{"openSearch":{"addresses":["http://evil:9200"]}}}})";
  CHECK(send("eve", "PATCH", "r", elsewhere).code == 403);
  CHECK(send("eve", "PUT", "r", registry("r", "bob")).code == 403);
  rights.asked.clear();
  CHECK(send("eve", "PATCH", "r", R"({"spec":{"targetCluster":{"clusterNames":["m"]}}})").code ==
        200);
  CHECK(send("eve", "PATCH", "r", R"({"spec":{"backendStore":null}})").code == 200);
  CHECK(rights.asked.empty());
  CHECK(send("eve", "PUT", "r", registry("r", "ann")).code == 403);
}

TEST_CASE("in the handler chain registries are answered, and everything else is passed on") {
  tests::FakeClock clock;
  Api api(clock);
  Rest rest;
  RegistryHandler handler(api.api, rest);
  const auto ask = [&](const std::string& path, const std::string& query) {
    kube::aggregation::ApiRequest request;
    request.http = Api::Request("GET", query, "", "");
    request.http.path = path;
    request.info = kube::server::ReadRequest(request.http);
    request.stop = api.stop.get_token();
    auto responder = std::make_shared<Responder>();
    const bool blocks = handler.MayBlock(request);
    handler.Handle(std::move(request), responder);
    return std::pair(responder, blocks);
  };
  const std::string group = "/apis/search.karmada.io/v1alpha1/";
  CHECK(ask(group + "search/cache/api/v1/pods", "").first->response().code == 418);
  CHECK(ask("/apis", "").first->response().code == 418);
  const auto list = ask(kPath, "");
  CHECK(list.first->response().code == 200);
  CHECK(list.second);
  const auto watch = ask(kPath, "?watch=1");
  CHECK(watch.first->response().code == 200);
  CHECK_FALSE(watch.second);
  // The older form of a watch, of one object.
  CHECK(ask(group + "watch/resourceregistries/r", "").first->response().code == 200);

  base::StopSource stop;
  std::thread thread([&] { api.api.Run(stop.get_token()); });
  clock.AwaitWaiters(1);
  api.stop.request_stop();
  clock.AdvanceAndAwait(absl::Seconds(2));
  CHECK(tests::Eventually([&] { return watch.first->closed(); }));
  stop.request_stop();
  thread.join();
}

TEST_CASE("while etcd is down writes and lists say so, and reads of any version go on") {
  Api api;
  api.Create("a");
  REQUIRE(tests::Eventually([&] { return api.running.feed.Current()->objects.size() == 1; }));
  api.running.etcd.SetDown(true);
  const Reply refused = api.Do("GET", "");
  CHECK(refused.code == 503);
  CHECK(refused.whole.headers.front() == std::pair<std::string, std::string>("Retry-After", "1"));
  CHECK_THAT(refused.body["message"].ToString(),
             Catch::Contains("etcd does not answer: " + api.running.etcd.url()));
  CHECK(api.Create("b").code == 503);
  CHECK(NamesIn(api.Do("GET", "?resourceVersion=0").body) == Names{"a"});
  CHECK(api.Do("GET", "/a?resourceVersion=0").code == 200);
  CHECK(api.Do("GET", "/b?resourceVersion=0").code == 404);
  CHECK(api.Do("GET", "/a").code == 503);
  api.running.etcd.SetDown(false);
  CHECK(api.Create("b").code == 201);
}

}  // namespace
}  // namespace search
