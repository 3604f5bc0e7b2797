#include "kube/schema/internal/merge_rules.h"

namespace kube::schema::internal {

const Struct& RootOf(const Gvk& gvk) {
  static const Field metadata = {
      .name = "metadata", .type = Type::kStruct, .of = &schema::ObjectMeta()};
  static const Struct other = {.name = "Object", .fields = absl::MakeConstSpan(&metadata, 1)};
  const Struct* known = FindKind(gvk);
  return known == nullptr ? other : *known;
}

const Field& FieldOf(const Struct* type, absl::string_view name) {
  static constexpr Field kUnknown;
  const Field* known = type == nullptr ? nullptr : type->Find(name);
  return known == nullptr ? kUnknown : *known;
}

const Struct* Inside(const Field& field) { return field.shape == Shape::kMap ? nullptr : field.of; }

}  // namespace kube::schema::internal
