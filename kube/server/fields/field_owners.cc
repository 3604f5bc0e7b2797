// Decides which entries a write begins with, and what becomes of conflicts; FieldWrite does the
// rest. A client replaces the entries by sending others, forgets them by sending an empty list, and
// leaves them as they are by sending none. The first apply to an object without entries gives what
// it has to the manager "before-first-apply". kubectl's server-side apply takes what client-side
// apply had set without a conflict, and keeps the annotation of client-side apply true. Nothing is
// lost when two write at once: the caller begins again with the new state.

#include "kube/server/fields/field_owners.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/cut_text.h"
#include "kube/server/api_errors.h"
#include "kube/server/fields/field_write.h"
#include "kube/server/fields/typed_walks.h"

namespace kube::server {
namespace {

constexpr size_t kMaxManagerBytes = 128;
constexpr char kBeforeFirstApply[] = "before-first-apply";
// The manager whose applies know of client-side apply.
constexpr char kKubectl[] = "kubectl";

// Returns the object without managedFields, which nobody owns.
json::Value Owned(const Object& object) {
  json::Value root = object.root();
  root.Erase({"metadata", "managedFields"});
  return root;
}

// The state before an object is created.
json::Value Nothing(const FieldKind& kind) {
  if (!kind.custom) return json::Value::Object();
  return json::Value::Object({{"apiVersion", kind.gvk.ApiVersion()}, {"kind", kind.gvk.kind}});
}

bool IsEmptied(const json::Value& given) {
  if (!given.is_array()) return false;
  return given.empty() || (given.size() == 1 && given.At(0).empty());
}

absl::Status ConflictsError(const std::vector<FieldConflict>& conflicts) {
  json::Value causes = json::Value::Array();
  std::map<std::string, std::vector<std::string>> by_owner;
  for (const FieldConflict& c : conflicts) {
    const std::string owner = DescribeOwner(c.owner), path = PathText(c.path);
    causes.Append(json::Value::Object({{"reason", "FieldManagerConflict"},
                                       {"message", absl::StrCat("conflict with ", owner)},
                                       {"field", path}}));
    by_owner[owner].push_back(path);
  }
  std::vector<std::string> lines;
  for (const auto& [owner, paths] : by_owner) {
    if (conflicts.size() == 1) {
      lines.push_back(absl::StrCat("conflict with ", owner, ": ", paths[0]));
      continue;
    }
    lines.push_back(absl::StrCat("conflicts with ", owner, ":"));
    for (const std::string& path : paths) lines.push_back(absl::StrCat("- ", path));
  }
  return ToStatus({409, "Conflict",
                   absl::StrCat("Apply failed with ", conflicts.size(),
                                conflicts.size() == 1 ? " conflict: " : " conflicts: ",
                                absl::StrJoin(lines, "\n")),
                   json::Value::Object({{"causes", causes}})});
}

// Returns the configuration as client-side apply notes it.
std::string LastAppliedText(const Object& config) {
  Object noted = config;
  noted.Erase({"metadata", "annotations", kLastApplied});
  return absl::StrCat(json::Write(noted.root(), {.html_escape = true}), "\n");
}

bool HasLastApplied(const Object& object) {
  return !object.annotations()[kLastApplied].AsString().empty();
}

void SetManagedFields(json::Value managed_fields, Object& object) {
  if (managed_fields.is_null()) {
    object.Erase({"metadata", "managedFields"});
  } else {
    object.Set({"metadata", "managedFields"}, std::move(managed_fields));
  }
}

json::Value WithoutTime(json::Value entry) {
  entry.Erase("time");
  return entry;
}

}  // namespace

std::string ManagerOfUserAgent(absl::string_view user_agent) {
  const std::string name =
      base::CutText(user_agent.substr(0, user_agent.find('/')), kMaxManagerBytes);
  return name.empty() ? "unknown" : name;
}

void TakeTimesIfEqual(const Object& current, Object& wanted) {
  const json::Value& before = current.metadata()["managedFields"];
  const json::Value& after = wanted.metadata()["managedFields"];
  if (before == after || before.size() != after.size()) return;
  for (size_t i = 0; i < before.size(); ++i) {
    if (WithoutTime(before.At(i)) != WithoutTime(after.At(i))) return;
  }
  Object same = wanted;
  same.Set({"metadata", "managedFields"}, before);
  if (same == current) wanted = std::move(same);
}

json::Value FieldOwners::AfterUpdate(const Object& current, const Object& wanted,
                                     const json::Value& given, const FieldWriter& writer) {
  const json::Value& present = current.metadata()["managedFields"];
  const bool is_creation = current.empty();
  // Entries that come through a subresource do not count.
  const bool counts = writer.subresource.empty() && !given.is_null() && given != present;
  if (counts && IsEmptied(given) && !is_creation) return {};
  OwnerEntries entries;
  if (counts) entries = ReadEntries(given, /*trusted=*/false);
  const bool replaced = !entries.empty();
  if (!replaced) entries = ReadEntries(present, /*trusted=*/true);
  // Who forgets them once has none until somebody applies.
  if (entries.empty() && !is_creation) return {};
  const json::Value before = is_creation ? Nothing(versions_.own()) : Owned(current),
                    after = Owned(wanted);
  if (!replaced && before == after) return present;
  FieldWrite(versions_, writer).Update(before, after, entries);
  return WriteEntries(std::move(entries));
}

absl::StatusOr<Object> FieldOwners::AfterApply(const Object& current, const Object& config,
                                               const FieldWriter& writer, bool force) {
  const FieldKind& kind = versions_.own();
  if (const absl::Status fits = CheckApplicable(config.root(), kind.type); !fits.ok()) {
    return ToStatus(
        {500,
         "",
         absl::StrCat("failed to create typed patch object (", config.ns(), "/", config.name(),
                      "; ", config.api_version(), ", Kind=", config.kind(), "): ", fits.message()),
         {}});
  }
  const json::Value live = current.empty() ? Nothing(versions_.own()) : Owned(current);
  OwnerEntries before = ReadEntries(current.metadata()["managedFields"], /*trusted=*/true);
  if (before.empty() && !current.empty()) {
    FieldWriter first = writer;
    first.manager = kBeforeFirstApply;
    FieldWrite(versions_, first).Update(Nothing(kind), live, before);
  }
  OwnerEntries entries = before;
  std::vector<FieldConflict> conflicts;
  FieldWrite write(versions_, writer);
  json::Value applied = write.Apply(live, config.root(), entries, conflicts);
  if (!conflicts.empty() && !force) {
    // What client-side apply has set is kubectl's own.
    if (writer.manager == kKubectl) {
      const FieldSet mine = write.AppliedByClient(live);
      conflicts.erase(std::remove_if(conflicts.begin(), conflicts.end(),
                                     [&](const FieldConflict& c) { return mine.Has(c.path); }),
                      conflicts.end());
    }
    if (!conflicts.empty()) return ConflictsError(conflicts);
  }
  Object out(std::move(applied));
  if (writer.manager == kKubectl && HasLastApplied(out)) {
    out.Set({"metadata", "annotations", kLastApplied}, LastAppliedText(config));
  }
  SetManagedFields(WriteEntries(std::move(entries)), out);
  return out;
}

}  // namespace kube::server
