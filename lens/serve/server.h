// The server of `karmada-lens serve`: the page, what it shows as JSON, and live updates.
//
//   ASSIGN_OR_RETURN(const auto server, serve::Server::Start(std::move(options)));
//   server->port();
#ifndef LENS_SERVE_SERVER_H_
#define LENS_SERVE_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "base/tls.h"
#include "config/options.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "lens/serve/access.h"
#include "lens/why/chain.h"

namespace lens::serve {

struct ServeOptions {
  Mode mode = Mode::kLocal;
  std::string address = "127.0.0.1:0";
  // For kTokens and kUsers: the pair at the start, and the files that it is read from again.
  tls::KeyPair certificate;
  base::HttpCertificateFiles certificate_files;
  // The control plane. With kTokens none of its credentials is used; with kUsers they say whom to
  // believe, and act for the users.
  kube::ConnectionConfig plane;
  // Reads the kubeconfig again, so that credentials that were renewed there take effect.
  std::function<absl::StatusOr<kube::ConnectionConfig>()> load_plane;
  absl::Duration load_every = absl::Seconds(10);
  why::Question flags;     // What is not about one object.
  config::Options daemon;  // The daemon's flags, for questions what would happen.
};

// Thread-safe.
class Server {
 public:
  // kUnavailable when the address cannot be bound. Whether the control plane answers is not asked:
  // the page says so when it does not. With kUsers it has to say whom to believe.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServeOptions options);
  virtual ~Server() = default;  // Stops.

  virtual int port() const = 0;
  // Ends all reads, updates and connections.
  virtual void Stop() = 0;
};

}  // namespace lens::serve

#endif  // LENS_SERVE_SERVER_H_
