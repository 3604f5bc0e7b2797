#include "kube/http/internal/tls_client.h"

#include <openssl/ssl.h>

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/status.h"
#include "base/tls_connection.h"
#include "kube/http/internal/resolver.h"

namespace kube {
namespace {

// Only HTTP/1.1, in ALPN's format: length and name.
constexpr unsigned char kProtocols[] = "\x08http/1.1";

struct FreeSession {
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
struct FreeConnection {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SessionPtr = std::unique_ptr<SSL_SESSION, FreeSession>;
using ConnectionPtr = std::unique_ptr<SSL, FreeConnection>;

class SharedTlsClient : public TlsClient {
 public:
  SharedTlsClient(std::shared_ptr<const tls::ClientCredentials> credentials, std::string name)
      : credentials_(std::move(credentials)),
        name_(std::move(name)),
        is_address_(NumericAddress(name_, 0).has_value()) {}

  // Returns a connection with the credentials, and without session.
  absl::StatusOr<ConnectionPtr> New() {
    ConnectionPtr ssl(SSL_new(Context()));
    RETURN_IF_ERROR(tls::Apply(*credentials_, ssl.get()));
    RETURN_IF_ERROR(tls::RequireServerName(ssl.get(), name_));
    if (!is_address_) SSL_set_tlsext_host_name(ssl.get(), name_.c_str());
    return ssl;
  }

  std::unique_ptr<TlsLayer> Connect(std::unique_ptr<ByteLayer> below) override {
    // Create has tried it.
    SSL* const ssl = New()->release();
    // For KeepSession: whoever has the connection keeps this object by its Route.
    SSL_set_app_data(ssl, this);
    {
      absl::MutexLock lock(&mu_);
      if (session_ != nullptr) SSL_set_session(ssl, session_.get());
    }
    return std::make_unique<TlsLayer>(ssl, std::move(below));
  }

 private:
  // One for all servers, because each takes 13 kB and 1,300 allocations: what OpenSSL can do.
  static SSL_CTX* Context() {
    static SSL_CTX* const context = [] {
      SSL_CTX* const ctx = SSL_CTX_new(TLS_client_method());
      SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
      // Go's clients refuse it, too, and connections forget their credentials after the handshake.
      SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
      // With it a record is read in one call instead of two.
      SSL_CTX_set_read_ahead(ctx, 1);
      SSL_CTX_set_alpn_protos(ctx, kProtocols, sizeof kProtocols - 1);
      SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
      SSL_CTX_sess_set_new_cb(ctx, &KeepSession);
      return ctx;
    }();
    return context;
  }

  // A callback of OpenSSL: returning 1 takes over the reference.
  static int KeepSession(SSL* ssl, SSL_SESSION* session) {
    auto* self = static_cast<SharedTlsClient*>(SSL_get_app_data(ssl));
    absl::MutexLock lock(&self->mu_);
    self->session_.reset(session);
    return 1;
  }

  const std::shared_ptr<const tls::ClientCredentials> credentials_;
  const std::string name_;  // That the server has to prove.
  const bool is_address_;   // Without SNI then.
  absl::Mutex mu_;
  SessionPtr session_ ABSL_GUARDED_BY(mu_);  // The newest session.
};

}  // namespace

absl::StatusOr<std::shared_ptr<TlsClient>> TlsClient::Create(
    const std::shared_ptr<const tls::ClientCredentials>& credentials, const std::string& name) {
  auto client = std::make_shared<SharedTlsClient>(credentials, name);
  RETURN_IF_ERROR(client->New().status());
  return client;
}

}  // namespace kube
