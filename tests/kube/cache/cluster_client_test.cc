#include "kube/cache/cluster_client.h"

#include <catch2/catch.hpp>
#include <thread>

#include "absl/strings/match.h"
#include "kube/cache/read_scope.h"
#include "kube/client/errors.h"
#include "tests/support/cluster_client_fixture.h"
#include "tests/support/pods.h"

namespace kube {
namespace {

using tests::kPods;
using tests::Pod;

struct Fixture : tests::ClusterClientFixture {
  const ObjectKey key{"ns", "a"};

  // Fills the cache and blocks the watch, so that only writes can change the cache.
  void Sync() {
    REQUIRE(informers.Get(kPods)->WaitForSync(base::SteadyTime::InfiniteFuture(), stop).ok());
    REQUIRE(server->AwaitWatches(1));
  }
  ObjectPtr Before() { return Share(server->Find(kPods, key)); }
  json::Value SentPatch() { return *json::Parse(server->last_body()); }
};

TEST_CASE_METHOD(Fixture, "an update sends only what changed") {
  server->Put(kPods, Pod("a"));
  Object after = *Before();
  after.Set({"spec", "replicas"}, 3);
  const auto now = cluster.Update(kPods, Before(), after, {}, stop);
  REQUIRE(now.ok());
  CHECK(SentPatch() == json::Value::Object({{"spec", json::Value::Object({{"replicas", 3}})}}));
  CHECK(server->Find(kPods, key).spec()["replicas"].AsInt() == 3);
  CHECK((*now)->resource_version() == "102");
}

TEST_CASE_METHOD(Fixture, "an update that changes nothing is not sent") {
  server->Put(kPods, Pod("a"));
  const ObjectPtr before = Before();
  Object after = *before;
  SECTION("nothing at all") {}
  SECTION("what only the server writes") {
    after.Set({"metadata", "generation"}, 7);
    after.Erase({"metadata", "resourceVersion"});
    after.Erase({"metadata", "uid"});
  }
  SECTION("status, which is not this write's") { after.Set({"status", "phase"}, "Running"); }
  const auto now = cluster.Update(kPods, before, after, {}, stop);
  REQUIRE(now.ok());
  CHECK(*now == before);
  CHECK(server->Requests("PATCH").empty());
}

TEST_CASE_METHOD(Fixture, "a status update sends the difference of the status alone") {
  server->Put(kPods, Pod("a"));
  Object after = *Before();
  after.Set({"status", "phase"}, "Running");
  after.Set({"spec", "replicas"}, 3);
  REQUIRE(cluster.Update(kPods, Before(), after, {.subresource = "status"}, stop).ok());
  CHECK(SentPatch() ==
        json::Value::Object({{"status", json::Value::Object({{"phase", "Running"}})}}));
  CHECK(server->Requests("PATCH").back() == "PATCH /api/v1/namespaces/ns/pods/a/status");
  CHECK_FALSE(server->Find(kPods, key).root().Has("spec"));
}

TEST_CASE_METHOD(Fixture, "a status that is not a subresource is patched on the object, alone") {
  server->Put(kPods, Pod("a"));
  Object after = *Before();
  after.Set({"status", "phase"}, "Running");
  after.Set({"spec", "replicas"}, 3);
  const UpdateOptions options{.subresource = "status", .status_on_object = true};
  REQUIRE(cluster.Update(kPods, Before(), after, options, stop).ok());
  CHECK(SentPatch() ==
        json::Value::Object({{"status", json::Value::Object({{"phase", "Running"}})}}));
  CHECK(server->Requests("PATCH").back() == "PATCH /api/v1/namespaces/ns/pods/a");
}

TEST_CASE_METHOD(Fixture, "a sub-resource of another kind is read and written beside the cache") {
  server->Put(kPods, Pod("a"));
  Sync();
  const auto scale = cluster.GetSubresource(kPods, key, "scale", stop);
  REQUIRE(scale.ok());
  CHECK((*scale)->kind() == "Scale");
  Object after = **scale;
  after.Set({"spec", "replicas"}, 5);
  const auto now = cluster.Update(kPods, *scale, after, {.subresource = "scale"}, stop);
  REQUIRE(now.ok());
  CHECK((*now)->kind() == "Scale");
  CHECK(server->Requests("PATCH").back() == "PATCH /api/v1/namespaces/ns/pods/a/scale");
  CHECK(server->Find(kPods, key).spec()["replicas"].AsInt() == 5);
  CHECK(cluster.Find(kPods, key)->kind() == "Pod");
}

TEST_CASE_METHOD(Fixture, "a sub-resource is written with its status") {
  server->Put(kPods, Pod("a"));
  Object after = *Before();
  after.Set({"status", "conditions"}, json::Value::Array());
  REQUIRE(cluster.Update(kPods, Before(), after, {.subresource = "approval"}, stop).ok());
  CHECK(server->Requests("PATCH").back() == "PATCH /api/v1/namespaces/ns/pods/a/approval");
  CHECK(SentPatch()["status"].Has("conditions"));
}

TEST_CASE_METHOD(Fixture, "the precondition goes with patches that carry lists, or as asked") {
  using Precondition = UpdateOptions::Precondition;
  struct Case {
    bool list;
    Precondition precondition;
    bool refused;
  };
  const Case c =
      GENERATE(Case{false, Precondition::kWhenListsChange, false},
               Case{true, Precondition::kWhenListsChange, true},
               Case{false, Precondition::kAlways, true}, Case{true, Precondition::kNever, false});
  server->Put(kPods, Pod("a"));
  const ObjectPtr before = Before();
  server->Put(kPods, Pod("a"));  // Another client writes in between.
  Object after = *before;
  if (c.list) {
    after.AddFinalizer("x/y");
  } else {
    after.SetLabel("x", "y");
  }
  const auto now = cluster.Update(kPods, before, after, {.precondition = c.precondition}, stop);
  CHECK(absl::IsAborted(now.status()) == c.refused);
}

TEST_CASE_METHOD(Fixture, "where patches are not permitted the whole object is sent, guarded") {
  cluster.ReplaceInsteadOfPatching(kPods, "");
  cluster.ReplaceInsteadOfPatching(kPods, "status");
  server->Put(kPods, Pod("a"));
  const ObjectPtr before = Before();
  Object after = *before;
  REQUIRE(cluster.Update(kPods, before, after, {}, stop).ok());  // Nothing to send.
  CHECK(server->Requests().empty());

  Object theirs = *before;
  theirs.SetLabel("theirs", "1");
  server->Put(kPods, theirs);
  SECTION("a change of a list meets a conflict, after which the cache is up to date") {
    after.AddFinalizer("x/y");
    CHECK(IsConflict(cluster.Update(kPods, before, after, {}, stop).status()));
    CHECK(Before()->Label("theirs") == "1");
  }
  SECTION("another change is made to the present object") {
    after.SetLabel("ours", "1");
    const auto now = cluster.Update(kPods, before, after, {}, stop);
    REQUIRE(now.ok());
    CHECK((*now)->Label("theirs") == "1");
    CHECK((*now)->Label("ours") == "1");
  }
  SECTION("so is a status that has one writer") {
    after.Set({"status", "list"}, json::Value::Array({1}));
    const auto now = cluster.Update(
        kPods, before, after,
        {.subresource = "status", .precondition = UpdateOptions::Precondition::kNever}, stop);
    REQUIRE(now.ok());
    CHECK((*now)->Label("theirs") == "1");
    CHECK((*now)->status()["list"].size() == 1);
    CHECK(server->Requests("PUT").back() == "PUT /api/v1/namespaces/ns/pods/a/status");
  }
  SECTION("but not to another object of the name") {
    server->Erase(kPods, key);
    Object other = Pod("a");
    other.Set({"metadata", "uid"}, "other");
    server->Put(kPods, other);
    after.SetLabel("ours", "1");
    CHECK(IsConflict(cluster.Update(kPods, before, after, {}, stop).status()));
    CHECK(Before()->Label("ours").empty());
  }
  CHECK(server->Requests("PATCH").empty());
}

TEST_CASE_METHOD(Fixture, "what was written is read at once") {
  Sync();
  server->Block("GET");  // Reads must come from the cache.
  const auto created = cluster.Create(kPods, Pod("a"), stop);
  REQUIRE(created.ok());
  const ObjectPtr held = cluster.Find(kPods, key);
  REQUIRE(held != nullptr);
  CHECK(*held == **created);

  Object after = *held;
  after.SetLabel("x", "y");
  REQUIRE(cluster.Update(kPods, held, after, {}, stop).ok());
  CHECK(cluster.Find(kPods, key)->Label("x") == "y");

  REQUIRE(cluster.Delete(kPods, key, {}, stop).ok());
  CHECK(cluster.Find(kPods, key) == nullptr);
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "a refused update leaves the cache as it was") {
  server->Put(kPods, Pod("a"));
  Sync();
  const ObjectPtr held = cluster.Find(kPods, key);
  Object after = *held;
  after.SetLabel("x", "y");
  server->FailNext("PATCH", 409, "Conflict");
  CHECK(absl::IsAborted(cluster.Update(kPods, held, after, {}, stop).status()));
  CHECK(cluster.Find(kPods, key) == held);
}

TEST_CASE_METHOD(Fixture, "after a conflict the cache shows what the server has") {
  server->Put(kPods, Pod("a"));
  Sync();
  const ObjectPtr held = cluster.Find(kPods, key);
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());  // From here on the cache gets no events.
  const Object theirs = server->Put(kPods, Pod("a"));
  Object after = *held;
  after.AddFinalizer("x/y");
  CHECK(absl::IsAborted(cluster.Update(kPods, held, after, {}, stop).status()));
  CHECK(cluster.Find(kPods, key)->resource_version() == theirs.resource_version());
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "after a conflict about a deletion the cache shows what the server has") {
  server->Put(kPods, Pod("a"));
  Sync();
  const ObjectPtr held = cluster.Find(kPods, key);
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());  // From here on the cache gets no events.
  DeleteOptions options;
  options.uid = std::string(held->uid());
  SECTION("a successor") {
    const Object theirs = server->Put(kPods, Pod("a"));
    server->FailNext("DELETE", 409, "Conflict");
    CHECK(IsConflict(cluster.Delete(kPods, key, options, stop)));
    CHECK(cluster.Find(kPods, key)->resource_version() == theirs.resource_version());
  }
  SECTION("nothing") {
    server->Erase(kPods, key);
    server->FailNext("DELETE", 409, "Conflict");
    CHECK(IsConflict(cluster.Delete(kPods, key, options, stop)));
    CHECK(cluster.Find(kPods, key) == nullptr);
  }
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "an object that an update does not find leaves the cache") {
  server->Put(kPods, Pod("a"));
  Sync();
  const ObjectPtr held = cluster.Find(kPods, key);
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());  // From here on the cache gets no events.
  server->Erase(kPods, key);
  Object after = *held;
  after.SetLabel("x", "y");
  CHECK(IsGone(cluster.Update(kPods, held, after, {}, stop).status()));
  CHECK(cluster.Find(kPods, key) == nullptr);
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "a finalizer is taken off once, and that the object is gone is fine") {
  Object pod = Pod("a");
  pod.AddFinalizer("example.io/mine");
  pod.AddFinalizer("example.io/other");
  server->Put(kPods, pod);
  const ObjectPtr before = Before();
  REQUIRE(cluster.RemoveFinalizer(kPods, before, "example.io/mine", stop).ok());
  CHECK_FALSE(Before()->HasFinalizer("example.io/mine"));
  CHECK(Before()->HasFinalizer("example.io/other"));
  REQUIRE(cluster.RemoveFinalizer(kPods, Before(), "example.io/mine", stop).ok());
  CHECK(server->Requests("PATCH").size() == 1);
  // Finalizers of others are in the same list, so an outdated list must not be written.
  CHECK(IsConflict(cluster.RemoveFinalizer(kPods, before, "example.io/mine", stop)));
  server->Erase(kPods, key);
  CHECK(cluster.RemoveFinalizer(kPods, before, "example.io/mine", stop).ok());
}

