#include "search/cache/multi_cluster_cache.h"

#include <catch2/catch.hpp>

#include "base/stop_token.h"
#include "search/cache/internal/continue_token.h"
#include "tests/search/cache/members.h"

namespace search {
namespace {

using tests::Eventually;
using tests::kPods;
using tests::Names;
using tests::Show;

struct Fixture : tests::SearchMembers {
  ListRequest All() const {
    ListRequest request;
    request.gvr = kPods.gvr();
    return request;
  }
  std::string Listed(const ListRequest& request) {
    const auto answer = cache().List(request);
    return answer.ok() ? Names(*answer) : std::string(answer.status().message());
  }
  ObjectFilter Labelled(const std::string& text) {
    ObjectFilter filter;
    filter.labels = *kube::LabelSelector::Parse(text);
    return filter;
  }
  // Reads all pages; returns the names of each.
  std::vector<std::string> Pages(ListRequest request) {
    std::vector<std::string> pages;
    do {
      const auto answer = cache().List(request);
      REQUIRE(answer.ok());
      pages.push_back(Names(*answer));
      request.continue_token = answer->continue_token;
    } while (!request.continue_token.empty() && pages.size() < 20);
    return pages;
  }
};

TEST_CASE_METHOD(Fixture, "an object is found in whichever cluster has it") {
  Put("m1", "a", "x");
  const int64_t version = Put("m2", "a", "y");
  Put("m1", "a", "same");
  Put("m2", "a", "same");
  REQUIRE(Cache({"m1", "m2"}));
  const auto y = cache().Get({kPods.gvr(), {"a", "y"}, ""});
  REQUIRE(y.ok());
  CHECK(y->cluster == "m2");
  CHECK(Show(y->version) == "{m2:" + std::to_string(version) + "}");
  std::string text;
  y->AppendTo(text);
  CHECK(text == R"({"apiVersion":"v1","kind":"Pod","metadata":{"annotations":)"
                R"({"resource.karmada.io/cached-from-cluster":"m2"},"labels":{"app":"web"},)"
                R"("name":"y","namespace":"a","resourceVersion":")" +
                    y->version + R"(","uid":")" + std::string(y->object->uid()) +
                    R"("},"spec":{"nodeName":"n1"}})");

  const auto missing = cache().Get({kPods.gvr(), {"a", "none"}, ""});
  CHECK(absl::IsNotFound(missing.status()));
  CHECK(missing.status().message() == "pods \"none\" not found");
  const auto same = cache().Get({kPods.gvr(), {"a", "same"}, ""});
  CHECK(absl::IsAborted(same.status()));
  CHECK(same.status().message() == AmbiguousObjects({"m2", "m1"}));
  CHECK(cache().Get({kPods.gvr(), {"a", "same"}, "m1"})->cluster == "m1");
  CHECK(absl::IsNotFound(cache().Get({kPods.gvr(), {"a", "x"}, "m2"}).status()));
}

// Looks at the cache while a cluster is being connected for the first time.
struct LookingFixture : Fixture {
  absl::StatusOr<kube::ConnectionConfig> ConfigFor(const std::string& cluster) override {
    const auto before = cache().Unread(kPods.gvr(), cluster);
    if (seen.empty()) seen = before;
    return Fixture::ConfigFor(cluster);
  }
  std::vector<MissingCluster> seen;
};

TEST_CASE_METHOD(LookingFixture, "a cluster counts as being read until it could not be connected") {
  Lock("m1");
  cache().SetScope(Scope({"m1"}));
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].being_read);
  CHECK(seen[0].reason == "its objects are still being read");
  const auto after = cache().Unread(kPods.gvr(), "m1");
  REQUIRE(after.size() == 1);
  CHECK_FALSE(after[0].being_read);
  CHECK(after[0].reason == "cluster m1 does not have a secret");
}

