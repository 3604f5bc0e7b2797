#include "base/gzip.h"

#include <algorithm>
#include <array>
#include <boost/beast/zlib.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace base {
namespace {

namespace zlib = boost::beast::zlib;

constexpr int kWindowBits = 15;
constexpr int kMemoryLevel = 8;
constexpr size_t kFirstOutput = 16 << 10;
constexpr size_t kTrailerBytes = 8;  // Checksum and length.
// Magic, method deflate, no flags, no time, no hint at the level, unknown system.
constexpr absl::string_view kHeader("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);

enum HeaderFlag { kHasChecksum = 2, kHasExtra = 4, kHasName = 8, kHasComment = 16 };

// The tables of "slicing by 8": table n has the checksums of a byte that n zero bytes follow.
using CrcTables = std::array<std::array<uint32_t, 256>, 8>;

constexpr CrcTables MakeCrcTables() {
  CrcTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
    tables[0][byte] = crc;
  }
  for (size_t n = 1; n < 8; ++n) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[n - 1][byte];
      tables[n][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr CrcTables kCrc = MakeCrcTables();

uint32_t ReadWord(const char* at) {
  const auto byte = [at](int i) { return uint32_t{static_cast<unsigned char>(at[i])}; };
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}

// Returns the checksum of a text that has the checksum `crc` up to here, 0 at its beginning.
uint32_t ContinueCrc(uint32_t crc, absl::string_view bytes) {
  crc = ~crc;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    const uint32_t low = ReadWord(at) ^ crc;
    const uint32_t high = ReadWord(at + 4);
    crc = kCrc[7][low & 0xFF] ^ kCrc[6][low >> 8 & 0xFF] ^ kCrc[5][low >> 16 & 0xFF] ^
          kCrc[4][low >> 24] ^ kCrc[3][high & 0xFF] ^ kCrc[2][high >> 8 & 0xFF] ^
          kCrc[1][high >> 16 & 0xFF] ^ kCrc[0][high >> 24];
  }
  for (; left > 0; ++at, --left) {
    crc = (crc >> 8) ^ kCrc[0][(crc ^ static_cast<unsigned char>(*at)) & 0xFF];
  }
  return ~crc;
}

void AppendWord(uint32_t word, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(word >> shift));
}

void Reset(int level, zlib::deflate_stream& stream) {
  stream.reset(std::clamp(level, 1, 9), kWindowBits, kMemoryLevel, zlib::Strategy::normal);
}

// Appends compressed bytes to `out`: with Flush::finish all that are left, with Flush::none those
// that the stream does not need any more.
void DeflateInto(zlib::deflate_stream& stream, absl::string_view bytes, zlib::Flush flush,
                 std::string& out) {
  zlib::z_params params;
  params.next_in = bytes.data() == nullptr ? "" : bytes.data();
  params.avail_in = bytes.size();
  boost::beast::error_code error;
  size_t used = out.size();
  // JSON becomes a fifth to a tenth; the output grows if it does not.
  out.resize(used + std::max(kFirstOutput, bytes.size() / 4));
  for (;;) {
    params.next_out = out.data() + used;
    params.avail_out = out.size() - used;
    stream.write(params, flush, error);
    used = out.size() - params.avail_out;
    if (error == zlib::error::end_of_stream) break;
    // There is room left, so everything has been taken.
    if (flush == zlib::Flush::none && params.avail_out > 0) break;
    error = {};
    out.resize(out.size() * 2);
  }
  out.resize(used);
}

void DeflateInto(absl::string_view bytes, int level, std::string& out) {
  zlib::deflate_stream stream;
  Reset(level, stream);
  DeflateInto(stream, bytes, zlib::Flush::finish, out);
}

absl::Status Malformed(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("malformed compressed data: ", why));
}

// Appends what a raw deflate stream at the begin of `bytes` contains to `out`, which may become
// `max_bytes` long. Returns how many bytes were read; the last one may be behind the stream,
// because the decoder looks one code ahead.
absl::StatusOr<size_t> InflateInto(absl::string_view bytes, size_t max_bytes, std::string& out) {
  // What the decoder reads when it looks behind the last byte.
  constexpr char kPadding[2] = {};
  zlib::inflate_stream stream;
  zlib::z_params params;
  params.next_in = bytes.data();
  params.avail_in = bytes.size();
  bool padded = false;
  size_t used = out.size();
  for (;;) {
    // One byte more than allowed shows that there is more than allowed.
    const size_t room = std::max(kFirstOutput, 4 * bytes.size());
    if (used == out.size()) out.resize(std::min(max_bytes + 1, std::max(2 * used, used + room)));
    if (params.avail_in == 0 && !std::exchange(padded, true)) {
      params.next_in = kPadding;
      params.avail_in = sizeof(kPadding);
    }
    params.next_out = out.data() + used;
    params.avail_out = out.size() - used;
    boost::beast::error_code error;
    stream.write(params, zlib::Flush::sync, error);
    used = out.size() - params.avail_out;
    if (used > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the decompressed data is longer than ", max_bytes, " bytes"));
    }
    if (error == zlib::error::end_of_stream) break;
    if (error && error != zlib::error::need_buffers) return Malformed(error.message());
    const bool at_end = padded && params.avail_in == 0 && params.avail_out > 0;
    if (at_end) return Malformed("it ends too early");
  }
  out.resize(used);
  const size_t read = bytes.size() - (padded ? 0 : params.avail_in);
  // Beast may have looked at one byte of the padding without using it.
  if (padded && params.avail_in == 0) return Malformed("it ends too early");
  return padded ? read + sizeof(kPadding) - params.avail_in : read;
}

