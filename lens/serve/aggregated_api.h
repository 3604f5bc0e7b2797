// The page behind the control plane's API server, as an aggregated API (api/lens_keys.h): the right
// to see it is the right to get pages/proxy, and the API server says who looks.
#ifndef LENS_SERVE_AGGREGATED_API_H_
#define LENS_SERVE_AGGREGATED_API_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/http_server.h"
#include "kube/aggregation/user_info.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace lens::serve {

// Thread-safe.
class AggregatedApi {
 public:
  // Gets what is asked of the page by somebody who may, with the path of the page and without
  // credentials. Must not block.
  using PageFn =
      std::function<void(base::HttpRequest request, const kube::aggregation::UserInfo& user,
                         std::shared_ptr<base::HttpResponder> responder)>;

  // Blocks until the control plane has said whom to believe, for ten seconds at most. Its errors
  // are those of AuthenticationSource::Start.
  static absl::StatusOr<std::unique_ptr<AggregatedApi>> Create(const kube::ConnectionConfig& plane,
                                                               PageFn page);
  // REQUIRES: the HTTP server has been destroyed.
  virtual ~AggregatedApi() = default;

  // The handler for the HTTP server, which has to ask for client certificates and verify none.
  virtual base::HttpHandler Handler() = 0;
  // Asks with these credentials from now on. What cannot be used changes nothing.
  virtual void Use(const kube::ConnectionConfig& plane) = 0;
  // Ends the questions that are under way. Call it when the HTTP server has stopped.
  virtual void Stop() = 0;
};

}  // namespace lens::serve

#endif  // LENS_SERVE_AGGREGATED_API_H_
