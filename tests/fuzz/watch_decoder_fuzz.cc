// The first byte determines how the rest is split; the decoded events do not depend on that.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "kube/client/internal/watch_decoder.h"

namespace {

constexpr size_t kMaxLine = 4096;

bool IsState(const kube::WatchEvent& event) {
  return event.type == kube::WatchEvent::Type::kAdded ||
         event.type == kube::WatchEvent::Type::kModified;
}

// The version that the scan finds in a well-formed event is that of the object. (Only digits are
// compared, because other texts may contain escapes; events with repeated names are not
// well-formed.)
void CheckVersion(absl::string_view line, const absl::StatusOr<kube::WatchEvent>& event) {
  const absl::string_view found = kube::VersionOfStateEvent(line);
  if (!event.ok() || found.empty()) return;
  if (!std::all_of(found.begin(), found.end(), [](char c) { return c >= '0' && c <= '9'; })) return;
  const bool unique = absl::StrContains(line, "metadata") &&
                      line.find("\"metadata\"") == line.rfind("\"metadata\"") &&
                      line.find("\"resourceVersion\"") == line.rfind("\"resourceVersion\"") &&
                      !absl::StrContains(line, '\\');
  if (!unique) return;
  if (!IsState(*event)) abort();
  if (event->object.Get({"metadata", "resourceVersion"}).AsString() != found) abort();
}

std::vector<std::string> Decode(absl::string_view body, size_t piece) {
  kube::WatchDecoder decoder(kMaxLine);
  std::vector<std::string> lines;
  while (!body.empty()) {
    const absl::Status fed = decoder.Feed(body.substr(0, piece), [&](absl::string_view line) {
      lines.emplace_back(line);
      const auto event = kube::ParseWatchEvent(line);
      CheckVersion(line, event);
      return event.status();
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
