#include "cmd/interpret/value_changes.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/cut_text.h"
#include "base/yaml.h"
#include "interpreter/customized/line_diff.h"

namespace cmd::interpret {
namespace {

constexpr size_t kMostKept = 20;
constexpr size_t kMostBytes = 40;

std::string Joined(const std::string& path, absl::string_view name) {
  return path.empty() ? std::string(name) : absl::StrCat(path, ".", name);
}

void Collect(const std::string& path, const json::Value& before, const json::Value& after,
             FieldChanges& changes) {
  if (before == after) return;
  if (before.is_object() && after.is_object()) {
    std::set<absl::string_view> names;
    for (const json::Member& member : before.members()) names.insert(member.name());
    for (const json::Member& member : after.members()) names.insert(member.name());
    for (const absl::string_view name : names) {
      Collect(Joined(path, name), before[name], after[name], changes);
    }
    return;
  }
  if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (size_t i = 0; i < before.size(); ++i) {
      Collect(absl::StrCat(path, "[", i, "]"), before.At(i), after.At(i), changes);
    }
    return;
  }
  if (++changes.count <= kMostKept) changes.first.push_back({path, before, after});
}

std::string ValueText(const json::Value& value) {
  return value.is_null() ? "none" : base::CutText(json::Write(value), kMostBytes);
}

}  // namespace

FieldChanges ChangesBetween(const json::Value& before, const json::Value& after) {
  FieldChanges changes;
  Collect("", before, after, changes);
  // Objects that differ only in a member that is null in one and absent in the other.
  if (changes.count == 0 && before != after) changes = {{{"", before, after}}, 1};
  return changes;
}

std::string ShortText(const FieldChanges& changes) {
  if (changes.first.empty()) return "";
  const FieldChange& first = changes.first.front();
  std::string text = absl::StrCat(first.path, first.path.empty() ? "" : ": ",
                                  ValueText(first.before), " → ", ValueText(first.after));
  if (changes.count > 1) absl::StrAppend(&text, ", and ", changes.count - 1, " more");
  return text;
}

std::string BoundedDiff(const json::Value& before, const json::Value& after, size_t max_lines) {
  const std::string diff =
      interpreter::customized::LineDiff(yaml::Write(before), yaml::Write(after));
  const auto lines = static_cast<size_t>(std::count(diff.begin(), diff.end(), '\n'));
  if (lines <= max_lines) return diff;
  size_t at = 0;
  for (size_t i = 0; i < max_lines; ++i) at = diff.find('\n', at) + 1;
  return absl::StrCat(diff.substr(0, at), " ... ", lines - max_lines, " more lines\n");
}

}  // namespace cmd::interpret
