// Serves /apis/search.karmada.io/v1alpha1/search: lists of the objects of all member clusters, from
// the cache or from OpenSearch.
#ifndef SEARCH_PROXY_VIEW_HANDLER_H_
#define SEARCH_PROXY_VIEW_HANDLER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/http_server.h"
#include "base/metrics.h"
#include "kube/aggregation/api_handler.h"
#include "kube/aggregation/authorizer.h"
#include "kube/aggregation/refusals.h"
#include "kube/aggregation/work_pool.h"
#include "search/proxy/cached_reads.h"
#include "search/proxy/registration.h"

namespace search {

// The answer is always a list, also for the path of one object (which several clusters may have),
// with the parameters of lists: selectors, limit, continue, resourceVersion, forms by Accept.
// Thread-safe.
class ViewHandler : public kube::aggregation::ApiHandler {
 public:
  struct Parts {
    IsRegisteredFn is_registered;
    CachedReads& cache;
    // Answers a list from OpenSearch; `http` and `info` are those of the request for the resource.
    // May block. Null: 501.
    std::function<void(kube::aggregation::ApiRequest request,
                       std::shared_ptr<base::HttpResponder> responder)>
        open_search;
    // As CacheReads::Options::authorizer, for reads of OpenSearch.
    kube::aggregation::Authorizer* read_authorizer = nullptr;
    // As ProxyHandler::Parts::complete, for reads of the cache.
    bool complete = false;
    // As CacheReads::Options::registry, for reads of OpenSearch.
    metrics::Registry* registry = nullptr;
  };
  // REQUIRES: all parts outlive the handler; the authorizer's questions have ended before it does.
  explicit ViewHandler(Parts parts);

  // Returns whether the handler serves the decoded path of a request.
  static bool Serves(absl::string_view path);

  bool MayBlock(const kube::aggregation::ApiRequest& /*request*/) const override { return false; }
  void Handle(kube::aggregation::ApiRequest request,
              std::shared_ptr<base::HttpResponder> responder) override;

 private:
  absl::Status TryHandle(kube::aggregation::ApiRequest request,
                         const std::shared_ptr<base::HttpResponder>& responder);

  const Parts parts_;
  const kube::aggregation::Refusals refused_;
  // Waits for OpenSearch.
  kube::aggregation::WorkPool searches_;
};

}  // namespace search

#endif  // SEARCH_PROXY_VIEW_HANDLER_H_
