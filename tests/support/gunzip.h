// What a client reads of a body with Content-Encoding: gzip.
#ifndef TESTS_SUPPORT_GUNZIP_H_
#define TESTS_SUPPORT_GUNZIP_H_

#include <zlib.h>

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace tests {

// Returns the contents of one whole gzip member; nothing for malformed or truncated bytes, a wrong
// checksum, and bytes behind its end.
inline std::optional<std::string> Gunzip(absl::string_view bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK) {
    char piece[16 << 10];
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof(piece);
    result = inflate(&stream, Z_NO_FLUSH);
    out.append(piece, sizeof(piece) - stream.avail_out);
  }
  const bool whole = result == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  return whole ? std::optional(out) : std::nullopt;
}

}  // namespace tests

#endif  // TESTS_SUPPORT_GUNZIP_H_
