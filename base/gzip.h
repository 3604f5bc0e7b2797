// gzip (RFC 1952) and raw deflate (RFC 1951), with limits on what bytes of others may become.
//
//   response.body = base::Gzip(body);                       // Content-Encoding: gzip
//   ASSIGN_OR_RETURN(std::string text, base::Gunzip(bytes, 3 << 20));
//
// It stands on the zlib of Boost.Beast. The functions are thread-safe: every call has its own
// state.
#ifndef BASE_GZIP_H_
#define BASE_GZIP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace base {

// The level by which API servers compress answers: the fastest.
inline constexpr int kFastCompression = 1;

// Compress all of `bytes`; `level` is 1 (fast) to 9 (small).
std::string Gzip(absl::string_view bytes, int level = kFastCompression);
std::string Deflate(absl::string_view bytes, int level = kFastCompression);

// Compresses a text that comes in pieces, as one gzip member. It takes some 300 KB of memory,
// however long the text is. Not thread-safe.
class GzipStream {
 public:
  explicit GzipStream(int level = kFastCompression);
  ~GzipStream();

  // Appends what can be written of the text so far; the rest comes with later calls.
  void Write(absl::string_view bytes, std::string& out);
  // Appends all that is left. Nothing may be written afterwards.
  void Finish(std::string& out);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

// Return the contents of a complete gzip file (of one or more members) or of a raw deflate stream.
// kInvalidArgument for malformed or truncated bytes, a wrong checksum, and bytes after the end;
// kResourceExhausted when the contents are longer than `max_bytes`, of which never much more is
// allocated.
// A raw stream has no checksum, so one that lacks its last byte, or that a single byte follows, may
// pass.
absl::StatusOr<std::string> Gunzip(absl::string_view bytes, size_t max_bytes);
absl::StatusOr<std::string> Inflate(absl::string_view bytes, size_t max_bytes);

// Returns the checksum that ends a gzip member (CRC-32 of IEEE 802.3).
uint32_t Crc32(absl::string_view bytes);

}  // namespace base

#endif  // BASE_GZIP_H_
