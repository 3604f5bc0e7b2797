// The HTTP side of a simulated API server: authentication, faults, routing, watches.
#ifndef SANDBOX_HTTP_FRONT_END_H_
#define SANDBOX_HTTP_FRONT_END_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "base/timers.h"
#include "sandbox/http/authentication.h"
#include "sandbox/http/fault_injection.h"
#include "sandbox/http/request_counts.h"
#include "sandbox/http/resource_handler.h"
#include "sandbox/write/server_backend.h"

namespace sandbox {

// Thread-safe. REQUIRES: outlives the HTTP server that calls it.
class FrontEnd {
 public:
  struct Parts {
    ServerBackend& backend;
    Authentication& authentication;
    FaultInjection& faults;
    RequestCounts& counts;
    base::Timers& timers;
    std::string git_version;
  };
  explicit FrontEnd(const Parts& parts) : parts_(parts), resources_(parts.backend) {}

  // Makes the HTTP server refuse bodies that could fill the memory: those of unknown clients, and
  // those over 3 MiB.
  void LimitBodies(base::HttpServerOptions& server);
  void Handle(base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder);
  // Cuts every running watch.
  void DropWatches();
  // Has the handler answer what is below this path, see sandbox/delegation.h.
  void Delegate(std::string path, base::HttpHandler handler);

 private:
  // A request that is being answered; shared with timers.
  struct Exchange;
  using ExchangePtr = std::shared_ptr<Exchange>;

  std::optional<base::HttpResponse> CheckHead(const base::HttpRequest& head);
  // Returns an empty function if the path is not delegated.
  base::HttpHandler DelegateFor(const std::string& path) const;
  void Serve(const ExchangePtr& exchange);
  absl::Status Admit(Exchange& exchange) const;
  void ServeResource(const ExchangePtr& exchange);
  void ServeWatch(const ExchangePtr& exchange, const ResourceCall& call);
  absl::StatusOr<base::HttpResponse> ServeOther(const Exchange& exchange) const;
  void Answer(const Exchange& exchange, base::HttpResponse response);
  void Count(const base::HttpRequest& request, const kube::server::RequestInfo& info, int code);
  void Track(const std::shared_ptr<WatchSession>& session);

  const Parts parts_;
  ResourceHandler resources_;
  mutable absl::Mutex mu_;
  std::vector<std::weak_ptr<WatchSession>> watches_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, base::HttpHandler> delegates_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_FRONT_END_H_
