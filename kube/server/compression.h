// Compression of answers, by the rules of apiserver (gate APIResponseCompression).
#ifndef KUBE_SERVER_COMPRESSION_H_
#define KUBE_SERVER_COMPRESSION_H_

#include <cstddef>

#include "base/http_server.h"

namespace kube::server {

// Shorter answers are sent as they are: compressing them costs more than sending them.
inline constexpr size_t kMinCompressedBytes = 128 << 10;

// Returns whether the client takes answers in gzip.
bool AcceptsGzip(const base::HttpRequest& request);

// Returns whether the whole body is longer than `min_bytes` and has no encoding yet.
bool IsWorthCompressing(const base::HttpResponse& answer, size_t min_bytes = kMinCompressedBytes);

// Compresses the whole body with gzip, and adds the headers that say so. Costs about 4 ms of CPU
// per megabyte of JSON, so not for threads that must not block.
void Compress(base::HttpResponse& answer);
// Adds the headers of a compressed body to an answer whose body is a stream.
void AddGzipHeaders(base::HttpResponse& answer);
// As above, if the client takes it and it is worth it.
void Compress(const base::HttpRequest& request, base::HttpResponse& answer);

}  // namespace kube::server

#endif  // KUBE_SERVER_COMPRESSION_H_
