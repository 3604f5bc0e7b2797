// The way of every request through an aggregated API server, from the socket to the handler.
//
//   HandlerChain chain(options, {authenticator, authorizer, handler, audit_log, clock, metrics});
//   base::HttpServer::Start(server_options, chain.Handler());
#ifndef KUBE_AGGREGATION_HANDLER_CHAIN_H_
#define KUBE_AGGREGATION_HANDLER_CHAIN_H_

#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "kube/aggregation/api_handler.h"
#include "kube/aggregation/audit_log.h"
#include "kube/aggregation/authentication_config.h"
#include "kube/aggregation/authenticator.h"
#include "kube/aggregation/authorizer.h"
#include "kube/aggregation/request_length.h"
#include "kube/aggregation/request_record.h"
#include "kube/server/compression.h"

namespace kube::aggregation {

// Thread-safe. What the steps are, and in which order, is in the README.
class HandlerChain {
 public:
  struct Options {
    absl::Duration request_timeout = absl::Seconds(60);  // --request-timeout
    // --max-requests-inflight and --max-mutating-requests-inflight; 0 is no limit. An answer in
    // pieces that has begun does not count any more: it is one of the SentAnswers, of which there
    // may be max_in_flight, too, before some are cut. Of requests in flight and of
    // long-running ones each user leaves as many to the others as he has (base::Shares); members
    // of system:masters have no limit.
    int max_in_flight = 400;
    int max_mutating_in_flight = 200;
    // Watches and sessions, each once for every 2 KiB of its URL and headers that are begun,
    // because it keeps them, selectors above all; 0 is no limit.
    int max_long_running = 0;
    // Determines how long a request may take; by default LengthOf(info).
    std::function<RequestLength(const server::RequestInfo&, const base::HttpRequest&)> length;
    // Determines what the metrics say of a request; by default its verb only.
    SubjectFn subject;
    // Answers whose body is longer are compressed for clients that accept gzip; 0: none are.
    size_t gzip_min_bytes = server::kMinCompressedBytes;
    int handler_threads = 64;  // The limit of threads on which handlers may block.
    // Impersonation has the constrained modes of Kubernetes 1.36, too.
    bool constrained_impersonation = false;
  };
  struct Parts {
    Authenticator& authenticator;
    Authorizer& authorizer;
    ApiHandler& handler;
    // Whose names of header fields are removed in addition to the standard ones. Optional.
    DelegatedAuthenticator::ConfigFn config;
    AuditLog* audit = nullptr;              // Optional.
    metrics::Registry* registry = nullptr;  // Optional.
    const base::Clock& clock;
  };

  // REQUIRES: all parts outlive the chain; log, registry and clock also outlive each responder that
  // a handler has. The HTTP server has been stopped, and so have the clients of reviews, before the
  // chain is destroyed.
  HandlerChain(Options options, Parts parts);
  ~HandlerChain();
  HandlerChain(const HandlerChain&) = delete;

  // The handler for the HTTP server.
  base::HttpHandler Handler();

  // Ends the service: requests that come from now on get a 503 with Retry-After, except those for
  // health checks and metrics; long-running ones are asked to end (ApiRequest::stop).
  void BeginDrain();
  // Waits until no request is being executed, `patience` is over, or a stop. Returns whether none
  // is.
  bool AwaitIdle(absl::Duration patience, const base::StopToken& stop = {});

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_HANDLER_CHAIN_H_
