#include "kube/http/internal/answer_meter.h"

#include <openssl/ssl.h>

namespace kube {
namespace {

struct Meter {
  const size_t max_bytes;
  size_t received = 0;
};

constexpr size_t kRecordHeader = 5;  // Type, version and length of the record.

void FreeMeter(void*, void* meter, CRYPTO_EX_DATA*, int, long, void*) {  // NOLINT: OpenSSL's types.
  delete static_cast<Meter*>(meter);
}

int MeterIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, &FreeMeter);
  return index;
}

// Returns whether the callback reports that application data is sent. TLS 1.3 hides the type of a
// record behind that of application data; the real type is reported separately.
bool IsRequestSent(int sent, int version, int content_type, const unsigned char* bytes) {
  if (sent == 0) return false;
  const int teller = version == TLS1_3_VERSION ? SSL3_RT_INNER_CONTENT_TYPE : SSL3_RT_HEADER;
  return content_type == teller && bytes[0] == SSL3_RT_APPLICATION_DATA;
}

// The message callback of OpenSSL.
void CountRecord(int sent, int version, int content_type, const void* data, size_t size, SSL* ssl,
                 void* arg) {
  Meter& meter = *static_cast<Meter*>(arg);
  const auto* bytes = static_cast<const unsigned char*>(data);
  if (size == 0) return;
  if (IsRequestSent(sent, version, content_type, bytes)) meter.received = 0;
  if (sent != 0 || content_type != SSL3_RT_HEADER || size < kRecordHeader) return;
  meter.received += kRecordHeader + (static_cast<size_t>(bytes[3]) << 8) + bytes[4];
  // Ends further reads, so that nothing more is taken from the socket.
  if (meter.received > meter.max_bytes) SSL_set_shutdown(ssl, SSL_RECEIVED_SHUTDOWN);
}

}  // namespace

void LimitAnswers(SSL_CTX* ctx, size_t max_bytes) {
  auto* meter = new Meter{max_bytes};
  if (SSL_CTX_set_ex_data(ctx, MeterIndex(), meter) != 1) {
    delete meter;
    return;
  }
  SSL_CTX_set_msg_callback(ctx, &CountRecord);
  SSL_CTX_set_msg_callback_arg(ctx, meter);
}

}  // namespace kube
