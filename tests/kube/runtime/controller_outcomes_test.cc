// What a controller makes of conflicts, and when it forgets outcomes.
#include <catch2/catch.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "kube/runtime/controller.h"
#include "tests/support/eventually.h"
#include "tests/support/manager_fixture.h"

namespace kube {
namespace {

using tests::Eventually;
using Script = std::function<absl::StatusOr<Action>(const Request&)>;

class ScriptedReconciler : public Reconciler {
 public:
  explicit ScriptedReconciler(Script script) : script_(std::move(script)) {}
  absl::StatusOr<Action> Reconcile(const Request& request, const base::StopToken&) override {
    return script_(request);
  }

 private:
  const Script script_;
};

struct Fixture : tests::ManagerFixture {
  // Reconcilers use what the test has until the manager has ended.
  ~Fixture() override { base::IgnoreError(Finish(), "the test has looked at what matters to it"); }
  Controller& Build(std::unique_ptr<Reconciler> reconciler) {
    return ControllerBuilder(Make()).Named("c").Build(std::move(reconciler));
  }
  Controller& Build(Script script) {
    return Build(std::make_unique<ScriptedReconciler>(std::move(script)));
  }
  double Total(const std::string& result) {
    return registry
        .GetCounter("controller_runtime_reconcile_total", "",
                    {{"controller", "c"}, {"result", result}})
        .Value();
  }
  double Errors() {
    return registry
        .GetCounter("controller_runtime_reconcile_errors_total", "", {{"controller", "c"}})
        .Value();
  }
  const Request item{.key = {"ns", "a"}};
  std::atomic<int> passes = 0;
};

TEST_CASE_METHOD(Fixture, "a conflict is retried without being counted as an error") {
  Controller& controller = Build([this](const Request&) {
    return ++passes == 1 ? absl::StatusOr<Action>(absl::AbortedError("conflict")) : Action::Done();
  });
  Start();
  controller.queue().Add(item);
  REQUIRE(Eventually([&] { return Total("requeue") == 1; }));
  clock.Advance(absl::Seconds(1));
  REQUIRE(Eventually([&] { return Total("success") == 1; }));
  CHECK(Errors() == 0);
}

TEST_CASE_METHOD(Fixture, "conflicts that go on are counted as errors") {
  Controller& controller =
      Build([](const Request&) { return absl::StatusOr<Action>(absl::AbortedError("conflict")); });
  Start();
  controller.queue().Add(item);
  REQUIRE(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return Errors() >= 1;
  }));
  CHECK(Total("requeue") == Outcomes::kSilentConflicts);
}

TEST_CASE_METHOD(Fixture, "other errors do not make the next conflict one") {
  Controller& controller = Build([this](const Request&) {
    return absl::StatusOr<Action>(++passes <= 2 * Outcomes::kSilentConflicts
                                      ? absl::UnavailableError("down")
                                      : absl::AbortedError("conflict"));
  });
  Start();
  controller.queue().Add(item);
  REQUIRE(Eventually([&] {
    clock.Advance(absl::Seconds(10));
    return Total("requeue") >= 1;
  }));
  CHECK(Errors() == 2 * Outcomes::kSilentConflicts);
}

TEST_CASE_METHOD(Fixture, "outcomes are forgotten after a pass that found its object gone") {
  const bool again = GENERATE(false, true);
  auto scripted = std::make_unique<ScriptedReconciler>(
      [again](const Request& request) -> absl::StatusOr<Action> {
        if (request.key.name != "gone") return Action::Done();
        return again ? Action::Gone(Action::After(absl::Hours(1))) : Action::Gone();
      });
  Outcomes& outcomes = scripted->outcomes();
  Controller& controller = Build(std::move(scripted));
  const Request gone{.key = {"ns", "gone"}, .reason = "deleted"}, there{.key = {"ns", "there"}};
  for (const Request& request : {gone, there}) outcomes.Recovered(request, "part", false);
  Start();
  controller.queue().Add(gone);
  controller.queue().Add(there);
  REQUIRE(Eventually([&] { return Total("success") + Total("requeue_after") == 2; }));
  CHECK_FALSE(outcomes.Recovered(gone, "part", true));
  CHECK(outcomes.Recovered(there, "part", true));
}

}  // namespace
}  // namespace kube
