// What Karmada applies to a member's object where it uses server-side apply: pure functions, except
// that the interpreter is asked.
//
// The object carries an annotation with a digest of the manifest that was put there last. So
// whoever compares them later, in any process, knows without a request whether a field may have
// left the manifest since.
#ifndef WORKS_CONFIGURATION_H_
#define WORKS_CONFIGURATION_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace works {

// Returns whether the manifest's object is put into members by server-side apply: an annotation of
// the template decides, without one `by_default`. kInvalidArgument for an annotation that is
// neither "true" nor "false".
absl::StatusOr<bool> UsesServerSideApply(const kube::Object& manifest, bool by_default);

// Returns what is applied to `observed`: the manifest, where the interpreter's Retain determines
// what stays as the member has it. Labels and annotations of others are not part of it.
absl::StatusOr<kube::Object> ConfigurationOf(const kube::Object& manifest,
                                             const kube::Object& observed,
                                             const interpreter::Interpreter& interpreter);

// Returns whether nothing has to be sent: the object has every field of the configuration, and the
// configuration is made of the manifest that was put there last. Which lists and maps others may
// add to, only the server knows (by its schema): what they add anywhere is not noticed here, nor is
// an empty object that was replaced by something else.
bool IsApplied(const kube::Object& configuration, const kube::Object& observed);

// Returns a number for everything but metadata and status, by which this process notices that
// somebody has changed an object that it has applied.
size_t ContentOf(const kube::Object& observed);

// Returns the manifest as it is created: with the annotation.
kube::Object WithDigest(kube::Object manifest);

}  // namespace works

#endif  // WORKS_CONFIGURATION_H_
