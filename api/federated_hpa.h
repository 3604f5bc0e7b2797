// FederatedHPA (autoscaling.karmada.io/v1alpha1): scales a template by the load of its pods in all
// clusters. The fields, but for spec.scaleTargetRef, are those of Kubernetes'
// HorizontalPodAutoscaler of autoscaling/v2.
#ifndef API_FEDERATED_HPA_H_
#define API_FEDERATED_HPA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "kube/meta/quantity.h"

namespace api {

// The API groups that metrics come from.
inline constexpr char kResourceMetricsGroup[] = "metrics.k8s.io";
inline constexpr char kCustomMetricsGroup[] = "custom.metrics.k8s.io";
inline constexpr char kExternalMetricsGroup[] = "external.metrics.k8s.io";
// The annotation by which karmada-metrics-adapter names the cluster of PodMetrics.
inline constexpr char kQuerySourceAnnotation[] = "resource.karmada.io/query-from-cluster";

// Values of MetricSpec::type.
inline constexpr char kResourceMetric[] = "Resource";
inline constexpr char kContainerResourceMetric[] = "ContainerResource";
inline constexpr char kPodsMetric[] = "Pods";
inline constexpr char kObjectMetric[] = "Object";
inline constexpr char kExternalMetric[] = "External";

// The aim of a metric.
struct MetricTarget {
  std::string type;  // "Utilization", "Value" or "AverageValue".
  std::optional<kube::Quantity> value, average_value;
  std::optional<int64_t> average_utilization;  // Percent of what the pods request.

  static MetricTarget FromJson(const json::Value& target);
};
inline constexpr char kTargetsValue[] = "Value";
inline constexpr char kTargetsAverageValue[] = "AverageValue";

// An item of spec.metrics. Which fields are set depends on the type.
struct MetricSpec {
  std::string type;
  std::string resource;          // Resource, ContainerResource: "cpu".
  std::string container;         // ContainerResource.
  std::string metric;            // Pods, Object, External: the name of the metric.
  json::Value metric_selector;   // The same: a metav1.LabelSelector; null without one.
  json::Value described_object;  // Object: {apiVersion, kind, name}.
  MetricTarget target;

  static MetricSpec FromJson(const json::Value& item);
};

// An item of status.currentMetrics: what a metric was when it was read.
struct MetricStatus {
  MetricSpec spec;
  std::optional<int64_t> average_utilization;
  std::optional<int64_t> average_milli, value_milli;  // In thousandths.

  json::Value ToJson() const;
};

// An item of policies in the rules of a direction.
struct ScalingPolicy {
  std::string type;  // kPodsPolicy or kPercentPolicy.
  int64_t value = 0;
  absl::Duration period;
};
inline constexpr char kPodsPolicy[] = "Pods";
inline constexpr char kPercentPolicy[] = "Percent";

// The rules of one direction, with what karmada-webhook adds to them (upstream's
// SetDefaultsHorizontalPodAutoscalerBehavior), should it not have seen the object.
struct ScalingRules {
  std::optional<absl::Duration> stabilization_window;
  std::string select_policy;  // One of the below.
  std::vector<ScalingPolicy> policies;
  std::optional<double> tolerance;
};
inline constexpr char kSelectMax[] = "Max";
inline constexpr char kSelectMin[] = "Min";
inline constexpr char kSelectDisabled[] = "Disabled";

struct ScalingBehavior {
  ScalingRules up, down;
};

// Condition types.
inline constexpr char kAbleToScale[] = "AbleToScale";
inline constexpr char kScalingActive[] = "ScalingActive";
inline constexpr char kScalingLimited[] = "ScalingLimited";

// Reads one FederatedHPA. The object must outlive the view and stay unchanged.
class FederatedHpaView {
 public:
  explicit FederatedHpaView(const kube::Object& object) : object_(object) {}
  explicit FederatedHpaView(kube::Object&&) = delete;

  int64_t MinReplicas() const;  // 1 by default.
  int64_t MaxReplicas() const;
  // Without metrics there is one: a CPU utilization of 80 percent.
  std::vector<MetricSpec> Metrics() const;
  // nullopt without spec.behavior.
  std::optional<ScalingBehavior> Behavior() const;

 private:
  const kube::Object& object_;
};

// What a pass has found out, for SetScalingStatus.
struct ScalingStatus {
  int64_t current_replicas = 0;
  // nullopt: the field stays as it is.
  std::optional<int64_t> desired_replicas;
  std::optional<std::vector<MetricStatus>> metrics;
};
// Sets fields of the status; conditions are set by SetScalingCondition.
void SetScalingStatus(kube::Object& hpa, const ScalingStatus& status);
// Sets status.lastScaleTime.
void SetLastScaleTime(kube::Object& hpa, absl::Time time);
// Sets a condition; status.desiredReplicas, which the definition requires, becomes 0 if it is
// absent.
void SetScalingCondition(kube::Object& hpa, const kube::Condition& condition, absl::Time now);

}  // namespace api

#endif  // API_FEDERATED_HPA_H_
