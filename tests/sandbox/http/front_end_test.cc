// Verbs, answers and errors as clients see them.
#include <catch2/catch.hpp>

#include "tests/sandbox/http/front_end_fixture.h"

namespace sandbox {
namespace {

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kTable[] = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

TEST_CASE("objects are created, read, replaced, patched and deleted over HTTP") {
  FrontEndFixture f;
  const Reply created = f.Post(kMaps, ConfigMap("a"));
  CHECK(created.code == 201);
  CHECK(created.body["metadata"]["namespace"].AsString() == "default");

  CHECK(f.Get(std::string(kMaps) + "/a").code == 200);
  const Reply replaced = f.Send({.method = "PUT",
                                 .target = std::string(kMaps) + "/a",
                                 .body = json::Write(ConfigMap("a", "2").root())});
  CHECK(replaced.code == 200);
  CHECK(replaced.body["data"]["key"].AsString() == "2");

  const Reply patched =
      f.Send({.method = "PATCH",
              .target = std::string(kMaps) + "/a",
              .body = R"({"data":{"key":"3"}})",
              .headers = {{"content-type", "application/strategic-merge-patch+json"}}});
  CHECK(patched.code == 200);
  CHECK(patched.body["data"]["key"].AsString() == "3");

  const Reply deleted = f.Send({.method = "DELETE", .target = std::string(kMaps) + "/a"});
  CHECK(deleted.code == 200);
  CHECK(deleted.body["status"].AsString() == "Success");
  CHECK(deleted.body["details"]["kind"].AsString() == "configmaps");
  CHECK(deleted.body["details"]["uid"] == created.body["metadata"]["uid"]);

  const Reply gone = f.Get(std::string(kMaps) + "/a");
  CHECK(gone.code == 404);
  CHECK(gone.body["kind"].AsString() == "Status");
  CHECK(gone.body["apiVersion"].AsString() == "v1");
  CHECK(gone.body["reason"].AsString() == "NotFound");
  CHECK(gone.body["message"].AsString() == "configmaps \"a\" not found");
}

TEST_CASE("/metrics counts the requests by verb, resource and code, as a kube-apiserver does") {
  FrontEndFixture f;
  f.Post(kMaps, ConfigMap("a"));
  f.Post(kMaps, ConfigMap("a"));
  f.Get("/nowhere");
  const std::string page = f.Get("/metrics").raw.body;
  CHECK_THAT(page, Catch::Contains("# TYPE apiserver_request_total counter\n"));
  const std::string series = "apiserver_request_total{code=\"";
  const std::string posted = "\",resource=\"configmaps\",subresource=\"\",verb=\"POST\"} 1\n";
  CHECK_THAT(page, Catch::Contains(series + "201" + posted));
  CHECK_THAT(page, Catch::Contains(series + "409" + posted));
  CHECK_THAT(page,
             Catch::Contains(series + "404\",resource=\"\",subresource=\"\",verb=\"GET\"} 1\n"));
}

TEST_CASE("lists of built-in kinds leave the type to the list") {
  FrontEndFixture f;
  f.Post(kMaps, ConfigMap("a"));
  const Reply list = f.Get("/api/v1/configmaps");
  CHECK(list.body["kind"].AsString() == "ConfigMapList");
  CHECK(list.body["apiVersion"].AsString() == "v1");
  REQUIRE(list.body["items"].size() == 1);
  CHECK_FALSE(list.body["items"].At(0).Has("kind"));
  CHECK_FALSE(list.body["metadata"]["resourceVersion"].AsString().empty());
}

TEST_CASE("path and body must agree") {
  FrontEndFixture f;
  kube::Object elsewhere = ConfigMap("a");
  elsewhere.Set({"metadata", "namespace"}, "other");
  CHECK(f.Post(kMaps, elsewhere).code == 400);
  const Reply renamed = f.Send({.method = "PUT",
                                .target = std::string(kMaps) + "/b",
                                .body = json::Write(ConfigMap("a").root())});
  CHECK(renamed.code == 400);
  CHECK(renamed.body["message"].AsString() ==
        "the name of the object (a) does not match the name on the URL (b)");
  CHECK(f.Post("/apis/apps/v1/namespaces/default/deployments", ConfigMap("a")).code == 400);
}

TEST_CASE("requests that cannot be served get the code a kube-apiserver gives") {
  FrontEndFixture f;
  struct Case {
    FrontEndFixture::Call call;
    int code;
  };
  const Case cases[] = {
      {{.target = "/nowhere"}, 404},
      {{.target = "/apis/nobody.io/v1/things"}, 404},
      {{.target = "/api/v1/namespaces/default/nodes"}, 404},
      {{.target = kMaps, .headers = {{"authorization", "Bearer wrong"}}}, 401},
      {{.target = kMaps, .headers = {{"authorization", ""}}}, 401},
      {{.target = kMaps, .headers = {{"accept", "application/vnd.kubernetes.protobuf"}}}, 406},
      {{.method = "POST", .target = kMaps, .body = "{"}, 400},
      {{.method = "POST", .target = "/api/v1/configmaps", .body = "{}"}, 405},
      {{.method = "POST",
        .target = kMaps,
        .body = "x",
        .headers = {{"content-type", "application/cbor"}}},
       415},
      {{.method = "POST",
        .target = kMaps,
        .body = "x",
        .headers = {{"content-type", "application/vnd.kubernetes.protobuf"}}},
       400},
      {{.method = "PATCH", .target = std::string(kMaps) + "/a", .body = "{}"}, 415},
      {{.target = "/healthz", .headers = {{"authorization", ""}}}, 200},
      {{.target = "/readyz", .headers = {{"authorization", "Bearer wrong"}}}, 401},
      {{.target = "/readyz"}, 200},
  };
  for (const Case& c : cases) {
    INFO(c.call.method << " " << c.call.target);
    CHECK(f.Send(c.call).code == c.code);
  }
}

TEST_CASE("requests that need real containers are refused with a sentence that gives the reason") {
  FrontEndFixture f;
  const std::string pods = "/api/v1/namespaces/default/pods";
  CHECK(f.Get(pods + "/web/log").body["message"].AsString() == "pods \"web\" not found");
  const kube::Object pod(*json::Parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},
      "spec":{"containers":[{"name":"web","image":"nginx"}]}})"));
  REQUIRE(f.Post(pods, pod).code == 201);
  const std::pair<FrontEndFixture::Call, const char*> cases[] = {
      {{.method = "POST", .target = pods + "/web/exec?command=ls"}, "cannot run a command"},
      {{.target = pods + "/web/attach"}, "cannot be attached to"},
      {{.method = "POST", .target = pods + "/web/portforward"}, "cannot forward a port"},
      {{.method = "POST", .target = pods + "/web/eviction", .body = "{}"},
       "delete the pod instead"},
  };
  for (const auto& [call, says] : cases) {
    INFO(call.target);
    const Reply refused = f.Send(call);
    CHECK(refused.code == 501);
    CHECK(refused.body["reason"].AsString() == "NotImplemented");
    CHECK_THAT(refused.body["message"].ToString(), Catch::Contains(says));
  }
}

