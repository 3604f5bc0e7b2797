// Gets and lists of the proxy over a cache of members in memory.
#include "search/proxy/cache_reads.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "base/metrics.h"
#include "base/yaml.h"
#include "search/cache/composite_version.h"
#include "search/cache/internal/continue_token.h"
#include "tests/search/proxy/reading_client.h"
#include "tests/support/gunzip.h"

namespace search {
namespace {

using tests::Eventually;
using tests::kPods;

constexpr char kTable[] = "application/json;as=Table;v=v1;g=meta.k8s.io";
constexpr char kPartial[] =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

// Answers every question with `decision`.
class FakeAuthorizer : public kube::aggregation::Authorizer {
 public:
  void Authorize(const kube::aggregation::Attributes& attributes, Done done) override {
    asked.push_back(absl::StrCat(attributes.user.name, " ", attributes.verb, " ",
                                 attributes.resource, " ", attributes.ns, "/", attributes.name));
    done(decision);
  }

  std::vector<std::string> asked;
  absl::StatusOr<kube::aggregation::Decision> decision =
      kube::aggregation::Decision{.allowed = true};
};

TEST_CASE("a list shows the objects of all members with their origin") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1", "m2"}));
  const int64_t v1 = f.Put("m1", "a", "x");
  f.Put("m2", "a", "y");
  f.Put("m2", "b", "z", "other");
  const auto client = f.Send("/api/v1/pods");
  CHECK(client->answer().code == 200);
  CHECK(client->answer().content_type == "application/json");
  CHECK(client->Warnings().empty());
  const json::Value list = client->Body();
  CHECK(list["kind"].AsString() == "PodList");
  REQUIRE(list["items"].size() == 3);
  const kube::Object first(list["items"].At(0));
  CHECK(first.name() == "x");
  CHECK(first.Annotation("resource.karmada.io/cached-from-cluster") == "m1");
  CHECK(first.resource_version() == absl::StrCat(v1));
  CHECK(CompositeVersion::Parse(list["metadata"]["resourceVersion"].AsString()).versions().size() ==
        2);
  CHECK(f.Send("/api/v1/namespaces/b/pods")->Body()["items"].size() == 1);
  CHECK(f.Send("/api/v1/pods?cluster=m2")->Body()["items"].size() == 2);
}

TEST_CASE("selectors are evaluated in the cache") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  f.Put("m1", "a", "x", "web");
  f.Put("m1", "a", "y", "db");
  const auto names = [&](const std::string& key, const std::string& value) {
    base::HttpRequest http = Inner("GET", "/api/v1/pods").request;
    http.query = {{key, value}, {"resourceVersion", "0"}};
    kube::aggregation::ApiRequest request;
    request.http = std::move(http);
    request.info = Inner("GET", "/api/v1/pods").info;
    auto client = ReadingClient::Make();
    f.reads.Answer(std::move(request), {}, client);
    std::string out;
    (void)client->Body();
    for (const json::Value& item : client->Body()["items"].items()) {
      absl::StrAppend(&out, kube::Object(item).name(), " ");
    }
    return absl::StrCat(client->answer().code, " ", out);
  };
  CHECK(names("labelSelector", "app=db") == "200 y ");
  CHECK(names("fieldSelector", "spec.nodeName=n1") == "200 x y ");
  CHECK(names("fieldSelector", "spec.nodeName=n2") == "200 ");
  CHECK(names("fieldSelector", "metadata.name!=x") == "200 y ");
  CHECK(names("fieldSelector", "spec.color=red") == "400 ");
  CHECK(names("labelSelector", "=") == "400 ");
  std::string many = "!a";
  for (int i = 1; i < 1000; ++i) absl::StrAppend(&many, ",!a", i);
  CHECK(names("labelSelector", many) == "200 x y ");
  CHECK(names("labelSelector", many + ",!b") == "400 ");
}

