#include "controllers/context/member_inventory.h"
#include "base/byte_budget.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "tests/support/members_fixture.h"
#include "tests/support/pods.h"

namespace {

using tests::kPods;

struct Fixture : tests::MembersFixture {
  tests::FakeApiServer& m1 = member("m1");
  controllers::MemberInventory inventory{members};

  Fixture() {
    kube::Object pod = tests::Pod("foreign");
    pod.Set({"spec", "nodeName"}, "n1");
    pod.Set({"status", "phase"}, "Running");
    m1.Put(kPods, pod);
  }
  std::shared_ptr<kube::Informer> Pods() {
    const auto informer = inventory.InformerFor("m1", kPods);
    REQUIRE(informer.ok());
    REQUIRE((*informer)->WaitForSync(base::SteadyTime::InfiniteFuture(), {}).ok());
    return *informer;
  }
};

TEST_CASE_METHOD(Fixture,
                 "objects that are not Karmada's are there, in an informer that is shared") {
  const std::shared_ptr<kube::Informer> pods = Pods();
  REQUIRE(pods->store().size() == 1);
  CHECK(pods->store().List()[0]->spec()["nodeName"].AsString() == "n1");
  CHECK(Pods() == pods);
  // The informer of Karmada's objects is another one.
  const auto ours = (*members.Get("m1"))->client().informers().Get(kPods);
  REQUIRE(ours->WaitForSync(base::SteadyTime::InfiniteFuture(), {}).ok());
  CHECK(ours->store().size() == 0);
}

TEST_CASE_METHOD(Fixture, "all fields that any loop has named are stored, and no others") {
  inventory.Reads(kPods, {"status.phase"});
  const bool second = GENERATE(false, true);
  if (second) inventory.Reads(kPods, {"spec.nodeName", "status.phase"});
  const kube::ObjectPtr pod = Pods()->store().List().at(0);
  CHECK(pod->spec()["nodeName"].AsString() == (second ? "n1" : ""));
  CHECK(pod->status() == json::Value::Object({{"phase", "Running"}}));
}

TEST_CASE_METHOD(Fixture, "fields that a loop needs for some time are stored for that time") {
  inventory.Reads(kPods, {"status.phase"});
  const auto pod = [&] { return Pods()->store().List().at(0); };
  const std::shared_ptr<kube::Informer> before = Pods();
  inventory.SetReads("autoscaler", kPods, {"spec.nodeName", "status.phase"});
  CHECK(pod()->spec()["nodeName"].AsString() == "n1");
  const std::shared_ptr<kube::Informer> wide = Pods();
  CHECK(wide != before);
  inventory.SetReads("autoscaler", kPods, {"status.phase", "spec.nodeName"});
  CHECK(Pods() == wide);  // Nothing has changed.
  inventory.SetReads("autoscaler", kPods, {});
  CHECK(pod()->spec()["nodeName"].AsString().empty());
  CHECK(pod()->status()["phase"].AsString() == "Running");
  CHECK(tests::Eventually([&] { return m1.watches() == 1; }));
}

TEST_CASE_METHOD(Fixture, "who waits for an informer that has ended is not left waiting") {
  m1.Block("GET");
  const auto before = inventory.InformerFor("m1", kPods);
  REQUIRE(before.ok());
  inventory.SetReads("autoscaler", kPods, {"spec.nodeName"});
  CHECK(absl::IsAborted(inventory.Await("m1", **before, clock, {})));
  m1.Unblock();
  const std::shared_ptr<kube::Informer> now = Pods();
  CHECK(inventory.Await("m1", *now, clock, {}).ok());
}

TEST_CASE_METHOD(Fixture, "nobody adds up a kind of which there is no room for all objects") {
  (*members.Get("m1"))->unfiltered().SetBudget(std::make_shared<base::ByteBudget>(64 << 10), [] {});
  const std::shared_ptr<kube::Informer> pods = Pods();
  CHECK(inventory.Await("m1", *pods, clock, {}).ok());
  kube::Object large = tests::Pod("large");
  large.SetAnnotation("large", std::string(100 << 10, 'x'));
  m1.Put(kPods, large);
  REQUIRE(tests::Eventually([&] { return pods->LeavesOut(); }));
  CHECK(absl::IsResourceExhausted(inventory.Await("m1", *pods, clock, {})));
}

TEST_CASE_METHOD(Fixture, "a kind that no loop reads any more is not watched") {
  inventory.SetReads("autoscaler", kPods, {"status.phase"});
  Pods();
  REQUIRE(m1.AwaitWatches(1));
  inventory.SetReads("autoscaler", kPods, {});
  CHECK(tests::Eventually([&] { return m1.watches() == 0; }));
}

TEST_CASE_METHOD(Fixture, "the inventory of a member ends with it") {
  const std::shared_ptr<kube::Informer> before = Pods();
  REQUIRE(m1.AwaitWatches(1));
  members.Remove("m1");
  CHECK(tests::Eventually([&] { return m1.watches() == 0; }));
  CHECK(Pods() != before);
  CHECK(inventory.InformerFor("stranger", kPods).status().code() == absl::StatusCode::kNotFound);
}

using FollowedPtr = std::unique_ptr<controllers::MemberInventory::Followed>;

struct FollowFixture : Fixture {
  std::atomic<int> seen = 0;

