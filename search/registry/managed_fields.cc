// A set of fields is held as the paths of its leaves. In an entry of managedFields it has the form
// fieldsV1, nested objects with names like "f:spec". Elements with other prefixes address parts of
// lists; the path ends there, because lists are atomic here.
#include "search/registry/managed_fields.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/cut_text.h"
#include "kube/server/api_errors.h"

namespace search {
namespace {

using FieldPathNames = std::vector<std::string>;
using FieldSet = std::set<FieldPathNames>;

constexpr char kApply[] = "Apply";
constexpr char kUpdate[] = "Update";
constexpr size_t kMaxManagerBytes = 128;
// More entries of updates are never kept: whoever updates under ever new names must not make the
// object grow. What the oldest one has set then belongs to nobody.
constexpr size_t kMaxUpdates = 10;

// Fields that identify an object or that only the server sets, which belong to nobody.
bool IsUnowned(const FieldPathNames& path) {
  if (path.size() == 1) return path[0] == "apiVersion" || path[0] == "kind";
  if (path[0] != "metadata") return false;
  static const auto* const names = new std::set<std::string>{
      "name",       "namespace",     "uid",      "resourceVersion",   "creationTimestamp",
      "generation", "managedFields", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"};
  return names->contains(path[1]);
}

void AddLeaves(const json::Value& value, FieldPathNames& path, FieldSet& out) {
  if (!path.empty() && IsUnowned(path)) return;
  if (!value.is_object() || value.empty()) {
    if (!path.empty()) out.insert(path);
    return;
  }
  for (const json::Member& member : value.members()) {
    path.emplace_back(member.name());
    AddLeaves(member.value, path, out);
    path.pop_back();
  }
}

// Returns the leaves that the subresource may set: the main resource leaves status alone.
FieldSet LeavesOf(const kube::Object& object, const std::string& subresource) {
  FieldSet all, out;
  FieldPathNames path;
  if (object.root().is_object()) AddLeaves(object.root(), path, all);
  for (const FieldPathNames& leaf : all) {
    if ((leaf[0] == "status") == (subresource == "status")) out.insert(leaf);
  }
  return out;
}

void ReadFields(const json::Value& fields, FieldPathNames& path, FieldSet& out) {
  bool is_leaf = true;
  for (const json::Member& member : fields.members()) {
    absl::string_view name = member.name();
    if (!absl::ConsumePrefix(&name, "f:")) continue;
    is_leaf = false;
    path.emplace_back(name);
    ReadFields(member.value, path, out);
    path.pop_back();
  }
  if (is_leaf && !path.empty()) out.insert(path);
}

json::Value WriteFields(const FieldSet& fields) {
  json::Value out = json::Value::Object();
  for (const FieldPathNames& path : fields) {
    json::Value* at = &out;
    for (const std::string& name : path) {
      at = &at->Mutable(absl::StrCat("f:", name));
      if (!at->is_object()) *at = json::Value::Object();
    }
  }
  return out;
}

std::vector<absl::string_view> Views(const FieldPathNames& path) {
  return {path.begin(), path.end()};
}

const json::Value* Find(const kube::Object& object, const FieldPathNames& path) {
  return object.root().FindPath(Views(path));
}

bool SameValue(const json::Value* a, const json::Value* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

// Returns whether one of the paths begins with the other, so that setting one touches the other.
bool Overlap(const FieldPathNames& a, const FieldPathNames& b) {
  const size_t n = std::min(a.size(), b.size());
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin());
}

bool BeginsWith(const FieldPathNames& path, const FieldPathNames& start) {
  return path.size() >= start.size() && Overlap(path, start);
}

// Returns whether a path of the set begins with `start`. The set is sorted, so these follow it.
bool HasBelow(const FieldSet& set, const FieldPathNames& start) {
  const auto at = set.lower_bound(start);
  return at != set.end() && BeginsWith(*at, start);
}

// Objects with tens of thousands of labels are possible, so the set is not searched through.
bool OverlapsAny(const FieldSet& set, const FieldPathNames& path) {
  FieldPathNames start;
  for (const std::string& name : path) {
    start.push_back(name);
    if (set.contains(start)) return true;
  }
  return HasBelow(set, path);
}

// Returns whether setting the leaf as in `config` changes `live`. An empty object that is applied
// leaves what is in the present one alone.
bool Changes(const kube::Object& config, const FieldPathNames& leaf, const kube::Object& live) {
  const json::Value *wanted = Find(config, leaf), *present = Find(live, leaf);
  if (wanted->is_object() && present != nullptr && present->is_object()) return false;
  return !SameValue(wanted, present);
}

struct Entry {
  std::string manager, operation, subresource, api_version, time;
  FieldSet fields;

  bool Is(const FieldWriter& writer, absl::string_view op) const {
    return manager == writer.manager && operation == op && subresource == writer.subresource;
  }
};

std::vector<Entry> EntriesOf(const kube::Object& object) {
  std::vector<Entry> out;
  for (const json::Value& item : object.metadata()["managedFields"].items()) {
    Entry entry{item["manager"].ToString(),     item["operation"].ToString(),
                item["subresource"].ToString(), item["apiVersion"].ToString(),
                item["time"].ToString(),        {}};
    FieldPathNames path;
    ReadFields(item["fieldsV1"], path, entry.fields);
    out.push_back(std::move(entry));
  }
  return out;
}

void DropOldUpdates(std::vector<Entry>& entries) {
  const auto is_update = [](const Entry& e) { return e.operation == kUpdate; };
  while (std::count_if(entries.begin(), entries.end(), is_update) >
         static_cast<std::ptrdiff_t>(kMaxUpdates)) {
    auto oldest = std::find_if(entries.begin(), entries.end(), is_update);
    for (auto it = oldest; it != entries.end(); ++it) {
      if (is_update(*it) && it->time < oldest->time) oldest = it;
    }
    entries.erase(oldest);
  }
}

void WriteEntries(std::vector<Entry> entries, kube::Object& object) {
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [](const Entry& e) { return e.fields.empty(); }),
                entries.end());
  DropOldUpdates(entries);
  json::Value list = json::Value::Array();
  for (const Entry& entry : entries) {
    json::Value item = json::Value::Object({{"manager", entry.manager},
                                            {"operation", entry.operation},
                                            {"apiVersion", entry.api_version},
                                            {"fieldsType", "FieldsV1"},
                                            {"fieldsV1", WriteFields(entry.fields)}});
    if (!entry.time.empty()) item.Set("time", entry.time);
    if (!entry.subresource.empty()) item.Set("subresource", entry.subresource);
    list.Append(std::move(item));
  }
  if (list.empty()) {
    object.Erase({"metadata", "managedFields"});
  } else {
    object.Set({"metadata", "managedFields"}, std::move(list));
  }
}

// Takes the entries over as they are, with what this program does not read.
void CopyEntries(const kube::Object& from, kube::Object& to) {
  if (const json::Value* list = from.metadata().Find("managedFields")) {
    to.Set({"metadata", "managedFields"}, *list);
  } else {
    to.Erase({"metadata", "managedFields"});
  }
}

Entry& FindOrAdd(std::vector<Entry>& entries, const FieldWriter& writer, const char* operation,
                 absl::string_view api_version) {
  for (Entry& entry : entries) {
    if (entry.Is(writer, operation)) return entry;
  }
  entries.push_back(
      {writer.manager, operation, writer.subresource, std::string(api_version), "", {}});
  return entries.back();
}

void Remove(const FieldSet& touched, FieldSet& from) {
  for (auto it = from.begin(); it != from.end();) {
    it = OverlapsAny(touched, *it) ? from.erase(it) : std::next(it);
  }
}

// Names a manager as apiserver does in conflicts.
std::string Describe(const Entry& entry) {
  std::string out = json::Write(entry.manager);
  if (!entry.subresource.empty()) {
    absl::StrAppend(&out, " with subresource ", json::Write(entry.subresource));
  }
  if (entry.operation != kUpdate) return out;
  absl::StrAppend(&out, " using ", entry.api_version);
  if (!entry.time.empty()) absl::StrAppend(&out, " at ", entry.time);
  return out;
}

absl::Status ConflictError(const std::vector<std::pair<std::string, std::string>>& clashes) {
  json::Value causes = json::Value::Array();
  std::vector<std::string> lines;
  for (const auto& [who, path] : clashes) {
    const std::string message = absl::StrCat("conflict with ", who);
    causes.Append(json::Value::Object(
        {{"reason", "FieldManagerConflict"}, {"message", message}, {"field", path}}));
    lines.push_back(absl::StrCat(message, ": ", path));
  }
  return kube::server::ToStatus(
      {409, "Conflict",
       absl::StrCat("Apply failed with ", lines.size(),
                    lines.size() == 1 ? " conflict: " : " conflicts: ", absl::StrJoin(lines, "\n")),
       json::Value::Object({{"causes", causes}})});
}

// Removes a field, and the objects around it that it leaves empty.
void EraseField(FieldPathNames path, kube::Object& object) {
  object.Erase(Views(path));
  for (path.pop_back(); path.size() > 1; path.pop_back()) {
    const json::Value* parent = Find(object, path);
    if (parent == nullptr || !parent->is_object() || !parent->empty()) return;
    object.Erase(Views(path));
  }
}

}  // namespace

