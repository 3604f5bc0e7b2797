#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"
#include "kube/meta/internal/field_error.h"
#include "kube/meta/internal/label_requirement.h"

namespace kube::internal {
namespace {

using Operator = LabelSelector::Operator;

absl::Status CheckValueCount(Operator op, const std::vector<std::string>& values) {
  const std::string shown =
      values.empty() ? "null" : json::Write(json::Value::Strings(values), {.html_escape = true});
  switch (op) {
    case Operator::kIn:
    case Operator::kNotIn:
      if (!values.empty()) return absl::OkStatus();
      return InvalidField("values", shown,
                          "for 'in', 'notin' operators, values set can't be empty");
    case Operator::kExists:
    case Operator::kDoesNotExist:
      if (values.empty()) return absl::OkStatus();
      return InvalidField("values", shown,
                          "values set must be empty for exists and does not exist");
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      if (values.size() == 1) return absl::OkStatus();
      return InvalidField("values", shown,
                          "for 'Gt', 'Lt' operators, exactly one value is required");
  }
  return absl::OkStatus();
}

void CheckNumbers(const std::vector<std::string>& values, base::ErrorList& errors) {
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t number = 0;
    if (ParseWholeNumber(values[i], number)) continue;
    errors.Add(InvalidField(absl::StrCat("values[", i, "]"), Quote(values[i]),
                            "for 'Gt', 'Lt' operators, the value must be an integer"));
  }
}

void CheckValues(absl::string_view key, const std::vector<std::string>& values,
                 base::ErrorList& errors) {
  for (size_t i = 0; i < values.size(); ++i) {
    const absl::Status valid = ValidateLabelValue(values[i]);
    if (valid.ok()) continue;
    errors.Add(InvalidField(absl::StrCat("values[", i, "][", key, "]"), Quote(values[i]),
                            valid.message()));
  }
}

}  // namespace

bool ParseWholeNumber(absl::string_view text, int64_t& number) {
  const bool clean = std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(c) || c == '-' || c == '+';
  });
  return clean && absl::SimpleAtoi(text, &number);
}

absl::StatusOr<LabelSelector::Requirement> MakeRequirement(absl::string_view key, Operator op,
                                                           std::vector<std::string> values) {
  base::ErrorList errors;
  if (const absl::Status valid = ValidateQualifiedName(key); !valid.ok()) {
    errors.Add(InvalidField("key", Quote(key), valid.message()));
  }
  errors.Add(CheckValueCount(op, values));
  if (op == Operator::kGreaterThan || op == Operator::kLessThan) CheckNumbers(values, errors);
  CheckValues(key, values, errors);
  RETURN_IF_ERROR(errors.Join());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return LabelSelector::Requirement{std::string(key), op, std::move(values)};
}

}  // namespace kube::internal
