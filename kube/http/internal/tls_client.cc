#include "kube/http/internal/tls_client.h"

#include <openssl/ssl.h>

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/status.h"
#include "kube/http/internal/resolver.h"

namespace kube {
namespace {

// Only HTTP/1.1, in ALPN's format: length and name.
constexpr unsigned char kProtocols[] = "\x08http/1.1";

struct FreeContext {
  void operator()(SSL_CTX* ctx) const { SSL_CTX_free(ctx); }
};
struct FreeSession {
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using ContextPtr = std::unique_ptr<SSL_CTX, FreeContext>;
using SessionPtr = std::unique_ptr<SSL_SESSION, FreeSession>;

class SharedTlsClient : public TlsClient {
 public:
  SharedTlsClient(ContextPtr ctx, std::string server_name)
      : ctx_(std::move(ctx)), server_name_(std::move(server_name)) {
    SSL_CTX_set_app_data(ctx_.get(), this);
    SSL_CTX_set_session_cache_mode(ctx_.get(),
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(ctx_.get(), &KeepSession);
  }

  std::unique_ptr<TlsLayer> Connect(std::unique_ptr<ByteLayer> below) override {
    SSL* ssl = SSL_new(ctx_.get());
    if (!server_name_.empty()) SSL_set_tlsext_host_name(ssl, server_name_.c_str());
    {
      absl::MutexLock lock(&mu_);
      if (session_ != nullptr) SSL_set_session(ssl, session_.get());
    }
    // Connections may outlive the transport that made them, but not the data of their callbacks,
    // which they therefore share.
    return std::make_unique<TlsLayer>(ssl, std::move(below));
  }

 private:
  // A callback of OpenSSL: returning 1 takes over the reference.
  static int KeepSession(SSL* ssl, SSL_SESSION* session) {
    auto* self = static_cast<SharedTlsClient*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    absl::MutexLock lock(&self->mu_);
    self->session_.reset(session);
    return 1;
  }

  const ContextPtr ctx_;
  const std::string server_name_;  // For SNI; "" for an IP address.
  absl::Mutex mu_;
  SessionPtr session_ ABSL_GUARDED_BY(mu_);  // The newest session.
};

}  // namespace

absl::StatusOr<std::shared_ptr<TlsClient>> TlsClient::Create(
    const std::shared_ptr<const tls::ClientCredentials>& credentials, const std::string& name) {
  const bool is_address = NumericAddress(name, 0).has_value();
  ContextPtr ctx(SSL_CTX_new(TLS_client_method()));
  RETURN_IF_ERROR(credentials->Apply(ctx.get()));
  RETURN_IF_ERROR(tls::RequireServerName(ctx.get(), name));
  SSL_CTX_set_mode(ctx.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // With it a record is read in one call instead of two.
  SSL_CTX_set_read_ahead(ctx.get(), 1);
  SSL_CTX_set_alpn_protos(ctx.get(), kProtocols, sizeof kProtocols - 1);
  return std::make_shared<SharedTlsClient>(std::move(ctx), is_address ? "" : name);
}

}  // namespace kube