TEST_CASE("the log of a container is a line that says that it is simulated") {
  FrontEndFixture f;
  const std::string pods = "/api/v1/namespaces/default/pods";
  const kube::Object pod(*json::Parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},
      "spec":{"containers":[{"name":"main","image":"nginx"}]}})"));
  REQUIRE(f.Post(pods, pod).code == 201);
  for (const char* query : {"", "?container=main", "?container=main&follow=true"}) {
    INFO(query);
    const Reply log = f.Send({.target = absl::StrCat(pods, "/web/log", query)});
    CHECK(log.code == 200);
    CHECK(log.raw.body ==
          "This is not a log of the container main of pod default/web: karmada-sandbox simulates "
          "pods, it does not run containers.\n");
  }
  CHECK(f.Get(pods + "/web/log?container=other").code == 400);
}

TEST_CASE("a signing request can be approved, and nothing else of it changes") {
  FrontEndFixture f;
  const std::string requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  kube::Object request(*json::Parse(R"({"apiVersion": "certificates.k8s.io/v1",
      "kind": "CertificateSigningRequest", "metadata": {"name": "robot"},
      "spec": {"request": "eA==", "signerName": "example.io/signer", "usages": ["client auth"]}})"));
  REQUIRE(f.Post(requests, request).code == 201);
  request = kube::Object(f.Get(requests + "/robot/approval").body);
  request.Set({"spec", "signerName"}, "example.io/other");
  request.Set({"status"}, *json::Parse(R"({"certificate": "eA==", "conditions": [
      {"type": "Approved", "status": "True", "reason": "Test", "message": "yes"}]})"));
  const Reply approved = f.Send({.method = "PUT",
                                 .target = requests + "/robot/approval",
                                 .body = json::Write(request.root())});
  CHECK(approved.code == 200);
  CHECK(approved.body["spec"]["signerName"].AsString() == "example.io/signer");
  CHECK(approved.body["status"]["conditions"].At(0)["type"].AsString() == "Approved");
  CHECK_FALSE(approved.body["status"].Has("certificate"));
}

