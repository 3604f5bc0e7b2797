// The paths that every API server has beside its API: health checks, /metrics, /version, and pages
// that a program adds.
#ifndef KUBE_AGGREGATION_ENDPOINTS_H_
#define KUBE_AGGREGATION_ENDPOINTS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/http_server.h"
#include "base/json.h"
#include "base/metrics.h"
#include "kube/aggregation/api_handler.h"
#include "kube/aggregation/health.h"

namespace kube::aggregation {

// Answers them, and passes everything else on. Thread-safe.
class Endpoints : public ApiHandler {
 public:
  // `version` is the document of /version: major, minor, gitVersion and so on. REQUIRES: health,
  // registry and `next` outlive the object.
  Endpoints(const HealthEndpoints& health, const metrics::Registry& registry, json::Value version,
            ApiHandler& next)
      : health_(health), registry_(registry), version_(std::move(version)), next_(next) {}

  // `update` is called before metrics are written, on any thread, to bring gauges up to date that
  // nobody else does. REQUIRES: called before the first request.
  void UpdateMetricsBy(std::function<void()> update) { update_ = std::move(update); }

  // Serves another path. `page` is called for each GET and HEAD, on any thread; it must not block.
  // REQUIRES: called before the first request.
  using PageFn = std::function<base::HttpResponse(const base::HttpRequest& request)>;
  void AddPage(std::string path, PageFn page) { pages_[std::move(path)] = std::move(page); }

  bool MayBlock(const ApiRequest& request) const override;
  void Handle(ApiRequest request, std::shared_ptr<base::HttpResponder> responder) override;

 private:
  bool IsOwn(const std::string& path) const;

  const HealthEndpoints& health_;
  const metrics::Registry& registry_;
  const json::Value version_;
  ApiHandler& next_;
  std::function<void()> update_;
  std::map<std::string, PageFn> pages_;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_ENDPOINTS_H_