  FollowedPtr Follow() {
    kube::EventHandler handler;
    handler.on_add = [this](const kube::ObjectPtr&, bool) { ++seen; };
    auto followed = inventory.Follow("m1", kPods, std::move(handler));
    REQUIRE(followed.ok());
    return *std::move(followed);
  }
};

TEST_CASE_METHOD(FollowFixture, "a kind that is followed is watched until the last one leaves") {
  FollowedPtr first = Follow();
  FollowedPtr second = Follow();
  CHECK(first->informer() == second->informer());
  REQUIRE(m1.AwaitWatches(1));
  CHECK(tests::Eventually([&] { return seen == 2; }));
  first.reset();
  m1.Put(kPods, tests::Pod("another"));
  CHECK(tests::Eventually([&] { return seen == 3; }));
  CHECK(m1.watches() == 1);
  second.reset();
  CHECK(tests::Eventually([&] { return m1.watches() == 0; }));
  CHECK(Follow()->informer() != nullptr);  // As the first time.
}

TEST_CASE_METHOD(FollowFixture, "a kind that somebody uses for good is watched on") {
  const bool used_first = GENERATE(false, true);
  if (used_first) Pods();
  FollowedPtr followed = Follow();
  const std::shared_ptr<kube::Informer> pods = Pods();
  CHECK(followed->informer() == pods);
  followed.reset();
  m1.Put(kPods, tests::Pod("another"));
  CHECK(tests::Eventually([&] { return pods->store().size() == 2; }));
}

TEST_CASE_METHOD(Fixture, "who follows may stay longer than inventory and members") {
  FollowedPtr followed;
  {
    kube::ClusterSet brief(MemberOptions(), *this, clock, nullptr);
    controllers::MemberInventory shortlived(brief);
    auto followed_now = shortlived.Follow("m1", kPods, {});
    REQUIRE(followed_now.ok());
    followed = *std::move(followed_now);
    REQUIRE(m1.AwaitWatches(1));
  }
  CHECK(tests::Eventually([&] { return m1.watches() == 0; }));
  followed.reset();
}

TEST_CASE_METHOD(FollowFixture, "who follows notices that the member is connected again") {
  FollowedPtr before = Follow();
  CHECK(inventory.IsCurrent("m1", *before));
  members.Remove("m1");
  CHECK_FALSE(inventory.IsCurrent("m1", *before));
  const FollowedPtr after = Follow();
  CHECK(after->informer() != before->informer());
  CHECK_FALSE(inventory.IsCurrent("m1", *before));
  before.reset();
  CHECK(inventory.IsCurrent("m1", *after));
  m1.Put(kPods, tests::Pod("another"));
  CHECK(tests::Eventually([&] { return after->informer()->store().size() == 2; }));
}

}  // namespace