TEST_CASE("a table is what kubectl gets") {
  FrontEndFixture f;
  f.Post("/apis/apps/v1/namespaces/default/deployments", Deployment("web", 3));
  const Reply table = f.Get("/apis/apps/v1/deployments", kTable);
  CHECK(table.body["kind"].AsString() == "Table");
  std::string header;
  for (const json::Value& c : table.body["columnDefinitions"].items()) {
    header += c["name"].ToString() + (c["priority"].AsInt() > 0 ? "*;" : ";");
  }
  CHECK(header == "Name;Ready;Up-to-date;Available;Age;Containers*;Images*;Selector*;");
  REQUIRE(table.body["rows"].size() == 1);
  const json::Value& row = table.body["rows"].At(0);
  CHECK(row["cells"].At(0).AsString() == "web");
  CHECK(row["cells"].At(1).AsString() == "0/3");
  CHECK(row["cells"].At(7).AsString() == "app=web");
  CHECK(row["object"]["kind"].AsString() == "PartialObjectMetadata");
  CHECK(f.Get("/apis/apps/v1/deployments?includeObject=Object", kTable)
            .body["rows"]
            .At(0)["object"]["kind"]
            .AsString() == "Deployment");
  CHECK(f.Get("/apis/apps/v1/namespaces/default/deployments/web", kTable).body["rows"].size() == 1);
}

TEST_CASE("custom resources are shown in the columns of their definition") {
  FrontEndFixture f;
  REQUIRE(
      f.Post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WidgetDefinition()).code ==
      201);
  kube::Object widget = Widget("w");
  f.Post("/apis/example.com/v1/namespaces/default/widgets", widget);
  const Reply status = f.Send({.method = "PATCH",
                               .target = "/apis/example.com/v1/namespaces/default/widgets/w/status",
                               .body = R"({"status":{"replicas":1}})",
                               .headers = {{"content-type", "application/merge-patch+json"}}});
  CHECK(status.code == 200);
  const Reply table = f.Get("/apis/example.com/v1/widgets", kTable);
  const json::Value& cells = table.body["rows"].At(0)["cells"];
  CHECK(cells.At(1).AsString() == "A");
  CHECK(cells.At(2).is_null());
  CHECK(cells.size() == 4);
}

TEST_CASE("fieldValidation warns by default and refuses when strict") {
  FrontEndFixture f;
  f.Post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WidgetDefinition());
  kube::Object widget = Widget("w");
  widget.Set({"spec", "odd"}, 1);
  const std::string path = "/apis/example.com/v1/namespaces/default/widgets";
  CHECK(f.Post(path + "?fieldValidation=Strict", widget).code == 400);
  const Reply warned = f.Post(path, widget);
  CHECK(warned.code == 201);
  CHECK(warned.Header("Warning") == "299 - \"unknown field \\\"spec.odd\\\"\"");
}

TEST_CASE("dry runs and bad options are recognised in the query") {
  FrontEndFixture f;
  CHECK(f.Post(std::string(kMaps) + "?dryRun=All", ConfigMap("a")).code == 201);
  CHECK(f.Get(std::string(kMaps) + "/a").code == 404);
  CHECK(f.Post(std::string(kMaps) + "?dryRun=Some", ConfigMap("a")).code == 422);
}

TEST_CASE("server-side apply takes YAML and says whether it created") {
  FrontEndFixture f;
  const FrontEndFixture::Call apply{
      .method = "PATCH",
      .target = std::string(kMaps) + "/a?fieldManager=me",
      .body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n",
      .headers = {{"content-type", "application/apply-patch+yaml"}}};
  CHECK(f.Send(apply).code == 201);
  CHECK(f.Send(apply).code == 200);
}

TEST_CASE("deletecollection deletes what the selector names") {
  FrontEndFixture f;
  for (const char* name : {"a", "b"}) {
    kube::Object o = ConfigMap(name);
    o.SetLabel("n", name);
    f.Post(kMaps, o);
  }
  CHECK(f.Send({.method = "DELETE", .target = std::string(kMaps) + "?labelSelector=n%3Da"}).code ==
        400);
  CHECK(f.Send({.method = "DELETE", .target = std::string(kMaps) + "?labelSelector=n=a"}).code ==
        200);
  CHECK(f.Get(kMaps).body["items"].size() == 1);
}