TEST_CASE_METHOD(Fixture, "a list has the objects of all clusters and one version of each") {
  Put("m2", "a", "y");
  Put("m1", "b", "x");
  Put("m1", "a", "x", "db");
  REQUIRE(Cache({"m1", "m2"}));
  const auto all = cache().List(All());
  REQUIRE(all.ok());
  CHECK(Names(*all) == "m1:a/x m1:b/x m2:a/y");
  CHECK(Show(all->version) == absl::StrCat("{m1:", Version("m1"), ",m2:", Version("m2"), "}"));
  CHECK(all->remaining == 0);

  ListRequest request = All();
  request.ns = "a";
  CHECK(Listed(request) == "m1:a/x m2:a/y");
  request.cluster = "m2";
  CHECK(Listed(request) == "m2:a/y");
  request = All();
  request.filter = Labelled("app=db");
  CHECK(Listed(request) == "m1:a/x");
  request.filter = {};
  request.filter.also = [](const kube::EncodedObject& object) {
    return object.spec()["nodeName"].AsString() == "n1" && object.name() != "x";
  };
  CHECK(Listed(request) == "m2:a/y");
}

TEST_CASE_METHOD(Fixture, "the text of a list comes in pieces and names the cluster of each item") {
  const int64_t x = Put("m1", "a", "x");
  Put("m2", "a", "y");
  REQUIRE(Cache({"m1", "m2"}));
  ListText text(*cache().List(All()), kPods.gvk);
  std::string whole;
  while (text.Append(whole, 10)) {
  }
  const auto root = json::Parse(whole);
  REQUIRE(root.ok());
  CHECK((*root)["kind"].AsString() == "PodList");
  CHECK((*root)["apiVersion"].AsString() == "v1");
  CHECK((*root)["metadata"].Has("continue"));
  const kube::Object item((*root)["items"].At(0));
  CHECK(item.Annotation("resource.karmada.io/cached-from-cluster") == "m1");
  CHECK(item.resource_version() == std::to_string(x));
  CHECK((*root)["items"].size() == 2);

  ListText none(ListAnswer(), kPods.gvk);
  whole.clear();
  while (none.Append(whole, 10)) {
  }
  CHECK(whole ==
        "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":"
        "{\"resourceVersion\":\"\",\"continue\":\"\"},\"items\":[]}\n");
}

TEST_CASE_METHOD(Fixture, "pages go through the clusters in one order, and show one state") {
  for (const char* name : {"a", "b", "c"}) Put("m1", "n", name);
  for (const char* name : {"d", "e"}) Put("m3", "n", name);
  REQUIRE(Cache({"m1", "m2", "m3"}));
  ListRequest request = All();
  request.limit = 2;
  CHECK(Pages(request) == std::vector<std::string>{"m1:n/a m1:n/b", "m1:n/c m3:n/d", "m3:n/e"});
  request.ns = "n";
  CHECK(Pages(request) == std::vector<std::string>{"m1:n/a m1:n/b", "m1:n/c m3:n/d", "m3:n/e"});
  request.limit = 3;
  CHECK(Pages(request) == std::vector<std::string>{"m1:n/a m1:n/b m1:n/c", "m3:n/d m3:n/e"});
  request.limit = 5;
  CHECK(Pages(request).size() == 1);
  request.limit = 1;
  request.filter.also = [](const kube::EncodedObject& object) {
    return object.name() != "b" && object.name() != "d";
  };
  CHECK(Pages(request) == std::vector<std::string>{"m1:n/a", "m1:n/c", "m3:n/e"});

  request = All();
  request.limit = 2;
  const auto first = cache().List(request);
  REQUIRE(first.ok());
  CHECK(first->remaining == 3);
  Put("m1", "n", "bb");
  Erase("m3", "n", "d");
  Put("m3", "n", "dd");
  request.limit = 9;
  request.continue_token = first->continue_token;
  const auto rest = cache().List(request);
  REQUIRE(rest.ok());
  CHECK(Names(*rest) == "m1:n/c m3:n/d m3:n/e");
  CHECK(rest->version == first->version);
}

