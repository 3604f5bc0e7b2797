// Rows after the published algorithm: "Horizontal Pod Autoscaling", Algorithm details, in the
// documentation of Kubernetes.
#include "controllers/autoscaling/replica_calculator.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/controllers/autoscaling/sample_pods.h"

namespace {

using autoscaling::Pod;
using autoscaling::Proposal;
using autoscaling::ReplicasForAverage;
using autoscaling::ReplicasForUtilization;
using autoscaling::ReplicasForValue;
using autoscaling::ReplicasForValuePerPod;
using autoscaling::TargetState;
using tests::PodOf;
using tests::PodsOf;
using tests::SamplesOf;

TargetState StateOf(int64_t replicas, const std::vector<Pod>& pods) {
  TargetState state;
  state.replicas = replicas;
  state.status_replicas = static_cast<int64_t>(pods.size());
  state.pods = pods;
  state.cpu_period = absl::Minutes(5);
  state.readiness_delay = absl::Seconds(30);
  state.now = tests::kNow;
  return state;
}

std::vector<Pod> operator+(std::vector<Pod> pods, const std::vector<Pod>& more) {
  pods.insert(pods.end(), more.begin(), more.end());
  return pods;
}

std::vector<Pod> OnePod(const std::string& name, PodOf pod) {
  pod.name = name;
  return {pod.Make()};
}

struct Row {
  std::string what;
  int64_t replicas;          // Of the template.
  std::vector<Pod> pods;     // Each requests 1000.
  std::vector<int64_t> use;  // Of p0, p1, ...
  int64_t target;            // Percent.
  int64_t wanted;
  double calibration = 1;
};

}  // namespace

TEST_CASE("replicas by utilization are the ready pods times the ratio, rounded up") {
  const PodOf pending = {.phase = "Pending"};
  const PodOf failed = {.phase = "Failed"};
  const PodOf leaving = {.deleting = true};
  const PodOf starting = {
      .ready = "False", .started = absl::Minutes(1), .ready_since = absl::Minutes(1)};
  const Row row = GENERATE_REF(values<Row>({
      {"twice the target", 1, PodsOf(1), {1000}, 50, 2},
      {"half of the target", 4, PodsOf(4), {250, 250, 250, 250}, 50, 2},
      {"rounded up", 3, PodsOf(3), {300, 500, 700}, 30, 5},
      {"within the tolerance above", 3, PodsOf(3), {540, 540, 540}, 50, 3},
      {"within the tolerance below", 3, PodsOf(3), {460, 460, 460}, 50, 3},
      {"just above the tolerance", 10, PodsOf(10), std::vector<int64_t>(10, 560), 50, 12},
      {"just below the tolerance", 10, PodsOf(10), std::vector<int64_t>(10, 440), 50, 9},
      {"at the target", 3, PodsOf(3), {500, 500, 500}, 50, 3},
      {"nothing is used", 3, PodsOf(3), {0, 0, 0}, 50, 0},

      // Missing metrics: 100 % of the request when scaling down, 0 % when scaling up.
      {"up, one missing: no change is left", 3, PodsOf(3), {800, 700}, 50, 3},
      {"up, one missing: a smaller change", 3, PodsOf(3), {1500, 1500}, 50, 6},
      {"down, one missing: the missing one uses everything", 4, PodsOf(4), {100, 100, 100}, 50, 3},
      {"down, one missing: would turn round", 3, PodsOf(3), {400, 400}, 50, 3},
      {"down, one missing, the target above 100 %", 4, PodsOf(4), {600, 600, 600}, 150, 3},
      {"at the target, one missing", 3, PodsOf(3), {500, 500}, 50, 3},

      // Pods that are not ready yet: 0 % when scaling up, otherwise nothing.
      {"up, one pending", 3, PodsOf(2) + OnePod("p2", pending), {1500, 1500}, 50, 6},
      {"up, one pending: no change is left",
       3,
       PodsOf(2) + OnePod("p2", pending),
       {800, 700},
       50,
       3},
      {"down, one pending", 3, PodsOf(2) + OnePod("p2", pending), {200, 200}, 50, 1},
      {"up, one starting", 3, PodsOf(2) + OnePod("p2", starting), {1500, 1500, 5000}, 50, 6},
      {"down, one starting", 3, PodsOf(2) + OnePod("p2", starting), {200, 200, 5000}, 50, 1},
      {"up, one pending, one missing", 4, PodsOf(3) + OnePod("p3", pending), {2000, 2000}, 50, 8},

      // Pods that have failed, or are being deleted, are no pods.
      {"one failed", 2, PodsOf(2) + OnePod("p2", failed), {1000, 1000, 9000}, 50, 4},
      {"one is being deleted", 2, PodsOf(2) + OnePod("p2", leaving), {1000, 1000, 9000}, 50, 4},

      // The template has a third of the replicas that are in clusters.
      {"duplicated to three clusters", 2, PodsOf(6), std::vector<int64_t>(6, 1000), 50, 4, 3},
      {"duplicated, within the tolerance", 2, PodsOf(6), std::vector<int64_t>(6, 510), 50, 2, 3},
      {"duplicated, one missing", 2, PodsOf(6), std::vector<int64_t>(5, 1500), 50, 5, 3},
      {"half of the replicas are in clusters that answer", 4, PodsOf(2), {1000, 1000}, 50, 8, 0.5},
  }));
  CAPTURE(row.what);
  TargetState state = StateOf(row.replicas, row.pods);
  state.calibration = row.calibration;
  const auto samples = SamplesOf(row.use);
  const auto proposal = ReplicasForUtilization(state, {"cpu", "", samples}, row.target);
  REQUIRE(proposal.ok());
  CHECK(proposal->replicas == row.wanted);
}

