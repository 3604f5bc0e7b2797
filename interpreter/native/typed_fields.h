// Reading JSON the way Kubernetes' typed structs do, without building the structs.
#ifndef INTERPRETER_NATIVE_TYPED_FIELDS_H_
#define INTERPRETER_NATIVE_TYPED_FIELDS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"

namespace interpreter::native {

// Reads members of one object. Absent and null are the zero value; a wrong type (a fractional
// number for an integer included) is an error. The first error is kept, so that a handler reads all
// it needs and checks once. The object must outlive the results.
//
//   Fields status(object.status(), "status");
//   const int64_t ready = status.Int("readyReplicas");
//   RETURN_IF_ERROR(status.error());
class Fields {
 public:
  // `where` names the object in errors; it must outlive this.
  Fields(const json::Value& object, absl::string_view where) : object_(object), where_(where) {
    if (!object.is_object() && !object.is_null()) Fail("", "object");
  }

  // Counters are 32 bits wide in the structs: what does not fit is a wrong type.
  int64_t Int(absl::string_view name) { return OptionalInt(name).value_or(0); }
  std::optional<int64_t> OptionalInt(absl::string_view name);
  int64_t Int64(absl::string_view name);  // Generations.
  bool Bool(absl::string_view name);
  absl::string_view String(absl::string_view name);
  const json::Value& Object(absl::string_view name);
  absl::Span<const json::Value> Array(absl::string_view name);

  // kInvalidArgument naming the member of the first wrong type.
  const absl::Status& error() const { return error_; }

 private:
  void Fail(absl::string_view name, absl::string_view expected);

  const json::Value& object_;
  const absl::string_view where_;
  absl::Status error_;
};

// Sets an integer member, or removes it when it is 0 (a member tagged omitempty).
void SetOrOmit(json::Value& object, absl::string_view name, int64_t value);

// Whether two statuses decode to equal structs: members that are absent, null, 0, false or "" are
// the same thing. Lists are compared as they are: an empty one differs from an absent one.
bool SameTyped(const json::Value& a, const json::Value& b);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_TYPED_FIELDS_H_