TEST_CASE_METHOD(Fixture, "a page whose state is older than the history is refused") {
  Make(2 << 10);
  for (const char* name : {"a", "b", "c"}) Put("m1", "n", name);
  REQUIRE(Cache({"m1"}));
  ListRequest request = All();
  request.limit = 1;
  request.continue_token = cache().List(request)->continue_token;
  for (int i = 0; i < 5; ++i) Put("m1", "n", "c");
  CHECK(absl::IsOutOfRange(cache().List(request).status()));
}

TEST_CASE_METHOD(Fixture, "pages do not go on without a cluster that is not cached any more") {
  for (const char* name : {"a", "b"}) Put("m1", "n", name);
  Put("m2", "n", "c");
  REQUIRE(Cache({"m1", "m2"}));
  ListRequest request = All();
  request.limit = 1;
  request.continue_token = cache().List(request)->continue_token;
  ListRequest of_second = request;
  of_second.cluster = "m2";
  CHECK(cache().List(of_second).ok());
  cache().SetScope(Scope({"m2"}));
  const absl::Status refused = cache().List(request).status();
  CHECK(absl::IsOutOfRange(refused));
  CHECK(refused.message() == "too old resource version: cluster m1 is not cached any more");
  // What was not to be in the list does not matter.
  CHECK(cache().List(of_second).ok());
}

TEST_CASE_METHOD(Fixture, "new credentials that a cluster refuses count although nobody reads") {
  REQUIRE(Cache({"m1", "m2"}));
  Server("m1").FailNext("GET", 401, "Unauthorized", 1000);
  Server("m2").FailNext("GET", 401, "Unauthorized", 1000);
  cache().Retry("m1");
  CHECK(Eventually(
      [&] { return absl::IsUnauthenticated(cache().Find("m1", kPods.gvr())->last_error()); }));
  CHECK(cache().Find("m2", kPods.gvr())->last_error().ok());
}

TEST_CASE_METHOD(Fixture, "an exact version is read from the history, a future one refused") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  ListRequest request = All();
  request.resource_version = cache().List(request)->version;
  Put("m1", "n", "b");
  CHECK(Listed(request) == "m1:n/a m1:n/b");
  request.exact = true;
  CHECK(Listed(request) == "m1:n/a");
  CompositeVersion future;
  future.Set("m1", 100000);
  request.resource_version = future.ToString();
  CHECK(absl::IsDeadlineExceeded(cache().List(request).status()));
  request.exact = false;
  CHECK(absl::IsDeadlineExceeded(cache().List(request).status()));
}

TEST_CASE_METHOD(Fixture, "clusters that cannot answer are named, and hold up nobody") {
  Put("m1", "n", "a");
  Lock("m2");
  Server("m3").Block("GET");
  Server("m4").FailNext("GET", 403, "Forbidden", 1000);
  cache().SetScope(Scope({"m1", "m2", "m3", "m4"}));
  REQUIRE(Eventually([&] {
    return cache().Find("m1", kPods.gvr())->HasSynced() &&
           !cache().Find("m4", kPods.gvr())->last_error().ok();
  }));
  const auto answer = cache().List(All());
  REQUIRE(answer.ok());
  CHECK(Names(*answer) == "m1:n/a");
  REQUIRE(answer->missing.size() == 3);
  CHECK(answer->missing[0].reason == "cluster m2 does not have a secret");
  CHECK(answer->missing[1].reason == "its objects are still being read");
  CHECK(answer->missing[2].cluster == "m4");
  CHECK(cache().Get({kPods.gvr(), {"n", "a"}, ""})->missing.size() == 3);
  CHECK(cache().States().size() == 4);
  Server("m3").Unblock();

  Unlock("m2");
  CHECK(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return cache().Find("m2", kPods.gvr())->HasSynced();
  }));
}

TEST_CASE_METHOD(Fixture,
                 "a cluster that is connected again is followed there, and loses nothing") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  clusters.Remove("m1");
  Server("m1").Put(kPods, tests::PodIn("n", "b"));
  CHECK(Listed(All()) == "m1:n/a");
  CHECK(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return Listed(All()) == "m1:n/a m1:n/b";
  }));
}