TEST_CASE("an average of the pods is compared with its target, without requests") {
  const PodOf pending = {.phase = "Pending", .request = 0};
  const PodOf none = {.request = 0};
  const PodOf starting = {.ready = "False", .started = absl::Minutes(1), .request = 0};
  const Row row = GENERATE_REF(values<Row>({
      {"above", 3, PodsOf(3, none), {20000, 10000, 30000}, 15000, 4},
      {"below", 3, PodsOf(3, none), {12000, 12000, 12000}, 20000, 2},
      {"within the tolerance", 3, PodsOf(3, none), {10500, 10500, 10500}, 10000, 3},
      {"up, one missing counts nothing", 3, PodsOf(3, none), {30000, 30000}, 10000, 6},
      {"down, one missing counts the target", 4, PodsOf(4, none), {1000, 1000, 1000}, 10000, 2},
      {"up, one pending", 3, PodsOf(2, none) + OnePod("p2", pending), {30000, 30000}, 10000, 6},
      // Only the CPU use of starting pods is distrusted.
      {"a starting pod counts",
       2,
       PodsOf(1, none) + OnePod("p1", starting),
       {30000, 30000},
       10000,
       6},
      {"negative values", 3, PodsOf(3, none), {-1000, -1000, -1000}, 10000, 0},
      {"duplicated", 2, PodsOf(4, none), {20000, 20000, 20000, 20000}, 10000, 4, 2},
  }));
  CAPTURE(row.what);
  TargetState state = StateOf(row.replicas, row.pods);
  state.calibration = row.calibration;
  const auto samples = SamplesOf(row.use);
  const auto proposal = ReplicasForAverage(state, {"", "", samples}, row.target);
  REQUIRE(proposal.ok());
  CHECK(proposal->replicas == row.wanted);
}

TEST_CASE("the status of a metric is that of the ready pods, before anything is assumed") {
  const std::vector<Pod> pods = PodsOf(3);
  const TargetState state = StateOf(3, pods);
  const auto samples = SamplesOf({800, 700});
  const auto proposal = ReplicasForUtilization(state, {"cpu", "", samples}, 50);
  REQUIRE(proposal.ok());
  CHECK(proposal->average_utilization == 75);
  CHECK(proposal->average_milli == 750);
  const auto average = ReplicasForAverage(state, {"cpu", "", samples}, 500);
  REQUIRE(average.ok());
  CHECK_FALSE(average->average_utilization.has_value());
  CHECK(average->average_milli == 750);
}

