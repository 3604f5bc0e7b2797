#include "controllers/autoscaling/pod_metrics.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/controllers/autoscaling/sample_pods.h"

namespace {

using autoscaling::GroupPods;
using autoscaling::MatchSamples;
using autoscaling::Measurement;
using autoscaling::Pod;
using autoscaling::Sample;
using autoscaling::Samples;
using tests::kNow;
using tests::PodOf;

std::vector<Pod> PodsNamed(const std::vector<std::pair<std::string, std::string>>& pods) {
  std::vector<Pod> out;
  for (const auto& [cluster, name] : pods)
    out.push_back(PodOf{.name = name, .cluster = cluster}.Make());
  return out;
}

// Returns the value of each pod; -1 stands for none.
std::vector<int64_t> Matched(const std::vector<Pod>& pods, const Samples& samples) {
  std::vector<int64_t> out;
  for (const std::optional<Measurement>& m : MatchSamples(pods, samples, kNow)) {
    out.push_back(m.has_value() ? m->milli : -1);
  }
  return out;
}

Sample Of(const std::string& pod, int64_t milli, const std::string& cluster = "",
          absl::Time at = kNow) {
  return {pod, cluster, {milli, at, absl::Minutes(1)}};
}

}  // namespace

TEST_CASE("samples go to the pods of their name, in their cluster if they name one") {
  const std::vector<Pod> pods = PodsNamed({{"m1", "web-0"}, {"m2", "web-0"}, {"m2", "web-1"}});
  struct Case {
    Samples samples;
    std::vector<int64_t> wanted;
  };
  const Case c = GENERATE_REF(values<Case>({
      {{{Of("web-0", 7, "m2"), Of("web-0", 5, "m1")}}, {5, 7, -1}},
      {{{Of("web-0", 7, "m2"), Of("web-1", 3, "m2")}}, {-1, 7, 3}},
      {{{Of("web-0", 7, "m3")}}, {-1, -1, -1}},
      {{{Of("stranger", 7), Of("web-1", 3)}}, {-1, -1, 3}},
      // Without a cluster each sample is of one pod, in their order.
      {{{Of("web-0", 5), Of("web-0", 7)}}, {5, 7, -1}},
      {{{Of("web-0", 5)}}, {5, -1, -1}},
      {{{Of("web-0", 5), Of("web-0", 6), Of("web-0", 7)}}, {5, 6, -1}},
      // A source that adds up equal names means all of them.
      {{{Of("web-0", 12), Of("web-1", 3)}, true}, {6, 6, 3}},
      {{{Of("web-0", 5), Of("web-0", 7)}, true}, {5, 7, -1}},
  }));
  CHECK(Matched(pods, c.samples) == c.wanted);
}

TEST_CASE("a sample that is older than ten minutes counts as missing") {
  const std::vector<Pod> pods = PodsNamed({{"m1", "a"}, {"m1", "b"}, {"m1", "c"}});
  const absl::Duration old = autoscaling::kStale;
  CHECK(Matched(pods, {{Of("a", 1, "", kNow - old), Of("b", 2, "", kNow - old - absl::Seconds(1)),
                        Of("c", 3, "", absl::InfiniteFuture())}}) ==
        std::vector<int64_t>{1, -1, 3});
}

TEST_CASE("the CPU use of pods that start does not count") {
  struct Case {
    std::string what;
    PodOf pod;
    absl::Duration age;  // Of the sample, whose window is a minute.
    bool counts;
  };
  const auto s = [](int n) { return absl::Seconds(n); };
  const Case c = GENERATE_COPY(values<Case>({
      {"ready for long", {}, s(10), true},
      {"unready for long, but it was ready once", {.ready = "False"}, s(10), true},
      {"never ready, after the initialization",
       {.ready = "False", .started = s(600), .ready_since = s(590)},
       s(10),
       false},
      {"unready since more than the readiness delay",
       {.ready = "False", .started = s(600), .ready_since = s(560)},
       s(10),
       true},
      {"ready soon after its start, within the initialization, measured since",
       {.started = s(120), .ready_since = s(100)},
       s(10),
       true},
      {"within the initialization, measured before it was ready for a window",
       {.started = s(120), .ready_since = s(100)},
       s(50),
       false},
      {"unready within the initialization", {.ready = "False", .started = s(120)}, s(10), false},
      {"without the condition", {.ready = ""}, s(10), false},
      {"pending", {.phase = "Pending"}, s(10), false},
  }));
  CAPTURE(c.what);
  const std::vector<Pod> pods = {c.pod.Make()};
  const std::vector<std::optional<Measurement>> measured = {
      Measurement{100, kNow - c.age, absl::Minutes(1)}};
  autoscaling::Initialization init = {true, absl::Minutes(5), absl::Seconds(30), kNow};
  const auto groups = GroupPods(pods, measured, init);
  CHECK(groups.ready.size() == (c.counts ? 1 : 0));
  CHECK(groups.unready.size() == (c.counts ? 0 : 1));
  // Other metrics count, whatever the pod does, once it runs.
  init.is_cpu = false;
  CHECK(GroupPods(pods, measured, init).ready.size() == (c.pod.phase == "Pending" ? 0 : 1));
}

TEST_CASE("the requests of a pod are those of all its containers, or of one") {
  kube::Object pod = kube::Object::Make({"", "v1", "Pod"}, {"ns", "p"});
  pod.Set({"spec", "containers"},
          *json::Parse(R"([{"name": "a", "resources": {"requests": {"cpu": "250m"}}},
                           {"name": "b", "resources": {"requests": {"cpu": 2}}},
                           {"name": "c", "resources": {"requests": {"memory": "1Gi"}}}])"));
  const std::vector<Pod> pods = {{"m1", kube::Share(pod)}};
  CHECK(*autoscaling::PodRequests(pods, "a", "cpu") == std::vector<int64_t>{250});
  CHECK(*autoscaling::PodRequests(pods, "b", "cpu") == std::vector<int64_t>{2000});
  CHECK(autoscaling::PodRequests(pods, "", "cpu").status().message() ==
        "missing request for cpu in container c of Pod p");
}
