// Which part of the server answers a request.
#ifndef CMD_SEARCH_API_ROUTER_H_
#define CMD_SEARCH_API_ROUTER_H_

#include <functional>
#include <memory>

#include "kube/aggregation/api_handler.h"
#include "kube/aggregation/request_length.h"
#include "kube/server/request_info.h"
#include "search/documents/search_documents.h"

namespace cmd {

// Returns how long a request to this server may take: one to the proxy as long as the request
// inside of it. A list that the cache answers, because `is_registered`, is bounded like any other
// request.
kube::aggregation::RequestLength LengthOf(
    const kube::server::RequestInfo& info, const base::HttpRequest& request,
    const std::function<bool(const kube::Gvr& gvr)>& is_registered);

// Thread-safe.
class ApiRouter : public kube::aggregation::ApiHandler {
 public:
  // A part that is switched off is null: its paths are not found. REQUIRES: all outlive the router.
  struct Parts {
    const search::SearchDocuments& documents;
    kube::aggregation::ApiHandler* proxy = nullptr;
    kube::aggregation::ApiHandler* view = nullptr;
    kube::aggregation::ApiHandler& registries;
  };
  explicit ApiRouter(const Parts& parts) : parts_(parts) {}

  bool MayBlock(const kube::aggregation::ApiRequest& request) const override;
  void Handle(kube::aggregation::ApiRequest request,
              std::shared_ptr<base::HttpResponder> responder) override;

 private:
  kube::aggregation::ApiHandler* HandlerOf(const kube::aggregation::ApiRequest& request) const;

  const Parts parts_;
};

// The end of the chain of handlers: 404.
class NothingThere : public kube::aggregation::ApiHandler {
 public:
  bool MayBlock(const kube::aggregation::ApiRequest&) const override { return false; }
  void Handle(kube::aggregation::ApiRequest request,
              std::shared_ptr<base::HttpResponder> responder) override;
};

}  // namespace cmd

#endif  // CMD_SEARCH_API_ROUTER_H_
