#include "api/known_fields.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace api {
namespace {

const KnownField* MemberOf(const KnownField& field, absl::string_view name) {
  const auto found = std::find_if(field.members.begin(), field.members.end(),
                                  [&](const KnownField& member) { return member.name == name; });
  return found == field.members.end() ? nullptr : &*found;
}

// Almost nothing is unknown, and then nothing is copied.
bool HasUnknown(const json::Value& held, const KnownField& field) {
  if (field.members.empty()) return false;
  const auto items = held.items();
  const auto members = held.members();
  return std::any_of(items.begin(), items.end(),
                     [&](const json::Value& item) { return HasUnknown(item, field); }) ||
         std::any_of(members.begin(), members.end(), [&](const json::Member& member) {
           const KnownField* known = MemberOf(field, member.name());
           return known == nullptr || HasUnknown(member.value, *known);
         });
}

std::string IdentityOf(const json::Value& item, const KnownField& field) {
  std::string identity;
  for (const absl::string_view path : field.identity) {
    const json::Value* value = &item;
    for (const absl::string_view name : absl::StrSplit(path, '.')) value = &(*value)[name];
    absl::StrAppend(&identity, json::Write(*value), " ");
  }
  return identity;
}

void KeepIn(json::Value& written, const json::Value& held, const KnownField& field);

void KeepInItems(json::Value& written, const json::Value& held, const KnownField& field) {
  // The items of each identity, the first one last.
  absl::flat_hash_map<std::string, std::vector<const json::Value*>> by_identity;
  for (size_t i = held.size(); i > 0; --i) {
    by_identity[IdentityOf(held.At(i - 1), field)].push_back(&held.At(i - 1));
  }
  for (size_t i = 0; i < written.size(); ++i) {
    const auto found = by_identity.find(IdentityOf(written.At(i), field));
    if (found == by_identity.end() || found->second.empty()) continue;
    const json::Value& before = *found->second.back();
    found->second.pop_back();
    if (HasUnknown(before, field)) KeepIn(written.MutableAt(i), before, field);
  }
}

// REQUIRES: HasUnknown(held, field).
void KeepIn(json::Value& written, const json::Value& held, const KnownField& field) {
  if (written.is_array() && held.is_array()) return KeepInItems(written, held, field);
  if (!written.is_object() || !held.is_object()) return;
  for (const json::Member& member : held.members()) {
    const KnownField* known = MemberOf(field, member.name());
    if (known == nullptr) {
      if (!written.Has(member.name())) written.Set(member.name(), member.value);
    } else if (written.Has(member.name()) && HasUnknown(member.value, *known)) {
      KeepIn(written.Mutable(member.name()), member.value, *known);
    }
  }
}

}  // namespace

json::Value WithUnknown(json::Value written, const json::Value& held, const KnownField& field) {
  if (HasUnknown(held, field)) KeepIn(written, held, field);
  return written;
}

json::Value UnknownMembers(const json::Value& object, absl::Span<const absl::string_view> known) {
  json::Value unknown;
  for (const json::Member& member : object.members()) {
    const bool is_known = std::find(known.begin(), known.end(), member.name()) != known.end();
    if (!is_known) unknown.Set(member.name(), member.value);
  }
  return unknown;
}

}  // namespace api
