// The table of fields that are accepted but ask for something which this program does not do yet.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "config/support.h"

namespace config {
namespace {

using Path = absl::Span<const absl::string_view>;

bool Asks(const json::Value& value, absl::string_view wanted) {
  if (wanted.empty()) return !value.is_null();
  return value.is_bool() ? wanted == (value.AsBool() ? "true" : "false")
                         : value.AsString() == wanted;
}

bool Has(const json::Value& value, Path path, absl::string_view wanted) {
  if (path.empty()) return Asks(value, wanted);
  const Path rest = path.subspan(1);
  if (path.front() != "[]") return Has(value[path.front()], rest, wanted);
  const absl::Span<const json::Value> items = value.items();
  return std::any_of(items.begin(), items.end(),
                     [&](const json::Value& item) { return Has(item, rest, wanted); });
}

}  // namespace

std::string FieldSupport::Name() const {
  const std::string field = absl::StrReplaceAll(absl::StrJoin(path, "."), {{".[]", "[]"}});
  return value.empty() ? field : absl::StrCat(field, ": ", value);
}

std::string FieldSupport::Sentence() const {
  const absl::string_view effect =
      state == State::kPartly ? " has only a part of its effect yet: " : " has no effect yet: ";
  return absl::StrCat(Name(), effect, note);
}

const std::vector<FieldSupport>& FieldsWithoutEffect() {
  static const auto& fields = *new std::vector<FieldSupport>();
  return fields;
}

std::vector<const FieldSupport*> FieldsWithoutEffectOf(const json::Value& object) {
  const absl::string_view kind = object["kind"].AsString();
  std::vector<const FieldSupport*> found;
  for (const FieldSupport& field : FieldsWithoutEffect()) {
    if (std::find(field.kinds.begin(), field.kinds.end(), kind) == field.kinds.end()) continue;
    if (Has(object, field.path, field.value)) found.push_back(&field);
  }
  return found;
}

}  // namespace config
