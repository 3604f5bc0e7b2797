// Composite versions and continue tokens of clients are read without harm, and what is written is
// read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "search/cache/composite_version.h"
#include "search/cache/internal/continue_token.h"

namespace {

using search::CompositeVersion;
using search::internal::ContinueToken;
using search::internal::MemberToken;

void Check(bool holds) {
  if (!holds) abort();
}

void Read(absl::string_view text) {
  const CompositeVersion version = CompositeVersion::Parse(text);
  (void)version.Number("member1");
  bool plain = true;  // Names and versions that need no escapes in JSON.
  for (const auto& [cluster, number] : version.versions()) {
    for (const char c : cluster + number)
      plain = plain && c > ' ' && c < 127 && c != '"' && c != '\\';
  }
  if (plain) {
    const CompositeVersion again = CompositeVersion::Parse(version.ToString());
    Check(again.versions() == version.versions() && again.any() == version.any());
  }
  const ContinueToken token = ContinueToken::Parse(text);
  if (!token.empty()) {
    const ContinueToken again = ContinueToken::Parse(token.ToString());
    Check(again.cluster == token.cluster && again.version == token.version &&
          again.of_member == token.of_member);
  }
  if (const auto member = MemberToken::Parse(text)) {
    const auto again = MemberToken::Parse(member->ToString());
    Check(again.has_value() && again->start == member->start && again->version == member->version);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  Read(text);
  Read(absl::WebSafeBase64Escape(text));
  return 0;
}
