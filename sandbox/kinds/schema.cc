// A Schema is made once from the definition, with its patterns compiled, and then used by any
// number of threads. The write path prunes first, then sets defaults, then validates
// (schema_validation.cc), in the order of kube-apiserver. All three go down object and schema
// together; parts of an object that are shared with others are copied only where something changes.

#include "sandbox/kinds/schema.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sandbox/kinds/schema_validation.h"

namespace sandbox {
namespace {

bool IsTrue(const json::Value& schema, absl::string_view extension) {
  return schema[extension].AsBool();
}

// Returns whether this member of an object is not described by its schema.
bool IsObjectMeta(absl::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

class Pruner {
 public:
  void Object(json::Value& value, const json::Value& schema, absl::string_view path, bool is_root) {
    const bool resource = is_root || IsTrue(schema, "x-kubernetes-embedded-resource");
    const bool keep_unknown = IsTrue(schema, "x-kubernetes-preserve-unknown-fields");
    const json::Value& properties = schema["properties"];
    const json::Value& additional = schema["additionalProperties"];
    std::vector<std::string> unknown;
    for (const std::string& name : MemberNames(value)) {
      // Metadata is decoded by other rules, whatever the schema says of it.
      if (resource && IsObjectMeta(name)) continue;
      const std::string member_path = FieldPath(path, name);
      if (const json::Value* property = properties.Find(name)) {
        Member(value, name, *property, member_path);
      } else if (additional.is_object()) {
        Member(value, name, additional, member_path);
      } else if (!additional.AsBool() && !keep_unknown) {
        unknown.push_back(name);
        unknown_.push_back(member_path);
      }
    }
    for (const std::string& name : unknown) value.Erase(name);
  }

  std::vector<std::string> TakeUnknown() {
    std::sort(unknown_.begin(), unknown_.end());
    return std::move(unknown_);
  }

 private:
  static std::vector<std::string> MemberNames(const json::Value& value) {
    std::vector<std::string> names;
    for (const json::Member& member : value.members()) names.emplace_back(member.name());
    return names;
  }

  void Member(json::Value& parent, const std::string& name, const json::Value& schema,
              const std::string& path) {
    // Only containers can contain anything to prune; changing others would copy shared parts
    // needlessly.
    const bool is_object = parent[name].is_object(), is_array = parent[name].is_array();
    if (is_object) Object(parent.Mutable(name), schema, path, false);
    if (is_array) Array(parent.Mutable(name), schema, path);
  }

  void Array(json::Value& value, const json::Value& schema, const std::string& path) {
    const json::Value& items = schema["items"];
    if (!items.is_object()) return;
    for (size_t i = 0; i < value.size(); ++i) {
      const std::string item_path = FieldPath(path, i);
      if (value.At(i).is_object()) Object(value.MutableAt(i), items, item_path, false);
      if (value.At(i).is_array()) Array(value.MutableAt(i), items, item_path);
    }
  }

  std::vector<std::string> unknown_;
};

void DefaultValue(json::Value& value, const json::Value& schema);

bool IsUnwantedNull(const json::Value* present, const json::Value& schema) {
  return present != nullptr && present->is_null() && !schema["nullable"].AsBool();
}

// A null for a value that is not nullable is replaced by the default, or dropped.
void DefaultMember(json::Value& object, const json::Member& property) {
  const json::Value* present = object.Find(property.name());
  const json::Value* otherwise = property.value.Find("default");
  const bool unwanted_null = IsUnwantedNull(present, property.value);
  if (otherwise != nullptr && (present == nullptr || unwanted_null)) {
    object.Set(property.name(), *otherwise);
  } else if (unwanted_null) {
    object.Erase(property.name());
  }
  present = object.Find(property.name());
  if (present == nullptr) return;
  if (present->is_object() || present->is_array()) {
    DefaultValue(object.Mutable(property.name()), property.value);
  }
}

void DefaultObject(json::Value& object, const json::Value& schema) {
  const json::Value& properties = schema["properties"];
  for (const json::Member& property : properties.members()) DefaultMember(object, property);
  const json::Value& additional = schema["additionalProperties"];
  if (!additional.is_object()) return;
  std::vector<std::string> names, nulls;
  for (const json::Member& member : object.members()) {
    if (properties.Has(member.name())) continue;
    if (IsUnwantedNull(&member.value, additional)) nulls.emplace_back(member.name());
    const bool container = member.value.is_object() || member.value.is_array();
    if (container) names.emplace_back(member.name());
  }
  for (const std::string& name : nulls) object.Erase(name);
  for (const std::string& name : names) DefaultValue(object.Mutable(name), additional);
}

void DefaultValue(json::Value& value, const json::Value& schema) {
  if (value.is_object()) {
    DefaultObject(value, schema);
    return;
  }
  const json::Value& items = schema["items"];
  if (!value.is_array() || !items.is_object()) return;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value.At(i).is_object() || value.At(i).is_array()) DefaultValue(value.MutableAt(i), items);
  }
}

}  // namespace

Schema::Schema(json::Value root) : root_(std::move(root)) { CompilePatterns(root_); }

void Schema::CompilePatterns(const json::Value& schema) {
  for (const json::Value& item : schema.items()) CompilePatterns(item);
  for (const json::Member& member : schema.members()) {
    if (member.name() == "pattern" && member.value.is_string()) {
      const std::string pattern = member.value.ToString();
      if (auto compiled = base::Regex::Compile(pattern); compiled.ok()) {
        patterns_.emplace(pattern, *std::move(compiled));
      }
      continue;
    }
    CompilePatterns(member.value);
  }
}

std::vector<std::string> Schema::Prune(json::Value& object) const {
  if (!root_.is_object() || !object.is_object()) return {};
  Pruner pruner;
  pruner.Object(object, root_, "", true);
  return pruner.TakeUnknown();
}

void Schema::ApplyDefaults(json::Value& object) const {
  if (root_.is_object()) DefaultValue(object, root_);
}

void Schema::Validate(const json::Value& object, FieldErrors& errors) const {
  if (!root_.is_object()) return;
  SchemaValidation(patterns_, errors).Root(object, root_);
}

}  // namespace sandbox
