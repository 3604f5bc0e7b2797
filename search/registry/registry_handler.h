// ResourceRegistries in the handler chain of an aggregated API server.
#ifndef SEARCH_REGISTRY_REGISTRY_HANDLER_H_
#define SEARCH_REGISTRY_REGISTRY_HANDLER_H_

#include <memory>

#include "kube/aggregation/api_handler.h"
#include "search/registry/registry_api.h"

namespace search {

// Answers requests for ResourceRegistries, and passes everything else on. Thread-safe.
class RegistryHandler : public kube::aggregation::ApiHandler {
 public:
  // REQUIRES: both outlive the object.
  RegistryHandler(RegistryApi& api, kube::aggregation::ApiHandler& next) : api_(api), next_(next) {}

  bool MayBlock(const kube::aggregation::ApiRequest& request) const override;
  void Handle(kube::aggregation::ApiRequest request,
              std::shared_ptr<base::HttpResponder> responder) override;

 private:
  RegistryApi& api_;
  kube::aggregation::ApiHandler& next_;
};

}  // namespace search

#endif  // SEARCH_REGISTRY_REGISTRY_HANDLER_H_
