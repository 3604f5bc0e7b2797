// The part of JSONPath that printer columns use: .a.b, ['a.b'], [0], [*], [?(@.type=="Ready")].
#ifndef SANDBOX_TABLES_JSON_PATH_H_
#define SANDBOX_TABLES_JSON_PATH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace sandbox {

class JsonPath {
 public:
  // kInvalidArgument for unsupported syntax.
  static absl::StatusOr<JsonPath> Parse(absl::string_view text);
  // Returns the values that the path finds, in order; empty when there are none.
  std::vector<json::Value> Find(const json::Value& root) const;

 private:
  struct Step {
    enum class Kind { kMember, kIndex, kAll, kFilter } kind = Kind::kMember;
    std::string name;                  // For kMember.
    int64_t index = 0;                 // For kIndex; negative values count from the end.
    std::vector<std::string> operand;  // For kFilter: @.operand <op> literal.
    std::string op;                    // "==", "!=", or "" for existence.
    json::Value literal;
  };
  class Parser;

  static void Apply(const Step& step, const json::Value& value, std::vector<json::Value>& out);
  static bool Passes(const Step& filter, const json::Value& item);

  std::vector<Step> steps_;
};

}  // namespace sandbox

#endif  // SANDBOX_TABLES_JSON_PATH_H_
