// Reads JSON as Kubernetes' typed structs do, without building the structs.
#ifndef INTERPRETER_NATIVE_TYPED_FIELDS_H_
#define INTERPRETER_NATIVE_TYPED_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// What an object or a list without contents must look like.
enum class Empties {
  kTyped,  // `{}` or `[]`, as the type requires.
  // `{}` and `[]` are both accepted for either type, because an empty Lua table may be meant as
  // either.
  kAnyShape,
};

// Reads members of one object. Absent and null are the zero value; a wrong type (a fractional
// number for an integer included) is an error. The first error is kept, so that a handler reads all
// it needs and checks once. The object must outlive the results.
//
//   Fields root(object.root(), "");
//   Fields status = root.In("status");
//   const int64_t ready = status.Int("readyReplicas");
//   status.Each("conditions", [&](Fields& condition) { ... condition.String("type") ... });
//   RETURN_IF_ERROR(root.error());
//
// Objects inside report their errors, with the whole path, to the outermost one, which must outlive
// them. Making one is cheap: paths are written only for errors.
class Fields {
 public:
  // `where` names the object in errors ("" for a whole object) and must outlive this object.
  Fields(const json::Value& object, absl::string_view where, Empties empties = Empties::kTyped)
      : object_(&object), name_(where), root_(this), empties_(empties) {
    CheckIsObject();
  }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  // Reads a 32-bit integer, as the structs' counters are; a larger number is a wrong type.
  int64_t Int(absl::string_view name) { return OptionalInt(name).value_or(0); }
  std::optional<int64_t> OptionalInt(absl::string_view name);
  int64_t Int64(absl::string_view name);  // Generations have 64 bits.
  bool Bool(absl::string_view name);
  absl::string_view String(absl::string_view name);
  // Returns an RFC 3339 time in its original text; "" when absent.
  absl::string_view Time(absl::string_view name);
  const json::Value& Object(absl::string_view name);
  absl::Span<const json::Value> Array(absl::string_view name);
  // StringMap reads an object whose members are strings, StringList a list of strings.
  const json::Value& StringMap(absl::string_view name);
  const json::Value& StringList(absl::string_view name);

  // Returns the object in that member.
  Fields In(absl::string_view name) { return Fields(Held(name), *this, name, kNoIndex); }
  // Calls `visit` with each object of a list.
  template <class Visit>
  void Each(absl::string_view name, Visit visit) {
    const absl::Span<const json::Value> items = Array(name);
    for (size_t i = 0; i < items.size(); ++i) {
      Fields item(items[i], *this, name, i);
      visit(item);
    }
  }
  // Reads `value` as an object in that member, for callers that iterate over members().
  Fields At(const json::Member& member) { return {member.value, *this, member.name(), kNoIndex}; }

  // Returns whether the value is absent, null or of a wrong type.
  bool IsNull() const { return !object_->is_object(); }
  // Returns the value; it has no members when it is of a wrong type.
  const json::Value& value() const { return *object_; }

  // OK, or kInvalidArgument with the path of the first wrong type in the outermost object.
  const absl::Status& error() const { return root_->error_; }
  // Reports this as an error of that member, unless there is an error already. REQUIRES:
  // !error.ok().
  void AddError(absl::string_view name, const absl::Status& error);

 private:
  static constexpr size_t kNoIndex = static_cast<size_t>(-1);

  Fields(const json::Value& object, const Fields& parent, absl::string_view name, size_t index)
      : object_(&object),
        parent_(&parent),
        name_(name),
        index_(index),
        root_(parent.root_),
        empties_(parent.empties_) {
    CheckIsObject();
  }

  void CheckIsObject() {
    if (!IsObject(*object_)) Fail("", *object_, "an object");
  }
  bool IsObject(const json::Value& v) const {
    return v.is_object() || v.is_null() || (v.is_array() && IsShapeless(v));
  }
  bool IsShapeless(const json::Value& v) const {
    return empties_ == Empties::kAnyShape && v.empty();
  }
  // Returns the null value when the member is absent.
  const json::Value& Held(absl::string_view name) const { return (*object_)[name]; }
  std::string Path() const;
  void Fail(absl::string_view name, const json::Value& held, absl::string_view expected);

  const json::Value* object_;
  const Fields* parent_ = nullptr;
  absl::string_view name_;  // The name in the parent.
  size_t index_ = kNoIndex;
  Fields* root_;
  Empties empties_;
  absl::Status error_;  // Used in the outermost object only.
};

// Sets an integer member, or removes it when it is 0 (a member tagged omitempty).
void SetOrOmit(json::Value& object, absl::string_view name, int64_t value);

// Returns whether two statuses decode to equal structs: members that are absent, null, 0, false or
// "" are equal. Lists are compared as they are: an empty one differs from an absent one.
bool SameTyped(const json::Value& a, const json::Value& b);

// Copies a field of the spec that an object's server filled in when the object was created, unless
// `retained`, whose spec is an object, has one of its own.
void RetainFilledIn(const kube::Object& observed, absl::string_view field, kube::Object& retained);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_TYPED_FIELDS_H_