TEST_CASE("an object is found in its member, with a composite version") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1", "m2"}));
  const int64_t version = f.Put("m2", "a", "x");
  const auto found = f.Send("/api/v1/namespaces/a/pods/x");
  CHECK(found->answer().code == 200);
  const kube::Object object(found->Body());
  CHECK(object.Annotation("resource.karmada.io/cached-from-cluster") == "m2");
  CHECK(CompositeVersion::Parse(object.resource_version()).Number("m2") == version);
  // What a get returned may be asked for by a get.
  CHECK(f.Send(absl::StrCat("/api/v1/namespaces/a/pods/x?resourceVersion=",
                            object.resource_version()))
            ->answer()
            .code == 200);

  const auto none = f.Send("/api/v1/namespaces/a/pods/none");
  CHECK(none->answer().code == 404);
  CHECK(none->Body()["message"].AsString() == "pods \"none\" not found");
  f.Put("m1", "a", "x");
  const auto both = f.Send("/api/v1/namespaces/a/pods/x");
  CHECK(both->answer().code == 409);
  CHECK(
      both->Body()["message"].AsString() ==
      "Operation cannot be fulfilled on pods \"x\": ambiguous objects in clusters [m1, m2]; "
      "choose one with the query parameter \"cluster\", the header X-Karmada-Cluster, or a server "
      "URL that ends in proxying/<cluster>/proxy");
  CHECK(f.Send("/api/v1/namespaces/a/pods/x?cluster=m1")->answer().code == 200);
  f.connecting = "m3";
  const Holders holders = f.reads.HoldersOf(kPods.gvr(), {"a", "x"});
  CHECK(holders.clusters == std::vector<std::string>{"m1", "m2"});
  // The third one is in the scope, and nothing is known of it.
  REQUIRE(holders.unread.size() == 1);
  CHECK(holders.unread[0].cluster == "m3");
  CHECK(holders.unread[0].just_begun);
  CHECK(holders.asked == 3);
}

TEST_CASE("kubectl gets tables with the cluster, metadata clients get metadata") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  f.Put("m1", "a", "x");
  for (const char* target : {"/api/v1/pods?limit=500", "/api/v1/namespaces/a/pods/x"}) {
    CAPTURE(target);
    const json::Value table = f.Send(target, kTable)->Body();
    CHECK(table["kind"].AsString() == "Table");
    CHECK(table["columnDefinitions"].At(0)["name"].AsString() == "Name");
    CHECK(table["columnDefinitions"].At(1)["name"].AsString() == "Cluster");
    CHECK(table["columnDefinitions"].At(2)["name"].AsString() == "Ready");
    REQUIRE(table["rows"].size() == 1);
    CHECK(table["rows"].At(0)["cells"].At(1).AsString() == "m1");
  }
  const json::Value partial = f.Send("/api/v1/pods", kPartial)->Body();
  CHECK(partial["kind"].AsString() == "PartialObjectMetadataList");
  CHECK(partial["items"].At(0)["metadata"]["name"].AsString() == "x");
  CHECK_FALSE(partial["items"].At(0).Has("spec"));
  CHECK(f.Send("/api/v1/pods", "application/vnd.kubernetes.protobuf")->answer().code == 406);
  CHECK(absl::StartsWith(f.Send("/api/v1/pods", "application/yaml")->answer().body, "apiVersion:"));
}

TEST_CASE("a list comes in pages that fit together") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1", "m2"}));
  for (const char* name : {"x", "y", "z"}) f.Put("m1", "a", name);
  f.Put("m2", "a", "w");
  const json::Value first = f.Send("/api/v1/pods?limit=2")->Body();
  CHECK(first["items"].size() == 2);
  CHECK(first["metadata"]["remainingItemCount"].AsInt() == 2);
  const std::string token = first["metadata"]["continue"].ToString();
  f.Put("m1", "a", "zz");
  const json::Value rest = f.Send("/api/v1/pods?limit=500&continue=" + token)->Body();
  CHECK(rest["items"].size() == 2);
  CHECK(rest["metadata"]["continue"].AsString().empty());
}