TEST_CASE("directions can have tolerances of their own") {
  const std::vector<Pod> pods = PodsOf(10);
  TargetState state = StateOf(10, pods);
  state.tolerance = {.up = 0.03, .down = 0.3};
  const auto replicas = [&](int64_t use) {
    const auto samples = SamplesOf(std::vector<int64_t>(10, use));
    return ReplicasForUtilization(state, {"cpu", "", samples}, 50)->replicas;
  };
  CHECK(replicas(510) == 10);
  CHECK(replicas(520) == 11);
  CHECK(replicas(360) == 10);
  CHECK(replicas(340) == 7);
}

TEST_CASE("without metrics, requests or pods there is no number") {
  const PodOf pending = {.phase = "Pending"};
  struct Case {
    std::vector<Pod> pods;
    std::vector<int64_t> use;
    std::string error;
  };
  const Case c = GENERATE_REF(values<Case>({
      {{}, {1000}, "no pods returned by selector while calculating replica count"},
      {PodsOf(2), {}, "did not receive metrics for any ready pods"},
      {PodsOf(2, pending), {100, 100}, "did not receive metrics for any ready pods"},
      {PodsOf(1, {.request = 0}), {1000}, "missing request for cpu in container app of Pod p0"},
  }));
  const TargetState state = StateOf(2, c.pods);
  const auto samples = SamplesOf(c.use);
  const auto proposal = ReplicasForUtilization(state, {"cpu", "", samples}, 50);
  CHECK(proposal.status().message() == c.error);
}

TEST_CASE("a resource that no pod has a container for matches no pods") {
  const std::vector<Pod> pods = PodsOf(1);
  const auto samples = SamplesOf({1000});
  const auto proposal = ReplicasForUtilization(StateOf(1, pods), {"cpu", "other", samples}, 50);
  CHECK(proposal.status().message() == "no metrics returned matched known pods");
}

TEST_CASE("a value that is not of the pods multiplies the ready pods, or is shared among all") {
  const PodOf unready = {.ready = "False"};
  struct Case {
    std::string what;
    int64_t replicas;
    std::vector<Pod> pods;
    int64_t value, target;
    int64_t wanted;   // As one value.
    int64_t per_pod;  // As an average of the pods.
    double calibration = 1;
  };
  const Case c = GENERATE_REF(values<Case>({
      {"above", 3, PodsOf(3), 20000, 15000, 4, 2},
      {"below", 3, PodsOf(3), 5000, 10000, 2, 1},
      {"within the tolerance", 3, PodsOf(3), 10500, 10000, 3, 2},
      {"ready pods only", 3, PodsOf(2) + OnePod("p2", unready), 20000, 10000, 4, 2},
      {"duplicated", 2, PodsOf(4), 30000, 10000, 6, 2, 2},
      {"duplicated, as it should be", 4, PodsOf(8), 80000, 80000, 4, 1, 2},
      {"from nothing", 0, {}, 25000, 10000, 3, 3},
      {"negative", 2, PodsOf(2), -10000, 10000, 0, 0},
  }));
  CAPTURE(c.what);
  TargetState state = StateOf(c.replicas, c.pods);
  state.calibration = c.calibration;
  const auto proposal = ReplicasForValue(state, {c.value, c.target});
  REQUIRE(proposal.ok());
  CHECK(proposal->replicas == c.wanted);
  CHECK(proposal->value_milli == c.value);
  CHECK(ReplicasForValuePerPod(state, {c.value, c.target}).replicas == c.per_pod);
}

TEST_CASE("an average of all pods that is right already leaves the template alone") {
  const std::vector<Pod> pods = PodsOf(8);
  TargetState state = StateOf(4, pods);
  state.calibration = 2;
  CHECK(ReplicasForValuePerPod(state, {80000, 10000}).replicas == 4);
  CHECK(ReplicasForValuePerPod(state, {85000, 10000}).replicas == 4);  // Within the tolerance.
  // Sixteen pods in two clusters are eight of the template, not four.
  CHECK(ReplicasForValuePerPod(state, {160000, 10000}).replicas == 8);
  CHECK(ReplicasForValuePerPod(state, {80000, 10000}).average_milli == 10000);
}

TEST_CASE("a number that no field could hold is cut") {
  const std::vector<Pod> pods = PodsOf(100);
  const auto proposal = ReplicasForValue(StateOf(100, pods), {int64_t{1} << 62, 1});
  REQUIRE(proposal.ok());
  CHECK(proposal->replicas == INT32_MAX);
}
