#include "kube/cache/guarded_update.h"

#include <catch2/catch.hpp>

#include "kube/client/errors.h"
#include "tests/support/cluster_client_fixture.h"
#include "tests/support/pods.h"

namespace kube {
namespace {

using tests::kPods;
using tests::Pod;

struct Fixture : tests::ClusterClientFixture {
  const ObjectKey key{"ns", "a"};
  ObjectPtr before;
  Object after, theirs;

  Fixture() {
    Object pod = Pod("a");
    pod.AddFinalizer("x/first");
    before = Share(server->Put(kPods, pod));
    after = theirs = *before;
    after.AddFinalizer("x/y");
    after.SetAnnotation("x/z", "1");
  }
  absl::StatusOr<ObjectPtr> Update() {
    return GuardedUpdate(cluster, kPods, {before, after}, stop);
  }
  Object Now() const { return server->Find(kPods, key); }
};

TEST_CASE_METHOD(Fixture, "A guarded update lets what others change elsewhere pass") {
  theirs.Set({"status", "phase"}, "Running");
  server->Put(kPods, theirs);
  const auto now = Update();
  REQUIRE(now.ok());
  CHECK(**now == Now());
  CHECK(Now().HasFinalizer("x/first"));
  CHECK(Now().HasFinalizer("x/y"));
  CHECK(Now().Annotation("x/z") == "1");
  CHECK(Now().status()["phase"].AsString() == "Running");
}

TEST_CASE_METHOD(Fixture, "A guarded update that changes nothing is not sent") {
  after = *before;
  after.Set({"status", "phase"}, "Running");
  const auto now = Update();
  REQUIRE(now.ok());
  CHECK(*now == before);
  CHECK(server->Requests("PATCH").empty());
}

TEST_CASE_METHOD(Fixture, "A guarded update meets a conflict where others have written") {
  SECTION("the same list") { theirs.AddFinalizer("x/theirs"); }
  SECTION("another object of the same name") { theirs.Set({"metadata", "uid"}, "other"); }
  theirs = server->Put(kPods, theirs);
  CHECK(IsConflict(Update().status()));
  CHECK(Now() == theirs);
}

TEST_CASE_METHOD(Fixture, "After a conflict the cache has what the server has") {
  REQUIRE(informers.Get(kPods)->WaitForSync(base::SteadyTime::InfiniteFuture(), stop).ok());
  REQUIRE(server->AwaitWatches(1));
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());  // From here on the cache gets no events.
  theirs.AddFinalizer("x/theirs");
  server->Put(kPods, theirs);
  CHECK(IsConflict(Update().status()));
  before = cluster.Find(kPods, key);
  CHECK(before->HasFinalizer("x/theirs"));
  after = *before;
  after.AddFinalizer("x/y");
  CHECK(Update().ok());
  CHECK(cluster.Find(kPods, key)->HasFinalizer("x/y"));
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "A guarded update that is invalid or meets no object is no conflict") {
  SECTION("invalid") {
    server->FailNext("PATCH", 422, "Invalid");
    CHECK(IsInvalid(Update().status()));
  }
  SECTION("gone") {
    server->Erase(kPods, key);
    CHECK(IsGone(Update().status()));
  }
}

}  // namespace
}  // namespace kube
