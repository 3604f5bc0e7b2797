#include "lens/plan/secrets.h"

#include <string>

namespace lens::plan {
namespace {

constexpr char kHidden[] = "***";
constexpr char kHiddenBefore[] = "*** (before)";
constexpr char kHiddenAfter[] = "*** (after)";

bool IsSecret(const kube::Object& object) {
  return object.kind() == "Secret" && object.gvk().group.empty();
}

// Returns the data of a Secret without values. `other` is the same field of the other object, and
// `changed` stands for a value that is different there.
json::Value Hidden(const json::Value& data, const json::Value& other, const char* changed) {
  // A server accepts no other form, but a Work may contain it.
  if (!data.is_object()) return other.is_null() || other == data ? kHidden : changed;
  json::Value hidden = json::Value::Object();
  for (const json::Member& member : data.members()) {
    const json::Value* there = other.Find(member.name());
    const bool differs = there != nullptr && *there != member.value;
    hidden.Set(member.name(), differs ? changed : kHidden);
  }
  return hidden;
}

kube::Object HiddenIn(kube::Object object, const kube::Object& other, const char* changed) {
  if (!IsSecret(object)) return object;
  for (const char* field : {"data", "stringData"}) {
    const json::Value& data = object.root()[field];
    if (data.is_null()) continue;
    object.Set({field}, Hidden(data, other.root()[field], changed));
  }
  return object;
}

}  // namespace

std::pair<kube::Object, kube::Object> WithoutSecrets(kube::Object before, kube::Object after) {
  kube::Object hidden_before = HiddenIn(before, after, kHiddenBefore);
  kube::Object hidden_after = HiddenIn(after, before, kHiddenAfter);
  return {std::move(hidden_before), std::move(hidden_after)};
}

kube::Object WithoutSecrets(kube::Object object) {
  return HiddenIn(std::move(object), kube::Object(), kHidden);
}

}  // namespace lens::plan
