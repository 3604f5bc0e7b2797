// gzip (RFC 1952), for answers. Door of zlib.
//
//   response.body = base::Gzip(body);  // Content-Encoding: gzip
//
// The functions are thread-safe: every call has its own state. What cannot be allocated ends in
// std::bad_alloc, as anywhere else.
#ifndef BASE_GZIP_H_
#define BASE_GZIP_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace base {

// The level by which API servers compress answers: the fastest.
inline constexpr int kFastCompression = 1;

// Compresses all of `bytes`; `level` is 1 (fast) to 9 (small).
std::string Gzip(absl::string_view bytes, int level = kFastCompression);

// Compresses a text that is written in pieces, as one gzip member. It takes some 300 KB of memory,
// however long the text is. Not thread-safe.
class GzipStream {
 public:
  explicit GzipStream(int level = kFastCompression);
  ~GzipStream();

  // Appends what can be written of the text so far; later calls append the rest.
  void Write(absl::string_view bytes, std::string& out);
  // Appends all that is left. Nothing may be written afterwards.
  void Finish(std::string& out);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace base

#endif  // BASE_GZIP_H_
