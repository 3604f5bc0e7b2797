// The TLS configuration of a server, which may change while it serves. Private to base/.
#ifndef BASE_INTERNAL_SERVER_TLS_H_
#define BASE_INTERNAL_SERVER_TLS_H_

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/repeated_errors.h"

namespace base::internal {

// Makes a context for each change; connections keep the one that they began with. Thread-safe.
class ServerTls {
 public:
  using Context = std::shared_ptr<boost::asio::ssl::context>;

  // kInvalidArgument when a certificate, key or authority is unusable; kNotFound or another error
  // of reading when a file is.
  static absl::StatusOr<std::unique_ptr<ServerTls>> Create(
      tls::ServerOptions options, std::optional<HttpCertificateFiles> files);

  // Returns the context for a new connection.
  Context context() const;
  // See HttpServer::ReplaceTls().
  absl::Status Replace(tls::ServerOptions options);
  // Reads the files again when it is time, and makes a new context if their content has changed.
  // Logs failures.
  void ReloadFiles(SteadyTime now);

 private:
  explicit ServerTls(std::optional<HttpCertificateFiles> files) : files_(std::move(files)) {}
  absl::StatusOr<tls::KeyPair> ReadFiles() const;
  absl::Status Use(tls::ServerOptions options) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::optional<HttpCertificateFiles> files_;
  RepeatedErrors errors_;
  mutable absl::Mutex mu_;
  tls::ServerOptions options_ ABSL_GUARDED_BY(mu_);
  Context context_ ABSL_GUARDED_BY(mu_);
  SteadyTime next_read_ ABSL_GUARDED_BY(mu_);
};

}  // namespace base::internal

#endif  // BASE_INTERNAL_SERVER_TLS_H_
