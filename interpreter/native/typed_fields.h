// Reading JSON the way Kubernetes' typed structs do, without building the structs.
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

namespace interpreter::native {

// What stands for an object or a list without contents.
enum class Empties {
  kTyped,  // `{}` and `[]`.
  // Either for both: scripts build tables, and an empty one is neither.
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
// Objects inside report their errors to the outermost one, with the whole path; they live shorter.
// Making one costs next to nothing: paths are written only for errors.
class Fields {
 public:
  // `where` names the object in errors ("" for a whole object); it must outlive this.
  Fields(const json::Value& object, absl::string_view where, Empties empties = Empties::kTyped)
      : object_(&object), name_(where), root_(this), empties_(empties) {
    CheckIsObject();
  }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  // Counters are 32 bits wide in the structs: what does not fit is a wrong type.
  int64_t Int(absl::string_view name) { return OptionalInt(name).value_or(0); }
  std::optional<int64_t> OptionalInt(absl::string_view name);
  int64_t Int64(absl::string_view name);  // Generations.
  bool Bool(absl::string_view name);
  absl::string_view String(absl::string_view name);
  // An RFC 3339 time in the words it came in; "" when absent.
  absl::string_view Time(absl::string_view name);
  const json::Value& Object(absl::string_view name);
  absl::Span<const json::Value> Array(absl::string_view name);
  // An object of strings, a list of strings.
  const json::Value& StringMap(absl::string_view name);
  const json::Value& StringList(absl::string_view name);

  // The object in that member.
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
  // `value` read as an object that stands in that member: for callers that go through members().
  Fields At(const json::Member& member) { return {member.value, *this, member.name(), kNoIndex}; }

  // Returns whether it is absent, null or of a wrong type.
  bool IsNull() const { return !object_->is_object(); }
  // The object as it is; without members when it is of a wrong type.
  const json::Value& value() const { return *object_; }

  // kInvalidArgument naming the path of the first wrong type in here, or anywhere in the outermost
  // object when this is one inside.
  const absl::Status& error() const { return root_->error_; }
  // Keeps this as an error of that member, unless there is one already. REQUIRES: it is an error.
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
    if (!IsObject(*object_)) Fail("", *object_, "object");
  }
  bool IsObject(const json::Value& v) const {
    return v.is_object() || v.is_null() || (v.is_array() && IsShapeless(v));
  }
  bool IsShapeless(const json::Value& v) const {
    return empties_ == Empties::kAnyShape && v.empty();
  }
  // The null value when there is none.
  const json::Value& Held(absl::string_view name) const { return (*object_)[name]; }
  std::string Path() const;
  void Fail(absl::string_view name, const json::Value& held, absl::string_view expected);

  const json::Value* object_;
  const Fields* parent_ = nullptr;
  absl::string_view name_;  // In the parent.
  size_t index_ = kNoIndex;
  Fields* root_;
  Empties empties_;
  absl::Status error_;  // Used in the outermost object only.
};

// Sets an integer member, or removes it when it is 0 (a member tagged omitempty).
void SetOrOmit(json::Value& object, absl::string_view name, int64_t value);

// Returns whether two statuses decode to equal structs: members that are absent, null, 0, false or
// "" are the same thing. Lists are compared as they are: an empty one differs from an absent one.
bool SameTyped(const json::Value& a, const json::Value& b);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_TYPED_FIELDS_H_