std::string ManagerOf(absl::string_view user_agent) {
  const std::string name =
      base::CutText(user_agent.substr(0, user_agent.find('/')), kMaxManagerBytes);
  return name.empty() ? "unknown" : name;
}

void RecordUpdate(const kube::Object& before, const FieldWriter& writer, kube::Object& after) {
  const FieldSet old_leaves = LeavesOf(before, writer.subresource);
  const FieldSet new_leaves = LeavesOf(after, writer.subresource);
  FieldSet changed, removed;
  for (const FieldPathNames& leaf : new_leaves) {
    if (!SameValue(Find(before, leaf), Find(after, leaf))) changed.insert(leaf);
  }
  for (const FieldPathNames& leaf : old_leaves) {
    if (!new_leaves.contains(leaf)) removed.insert(leaf);
  }
  // What the client sends as managedFields does not count.
  std::vector<Entry> entries = EntriesOf(before);
  if (changed.empty() && removed.empty()) {
    CopyEntries(before, after);
    return;
  }
  Entry& own = FindOrAdd(entries, writer, kUpdate, after.api_version());
  for (Entry& entry : entries) {
    Remove(removed, entry.fields);
    if (&entry != &own) Remove(changed, entry.fields);
  }
  own.fields.insert(changed.begin(), changed.end());
  own.time = kube::FormatTime(writer.now);
  WriteEntries(std::move(entries), after);
}

