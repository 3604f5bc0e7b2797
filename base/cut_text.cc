#include "base/cut_text.h"

#include "absl/strings/str_cat.h"

namespace base {

std::string CutText(absl::string_view text, size_t max_bytes) {
  constexpr absl::string_view kMark = " [cut]";
  constexpr size_t kLongestCharacter = 4;
  if (text.size() <= max_bytes) return std::string(text);
  size_t size = max_bytes - kMark.size();
  // Bytes 10xxxxxx continue a character. Text that is not UTF-8 may have any number of them, so
  // only three are skipped.
  const size_t least = size - (kLongestCharacter - 1);
  while (size > least && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return absl::StrCat(text.substr(0, size), kMark);
}

}  // namespace base
