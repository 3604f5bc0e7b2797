#include "controllers/process/resync.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>

#include "kube/runtime/controller.h"
#include "tests/support/eventually.h"
#include "tests/support/manager_fixture.h"

namespace {

using tests::Eventually;
using tests::kPods;

// Counts its passes, and finds nothing to do.
class Counting : public kube::Reconciler {
 public:
  explicit Counting(std::atomic<int>& passes) : passes_(passes) {}
  absl::StatusOr<kube::Action> Reconcile(const kube::Request&, const base::StopToken&) override {
    ++passes_;
    return kube::Action::Done();
  }

 private:
  std::atomic<int>& passes_;
};

class NoMembers : public kube::ClusterConfigSource {
 public:
  absl::StatusOr<kube::ConnectionConfig> ConfigFor(const std::string&) override {
    return absl::NotFoundError("no members");
  }
};

struct Fixture : tests::ManagerFixture {
  NoMembers source;
  kube::ClusterSet members{{}, source, clock, nullptr};
  std::atomic<int> passes = 0;

  ~Fixture() override {
    base::IgnoreError(Finish(), "the test has looked at what matters to it");
    manager.reset();
  }
  void Begin(kube::Enqueue enqueue) {
    server->Put(kPods, tests::Pod("a"));
    server->Put(kPods, tests::Pod("b"));
    kube::ControllerBuilder(Make())
        .Named("counting")
        .Watches(kPods, std::move(enqueue))
        .Build(std::make_unique<Counting>(passes));
    manager->Add(
        std::make_unique<controllers::Resync>(absl::Minutes(10), clock, informers, members));
    Start();
  }
  // Lets time pass; returns whether there have been exactly so many passes at a moment.
  bool PassesBecome(int n) {
    return Eventually([&] {
      if (passes < n) clock.Advance(absl::Seconds(1));
      return passes == n;
    });
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "every object comes to its controller again after the period") {
  Begin({.when = {.update = kube::NeverUpdate}});
  REQUIRE(Eventually([&] { return passes == 2; }));
  clock.Advance(absl::Minutes(9));
  CHECK(passes == 2);
  for (int rounds = 2; rounds <= 4; ++rounds) CHECK(PassesBecome(2 * rounds));
  CHECK(server->Requests("PATCH").empty());
}

TEST_CASE_METHOD(Fixture, "a loop with a pace of its own has no pass for a resync") {
  Begin({.resync = false});
  REQUIRE(Eventually([&] { return passes == 2; }));
  informers.Resync();
  server->Put(kPods, tests::Pod("c"));
  REQUIRE(Eventually([&] { return passes >= 3; }));
  CHECK(registry
            .GetCounter("workqueue_adds_total", "",
                        {{"name", "counting"}, {"controller", "counting"}})
            .Value() == 3);
}

TEST_CASE_METHOD(Fixture, "objects that do not matter at a start do not matter in a resync") {
  Begin({.when = {.add = [](const kube::Object& pod) { return pod.name() == "a"; }}});
  REQUIRE(Eventually([&] { return passes == 1; }));
  CHECK(PassesBecome(2));
  CHECK(PassesBecome(3));
}