TEST_CASE_METHOD(Fixture, "a delete that finalizers hold up is seen as deleting") {
  Object pod = Pod("a");
  pod.AddFinalizer("x/y");
  server->Put(kPods, pod);
  Sync();
  REQUIRE(cluster.Delete(kPods, key, {}, stop).ok());
  REQUIRE(cluster.Find(kPods, key) != nullptr);
  CHECK(cluster.Find(kPods, key)->IsDeleting());
}

TEST_CASE_METHOD(Fixture,
                 "a delete that finds nothing is believed when a read finds nothing either") {
  server->Put(kPods, Pod("a"));
  Sync();
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());  // From here on the cache gets no events.
  SECTION("the object is there: the server was starting") {
    server->FailNext("DELETE", 404, "NotFound");
    CHECK(absl::IsUnavailable(cluster.Delete(kPods, key, {}, stop)));
    CHECK(cluster.Find(kPods, key) != nullptr);
    CHECK(cluster.Delete(kPods, key, {}, stop).ok());
    CHECK(server->Find(kPods, key).empty());
  }
  SECTION("the object is gone") {
    server->Erase(kPods, key);
    CHECK(cluster.Delete(kPods, key, {}, stop).ok());
    CHECK(cluster.Find(kPods, key) == nullptr);
  }
  SECTION("another one has taken its name") {
    server->Erase(kPods, key);
    const Object other = server->Put(kPods, Pod("a"));
    server->FailNext("DELETE", 404, "NotFound");
    CHECK(cluster.Delete(kPods, key, {}, stop).ok());
    CHECK_FALSE(server->Find(kPods, key).empty());
  }
  SECTION("nobody can tell") {
    server->FailNext("DELETE", 404, "NotFound");
    server->FailNext("GET", 401, "Unauthorized");
    CHECK_FALSE(cluster.Delete(kPods, key, {}, stop).ok());
    CHECK(cluster.Find(kPods, key) != nullptr);
  }
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "deleting what is gone is fine; other errors are not") {
  CHECK(cluster.Delete(kPods, key, {}, stop).ok());
  server->FailNext("DELETE", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(cluster.Delete(kPods, key, {}, stop)));
}

