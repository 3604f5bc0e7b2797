// A Transport over non-blocking sockets, OpenSSL and Beast's parser. Calls run on the thread that
// waits for them, over connections that are kept (unary_call.h); streams share one thread
// (lean_stream.h). Blocking tasks, such as looking up a name or running a credential plugin for a
// stream, run on a few other threads (errands.h).

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/status.h"
#include "kube/http/http_transport.h"
#include "kube/http/http_transports.h"
#include "kube/http/internal/errands.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/internal/lean_stream.h"
#include "kube/http/internal/server_access.h"
#include "kube/http/internal/stream_delivery.h"
#include "kube/http/internal/unary_call.h"
#include "kube/kubeconfig/credentials.h"

namespace kube {
namespace {

class StreamHandle : public HttpStream {
 public:
  StreamHandle(std::shared_ptr<EventLoop> loop, std::shared_ptr<StreamDelivery> delivery,
               std::shared_ptr<LeanStream> stream, base::StopSource stop)
      : loop_(std::move(loop)),
        delivery_(std::move(delivery)),
        stream_(std::move(stream)),
        stop_(std::move(stop)) {}
  ~StreamHandle() override {
    // In this order: no further step begins, no callback runs any more, and then the loop drops the
    // stream.
    stop_.request_stop();
    delivery_->Close();
    loop_->Post([stream = std::move(stream_)](Reactor& reactor) { stream->Cancel(reactor); });
  }

 private:
  const std::shared_ptr<EventLoop> loop_;
  const std::shared_ptr<StreamDelivery> delivery_;
  std::shared_ptr<LeanStream> stream_;
  base::StopSource stop_;  // Ends a wait for credentials.
};

class LeanTransport : public Transport {
 public:
  explicit LeanTransport(std::shared_ptr<ServerAccess> server, bool urgent = false)
      : server_(std::move(server)), urgent_(urgent) {}

  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override;
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override;
  bool ReplaceToken(const std::string& token) override {
    return server_->credentials().ReplaceToken(token);
  }

 private:
  absl::StatusOr<HttpResponse> SendOnce(const HttpRequest& request, const Credentials& credentials,
                                        base::SteadyTime deadline, const base::StopToken& stop);
  absl::StatusOr<CredentialsPtr> GetCredentials(base::SteadyTime deadline,
                                                const base::StopToken& stop) {
    return server_->credentials().Get(deadline, stop);
  }

  const std::shared_ptr<ServerAccess> server_;
  const bool urgent_;
};

absl::StatusOr<HttpResponse> LeanTransport::SendOnce(const HttpRequest& request,
                                                     const Credentials& credentials,
                                                     base::SteadyTime deadline,
                                                     const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const Peer peer, server_->PeerFor(credentials));
  ASSIGN_OR_RETURN(const std::string text, server_->TextOf(request, credentials));
  size_t max_bytes = request.max_answer_bytes;
  if (server_->max_answer_bytes() > 0) max_bytes = std::min(max_bytes, server_->max_answer_bytes());
  auto answer = UnaryCall(peer, text, {max_bytes, deadline, urgent_}, stop).Run();
  if (!answer.ok()) return base::Annotate(answer.status(), server_->url());
  return answer;
}

absl::StatusOr<HttpResponse> LeanTransport::Send(const HttpRequest& request,
                                                 const base::StopToken& stop) {
  if (StreamDelivery::InCallback()) {
    return absl::InternalError("a blocking call inside a stream's callback would stop all streams");
  }
  const base::SteadyTime deadline = SteadyNow() + request.timeout;
  ASSIGN_OR_RETURN(const CredentialsPtr first, GetCredentials(deadline, stop));
  auto answer = SendOnce(request, *first, deadline, stop);
  if (!answer.ok() || answer->code != 401) return answer;
  // A 401 may mean only that the token has expired or was replaced: it is asked for again, once.
  server_->credentials().Reject(first);
  ASSIGN_OR_RETURN(const CredentialsPtr second, GetCredentials(deadline, stop));
  if (second == first) return answer;
  answer = SendOnce(request, *second, deadline, stop);
  if (answer.ok() && answer->code == 401) server_->credentials().Reject(second);
  return answer;
}

// Makes the parts of a stream; runs where blocking is allowed unless the credentials are available.
absl::StatusOr<StreamRequest> PrepareStream(ServerAccess& server, const HttpRequest& request,
                                            const absl::StatusOr<CredentialsPtr>& credentials) {
  RETURN_IF_ERROR(credentials.status());
  ASSIGN_OR_RETURN(const Peer peer, server.PeerFor(**credentials));
  ASSIGN_OR_RETURN(std::string text, server.TextOf(request, **credentials));
  return StreamRequest{peer.route, std::move(text)};
}

std::unique_ptr<HttpStream> LeanTransport::Open(const HttpRequest& request,
                                                StreamCallbacks callbacks) {
  const auto used = std::make_shared<CredentialsPtr>();  // Set before the first callback.
  callbacks.on_head = [server = server_, used,
                       on_head = std::move(callbacks.on_head)](const HttpResponse& head) {
    if (head.code == 401) server->credentials().Reject(*used);
    on_head(head);
  };
  callbacks.on_end = [url = server_->url(), on_end = std::move(callbacks.on_end)](
                         absl::Status status) { on_end(base::Annotate(status, url)); };
  const auto delivery = std::make_shared<StreamDelivery>(std::move(callbacks));
  const auto stream = std::make_shared<LeanStream>(server_->loop(), delivery, request.timeout);
  base::StopSource stop;
  auto start = [server = server_, stream, used, request](absl::StatusOr<CredentialsPtr> given) {
    if (given.ok()) *used = *given;
    auto prepared = PrepareStream(*server, request, given);
    server->loop()->Post([stream, prepared = std::move(prepared)](Reactor& reactor) {
      stream->Start(reactor, prepared);
    });
  };
  if (CredentialsPtr fresh = server_->credentials().GetIfFresh(); fresh != nullptr) {
    start(std::move(fresh));
  } else {
    CredentialErrands().Run(server_->subject(), [server = server_, start, timeout = request.timeout,
                                                 token = stop.get_token()] {
      start(server->credentials().Get(SteadyNow() + timeout, token));
    });
  }
  return std::make_unique<StreamHandle>(server_->loop(), delivery, stream, std::move(stop));
}

}  // namespace

absl::StatusOr<std::shared_ptr<Transport>> NewHttpTransport(const ConnectionConfig& config) {
  ASSIGN_OR_RETURN(std::shared_ptr<ServerAccess> server,
                   ServerAccess::Create(config, EventLoop::Shared()));
  return std::make_shared<LeanTransport>(std::move(server));
}

absl::StatusOr<HttpTransports> NewHttpTransports(const ConnectionConfig& config) {
  ASSIGN_OR_RETURN(const std::shared_ptr<ServerAccess> server,
                   ServerAccess::Create(config, EventLoop::Shared()));
  return HttpTransports{std::make_shared<LeanTransport>(server),
                        std::make_shared<LeanTransport>(server, /*urgent=*/true)};
}

}  // namespace kube
