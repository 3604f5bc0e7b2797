// Which keys count as failing: in a queue, in a controller, and in a manager.
#include "kube/runtime/failing_keys.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "kube/runtime/controller.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/manager_fixture.h"

namespace kube {
namespace {

using tests::Eventually;
using tests::kPods;
using tests::Pod;

Request Item(const std::string& name) { return {.key = {"ns", name}}; }

// Answers every request with what the test has set.
class Answering : public Reconciler {
 public:
  using Answer = absl::StatusOr<Action>;
  explicit Answering(std::function<Answer()> answer) : answer_(std::move(answer)) {}
  Answer Reconcile(const Request&, const base::StopToken&) override { return answer_(); }

 private:
  const std::function<Answer()> answer_;
};

struct Fixture : tests::ManagerFixture {
  enum { kSucceeds, kFails, kConflicts, kGivesUp };
  std::atomic<int> outcome = kSucceeds;
  std::atomic<int> passes = 0;

  ~Fixture() override { base::IgnoreError(Finish(), "the test has looked at what matters to it"); }
  std::unique_ptr<Reconciler> NewReconciler() {
    return std::make_unique<Answering>([this]() -> absl::StatusOr<Action> {
      ++passes;
      switch (outcome.load()) {
        case kFails:
          return absl::UnavailableError("no answer");
        case kConflicts:
          return absl::AbortedError("conflict");
        case kGivesUp:
          return base::Terminal(absl::InvalidArgumentError("no such field"));
        default:
          return Action::Done();
      }
    });
  }
  Controller& Build() { return ControllerBuilder(Make()).Named("c").Build(NewReconciler()); }
  double Gauge() {
    return registry.GetGauge("karmada_controller_failing_keys", "", {{"controller", "c"}}).Value();
  }
};

}  // namespace

TEST_CASE("Keys fail from a failed pass to the next one that does not fail") {
  metrics::Registry registry;
  FailingKeys keys(&registry, "c");
  metrics::Gauge& gauge =
      registry.GetGauge("karmada_controller_failing_keys", "", {{"controller", "c"}});
  CHECK(gauge.Value() == 0);
  keys.Note(Item("b"), absl::InternalError("first"));
  keys.Note(Item("a"), absl::InternalError("first"));
  keys.Note(Item("a"), absl::InternalError("second"));
  CHECK(gauge.Value() == 2);
  REQUIRE(keys.List(10).size() == 2);
  CHECK(keys.List(10)[0].request == Item("a"));
  CHECK(keys.List(10)[0].error == "second");
  CHECK(keys.List(1).size() == 1);
  CHECK(keys.Contains(Item("b")));
  keys.Forget(Item("b"));
  keys.Forget(Item("c"));
  CHECK_FALSE(keys.Contains(Item("b")));
  CHECK(gauge.Value() == 1);
  keys.Close();
  keys.Note(Item("a"), absl::InternalError("too late"));
  CHECK(keys.size() == 0);
  CHECK(gauge.Value() == 0);
}

TEST_CASE("Of many keys that fail only some errors are kept, and those are cut") {
  FailingKeys keys(nullptr, "c");
  constexpr size_t kKeys = 2 * FailingKeys::kMostErrors;
  const auto name = [](size_t i) { return absl::StrFormat("%05d", i); };
  for (size_t i = 0; i < kKeys; ++i) {
    keys.Note(Item(name(i)), absl::InternalError(std::string(1 << 20, 'e')));
  }
  CHECK(keys.size() == kKeys);
  REQUIRE(keys.List(kKeys).size() == kKeys);
  CHECK(keys.List(kKeys)[FailingKeys::kMostErrors - 1].error.size() == FailingKeys::kErrorBytes);
  CHECK(keys.List(kKeys)[FailingKeys::kMostErrors].error.empty());
  CHECK_FALSE(keys.List(1)[0].error.empty());
  // The next failure of another one takes the place.
  keys.Forget(Item(name(0)));
  keys.Note(Item(name(kKeys - 1)), absl::InternalError("now"));
  CHECK(keys.List(kKeys)[FailingKeys::kMostErrors - 1].error == "now");
}

TEST_CASE_METHOD(Fixture, "A key that waits for its back-off counts until a pass succeeds") {
  Controller& controller = Build();
  outcome = GENERATE(kFails + 0, kConflicts + 0);
  Start();
  controller.queue().Add(Item("a"));
  REQUIRE(Eventually([&] { return passes == 1 && manager->IsIdle(); }));
  CHECK(Gauge() == 1);
  const Manager::Failures failures = manager->Failing(10);
  CHECK(failures.count == 1);
  REQUIRE(failures.some.size() == 1);
  CHECK(failures.some[0].controller == "c");
  CHECK(failures.some[0].key == "ns/a");
  CHECK(failures.some[0].error == (outcome == kFails ? "no answer" : "conflict"));
  CHECK(manager->Failing(0).some.empty());
  outcome = kSucceeds;
  REQUIRE(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return Gauge() == 0;
  }));
  CHECK(manager->Failing(10).count == 0);
}

TEST_CASE_METHOD(Fixture, "A key that is not tried again counts until it is queued and succeeds") {
  Controller& controller = Build();
  outcome = kGivesUp;
  Start();
  controller.queue().Add(Item("a"));
  REQUIRE(Eventually([&] { return passes == 1 && manager->IsIdle(); }));
  clock.Advance(absl::Hours(1));
  CHECK(Gauge() == 1);
  CHECK(controller.queue().Requeues(Item("a")) == 0);
  outcome = kSucceeds;
  controller.queue().Add(Item("a"));
  CHECK(Eventually([&] { return Gauge() == 0; }));
}

TEST_CASE_METHOD(Fixture, "A key does not count for ever when its object has gone") {
  server->Put(kPods, Pod("a"));
  server->Put(kPods, Pod("b"));
  ControllerBuilder(Make())
      .Named("c")
      .Watches(kPods, {.when = {.remove = Never}})
      .Build(NewReconciler());
  outcome = kGivesUp;
  Start();
  REQUIRE(Eventually([&] { return Gauge() == 2; }));
  outcome = kSucceeds;
  server->Erase(kPods, Pod("a").key());
  CHECK(Eventually([&] { return Gauge() == 1; }));
  CHECK(Eventually([&] { return manager->IsIdle(); }));
  CHECK(passes == 3);
}

TEST_CASE_METHOD(Fixture, "Nothing counts after a stop") {
  Controller& controller = Build();
  outcome = kFails;
  Start();
  controller.queue().Add(Item("a"));
  REQUIRE(Eventually([&] { return Gauge() == 1; }));
  CHECK(Finish().ok());
  CHECK(Gauge() == 0);
}

}  // namespace kube
