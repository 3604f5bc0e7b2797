#include "kube/schema/types.h"

#include <algorithm>
#include <iterator>

namespace kube::schema {
namespace {

// The names that the generated text uses.
using enum Type;
using enum Shape;
using enum ListKey::Otherwise;
constexpr uint8_t kPointer = Field::kPointer;
constexpr uint8_t kOmitEmpty = Field::kOmitEmpty;
constexpr uint8_t kOmitZero = Field::kOmitZero;
#include "kube/schema/kubernetes_types.inc"

}  // namespace

const Merge& Field::merging() const {
  static constexpr Merge kNone;
  return merge == nullptr ? kNone : *merge;
}

const Field* Struct::Find(absl::string_view field) const {
  const auto it = std::lower_bound(
      fields.begin(), fields.end(), field,
      [](const Field& known, absl::string_view wanted) { return known.name < wanted; });
  return it != fields.end() && it->name == field ? &*it : nullptr;
}

const Field* Struct::FindNumber(int number) const {
  const auto it = std::find_if(fields.begin(), fields.end(),
                               [&](const Field& field) { return field.number == number; });
  return it != fields.end() && number != 0 ? &*it : nullptr;
}

const Struct* Struct::FindInlined(int number) const {
  const auto it = std::find_if(inlined.begin(), inlined.end(),
                               [&](const Inlined& part) { return part.number == number; });
  return it != inlined.end() ? it->of : nullptr;
}

bool Struct::InProtobuf() const {
  // Structs without fields are Kubernetes' own, such as the choice of a mode that has no settings.
  return fields.empty() || std::any_of(fields.begin(), fields.end(),
                                       [](const Field& field) { return field.number != 0; });
}

const Struct* FindKind(const Gvk& gvk) {
  if (gvk.kind == "DeleteOptions") return &meta_v1_DeleteOptions;
  const auto* it =
      std::lower_bound(std::begin(kKinds), std::end(kKinds), gvk.kind,
                       [](const Kind& kind, absl::string_view name) { return kind.name < name; });
  for (; it != std::end(kKinds) && it->name == gvk.kind; ++it) {
    if (it->group == gvk.group && it->version == gvk.version) return it->of;
  }
  return nullptr;
}

const Struct& ObjectMeta() { return meta_v1_ObjectMeta; }
const Struct& ReplicaRequirements() { return work_v1alpha2_ReplicaRequirements; }
const Struct& Component() { return work_v1alpha2_Component; }
const Struct& DependentObjectReference() { return config_v1alpha1_DependentObjectReference; }
const Struct& AggregatedStatusItem() { return work_v1alpha2_AggregatedStatusItem; }
const Struct& Overriders() { return policy_v1alpha1_Overriders; }

absl::Span<const Kind> AllKinds() { return kKinds; }

}  // namespace kube::schema
