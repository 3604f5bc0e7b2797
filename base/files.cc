// A directory can be opened like a file; the first read of it fails. Container runtimes make one of
// a file that is mounted and missing, so that has to be an error, and not an empty file.

#include "base/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace base {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr && errno == ENOENT) {
    return absl::NotFoundError(absl::StrCat(path, " does not exist"));
  }
  std::string text;
  char block[4096];
  size_t got = 0;
  while (file != nullptr && (got = std::fread(block, 1, sizeof block, file.get())) > 0) {
    text.append(block, got);
  }
  if (file != nullptr && std::ferror(file.get()) == 0) return text;
  return absl::InvalidArgumentError(absl::StrCat(path, " cannot be read: ", std::strerror(errno)));
}

absl::StatusOr<std::string> ReadContent(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  if (text.empty()) return absl::InvalidArgumentError(absl::StrCat(path, " is empty"));
  return text;
}

}  // namespace base
