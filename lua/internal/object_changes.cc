// Makes the changed form of an object from its source and what has changed. Few changes are made in
// place, in a copy that shares everything else; many are merged in one pass, since both lists are
// sorted by name. Nulls of the source stay: scripts cannot see them, so a script cannot have meant
// to remove them.

#include "lua/internal/object_changes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"

namespace lua::internal {
namespace {

// With more changes than this the object is built again, which costs a look-up per member; a change
// in place costs a move of all members.
constexpr size_t kFewChanges = 16;

size_t CountGone(const ObjectChanges& changes) {
  const auto kept = std::count_if(changes.kept.begin(), changes.kept.end(),
                                  [](const json::Value* v) { return !v->is_null(); });
  return CountNonNull(*changes.source) - static_cast<size_t>(kept);
}

void SetAll(json::Value& object, absl::Span<Field> fields) {
  for (Field& field : fields) object.Set(field.name, std::move(field.value));
}

json::Value Patched(const ObjectChanges& changes) {
  json::Value object = *changes.source;
  const auto* kept = changes.kept.begin();
  for (const json::Member& member : changes.source->members()) {
    if (kept != changes.kept.end() && *kept == &member.value) {
      ++kept;
    } else if (!member.value.is_null()) {
      object.Erase(member.name());
    }
  }
  SetAll(object, changes.changed);
  return object;
}

// Both lists are sorted by name, so every member is added at the end.
json::Value Merged(const ObjectChanges& changes) {
  json::Value object = json::Value::Object();
  const auto* kept = changes.kept.begin();
  absl::Span<Field> changed = changes.changed;
  for (const json::Member& member : changes.source->members()) {
    const bool stays = kept != changes.kept.end() && *kept == &member.value;
    if (stays) ++kept;
    size_t before = 0;
    while (before < changed.size() && changed[before].name <= member.name()) ++before;
    const bool replaced = before > 0 && changed[before - 1].name == member.name();
    SetAll(object, changed.subspan(0, before));
    changed.remove_prefix(before);
    if (!replaced && (stays || member.value.is_null())) object.Set(member.name(), member.value);
  }
  SetAll(object, changed);
  return object;
}

}  // namespace

json::Value NewObject(absl::Span<Field> fields) {
  absl::InlinedVector<Field*, 32> order;
  order.reserve(fields.size());
  for (Field& field : fields) order.push_back(&field);
  std::sort(order.begin(), order.end(),
            [](const Field* a, const Field* b) { return a->name < b->name; });
  std::vector<json::Member> members;
  members.reserve(order.size());
  for (Field* field : order) {
    members.emplace_back(json::Value(field->name), std::move(field->value));
  }
  return json::Value::OfMembers(std::move(members));
}

size_t CountNonNull(const json::Value& container) {
  size_t count = 0;
  for (const json::Member& m : container.members()) count += m.value.is_null() ? 0 : 1;
  for (const json::Value& item : container.items()) count += item.is_null() ? 0 : 1;
  return count;
}

bool IsUnchanged(const ObjectChanges& changes) {
  return changes.changed.empty() && CountGone(changes) == 0;
}

json::Value Apply(const ObjectChanges& changes) {
  const bool few = CountGone(changes) + changes.changed.size() <= kFewChanges;
  return few ? Patched(changes) : Merged(changes);
}

}  // namespace lua::internal
