// Kinds that rules by resource were asked about too early.
#include "interpreter/live/unknown_kinds.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>

#include "tests/interpreter/webhook/hooks.h"
#include "tests/kube/client/scripted_transport.h"
#include "tests/support/fake_clock.h"

namespace {

using interpreter::live::UnknownKinds;
using tests::Answer;

constexpr char kServed[] = R"({"kind":"APIGroupDiscoveryList","items":[
  {"metadata":{"name":"workload.example.io"},"versions":[{"version":"v1alpha1","resources":[
    {"resource":"workloads","responseKind":{"kind":"Workload"},"scope":"Namespaced"}]}]}]})";
constexpr char kNothing[] = R"({"kind":"APIGroupDiscoveryList","items":[]})";

struct Fixture {
  std::atomic<bool> served = false;
  std::shared_ptr<tests::ScriptedTransport> transport = std::make_shared<tests::ScriptedTransport>(
      [this](const kube::HttpRequest& request, int) -> absl::StatusOr<kube::HttpResponse> {
        return Answer(200, request.path == "/apis" && served ? kServed : kNothing);
      });
  tests::FakeClock clock;
  kube::Client client{transport, {}, clock, nullptr};
  kube::RestMapper mapper{client, clock};
  UnknownKinds unknown{mapper};
};

TEST_CASE_METHOD(Fixture, "a kind that is not served yet is reported, and found once it is") {
  const auto exploring = tests::WorkloadHook("c/w", interpreter::webhook::Dialect::kExploreReview);
  CHECK(unknown.ProblemsOf({exploring}).empty());
  CHECK_FALSE(unknown.LookUp(tests::kWorkload).has_value());
  REQUIRE(unknown.ProblemsOf({exploring}).size() == 1);
  CHECK_THAT(unknown.ProblemsOf({exploring}).at(0),
             Catch::StartsWith("webhook c/w is not asked about Workload "
                               "(workload.example.io/v1alpha1): "));
  // The hook's rules name kinds, which need no discovery.
  CHECK(unknown.ProblemsOf({tests::WorkloadHook()}).empty());
  CHECK(unknown.TakeKnown({}).empty());

  served = true;
  clock.Advance(absl::Minutes(1));
  CHECK(unknown.TakeKnown({}) == std::set<kube::Gvk>{tests::kWorkload});
  CHECK(unknown.ProblemsOf({exploring}).empty());
  CHECK(unknown.LookUp(tests::kWorkload)->plural == "workloads");
  CHECK(unknown.TakeKnown({}).empty());
}

}  // namespace
