// Condition lists (declared in object.h).

#include "kube/meta/object.h"

#include "base/cut_text.h"

namespace kube {
namespace {

// The limit of metav1.Condition: the API server refuses the whole status if a message is longer.
constexpr size_t kMaxMessage = 32768;

constexpr size_t kAbsent = static_cast<size_t>(-1);

size_t IndexOfCondition(const json::Value& conditions, absl::string_view type) {
  const auto items = conditions.items();
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].is_object() && items[i]["type"].AsString() == type) return i;
  }
  return kAbsent;
}

// An absent text already means "": writing it would look like a change.
void UpdateText(json::Value& entry, absl::string_view name, absl::string_view text) {
  if (entry[name].AsString() != text) entry.Set(name, text);
}

// Updates every member of the entry that the condition has, except lastTransitionTime.
void Update(json::Value& entry, const Condition& condition) {
  UpdateText(entry, "status", condition.status);
  UpdateText(entry, "reason", condition.reason);
  UpdateText(entry, "message", base::CutText(condition.message, kMaxMessage));
  if (condition.observed_generation == 0) {
    entry.Erase("observedGeneration");
  } else {
    entry.Set("observedGeneration", condition.observed_generation);
  }
}

json::Value NewEntry(absl::string_view type) {
  return json::Value::Object({{"type", type}, {"status", ""}, {"reason", ""}, {"message", ""}});
}

}  // namespace

const json::Value* FindCondition(const json::Value& conditions, absl::string_view type) {
  const size_t index = IndexOfCondition(conditions, type);
  return index == kAbsent ? nullptr : &conditions.At(index);
}

bool IsConditionTrue(const json::Value& conditions, absl::string_view type) {
  const json::Value* condition = FindCondition(conditions, type);
  return condition != nullptr && (*condition)["status"].AsString() == "True";
}

bool SetCondition(json::Value& conditions, const Condition& condition, absl::Time now) {
  const size_t index = IndexOfCondition(conditions, condition.type);
  json::Value entry = index == kAbsent ? NewEntry(condition.type) : conditions.At(index);
  const bool flips = index == kAbsent || entry["status"].AsString() != condition.status;
  Update(entry, condition);
  if (flips) entry.Set("lastTransitionTime", kube::FormatTime(now));
  if (index == kAbsent) {
    conditions.Append(std::move(entry));
    return true;
  }
  if (entry == conditions.At(index)) return false;
  conditions.MutableAt(index) = std::move(entry);
  return true;
}

}  // namespace kube
