// Asks the control plane for metrics: metrics.k8s.io, custom.metrics.k8s.io and
// external.metrics.k8s.io, which karmada-metrics-adapter, or whatever else is registered there with
// an APIService, serves for all clusters together.
#ifndef CONTROLLERS_AUTOSCALING_METRICS_CLIENT_H_
#define CONTROLLERS_AUTOSCALING_METRICS_CLIENT_H_

#include <atomic>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "controllers/autoscaling/metrics_source.h"
#include "kube/client/client.h"
#include "kube/client/document.h"
#include "kube/discovery/rest_mapper.h"

namespace autoscaling {

// What is in an answer and cannot be read (no name, no quantity, a use below zero) counts as not
// being there. Each request is observed in federatedhpa_pull_metrics_duration_seconds. Thread-safe.
class MetricsClient : public MetricsSource {
 public:
  // A metrics API that does not answer must not hold up the others.
  static constexpr absl::Duration kDeadline = absl::Seconds(10);

  // `mapper` gives the resource of a described object. REQUIRES: the arguments outlive the client.
  MetricsClient(kube::Client& client, kube::RestMapper& mapper, metrics::Registry& registry)
      : client_(client), mapper_(mapper), registry_(registry) {}

  absl::StatusOr<Samples> Resource(const PodSelection& pods, const api::MetricSpec& spec,
                                   const base::StopToken& stop) override;
  absl::StatusOr<Samples> Pods(const PodSelection& pods, const api::MetricSpec& spec,
                               const base::StopToken& stop) override;
  absl::StatusOr<int64_t> Object(const std::string& ns, const api::MetricSpec& spec,
                                 const base::StopToken& stop) override;
  absl::StatusOr<int64_t> External(const std::string& ns, const api::MetricSpec& spec,
                                   const base::StopToken& stop) override;

 private:
  struct Question {
    const char* type;  // How it is observed.
    kube::DocumentPath path;
    std::string call;  // What client-go calls the request in its errors.
  };
  // Sends a request and observes it. Errors have client-go's words.
  absl::StatusOr<json::Value> Ask(const Question& question, const base::StopToken& stop);
  // Asks the custom metrics API in the version that it serves; the segments of the path are those
  // that follow the version.
  absl::StatusOr<json::Value> AskCustom(const Question& question, const base::StopToken& stop);
  // Returns an error if the control plane has no custom metrics API of a known version.
  absl::Status CheckCustomApi(const base::StopToken& stop);
  // Returns the resource of a described object as paths of metrics have it: "deployments.apps".
  absl::StatusOr<std::string> ResourceOf(const kube::Gvk& gvk, const base::StopToken& stop);

  kube::Client& client_;
  kube::RestMapper& mapper_;
  metrics::Registry& registry_;
  // The API has answered in its older version. If this is forgotten, the newer one is tried first.
  std::atomic<bool> is_older_{false};
};

}  // namespace autoscaling

#endif  // CONTROLLERS_AUTOSCALING_METRICS_CLIENT_H_
