// Serves /apis/search.karmada.io/v1alpha1/proxying: the resources of all member clusters behind one
// URL. How a request is treated is in README.md.
#ifndef SEARCH_PROXY_PROXY_HANDLER_H_
#define SEARCH_PROXY_PROXY_HANDLER_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "kube/aggregation/api_handler.h"
#include "kube/aggregation/authorizer.h"
#include "kube/meta/names.h"
#include "search/proxy/cached_reads.h"
#include "search/proxy/forwarder.h"
#include "search/proxy/registration.h"
#include "search/proxy/versions.h"

namespace search {

// Thread-safe.
class ProxyHandler : public kube::aggregation::ApiHandler {
 public:
  struct Parts {
    IsRegisteredFn is_registered;
    CachedReads& cache;
    MemberForwarders& members;
    std::shared_ptr<Forwarder> control_plane;
    DecodeVersions decode;
    const base::Clock& clock;
    // --authorize-cached-reads: who may not get an object in the control plane does not learn from
    // the search for its owner whether it exists. Null: whoever may use the proxy may. REQUIRES:
    // its questions have ended before the handler is destroyed.
    kube::aggregation::Authorizer* read_authorizer = nullptr;
    // --require-complete-answers: what a request demands that does not say it.
    bool complete = false;
    // How long servers may take to begin an answer that is not long-running.
    absl::Duration head_timeout = absl::Seconds(60);
  };
  // REQUIRES: all parts outlive the handler and the requests that it has passed on.
  explicit ProxyHandler(Parts parts);
  ~ProxyHandler() override;

  // Returns whether the handler serves the decoded path of a request.
  static bool Serves(absl::string_view path);

  // Has to be called after `is_registered` has begun to return something else. Ends the watches at
  // the control plane whose resource is registered by now: the next watch of their clients is
  // answered by the cache. Does not block.
  void OnRegistrationsChanged();

  // Only a long body takes so long to read that another thread should do it.
  bool MayBlock(const kube::aggregation::ApiRequest& request) const override;
  void Handle(kube::aggregation::ApiRequest request,
              std::shared_ptr<base::HttpResponder> responder) override;

 private:
  struct Impl;
  // Shared with requests that wait for an answer.
  const std::shared_ptr<Impl> impl_;
};

}  // namespace search

#endif  // SEARCH_PROXY_PROXY_HANDLER_H_