absl::StatusOr<kube::Object> Applied(const kube::Object& live, const kube::Object& config,
                                     const FieldWriter& writer, bool force) {
  const FieldSet wanted = LeavesOf(config, writer.subresource);
  std::vector<Entry> entries = EntriesOf(live);
  std::vector<std::pair<std::string, std::string>> clashes;
  FieldSet taken;
  for (const Entry& entry : entries) {
    if (entry.Is(writer, kApply)) continue;
    for (const FieldPathNames& leaf : wanted) {
      if (!OverlapsAny(entry.fields, leaf)) continue;
      if (!Changes(config, leaf, live)) continue;
      clashes.emplace_back(Describe(entry), absl::StrCat(".", absl::StrJoin(leaf, ".")));
      taken.insert(leaf);
    }
  }
  if (!clashes.empty() && !force) return ConflictError(clashes);

  kube::Object out = live.empty() ? kube::Object::Make(config.gvk(), config.key()) : live;
  Entry& own = FindOrAdd(entries, writer, kApply, config.api_version());
  for (const FieldPathNames& leaf : own.fields) {
    const bool still_owned = std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
      return &entry != &own && OverlapsAny(entry.fields, leaf);
    });
    if (!still_owned && !HasBelow(wanted, leaf)) EraseField(leaf, out);
  }
  for (const FieldPathNames& leaf : wanted) {
    if (Changes(config, leaf, out)) out.Set(Views(leaf), *Find(config, leaf));
  }
  for (Entry& entry : entries) {
    if (&entry != &own) Remove(taken, entry.fields);
  }
  if (own.fields == wanted && out == live) return live;
  own.time = kube::FormatTime(writer.now);
  own.fields = wanted;
  WriteEntries(std::move(entries), out);
  return out;
}

}  // namespace search
