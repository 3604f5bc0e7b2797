#include "kube/meta/patch_paths.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kube {
namespace {

void AddPaths(const json::Value& patch, const std::string& path, std::vector<std::string>& paths) {
  if (!patch.is_object() || patch.empty()) {
    paths.push_back(path);
    return;
  }
  for (const json::Member& m : patch.members()) {
    AddPaths(m.value, path.empty() ? std::string(m.name()) : absl::StrCat(path, ".", m.name()),
             paths);
  }
}

}  // namespace

std::string PathsOf(const json::Value& patch, size_t limit) {
  std::vector<std::string> paths;
  for (const json::Member& m : patch.members()) AddPaths(m.value, std::string(m.name()), paths);
  const bool cut = paths.size() > limit;
  if (cut) paths.resize(limit);
  return absl::StrCat(absl::StrJoin(paths, ", "), cut ? ", ..." : "");
}

bool OwnsChanged(const json::Value& fields, const json::Value& patch) {
  for (const json::Member& m : patch.members()) {
    const json::Value& owned = fields[absl::StrCat("f:", m.name())];
    if (owned.is_null()) continue;
    if (!m.value.is_object() || owned.empty() || OwnsChanged(owned, m.value)) return true;
  }
  return false;
}

}  // namespace kube
