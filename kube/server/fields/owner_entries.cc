// managedFields as values: ReadEntries and WriteEntries are the way in and out, in between entries
// are a plain list. An entry is identified by manager, operation and subresource, and for updates
// also by the version; FindEntry returns the first. CapUpdates keeps the list from growing with the
// number of managers: beyond ten entries of updates, the oldest ones of a version are united into
// one of the manager "ancient-changes", as apimachinery's capManagersManager does. Who owned what
// among these is then lost; that the fields are owned is not.

#include "kube/server/fields/owner_entries.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/meta/object.h"

namespace kube::server {
namespace {

constexpr size_t kMaxUpdates = 10;
constexpr char kOldUpdates[] = "ancient-changes";
constexpr char kFieldsType[] = "FieldsV1";

bool IsValid(const json::Value& item) {
  const absl::string_view operation = item["operation"].AsString();
  return (operation == kApplyOperation || operation == kUpdateOperation) &&
         !item["apiVersion"].AsString().empty() && item["fieldsType"].AsString() == kFieldsType;
}

json::Value ToJson(OwnerEntry entry) {
  json::Value out = json::Value::Object({{"apiVersion", entry.api_version},
                                         {"fieldsType", kFieldsType},
                                         {"fieldsV1", entry.fields.root()},
                                         {"manager", entry.manager},
                                         {"operation", entry.operation}});
  if (!entry.subresource.empty()) out.Set("subresource", entry.subresource);
  if (!entry.time.empty()) out.Set("time", entry.time);
  return out;
}

auto Order(const OwnerEntry& e) {
  return std::tie(e.operation, e.time, e.manager, e.api_version, e.subresource);
}

}  // namespace

bool OwnerEntry::IsSameOwner(const OwnerEntry& other) const {
  return manager == other.manager && operation == other.operation &&
         subresource == other.subresource && (applied() || api_version == other.api_version);
}

OwnerEntries ReadEntries(const json::Value& managed_fields, bool trusted) {
  OwnerEntries out;
  for (const json::Value& item : managed_fields.items()) {
    // One entry that cannot be read makes the whole list worthless: an apiserver begins with an
    // empty one.
    if (!IsValid(item)) return {};
    const json::Value& fields = item["fieldsV1"];
    out.push_back({item["manager"].ToString(), item["operation"].ToString(),
                   item["subresource"].ToString(), item["apiVersion"].ToString(),
                   item["time"].ToString(), trusted ? FieldSet(fields) : FieldSet::Read(fields)});
  }
  return out;
}

json::Value WriteEntries(OwnerEntries entries) {
  if (entries.empty()) return {};
  // Times are written in one form, so that they are in order as texts.
  std::sort(entries.begin(), entries.end(),
            [](const OwnerEntry& a, const OwnerEntry& b) { return Order(a) < Order(b); });
  json::Value list = json::Value::Array();
  for (OwnerEntry& entry : entries) list.Append(ToJson(std::move(entry)));
  // Many objects have the same owners of the same fields. What is read from text shares its parts
  // with what is equal.
  return json::Parse(json::Write(list)).value_or(list);
}

OwnerEntry* FindEntry(OwnerEntries& entries, const OwnerEntry& like) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const OwnerEntry& e) { return e.IsSameOwner(like); });
  return found == entries.end() ? nullptr : &*found;
}

void DropEmptyEntries(OwnerEntries& entries) {
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [](const OwnerEntry& e) { return e.fields.empty(); }),
                entries.end());
}

void CapUpdates(OwnerEntries& entries) {
  std::vector<OwnerEntry> updates;
  for (const OwnerEntry& entry : entries) {
    if (!entry.applied()) updates.push_back(entry);
  }
  if (updates.size() <= kMaxUpdates) return;
  std::sort(updates.begin(), updates.end(),
            [](const OwnerEntry& a, const OwnerEntry& b) { return Order(a) < Order(b); });
  const auto erase = [&](const OwnerEntry& like) {
    entries.erase(std::remove_if(entries.begin(), entries.end(),
                                 [&](const OwnerEntry& e) { return e.IsSameOwner(like); }),
                  entries.end());
  };
  std::map<std::string, OwnerEntry> first_of;  // By version.
  size_t left = updates.size();
  for (const OwnerEntry& update : updates) {
    if (left <= kMaxUpdates) return;
    const auto [first, is_first] = first_of.emplace(update.api_version, update);
    // A version's first entry waits for a second one to be united with.
    if (is_first) continue;
    const OwnerEntry bucket{kOldUpdates, kUpdateOperation, "", update.api_version, update.time, {}};
    FieldSet fields = update.fields;
    if (const OwnerEntry* united = FindEntry(entries, bucket)) {
      fields = fields.Union(united->fields);
      erase(bucket);
    } else {
      fields = fields.Union(first->second.fields);
      erase(first->second);
    }
    // The united entry has the time of the latest that went into it.
    erase(update);
    entries.push_back(bucket);
    entries.back().fields = std::move(fields);
    --left;
  }
}

std::string DescribeOwner(const OwnerEntry& entry) {
  std::string out = json::Write(entry.manager);
  if (!entry.subresource.empty()) {
    absl::StrAppend(&out, " with subresource ", json::Write(entry.subresource));
  }
  if (!entry.applied()) absl::StrAppend(&out, " using ", entry.api_version);
  return out;
}

}  // namespace kube::server
