// ResourceRegistries in the handler chain of an aggregated API server.
#ifndef SEARCH_REGISTRY_REGISTRY_HANDLER_H_
#define SEARCH_REGISTRY_REGISTRY_HANDLER_H_

#include <memory>

#include "base/clock.h"
#include "kube/aggregation/api_handler.h"
#include "kube/aggregation/authorizer.h"
#include "search/registry/registry_api.h"

namespace search {

// Answers requests for ResourceRegistries, and passes everything else on. Thread-safe.
class RegistryHandler : public kube::aggregation::ApiHandler {
 public:
  // Who writes a registry with an OpenSearch has to be allowed to read the Secret that it names, as
  // `authorizer` says; without one everybody is. REQUIRES: all outlive the object.
  RegistryHandler(RegistryApi& api, kube::aggregation::ApiHandler& next,
                  kube::aggregation::Authorizer* authorizer = nullptr,
                  const base::Clock& clock = base::RealClock())
      : api_(api), next_(next), authorizer_(authorizer), clock_(clock) {}

  bool MayBlock(const kube::aggregation::ApiRequest& request) const override;
  void Handle(kube::aggregation::ApiRequest request,
              std::shared_ptr<base::HttpResponder> responder) override;

 private:
  RegistryApi& api_;
  kube::aggregation::ApiHandler& next_;
  kube::aggregation::Authorizer* const authorizer_;
  const base::Clock& clock_;
};

}  // namespace search

#endif  // SEARCH_REGISTRY_REGISTRY_HANDLER_H_
