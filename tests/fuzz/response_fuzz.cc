// The first byte determines how the rest is split; the parsed answer does not depend on that, and
// the stored part of its head stays below the limit.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "kube/http/internal/response_parser.h"

namespace {

constexpr size_t kMaxHead = 64 << 10;
constexpr uint64_t kMaxBody = 1 << 16;

struct Read {
  bool ok = true, done = false, keeps = false;
  int code = 0;
  std::string headers, body;
  bool operator==(const Read&) const = default;
};

Read ReadAll(absl::string_view text, size_t piece) {
  Read read;
  kube::ResponseParser parser({.max_body_bytes = kMaxBody},
                              {.on_head =
                                   [&](const kube::HttpResponse& head) {
                                     read.code = head.code;
                                     for (const auto& [name, value] : head.headers) {
                                       absl::StrAppend(&read.headers, name, "=", value, "\n");
                                     }
                                   },
                               .on_body =
                                   [&](absl::string_view bytes) {
                                     absl::StrAppend(&read.body, bytes);
                                     return absl::OkStatus();
                                   }});
  while (!text.empty() && read.ok && !parser.done()) {
    read.ok = parser.Feed(text.substr(0, piece)).ok();
    text.remove_prefix(std::min(piece, text.size()));
  }
  if (read.ok && !parser.done()) read.ok = parser.End(/*properly=*/true).ok();
  read.done = read.ok && parser.done();
  // Bytes after the answer only spoil the connection if they came together with its end.
  read.keeps = read.done && text.empty() && parser.keeps_connection();
  if (read.headers.size() > kMaxHead || read.body.size() > kMaxBody) abort();
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const Read whole = ReadAll(text, text.size() + 1);
  const Read cut = ReadAll(text, 1 + data[0] % 16);
  if (whole.ok != cut.ok) abort();
  if (!whole.ok) return 0;
  if (whole.code != cut.code || whole.headers != cut.headers || whole.body != cut.body) abort();
  return 0;
}
