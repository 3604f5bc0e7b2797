// The part of Schema that validates.
#ifndef SANDBOX_KINDS_SCHEMA_VALIDATION_H_
#define SANDBOX_KINDS_SCHEMA_VALIDATION_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/regex.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {

using PatternMap = std::map<std::string, base::Regex, std::less<>>;

class SchemaValidation {
 public:
  SchemaValidation(const PatternMap& patterns, FieldErrors& errors)
      : patterns_(patterns), errors_(errors) {}

  // Validates an object; its metadata is validated elsewhere.
  void Root(const json::Value& object, const json::Value& schema);

 private:
  void Visit(const json::Value& value, const json::Value& schema, const std::string& path);
  bool CheckType(const json::Value& value, const json::Value& schema, const std::string& path);
  void CheckEnum(const json::Value& value, const json::Value& schema, const std::string& path);
  void CheckNumber(const json::Value& value, const json::Value& schema, const std::string& path);
  void CheckString(const json::Value& value, const json::Value& schema, const std::string& path);
  void CheckFormat(const json::Value& value, const json::Value& schema, const std::string& path);
  void CheckArray(const json::Value& value, const json::Value& schema, const std::string& path);
  void CheckUnique(const json::Value& value, const json::Value& schema, const std::string& path);
  void CheckObject(const json::Value& value, const json::Value& schema, const std::string& path);
  void CheckCombinations(const json::Value& value, const json::Value& schema,
                         const std::string& path);
  bool Accepts(const json::Value& value, const json::Value& schema, const std::string& path) const;

  const PatternMap& patterns_;
  FieldErrors& errors_;
  bool is_root_ = false;
};

}  // namespace sandbox

#endif  // SANDBOX_KINDS_SCHEMA_VALIDATION_H_