TEST_CASE(
    "a page at a version that no member has reached says so by the cause that clients look for") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  f.Put("m1", "a", "x");
  CompositeVersion future;
  future.Set("m1", int64_t{1'000'000});
  const internal::ContinueToken token{future.ToString(), "m1", ""};
  const auto client = f.Send("/api/v1/pods?limit=1&continue=" + token.ToString());
  CHECK(client->answer().code == 504);
  const json::Value cause = client->Body()["details"]["causes"].At(0);
  CHECK(cause["reason"].AsString() == "ResourceVersionTooLarge");
}

TEST_CASE("a page is answered as soon as the caches are as new as the page before") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1", "m2"}));
  f.Put("m1", "a", "x");
  f.Put("m2", "a", "y");
  // What another replica has seen already: a version that is m2's by now, though no pod has
  // changed.
  const kube::Resource secrets{{"", "v1", "Secret"}, "secrets", true};
  const kube::Object other =
      f.Server("m2").Put(secrets, kube::Object::Make(secrets.gvk, {"a", "other"}));
  const std::string first =
      f.Send("/api/v1/pods?limit=1&resourceVersion=0")->Body()["metadata"]["continue"].ToString();
  internal::ContinueToken token = internal::ContinueToken::Parse(first);
  CompositeVersion versions = CompositeVersion::Parse(token.version);
  REQUIRE(kube::ResourceVersionOf(other) > versions.Number("m2"));
  versions.Set("m2", kube::ResourceVersionOf(other));
  token.version = versions.ToString();
  const auto rest = ReadingClient::Make();
  f.Start(f.reads, "/api/v1/pods?limit=1&continue=" + token.ToString(), "", rest);
  REQUIRE(Eventually([&] {
    f.Server("m2").SendBookmarks();
    return rest->answered();
  }));
  CHECK(rest->Body()["items"].At(0)["metadata"]["name"].AsString() == "y");
  CHECK(VersionOfPage(token.ToString()) == versions.ToString());
  CHECK(VersionOfPage("nonsense").empty());
}

TEST_CASE("a member that is missing is named, and the others answer") {
  CacheReadsFixture f;
  f.Lock("m2");
  f.cache().SetScope(tests::SearchMembers::Scope({"m1", "m2"}));
  REQUIRE(Eventually([&] { return f.cache().Find("m1", kPods.gvr())->HasSynced(); }));
  f.Put("m1", "a", "x");
  const auto client = f.Send("/api/v1/pods?resourceVersion=0");
  CHECK(client->answer().code == 200);
  CHECK(client->Body()["items"].size() == 1);
  REQUIRE(client->Warnings().size() == 1);
  CHECK_THAT(client->Warnings()[0], Catch::StartsWith("299 - \"cluster m2 is missing: "));
}