TEST_CASE_METHOD(Fixture, "Get asks the server only when the cache cannot know") {
  server->Put(kPods, Pod("a"));
  SECTION("no informer: a live read, which starts none") {
    REQUIRE(cluster.Get(kPods, key, stop).ok());
    CHECK(absl::IsNotFound(cluster.Get(kPods, {"ns", "b"}, stop).status()));
    CHECK(server->Requests("GET").size() == 2);
    CHECK(informers.Find(kPods) == nullptr);
  }
  SECTION("a synced informer answers, also that there is none") {
    Sync();
    CHECK(cluster.Get(kPods, key, stop).ok());
    CHECK(absl::IsNotFound(cluster.Get(kPods, {"ns", "b"}, stop).status()));
    CHECK(server->Requests("GET").size() == 1);  // The only request was the list.
  }
  SECTION("a cache with a selector cannot know what it lacks") {
    informers.SetDefaultOptions({.label_selector = "mine=true"});
    Sync();
    CHECK(cluster.Get(kPods, key, stop).ok());
  }
}

TEST_CASE_METHOD(Fixture, "a read from the cache starts no informer") {
  server->Put(kPods, Pod("a"));
  CHECK(cluster.Find(kPods, key) == nullptr);
  CHECK(cluster.List(kPods).empty());
  CHECK(cluster.ByIndex(kPods, "any", "value").empty());
  CHECK(informers.All().empty());
  Sync();
  CHECK(cluster.Find(kPods, key) != nullptr);
  CHECK(cluster.List(kPods).size() == 1);
  CHECK(cluster.List(kPods, "other").empty());
}

