// Cuts a TLS connection whose server does not stop sending.
//
// The HTTP library reads the head of an answer into memory without any limit, and passes it on only
// when it is complete. Only in OpenSSL can its bytes be counted earlier.
#ifndef KUBE_HTTP_INTERNAL_ANSWER_METER_H_
#define KUBE_HTTP_INTERNAL_ANSWER_METER_H_

#include <cstddef>

struct ssl_ctx_st;

namespace kube {

// Makes connections of `ctx` end, as if the server had closed them, once more than `max_bytes` were
// received since something was sent: handshake, head and body count. REQUIRES: `ctx` is used for
// one connection at a time.
void LimitAnswers(ssl_ctx_st* ctx, size_t max_bytes);

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_ANSWER_METER_H_