// Puts pods of 10 KB that can hardly be compressed.
void PutLongPods(CacheReadsFixture& f, int count) {
  uint32_t state = 1;
  for (int i = 0; i < count; ++i) {
    kube::Object pod = tests::PodIn("a", absl::StrCat("p", i));
    std::string noise(10'000, 'x');
    for (char& c : noise) c = static_cast<char>('0' + ((state = state * 1664525 + 7) >> 24) % 64);
    pod.SetAnnotation("big", noise);
    f.Reach("m1", kube::ResourceVersionOf(f.Server("m1").Put(kPods, pod)));
  }
}

TEST_CASE("a long list is compressed piece by piece for clients that accept it") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  PutLongPods(f, 60);
  const auto client = ReadingClient::Make();
  client->SetRoom(false);
  f.Send("/api/v1/pods", "", client, true);
  CHECK(client->answer().body.empty());
  client->SetRoom(true);
  REQUIRE(Eventually([&] { return client->closed(); }));
  const base::HttpResponse answer = client->answer();
  const auto has = [&answer](const std::string& name, const std::string& value) {
    return std::count(answer.headers.begin(), answer.headers.end(), std::pair(name, value)) == 1;
  };
  CHECK(has("Content-Encoding", "gzip"));
  CHECK(has("Vary", "Accept-Encoding"));
  const auto text = tests::Gunzip(answer.body);
  REQUIRE(text.has_value());
  CHECK(answer.body.size() < text->size());
  const auto plain = f.Send("/api/v1/pods");
  REQUIRE(Eventually([&] { return plain->closed(); }));
  CHECK(*text == plain->answer().body);
  // Neither a short answer nor a watch is.
  const auto brief = ReadingClient::Make();
  f.Send("/api/v1/pods?limit=1", "", brief, true);
  CHECK(brief->Body()["items"].size() == 1);
  const auto watch = ReadingClient::Make();
  f.Send("/api/v1/pods?watch=1&resourceVersion=0", "", watch, true);
  CHECK(Eventually([&] { return watch->Events().size() == 60; }));
}

TEST_CASE("a long list is sent in pieces as the client takes them") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  PutLongPods(f, 40);
  const auto client = ReadingClient::Make();
  client->SetRoom(false);
  f.Send("/api/v1/pods", "", client);
  CHECK_FALSE(client->closed());
  CHECK(client->answer().body.size() < 300'000);
  client->SetRoom(true);
  CHECK(client->Body()["items"].size() == 40);
}

// How the same document is written whole.
std::string WholeText(const std::string& text, bool yaml, bool pretty) {
  if (yaml) return yaml::Write(yaml::Parse(text).value_or(json::Value()));
  json::WriteOptions options;
  if (pretty) options.indent = 2;
  return json::Write(json::Parse(text).value_or(json::Value()), options) + "\n";
}

TEST_CASE("a list of any form is sent in pieces as the client takes them") {
  struct Form {
    const char* accept;
    const char* target;
    const char* items;
    bool yaml = false, pretty = false;
  };
  const auto form =
      GENERATE(Form{kTable, "/api/v1/pods?includeObject=Object", "rows"},
               Form{kTable, "/api/v1/pods?includeObject=Object&pretty=1", "rows", false, true},
               Form{"application/json", "/api/v1/pods?pretty=true", "items", false, true},
               Form{kPartial, "/api/v1/pods", "items"},
               Form{"application/yaml", "/api/v1/pods", "items", true},
               Form{kPartial, "/api/v1/pods?sort=metadata.name&pretty=1", "items", false, true});
  CAPTURE(form.accept, form.target);
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1", "m2"}));
  PutLongPods(f, 40);
  kube::Object lines = tests::PodIn("a", "lines");
  lines.SetAnnotation("text", "several\n\n  lines\n");
  f.Reach("m2", kube::ResourceVersionOf(f.Server("m2").Put(kPods, lines)));
  const auto client = ReadingClient::Make();
  client->SetRoom(false);
  f.Send(form.target, form.accept, client);
  CHECK_FALSE(client->closed());
  CHECK(client->answer().body.size() < 300'000);
  client->SetRoom(true);
  REQUIRE(Eventually([&] { return client->closed(); }));
  const std::string text = client->answer().body;
  const json::Value list =
      (form.yaml ? yaml::Parse(text) : json::Parse(text)).value_or(json::Value());
  CHECK(list[form.items].size() == 41);
  CHECK(text == WholeText(text, form.yaml, form.pretty));

  const auto compressed = ReadingClient::Make();
  f.Send(form.target, form.accept, compressed, true);
  REQUIRE(Eventually([&] { return compressed->closed(); }));
  CHECK(tests::Gunzip(compressed->answer().body).value_or("") == text);
}

TEST_CASE("a list without objects has every form") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  for (const char* accept : {kTable, kPartial, "application/yaml"}) {
    const std::string text = f.Send("/api/v1/pods", accept)->answer().body;
    CHECK(text == WholeText(text, absl::EndsWith(accept, "yaml"), false));
    CHECK(absl::StrContains(text, "resourceVersion"));
  }
}

