#include "base/memory_limit.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"

namespace base {
namespace {

// Version 1 has no word for "no limit", but the largest multiple of a page.
constexpr int64_t kNoLimit = int64_t{1} << 60;

// Returns "" for what this system does not have.
std::string TextOf(const std::string& path) { return ReadFile(path).value_or(""); }

std::optional<int64_t> ReadNumber(const std::string& path) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(TextOf(path), &number)) return std::nullopt;
  return number;
}

// Where a version of cgroups shows this process's group, and what it calls things.
struct Layout {
  absl::string_view controllers;  // The second field of the group's line in /proc/self/cgroup.
  absl::string_view mount, limit, used, reclaimable;
};
constexpr Layout kLayouts[] = {
    {"", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
    {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file"},
};

int64_t FieldOf(const std::string& stat, absl::string_view name) {
  for (const absl::string_view line : absl::StrSplit(stat, '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    int64_t value = 0;
    if (words.size() == 2 && words[0] == name && absl::SimpleAtoi(words[1], &value)) return value;
  }
  return 0;
}

std::optional<MemoryUse> ReadGroup(const std::string& folder, const Layout& layout) {
  const auto limit = ReadNumber(absl::StrCat(folder, "/", layout.limit));
  const auto used = ReadNumber(absl::StrCat(folder, "/", layout.used));
  if (!limit.has_value() || !used.has_value() || *limit >= kNoLimit) return std::nullopt;
  const int64_t reclaimable =
      FieldOf(TextOf(absl::StrCat(folder, "/memory.stat")), layout.reclaimable);
  return MemoryUse{.working_set = *used - reclaimable, .limit = *limit};
}

}  // namespace

std::optional<MemoryUse> ReadMemoryUse(const std::string& root) {
  for (const absl::string_view line :
       absl::StrSplit(TextOf(absl::StrCat(root, "/proc/self/cgroup")), '\n')) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    for (const Layout& layout : kLayouts) {
      if (fields.size() != 3 || fields[1] != layout.controllers) continue;
      // In a container the mount is the group itself, whatever path the host knows it by.
      for (const absl::string_view path : {fields[2], absl::string_view()}) {
        if (auto use = ReadGroup(absl::StrCat(root, layout.mount, path), layout)) return use;
      }
    }
  }
  return std::nullopt;
}

}  // namespace base