TEST_CASE_METHOD(Fixture, "the namespaces of the scope limit what is cached") {
  for (const char* ns : {"a", "b", "c"}) Put("m1", ns, "x");
  cache().SetScope(Scope({"m1"}, {"a"}));
  REQUIRE(Eventually([&] { return Listed(All()) == "m1:a/x"; }));
  cache().SetScope(Scope({"m1"}, {"b", "c"}));
  REQUIRE(Eventually([&] { return Listed(All()) == "m1:b/x m1:c/x"; }));
  cache().SetScope({});
  CHECK(Listed(All()).empty());
  CHECK(cache().Find("m1", kPods.gvr()) == nullptr);
}

// The member does not answer any more, so that nothing but the scope says what may be read.
TEST_CASE_METHOD(Fixture,
                 "what the scope has left out cannot be read from an unreachable cluster") {
  for (const char* ns : {"a", "b"}) Put("m1", ns, "x");
  REQUIRE(Cache({"m1"}));
  Put("m1", "b", "secret");
  const int64_t before = Version("m1");
  Put("m1", "b", "later");
  Erase("m1", "b", "later");
  const auto composite = [](int64_t version) {
    CompositeVersion out;
    out.Set("m1", version);
    return out.ToString();
  };
  const int64_t last = Version("m1");
  ListRequest first_page = All();
  first_page.limit = 1;
  const auto page = cache().List(first_page);
  REQUIRE(page.ok());
  const auto open = cache().Watch({.gvr = kPods.gvr(), .resource_version = composite(last)}, [] {});
  REQUIRE(open.ok());

  Server("m1").FailNext("GET", 500, "InternalError", 1000);
  Server("m1").FailNext("WATCH", 500, "InternalError", 1000);
  cache().SetScope(Scope({"m1"}, {"a"}));
  CHECK(Listed(All()) == "m1:a/x");
  CHECK(absl::IsNotFound(cache().Get({kPods.gvr(), {"b", "secret"}, ""}).status()));
  CHECK(absl::IsNotFound(cache().Get({kPods.gvr(), {"b", "secret"}, "m1"}).status()));
  // Nor is any state of before shown, whatever page or watch asks for it.
  ListRequest exact = All();
  exact.exact = true;
  exact.resource_version = composite(before);
  CHECK(absl::IsOutOfRange(cache().List(exact).status()));
  ListRequest next_page = first_page;
  next_page.continue_token = page->continue_token;
  const auto rest = cache().List(next_page);
  if (rest.ok()) CHECK(Names(*rest).empty());
  for (const int64_t version : {before, last}) {
    CAPTURE(version);
    CHECK(absl::IsOutOfRange(
        cache()
            .Watch({.gvr = kPods.gvr(), .resource_version = composite(version)}, [] {})
            .status()));
  }
  // An open watch sees the objects go; one that begins sees only what is left, from a list on too.
  const auto taken = [](MergedWatch& watch) {
    std::vector<MergedEvent> events;
    watch.Take(100, events);
    std::vector<std::string> out;
    for (const MergedEvent& event : events) {
      if (event.object == nullptr) continue;
      out.push_back(absl::StrCat(event.type == MergedEvent::Type::kDeleted ? "-" : "+",
                                 event.object->key().ToString()));
    }
    return absl::StrJoin(out, " ");
  };
  CHECK(taken(**open) == "-b/secret -b/x");
  const auto list = cache().List(All());
  REQUIRE(list.ok());
  for (const auto& [version, shown] :
       {std::pair<std::string, std::string>(list->version, ""), {"0", "+a/x"}, {"", "+a/x"}}) {
    CAPTURE(version);
    const auto watch = cache().Watch({.gvr = kPods.gvr(), .resource_version = version}, [] {});
    REQUIRE(watch.ok());
    CHECK(taken(**watch) == shown);
  }
  // A second narrowing at the same version is one that this list's reader has not seen.
  cache().SetScope(Scope({"m1"}, {"c"}));
  CHECK(Listed(All()).empty());
  const std::string& seen = list->version;
  CHECK(absl::IsOutOfRange(
      cache().Watch({.gvr = kPods.gvr(), .resource_version = seen}, [] {}).status()));
}