TEST_CASE("a member that does not answer holds up its own readers only, and not too many") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  f.Put("m1", "a", "x");
  CacheReads::Options options = f.Options(absl::InfiniteDuration());
  options.waiting_threads = 1;
  options.max_waiting = 1;
  metrics::Registry registry;
  options.registry = &registry;
  options.clusters = [](const kube::Gvr&) { return std::vector<std::string>{"m1"}; };
  CacheReads few(std::move(options));
  const auto before = static_cast<int>(f.Server("m1").Requests("GET").size());
  f.Server("m1").Block("GET");
  const auto first = ReadingClient::Make(), second = ReadingClient::Make(),
             third = ReadingClient::Make();
  f.Start(few, "/api/v1/pods", "", first);
  REQUIRE(f.Server("m1").AwaitRequests("GET", before + 1));
  f.Start(few, "/api/v1/pods", "", second);
  f.Start(few, "/api/v1/pods", "", third);
  CHECK(third->Body()["code"].AsInt() == 429);
  const auto refused = [&](const char* cause) {
    return registry.GetCounter("karmada_refused_requests_total", "", {{"cause", cause}}).Value();
  };
  CHECK(refused("waiting-reads") == 1);
  CHECK(refused("cached-reads") == 0);
  CHECK_FALSE(first->answered());
  // Who does not ask for the newest state gets what there is.
  const auto any = ReadingClient::Make();
  f.Start(few, "/api/v1/pods?resourceVersion=0", "", any);
  CHECK(any->Body()["items"].size() == 1);
  f.Server("m1").Unblock();
  CHECK(first->Body()["items"].size() == 1);
  CHECK(second->Body()["items"].size() == 1);
}

TEST_CASE("a version from the future is refused without waiting for it") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  CompositeVersion future;
  future.Set("m1", int64_t{1'000'000'000});
  const json::Value error = f.Send("/api/v1/pods?resourceVersion=" + future.ToString())->Body();
  CHECK(error["code"].AsInt() == 504);
  CHECK(error["details"]["causes"].At(0)["reason"].AsString() == "ResourceVersionTooLarge");
}

TEST_CASE("cached reads are authorized one by one when that is wanted") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  FakeAuthorizer authorizer;
  CacheReads::Options options = f.Options(absl::Seconds(3));
  options.authorizer = &authorizer;
  CacheReads authorized(std::move(options));
  const auto code = [&](const std::string& target) {
    const auto client = ReadingClient::Make();
    f.Start(authorized, target, "", client);
    (void)client->Body();
    return client->answer().code;
  };
  CHECK(code("/api/v1/namespaces/ns/pods") == 200);
  authorizer.decision->reason = "by rule";
  authorizer.decision->allowed = false;
  CHECK(code("/api/v1/namespaces/ns/pods/web") == 403);
  CHECK(code("/api/v1/pods?watch=true") == 403);
  CHECK(authorizer.asked ==
        std::vector<std::string>{"bob list pods ns/", "bob get pods ns/web", "bob watch pods /"});
  // What went wrong is for the log.
  const auto client = ReadingClient::Make();
  authorizer.decision = absl::UnavailableError("dial 10.0.0.1: refused");
  f.Start(authorized, "/api/v1/pods", "", client);
  CHECK(client->Body()["message"].AsString() ==
        "Internal error occurred: the request cannot be authorized at the moment");
  authorizer.decision = absl::ResourceExhaustedError("too many");
  CHECK(code("/api/v1/pods") == 429);
}

}  // namespace
}  // namespace search
