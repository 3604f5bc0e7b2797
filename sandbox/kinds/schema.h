// Applies a structural schema (the OpenAPI v3 schema of one version of a custom resource
// definition): pruning, defaulting and validation, with the wording of kube-apiserver. CEL rules
// (x-kubernetes-validations) are not evaluated. Immutable and thread-safe.
#ifndef SANDBOX_KINDS_SCHEMA_H_
#define SANDBOX_KINDS_SCHEMA_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/regex.h"
#include "kube/server/field_path.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {

class Schema {
 public:
  // `root` is an openAPIV3Schema (null allows everything). Patterns that are not valid expressions
  // match everything.
  explicit Schema(json::Value root);

  const json::Value& root() const { return root_; }

  // Removes the fields that the schema does not have; returns their paths ("spec.colour") sorted.
  // apiVersion, kind and metadata of the object itself (and of embedded resources) stay.
  std::vector<std::string> Prune(json::Value& object) const;
  // Fills in defaults below the object's top level, and below every object that is present;
  // replaces nulls of non-nullable fields by their default, or removes them.
  void ApplyDefaults(json::Value& object) const;
  // Validates the object; `errors` gets the mistakes.
  void Validate(const json::Value& object, FieldErrors& errors) const;

 private:
  void CompilePatterns(const json::Value& schema);

  json::Value root_;
  std::map<std::string, base::Regex, std::less<>> patterns_;
};

using kube::server::FieldPath;

}  // namespace sandbox

#endif  // SANDBOX_KINDS_SCHEMA_H_