TEST_CASE_METHOD(Fixture, "a watch that continues after a narrowing misses no change") {
  for (const char* ns : {"a", "b"}) Put("m1", ns, "x");
  REQUIRE(Cache({"m1"}));
  cache().SetScope(Scope({"m1"}, {"a"}));
  REQUIRE(Eventually([&] { return Server("m1").watches() > 0; }));
  Put("m1", "a", "y");
  const auto list = cache().List(All());
  REQUIRE(list.ok());
  CHECK(Names(*list) == "m1:a/x m1:a/y");
  CHECK_FALSE(list->version.empty());
  const auto watch = cache().Watch({.gvr = kPods.gvr(), .resource_version = list->version}, [] {});
  REQUIRE(watch.ok());
  Put("m1", "a", "z");
  std::vector<MergedEvent> events;
  (*watch)->Take(100, events);
  REQUIRE(events.size() == 1);
  CHECK(events[0].object->name() == "z");
}

TEST_CASE_METHOD(Fixture, "a resource that was made again with another scope is cached again") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  CachedResources changed = Scope({"m1"});
  changed["m1"][kPods.gvr()].resource.namespaced = false;
  cache().SetScope(changed);
  CHECK(Eventually([&] { return cache().Find("m1", kPods.gvr())->HasSynced(); }));
  cache().SetScope(Scope({"m1"}, {"n"}));
  REQUIRE(Eventually([&] { return cache().Find("m1", kPods.gvr())->HasSynced(); }));
  // One namespace is asked for alone, which resources without namespaces cannot be.
  CHECK(Server("m1").Requests("GET").back() == "GET /api/v1/namespaces/n/pods?limit=200");
}

TEST_CASE_METHOD(Fixture,
                 "a token that names no place is refused, and does not begin the list again") {
  for (const char* name : {"a", "b"}) Put("m1", "n", name);
  REQUIRE(Cache({"m1"}));
  ListRequest request = All();
  request.limit = 1;
  const auto token = [](const std::string& of_member) {
    return internal::ContinueToken{"", "m1", of_member}.ToString();
  };
  for (const std::string& text : {std::string("nonsense"), std::string("e30"), token("nonsense")}) {
    CAPTURE(text);
    request.continue_token = text;
    CHECK(absl::IsInvalidArgument(cache().List(request).status()));
  }
  // Upstream's tokens name a cluster alone where its objects begin.
  request.continue_token = token("");
  CHECK(Listed(request) == "m1:n/a");
}

TEST_CASE_METHOD(Fixture, "a list that nobody waits for ends") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  base::StopSource gone;
  ListRequest request = All();
  request.limit = 1;
  request.stop = gone.get_token();
  CHECK(cache().List(request).ok());
  gone.request_stop();
  CHECK(absl::IsCancelled(cache().List(request).status()));
}

TEST_CASE("callers do not learn where a member lives") {
  const std::string address = "https://10.0.0.1:6443: cannot connect to 10.0.0.1:6443: refused";
  for (const absl::Status& error :
       {absl::UnavailableError(address), absl::InternalError(address), absl::UnknownError(address),
        absl::DeadlineExceededError(address), absl::PermissionDeniedError(address),
        absl::UnauthenticatedError(address)}) {
    CAPTURE(error);
    const std::string reason = ReasonForCallers(error);
    CHECK_FALSE(reason.empty());
    CHECK(reason.find("10.0.0.1") == std::string::npos);
  }
  CHECK(ReasonForCallers(absl::NotFoundError("no secret")) == "no secret");
  CHECK(ReasonForCallers(absl::UnauthenticatedError(address)) ==
        "the cluster does not accept the credentials of this server");
}

}  // namespace
}  // namespace search