TEST_CASE_METHOD(Fixture, "a scope names what was read and not declared") {
  Sync();
  const kube::Resource others{{"", "v1", "ConfigMap"}, "configmaps", true};
  const std::vector<const Informer*> declared = {informers.Get(kPods).get()};
  informers.Get(others);
  const ReadScope outer(cluster, declared);
  {
    const ReadScope scope(cluster, declared);
    cluster.List(kPods);
    CHECK(scope.status().ok());
    cluster.Find(others, key);  // An informer exists, but it is not declared.
    CHECK(absl::StrContains(scope.status().message(), "the loop has read v1/configmaps"));
  }
  CHECK(outer.status().ok());
  ClusterClient member(client, mapper, informers);
  member.Find(others, key);  // Reads of another client do not count.
  CHECK(outer.status().ok());
  std::thread([&] { cluster.Find(others, key); }).join();
  CHECK(outer.status().ok());
}

TEST_CASE_METHOD(Fixture,
                 "what handlers read does not count for the loop whose write they report") {
  Sync();
  const kube::Resource others{{"", "v1", "ConfigMap"}, "configmaps", true};
  const std::vector<const Informer*> declared = {informers.Get(kPods).get()};
  bool called = false;
  informers.Get(kPods)->AddHandler({.on_add = [&](const ObjectPtr&, bool) {
    cluster.Find(others, key);
    called = true;
  }});
  server->Block("WATCH");  // Otherwise the watch may deliver the object, on a thread of its own.
  server->EndWatches(absl::OkStatus());
  const ReadScope scope(cluster, declared);
  REQUIRE(cluster.Create(kPods, Pod("a"), stop).ok());
  CHECK(called);
  CHECK(scope.status().ok());
  cluster.Find(others, key);
  CHECK_FALSE(scope.status().ok());
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "a write starts no informer") {
  REQUIRE(cluster.Create(kPods, Pod("a"), stop).ok());
  CHECK(informers.Find(kPods) == nullptr);
}

}  // namespace
}  // namespace kube
