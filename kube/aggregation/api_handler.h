// What a handler gets of a request that has passed the chain.
#ifndef KUBE_AGGREGATION_API_HANDLER_H_
#define KUBE_AGGREGATION_API_HANDLER_H_

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/http_server.h"
#include "base/stop_token.h"
#include "kube/aggregation/user_info.h"
#include "kube/server/request_info.h"

namespace kube::aggregation {

struct ApiRequest {
  // Without Authorization, X-Remote-* and Impersonate-*: it may be forwarded as it is.
  base::HttpRequest http;
  server::RequestInfo info;
  UserInfo user;  // For whom it is executed; may do what `info` says.
  std::string audit_id;
  base::SteadyTime deadline = base::SteadyTime::InfiniteFuture();
  // Requested when nobody wants the answer any more: the deadline has passed, the client is gone,
  // or the server ends. A watch or session then ends its stream.
  base::StopToken stop;
};

// Thread-safe.
class ApiHandler {
 public:
  virtual ~ApiHandler() = default;
  // Returns whether Handle may wait for the network, a disk or a lock, or compute for long. Then it
  // runs on a thread of the chain's pool, else on the thread that has the request at the moment.
  virtual bool MayBlock(const ApiRequest& /*request*/) const { return true; }
  // Answers at once, or keeps the responder and answers later, from any thread. What it sends after
  // the deadline is dropped. Errors are answered with server::ErrorAnswer; an exception becomes a
  // 500.
  virtual void Handle(ApiRequest request, std::shared_ptr<base::HttpResponder> responder) = 0;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_API_HANDLER_H_
