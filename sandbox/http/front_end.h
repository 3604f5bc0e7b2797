// The HTTP side of a simulated API server: authentication, faults, routing, watches.
#ifndef SANDBOX_HTTP_FRONT_END_H_
#define SANDBOX_HTTP_FRONT_END_H_

#include <functional>
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
#include "sandbox/http/documents.h"
#include "sandbox/http/fault_injection.h"
#include "sandbox/http/interference.h"
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
    std::string name;  // Of the server, for facts about requests.
  };
  explicit FrontEnd(const Parts& parts) : parts_(parts), resources_(parts.backend) {}
  ~FrontEnd() { DropAll(); }

  // Makes the HTTP server refuse bodies that could fill the memory: those of unknown clients, and
  // those over 3 MiB.
  void LimitBodies(base::HttpServerOptions& server);
  void Handle(base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder);
  // Cuts every running watch.
  void DropWatches();
  // As DropWatches; drops what waits at a Hold or for a Lag, too, and waits until nothing of it
  // goes on. REQUIRES: nobody brings requests any more.
  void DropAll();
  // For requests that come from now on; nullptr ends it.
  void SetInterference(std::shared_ptr<Interference> interference);
  // Has the handler answer what is below this path, see sandbox/delegation.h.
  void Delegate(std::string path, base::HttpHandler handler);

 private:
  // A request that is being answered; shared with timers.
  struct Exchange;
  // An interference, and how many requests have come to it.
  struct Door;
  using ExchangePtr = std::shared_ptr<Exchange>;

  std::optional<base::HttpResponse> CheckHead(const base::HttpRequest& head);
  // Returns an empty function if the path is not delegated.
  base::HttpHandler DelegateFor(const std::string& path) const;
  // Asks the interference about the exchange, which it knows by its number and facts from then on.
  RequestVerdict Ask(Door& door, Exchange& exchange) const;
  void Follow(const ExchangePtr& exchange, RequestVerdict verdict);
  // Has the exchange wait until the hold lets it go on.
  void Park(const ExchangePtr& exchange, const std::shared_ptr<Hold>& hold,
            std::function<void()> go_on);
  // Has a read wait until its lag has reached the version that it needs; false: it need not wait.
  bool AwaitLag(const ExchangePtr& exchange);
  void Begin(const ExchangePtr& exchange);
  void Serve(const ExchangePtr& exchange);
  absl::Status Admit(Exchange& exchange) const;
  void ServeResource(const ExchangePtr& exchange);
  void ServeWatch(const ExchangePtr& exchange, const ResourceCall& call);
  absl::StatusOr<base::HttpResponse> ServeOther(const Exchange& exchange);
  void Answer(const Exchange& exchange, base::HttpResponse response);
  void Count(const base::HttpRequest& request, const kube::server::RequestInfo& info, int code);
  std::shared_ptr<Door> CurrentDoor() const;
  void Track(const std::shared_ptr<WatchSession>& session);
  void Note(const std::shared_ptr<Hold>& hold);
  std::vector<std::shared_ptr<WatchSession>> TakeWatches();

  const Parts parts_;
  ResourceHandler resources_;
  DocumentAnswers documents_;
  mutable absl::Mutex mu_;
  std::shared_ptr<Door> door_ ABSL_GUARDED_BY(mu_);  // Null without an interference.
  std::vector<std::weak_ptr<Hold>> holds_ ABSL_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<WatchSession>> watches_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, base::HttpHandler> delegates_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_FRONT_END_H_
