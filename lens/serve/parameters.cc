#include "lens/serve/parameters.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"

namespace lens::serve {

absl::StatusOr<Parameters> Parameters::Of(const base::HttpRequest& request,
                                          absl::Span<const Parameter> known) {
  Parameters parameters;
  for (const auto& [name, value] : request.query) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const Parameter& one) { return name == one.name; });
    if (found == known.end()) {
      const std::string names = absl::StrJoin(
          known, ", ", [](std::string* out, const Parameter& one) { out->append(one.name); });
      return absl::InvalidArgumentError(absl::StrCat("there is no parameter \"", name, "\"; there ",
                                                     known.empty() ? "is none" : "are ", names));
    }
    std::vector<std::string>& values = parameters.values_[name];
    if (!values.empty() && !found->repeatable) {
      return absl::InvalidArgumentError(absl::StrCat("the parameter ", name, " is there twice"));
    }
    values.push_back(value);
  }
  return parameters;
}

std::string Parameters::Get(absl::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? "" : found->second[0];
}

std::vector<std::string> Parameters::All(absl::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::string Parameters::Text() const {
  json::Value text = json::Value::Object();
  for (const auto& [name, values] : values_) {
    json::Value all = json::Value::Array();
    for (const std::string& value : values) all.Append(value);
    text.Set(name, std::move(all));
  }
  return json::Write(text);
}

absl::StatusOr<int> Parameters::Number(absl::string_view name, int otherwise, int most) const {
  const std::string text = Get(name);
  int number = 0;
  if (text.empty()) return otherwise;
  if (absl::SimpleAtoi(text, &number) && number >= 1 && number <= most) return number;
  return absl::InvalidArgumentError(absl::StrCat(
      "the parameter ", name, " is not a number from 1 to ", most, ": \"", text, "\""));
}

absl::StatusOr<std::string> Parameters::Needed(absl::string_view name) const {
  std::string value = Get(name);
  if (value.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the parameter ", name, " is needed"));
  }
  return value;
}

}  // namespace lens::serve
