// Pods and samples for the tests of replica counts.
#ifndef TESTS_CONTROLLERS_AUTOSCALING_SAMPLE_PODS_H_
#define TESTS_CONTROLLERS_AUTOSCALING_SAMPLE_PODS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "controllers/autoscaling/pod_metrics.h"
#include "kube/meta/object.h"
#include "kube/meta/quantity.h"

namespace tests {

inline const absl::Time kNow = absl::FromUnixSeconds(1700000000);

// A pod that has been running for a day, requests one core, and is ready, unless it is changed.
struct PodOf {
  std::string name = "p0";
  std::string cluster = "m1";
  std::string phase = "Running";
  std::string ready = "True";                // "" for no condition.
  absl::Duration started = absl::Hours(24);  // How long ago.
  absl::Duration ready_since = absl::Hours(23);
  int64_t request = 1000;  // Thousandths; 0 for none.
  bool deleting = false;

  autoscaling::Pod Make() const {
    kube::Object pod = kube::Object::Make({"", "v1", "Pod"}, {"ns", name});
    pod.SetLabel("app", "web");
    if (deleting) pod.Set({"metadata", "deletionTimestamp"}, kube::FormatTime(kNow));
    json::Value container = json::Value::Object({{"name", "app"}});
    if (request != 0) {
      container.Set({"resources", "requests", "cpu"},
                    kube::Quantity::FromMilli(request).ToString());
    }
    pod.Set({"spec", "containers"}, json::Value::Array({container}));
    pod.Set({"status", "phase"}, phase);
    pod.Set({"status", "startTime"}, kube::FormatTime(kNow - started));
    if (!ready.empty()) {
      pod.Set({"status", "conditions"},
              json::Value::Array({json::Value::Object(
                  {{"type", "Ready"},
                   {"status", ready},
                   {"lastTransitionTime", kube::FormatTime(kNow - ready_since)}})}));
    }
    return {cluster, kube::Share(std::move(pod))};
  }
};

// Returns n such pods: p0, p1, ...
inline std::vector<autoscaling::Pod> PodsOf(int n, PodOf like = {}) {
  std::vector<autoscaling::Pod> pods;
  for (int i = 0; i < n; ++i) {
    like.name = absl::StrCat("p", i);
    pods.push_back(like.Make());
  }
  return pods;
}

// Returns samples of p0, p1, ... that were taken a moment ago.
inline autoscaling::Samples SamplesOf(const std::vector<int64_t>& milli) {
  autoscaling::Samples samples;
  for (size_t i = 0; i < milli.size(); ++i) {
    samples.items.push_back(
        {absl::StrCat("p", i), "", {milli[i], kNow - absl::Seconds(1), absl::Minutes(1)}});
  }
  return samples;
}

}  // namespace tests

#endif  // TESTS_CONTROLLERS_AUTOSCALING_SAMPLE_PODS_H_
