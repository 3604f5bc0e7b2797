// The first byte chooses how the rest is cut; a body gives the same events however it is cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "kube/client/watch_decoder.h"

namespace {

constexpr size_t kMaxLine = 4096;

std::vector<std::string> Decode(absl::string_view body, size_t piece) {
  kube::WatchDecoder decoder(kMaxLine);
  std::vector<std::string> lines;
  while (!body.empty()) {
    const absl::Status fed = decoder.Feed(body.substr(0, piece), [&](absl::string_view line) {
      lines.emplace_back(line);
      return kube::ParseWatchEvent(line).status();
    });
    if (!fed.ok()) break;
    body.remove_prefix(std::min(piece, body.size()));
  }
  if (!decoder.Finish().ok()) lines.emplace_back("<broken off>");
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view body(reinterpret_cast<const char*>(data + 1), size - 1);
  if (Decode(body, body.size() + 1) != Decode(body, 1 + data[0] % 16)) abort();
  return 0;
}
