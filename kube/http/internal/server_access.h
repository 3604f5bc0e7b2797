// How requests reach one API server: its address, proxy, credentials and kept connections.
#ifndef KUBE_HTTP_INTERNAL_SERVER_ACCESS_H_
#define KUBE_HTTP_INTERNAL_SERVER_ACCESS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "kube/http/internal/connection.h"
#include "kube/http/internal/endpoint.h"
#include "kube/http/internal/errands.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/internal/proxy.h"
#include "kube/http/internal/request_text.h"
#include "kube/http/internal/tls_client.h"
#include "kube/http/internal/unary_call.h"
#include "kube/http/transport.h"
#include "kube/kubeconfig/credentials.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace kube {

// Everything that requests are made of, except the credentials. Shared with streams that wait for
// credentials. Thread-safe.
class ServerAccess {
 public:
  // `loop` keeps the connections. kInvalidArgument when certificates, key, server or proxy URL are
  // unusable.
  static absl::StatusOr<std::shared_ptr<ServerAccess>> Create(const ConnectionConfig& config,
                                                              std::shared_ptr<EventLoop> loop);

  CredentialSource& credentials() { return *credentials_; }
  const std::string& url() const { return url_; }
  Errands::Subject subject() const { return {url_, urgent_}; }
  size_t max_answer_bytes() const { return max_answer_bytes_; }
  const std::shared_ptr<EventLoop>& loop() const { return loop_; }

  // Returns the connections that use these credentials' certificate.
  absl::StatusOr<Peer> PeerFor(const Credentials& credentials);
  absl::StatusOr<std::string> TextOf(const HttpRequest& request,
                                     const Credentials& credentials) const;
  // Returns a request with exactly these headers besides those of every request to the server
  // (Host, Authorization, impersonation). A body is announced by its length.
  absl::StatusOr<std::string> TextOf(RequestText request, const Credentials& credentials) const;

 private:
  absl::StatusOr<std::shared_ptr<const Route>> RouteFor(const Credentials& credentials) const;

  std::string url_;  // For messages.
  std::string verified_name_;
  bool urgent_ = false;
  size_t max_answer_bytes_ = 0;  // 0: each request sets its limit.
  Endpoint endpoint_;
  ProxySettings proxy_;
  std::shared_ptr<TlsClient> proxy_tls_;
  std::vector<std::pair<std::string, std::string>> headers_;  // Headers of every request.
  std::string prefix_;
  std::unique_ptr<CredentialSource> credentials_;
  std::shared_ptr<EventLoop> loop_;
  absl::Mutex mu_;
  std::shared_ptr<const tls::ClientCredentials> identity_
      ABSL_GUARDED_BY(mu_);  // The identity that peer_ uses.
  Peer peer_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_SERVER_ACCESS_H_