TEST_CASE("reviews are answered, not stored") {
  FrontEndFixture f;
  const Reply review = f.Send({.method = "POST",
                               .target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                               .body = R"({"spec":{"resourceAttributes":{"verb":"get"}}})"});
  CHECK(review.code == 201);
  CHECK(review.body["status"]["allowed"] == json::Value(true));
  const Reply whoami = f.Send({.method = "POST",
                               .target = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                               .body = "{}"});
  CHECK(whoami.body["status"]["userInfo"]["username"].AsString() == "tester");
}

TEST_CASE("injected faults hit the requests they name, as often as asked") {
  FrontEndFixture f;
  f.faults.FailNext(1, 429, "GET", "/configmaps", "", "");
  CHECK(f.Get("/api/v1/secrets").code == 200);
  const Reply limited = f.Get(kMaps);
  CHECK(limited.code == 429);
  CHECK(limited.Header("Retry-After") == "1");
  CHECK(limited.body["details"]["retryAfterSeconds"].AsInt() == 1);
  CHECK(f.Get(kMaps).code == 200);

  f.faults.FailNext(5, 403, "", "/configmaps", "Forbidden", "exceeded quota");
  CHECK(f.Post(kMaps, ConfigMap("a")).body["message"].AsString() == "exceeded quota");
  f.faults.Clear();
  CHECK(f.Get(kMaps).code == 200);
}

TEST_CASE("requests are counted by client, verb, resource and code") {
  FrontEndFixture f;
  f.Get(kMaps);
  f.Get(kMaps);
  f.Get(std::string(kMaps) + "/nope");
  f.Get(std::string(kMaps) + "?watch=true");
  std::string all;
  for (const RequestCount& c : f.counts.All()) {
    all += c.client + " " + c.verb + " " + c.resource + " " + std::to_string(c.code) + " x" +
           std::to_string(c.count) + ";";
  }
  CHECK(all ==
        "test/1 get configmaps 404 x1;test/1 list configmaps 200 x2;test/1 watch configmaps 200 "
        "x1;");
}

TEST_CASE("an autoscaler is the same in both versions of its API") {
  FrontEndFixture f;
  const Reply created = f.Send(
      {.method = "POST",
       .target = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
       .body =
           R"({"metadata":{"name":"h"},"spec":{"maxReplicas":3,"targetCPUUtilizationPercentage":50,
                   "scaleTargetRef":{"kind":"Deployment","name":"web"}}})"});
  REQUIRE(created.code == 201);
  CHECK(created.body["spec"]["targetCPUUtilizationPercentage"].AsInt() == 50);
  const Reply v2 = f.Get("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/h");
  CHECK(v2.body["spec"]["metrics"].At(0)["resource"]["target"]["averageUtilization"].AsInt() == 50);
  CHECK_FALSE(v2.body["spec"].Has("targetCPUUtilizationPercentage"));
}

TEST_CASE("what is below a delegated path is answered by its handler, for known clients") {
  FrontEndFixture f;
  f.front_end.Delegate("/apis/metrics.example/",
                       [](base::HttpRequest request, std::shared_ptr<base::HttpResponder> out) {
                         base::HttpResponse response;
                         response.body = "\"" + request.path + "\"";
                         out->Send(std::move(response));
                       });
  const Reply reply = f.Get("/apis/metrics.example/v1/namespaces/ns/pods");
  CHECK(reply.code == 200);
  CHECK(reply.body.AsString() == "/apis/metrics.example/v1/namespaces/ns/pods");
  CHECK(f.Get("/apis/metrics.other/v1").code == 404);
  CHECK(f.Send({.target = "/apis/metrics.example/v1", .headers = {{"authorization", "Bearer x"}}})
            .code == 401);
}

TEST_CASE("objects can be created from protobuf") {
  // The message is runtime.Unknown: type (apiVersion, kind), then the ConfigMap.
  const std::string body(
      "k8s\0\x0a\x0f\x0a\x02v1\x12\x09"
      "ConfigMap"
      "\x12\x0d\x0a\x03\x0a\x01"
      "a"
      "\x12\x06\x0a\x01k\x12\x01v"
      "\x1a\x00\x22\x00",
      40);
  FrontEndFixture f;
  const Reply created =
      f.Send({.method = "POST",
              .target = "/api/v1/namespaces/default/configmaps",
              .body = body,
              .headers = {{"content-type", "application/vnd.kubernetes.protobuf"},
                          {"accept", "application/vnd.kubernetes.protobuf,application/json"}}});
  CHECK(created.code == 201);
  CHECK(created.body["data"]["k"].AsString() == "v");
}

}  // namespace
}  // namespace sandbox
