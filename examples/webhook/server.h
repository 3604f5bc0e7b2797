// Runs the webhook as a server: TLS, certificate, and the manifests that register it with Karmada.
#ifndef EXAMPLES_WEBHOOK_SERVER_H_
#define EXAMPLES_WEBHOOK_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/http_server.h"

namespace example {

struct ServerOptions {
  std::string address = "127.0.0.1:8443";  // The address to listen on; port 0 picks a free one.
  // The name or IP address under which Karmada reaches the server; written into the certificate and
  // the manifests.
  std::string host = "127.0.0.1";
  // PEM files of a certificate (chain) and its key. Empty: a certificate is generated, which is
  // used as long as the program runs.
  std::string certificate_file, key_file;
  // PEM file with the CA of that certificate; empty: the certificate itself, if there is one.
  std::string ca_file;
  bool log_requests = false;
};

// A server that answers requests until it is destroyed.
struct RunningServer {
  std::unique_ptr<base::HttpServer> server;
  std::string url;     // "https://127.0.0.1:8443"
  std::string ca_pem;  // The CA that a client must trust.
};
// kUnavailable when the address cannot be bound, kInvalidArgument when a file is unusable.
absl::StatusOr<RunningServer> StartServer(const ServerOptions& options);

// Returns all *.yaml files of a directory as one stream, with {{url}} and {{caBundle}} filled in.
absl::StatusOr<std::string> FilledManifests(const std::string& directory,
                                            const RunningServer& running);

}  // namespace example

#endif  // EXAMPLES_WEBHOOK_SERVER_H_
