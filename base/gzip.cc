#include "base/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>

namespace base {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // The largest window, inside gzip's header and trailer.
constexpr int kMemoryLevel = 8;
constexpr size_t kFirstOutput = 16 << 10;

// zlib counts in 32 bits; longer texts are handed over in parts.
constexpr size_t kMostAtOnce = std::numeric_limits<uInt>::max();

}  // namespace

struct GzipStream::Impl {
  // Appends compressed bytes to `out`: with Z_FINISH all that are left, with Z_NO_FLUSH those that
  // the stream does not need any more.
  void Write(absl::string_view bytes, int flush, std::string& out) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    size_t used = out.size();
    // JSON becomes a fifth to a tenth; the output grows if it does not.
    out.resize(used + std::max(kFirstOutput, bytes.size() / 4));
    for (;;) {
      const size_t room = std::min(out.size() - used, kMostAtOnce);
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
      stream.avail_out = static_cast<uInt>(room);
      // Z_BUF_ERROR says that there was nothing to do, which is not a failure.
      const int result = deflate(&stream, flush);
      used += room - stream.avail_out;
      if (result == Z_STREAM_END) break;
      // There is room left, so everything has been taken.
      if (flush == Z_NO_FLUSH && stream.avail_out > 0) break;
      if (used == out.size()) out.resize(out.size() * 2);
    }
    out.resize(used);
  }

  z_stream stream{};
};

GzipStream::GzipStream(int level) : impl_(std::make_unique<Impl>()) {
  const int made = deflateInit2(&impl_->stream, std::clamp(level, 1, 9), Z_DEFLATED,
                                kGzipWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY);
  if (made != Z_OK) throw std::bad_alloc();  // The only way in which these arguments can fail.
}

GzipStream::~GzipStream() { deflateEnd(&impl_->stream); }

void GzipStream::Write(absl::string_view bytes, std::string& out) {
  for (; bytes.size() > kMostAtOnce; bytes.remove_prefix(kMostAtOnce)) {
    impl_->Write(bytes.substr(0, kMostAtOnce), Z_NO_FLUSH, out);
  }
  if (!bytes.empty()) impl_->Write(bytes, Z_NO_FLUSH, out);
}

void GzipStream::Finish(std::string& out) { impl_->Write("", Z_FINISH, out); }

std::string Gzip(absl::string_view bytes, int level) {
  std::string out;
  GzipStream stream(level);
  stream.Write(bytes, out);
  stream.Finish(out);
  return out;
}

}  // namespace base
