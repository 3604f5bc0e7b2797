// An API server for metrics, behind the API server of a control plane: metrics.k8s.io,
// custom.metrics.k8s.io and external.metrics.k8s.io, with the values that a test sets.
//
//   MetricsServer metrics(plane);
//   metrics.SetCpu(ns, {{"member1", "web-0", 250}});
#ifndef TESTS_SUPPORT_METRICS_SERVER_H_
#define TESTS_SUPPORT_METRICS_SERVER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "tests/support/control_plane.h"

namespace tests {

// Thread-safe.
class MetricsServer {
 public:
  // On the sandbox the control plane has these APIs from now on; on real servers an HTTPS server is
  // started and registered with APIServices, which the destructor takes away, or sets back to what
  // they were. REQUIRES: `plane` outlives the server.
  explicit MetricsServer(ControlPlane& plane);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;

  struct PodUse {
    std::string cluster, pod;
    int64_t cpu_milli = 0;
  };
  // Sets the CPU use of the pods in the namespace; others have none.
  void SetCpu(const std::string& ns, const std::vector<PodUse>& pods);
  // Sets a custom metric, which is answered for "<plural>/<name>" in the namespace; as "pods/*" it
  // has a value for each pod of SetCpu.
  void SetCustom(const std::string& ns, const std::string& object, const std::string& metric,
                 const std::string& value);
  void SetExternal(const std::string& ns, const std::string& metric, const std::string& value);

 private:
  void Handle(const base::HttpRequest& request, base::HttpResponder& responder);
  base::HttpResponse AnswerTo(const std::vector<std::string>& path);
  json::Value PodMetrics(const std::string& ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::optional<json::Value> CustomMetrics(const std::vector<std::string>& path)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Register();

  ControlPlane& plane_;
  absl::Mutex mu_;
  std::map<std::string, std::vector<PodUse>> cpu_ ABSL_GUARDED_BY(mu_);
  // By "<ns>/<plural>/<name>/<metric>" and "<ns>/<metric>".
  std::map<std::string, std::string> custom_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::string> external_ ABSL_GUARDED_BY(mu_);
  std::vector<std::optional<kube::Object>> before_;  // The APIServices that were there.
  std::unique_ptr<base::HttpServer> http_;
};

}  // namespace tests

#endif  // TESTS_SUPPORT_METRICS_SERVER_H_