absl::Status Skip(size_t count, absl::string_view& bytes) {
  if (bytes.size() < count) return Malformed("the header is not complete");
  bytes.remove_prefix(count);
  return absl::OkStatus();
}

absl::Status SkipText(absl::string_view& bytes) {
  const size_t end = bytes.find('\0');
  return Skip(end == absl::string_view::npos ? bytes.size() + 1 : end + 1, bytes);
}

absl::Status SkipHeader(absl::string_view& bytes) {
  if (bytes.size() < kHeader.size() || bytes.substr(0, 3) != kHeader.substr(0, 3)) {
    return Malformed("there is no gzip header");
  }
  const int flags = static_cast<unsigned char>(bytes[3]);
  bytes.remove_prefix(kHeader.size());
  if ((flags & kHasExtra) != 0) {
    if (bytes.size() < 2) return Malformed("the header is not complete");
    const size_t length = static_cast<unsigned char>(bytes[0]) |
                          static_cast<size_t>(static_cast<unsigned char>(bytes[1])) << 8;
    RETURN_IF_ERROR(Skip(2 + length, bytes));
  }
  if ((flags & kHasName) != 0) RETURN_IF_ERROR(SkipText(bytes));
  if ((flags & kHasComment) != 0) RETURN_IF_ERROR(SkipText(bytes));
  if ((flags & kHasChecksum) != 0) RETURN_IF_ERROR(Skip(2, bytes));
  return absl::OkStatus();
}

bool IsTrailer(absl::string_view bytes, absl::string_view contents) {
  return bytes.size() >= kTrailerBytes && ReadWord(bytes.data()) == Crc32(contents) &&
         ReadWord(bytes.data() + 4) == static_cast<uint32_t>(contents.size());
}

// Appends the contents of one member to `out` and removes it from `bytes`.
absl::Status ReadMember(absl::string_view& bytes, size_t max_bytes, std::string& out) {
  const size_t before = out.size();
  RETURN_IF_ERROR(SkipHeader(bytes));
  ASSIGN_OR_RETURN(const size_t read, InflateInto(bytes, max_bytes, out));
  const absl::string_view contents = absl::string_view(out).substr(before);
  // The checksum shows whether the stream ended one byte earlier.
  for (const size_t end : {read, read - 1}) {
    if (end > bytes.size() || !IsTrailer(bytes.substr(end), contents)) continue;
    bytes.remove_prefix(end + kTrailerBytes);
    return absl::OkStatus();
  }
  return Malformed("the checksum is wrong or missing");
}

}  // namespace

struct GzipStream::Impl {
  zlib::deflate_stream stream;
  bool began = false;
  uint32_t crc = 0;
  uint32_t size = 0;  // Of the text, modulo 2^32 as in the format.
};

GzipStream::GzipStream(int level) : impl_(std::make_unique<Impl>()) { Reset(level, impl_->stream); }
GzipStream::~GzipStream() = default;

void GzipStream::Write(absl::string_view bytes, std::string& out) {
  if (!std::exchange(impl_->began, true)) absl::StrAppend(&out, kHeader);
  if (bytes.empty()) return;
  impl_->crc = ContinueCrc(impl_->crc, bytes);
  impl_->size += static_cast<uint32_t>(bytes.size());
  DeflateInto(impl_->stream, bytes, zlib::Flush::none, out);
}

void GzipStream::Finish(std::string& out) {
  Write("", out);
  DeflateInto(impl_->stream, "", zlib::Flush::finish, out);
  AppendWord(impl_->crc, out);
  AppendWord(impl_->size, out);
}

uint32_t Crc32(absl::string_view bytes) { return ContinueCrc(0, bytes); }

std::string Deflate(absl::string_view bytes, int level) {
  std::string out;
  DeflateInto(bytes, level, out);
  return out;
}

std::string Gzip(absl::string_view bytes, int level) {
  std::string out(kHeader);
  DeflateInto(bytes, level, out);
  AppendWord(Crc32(bytes), out);
  AppendWord(static_cast<uint32_t>(bytes.size()), out);
  return out;
}

absl::StatusOr<std::string> Inflate(absl::string_view bytes, size_t max_bytes) {
  std::string out;
  ASSIGN_OR_RETURN(const size_t read, InflateInto(bytes, max_bytes, out));
  if (read < bytes.size()) return Malformed("bytes follow its end");
  return out;
}

absl::StatusOr<std::string> Gunzip(absl::string_view bytes, size_t max_bytes) {
  std::string out;
  do {
    RETURN_IF_ERROR(ReadMember(bytes, max_bytes, out));
  } while (!bytes.empty());
  return out;
}

}  // namespace base
