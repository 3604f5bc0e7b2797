// Determines how a member's object differs from its manifest: a pure function, except that it asks
// the interpreter.
#ifndef WORKS_RETENTION_H_
#define WORKS_RETENTION_H_

#include "absl/status/statusor.h"
#include "base/json.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace works {

// Returns the manifest with what the member owns: labels and annotations of others, finalizers, and
// what the interpreter retains. Errors are the interpreter's.
absl::StatusOr<kube::Object> Retained(const kube::Object& manifest, const kube::Object& observed,
                                      const interpreter::Interpreter& interpreter);

// Returns the merge patch that makes the member's object what the manifest asks for; an empty
// object when nothing differs. What the member owns stays. Fields that the cluster itself assigned
// are not compared. Errors are the interpreter's.
absl::StatusOr<json::Value> ChangeOf(const kube::Object& manifest, const kube::Object& observed,
                                     const interpreter::Interpreter& interpreter);

}  // namespace works

#endif  // WORKS_RETENTION_H_
