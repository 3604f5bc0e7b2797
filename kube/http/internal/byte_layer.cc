// TLS uses the layer below through a BIO of its own, which sends without SIGPIPE, and works over
// another TLS layer (a server behind an https:// proxy) as well as over a socket.

#include "kube/http/internal/byte_layer.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kube {
namespace {

IoResult FailedCall(bool reading) {
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    return {reading ? IoState::kWantRead : IoState::kWantWrite};
  }
  if (errno == ECONNRESET || errno == EPIPE) {
    return {.state = IoState::kBroken, .error = "closed by the peer"};
  }
  return {.state = IoState::kBroken, .error = std::strerror(errno)};
}

int BioResult(BIO* bio, const IoResult& result, size_t* count) {
  *count = result.bytes;
  BIO_clear_retry_flags(bio);
  if (result.state == IoState::kDone) return 1;
  if (result.state == IoState::kWantRead) BIO_set_retry_read(bio);
  if (result.state == IoState::kWantWrite) BIO_set_retry_write(bio);
  // With BIO_CTRL_EOF OpenSSL asks whether this was the end rather than a failure.
  if (result.state == IoState::kEnd) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return 0;
}

int ReadBelow(BIO* bio, char* buffer, size_t size, size_t* count) {
  auto* below = static_cast<TlsLayer::Below*>(BIO_get_data(bio));
  if (below->left == 0) return BioResult(bio, {IoState::kBroken}, count);
  const IoResult result = below->layer->Read(buffer, std::min(size, below->left));
  below->left -= result.bytes;
  return BioResult(bio, result, count);
}

int WriteBelow(BIO* bio, const char* bytes, size_t size, size_t* count) {
  auto* below = static_cast<TlsLayer::Below*>(BIO_get_data(bio));
  return BioResult(bio, below->layer->Write(absl::string_view(bytes, size)), count);
}

long ControlBelow(BIO* bio, int command, long, void*) {  // NOLINT: OpenSSL's types.
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* LayerMethod() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "byte layer");
    BIO_meth_set_read_ex(made, &ReadBelow);
    BIO_meth_set_write_ex(made, &WriteBelow);
    BIO_meth_set_ctrl(made, &ControlBelow);
    return made;
  }();
  return method;
}

}  // namespace

SocketLayer::~SocketLayer() { close(fd_); }

IoResult SocketLayer::Read(char* buffer, size_t size) {
  const ssize_t got = recv(fd_, buffer, size, 0);
  if (got > 0) return {IoState::kDone, static_cast<size_t>(got)};
  return got == 0 ? IoResult{IoState::kEnd} : FailedCall(/*reading=*/true);
}

bool SocketLayer::IsEmpty() const {
  char byte = 0;
  return recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

IoResult SocketLayer::Write(absl::string_view bytes) {
  const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0) return {IoState::kDone, static_cast<size_t>(sent)};
  return FailedCall(/*reading=*/false);
}

TlsLayer::TlsLayer(ssl_st* ssl, std::unique_ptr<ByteLayer> below)
    : below_{std::move(below)}, ssl_(ssl) {
  BIO* bio = BIO_new(LayerMethod());
  BIO_set_data(bio, &below_);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_connect_state(ssl_);
}

TlsLayer::~TlsLayer() {
  // Sends a close notification, so that the peer does not regard the end as an attack. Its answer
  // is not awaited.
  if (SSL_is_init_finished(ssl_) != 0) SSL_shutdown(ssl_);
  ERR_clear_error();
  SSL_free(ssl_);
}

std::string TlsLayer::Reason(int ssl_error, unsigned long code) const {  // NOLINT
  const long verdict = SSL_get_verify_result(ssl_);                      // NOLINT
  if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    return "the server's certificate is refused: it is not valid for this host name";
  }
  if (verdict != X509_V_OK && SSL_get_verify_mode(ssl_) != SSL_VERIFY_NONE) {
    return absl::StrCat("the server's certificate is refused: ",
                        X509_verify_cert_error_string(verdict));
  }
  if (ssl_error == SSL_ERROR_SYSCALL || ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
    return "closed by the peer";
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "TLS error" : reason;
}

void TlsLayer::BeginCall() {
  ERR_clear_error();
  below_.left = kMostPerCall;
}

IoResult TlsLayer::Failed(int result) {
  const int error = SSL_get_error(ssl_, result);
  if (error == SSL_ERROR_WANT_READ) return {IoState::kWantRead};
  if (error == SSL_ERROR_WANT_WRITE) return {IoState::kWantWrite};
  if (error == SSL_ERROR_ZERO_RETURN) return {IoState::kEnd};
  IoResult broken{.state = IoState::kBroken, .error = Reason(error, ERR_get_error())};
  if (below_.left == 0) broken.error = "the server sends TLS messages without end";
  ERR_clear_error();
  return broken;
}

IoResult TlsLayer::Handshake() {
  BeginCall();
  const int result = SSL_do_handshake(ssl_);
  if (result != 1) return Failed(result);
  // Nobody asks for them again, since renegotiation is refused.
  SSL_certs_clear(ssl_);
  return {IoState::kDone};
}

IoResult TlsLayer::Read(char* buffer, size_t size) {
  BeginCall();
  size_t got = 0;
  const int result = SSL_read_ex(ssl_, buffer, size, &got);
  const IoResult read = result == 1 ? IoResult{IoState::kDone, got} : Failed(result);
  if (read.state == IoState::kDone || read.state == IoState::kWantRead) ReleaseBuffers();
  return read;
}

// A connection that waits needs no buffer of 16 kB. With SSL_MODE_RELEASE_BUFFERS alone it keeps
// two. The one in which the session tickets after the handshake came stays until data follows, and
// on most watches none ever does. The one for writing, which OpenSSL makes when it takes a ticket,
// stays until something is written, which a watch never does again; and the ticket often arrives
// together with data, after which nobody reads until there is more. Older versions of OpenSSL also
// free a buffer with the beginning of a record (CVE-2024-4741), so this is done only between two
// records.
void TlsLayer::ReleaseBuffers() {
  const bool between_records = absl::string_view(SSL_rstate_string(ssl_)) == "RH";
  if (between_records && SSL_has_pending(ssl_) == 0) SSL_free_buffers(ssl_);
}

IoResult TlsLayer::Write(absl::string_view bytes) {
  BeginCall();
  size_t sent = 0;
  const int result = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &sent);
  return result == 1 ? IoResult{IoState::kDone, sent} : Failed(result);
}

bool TlsLayer::has_pending() const {
  return SSL_has_pending(ssl_) != 0 || below_.layer->has_pending();
}

}  // namespace kube
