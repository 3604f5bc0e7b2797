// Parses an order and extracts from an object the values that it compares. Values are extracted
// once for each object and not at each comparison. They are ranked: numbers and quantities, then
// texts, then absent ones, which come last in either direction. Sizes are bounded (kMaxKeys,
// kMaxText), because a caller chooses the order and the values are kept for a whole list, and
// written into continue tokens.
//
// fields_ are the members that the expressions need, so that ValuesOfText parses only these; an
// expression that may look anywhere needs all of them.

#include "kube/meta/sort_order.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/cut_text.h"
#include "base/status.h"
#include "kube/meta/quantity.h"

namespace kube {
namespace {

using Value = SortOrder::Value;

// Splits at commas that are not inside of brackets.
std::vector<absl::string_view> SplitKeys(absl::string_view text) {
  std::vector<absl::string_view> out;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      out.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    } else if (text[i] == '[' || text[i] == '(') {
      ++depth;
    } else if (text[i] == ']' || text[i] == ')') {
      --depth;
    }
  }
  return out;
}

// Returns the member that everything lies in which an expression finds: "metadata.labels" for
// ".metadata.labels['app']"; "" when it may find anything.
std::string PlainPart(absl::string_view expression) {
  absl::ConsumePrefix(&expression, ".");
  const size_t end = std::min(expression.find_first_of("[*?@(\\ "), expression.find(".."));
  absl::string_view plain = expression.substr(0, end);
  // "spec.*": the dot before the star.
  absl::ConsumeSuffix(&plain, ".");
  return std::string(plain);
}

// Takes one field of the order apart: its direction, and the expression without braces.
absl::StatusOr<std::pair<bool, absl::string_view>> DirectionAndExpression(absl::string_view part) {
  const bool descending = absl::ConsumePrefix(&part, "-");
  if (absl::ConsumePrefix(&part, "{")) absl::ConsumeSuffix(&part, "}");
  absl::ConsumePrefix(&part, ".");
  if (part.empty()) return absl::InvalidArgumentError("sort: a field has no name");
  if (part.find_first_of("{}") != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("sort: ", part, " is not one expression"));
  }
  return std::pair(descending, part);
}

// JSON has no infinite numbers.
double Finite(double number) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::clamp(number, -kMost, kMost);
}

Value ValueOf(const json::Value& value) {
  if (value.is_null() || value.is_object() || value.is_array()) return {};
  if (value.is_number()) return {Value::kNumber, value.AsDouble(), ""};
  if (!value.is_string()) return {Value::kText, 0, json::Write(value)};
  const absl::string_view text = value.AsString();
  // So long a text is not a quantity, and is not parsed as one.
  if (text.size() > SortOrder::kMaxText) {
    return {Value::kText, 0, base::CutText(text, SortOrder::kMaxText)};
  }
  const auto quantity = Quantity::Parse(text);
  if (quantity.ok()) return {Value::kNumber, Finite(quantity->AsApproximateFloat()), ""};
  return {Value::kText, 0, std::string(text)};
}

int CompareOne(const Value& a, const Value& b, bool descending) {
  const bool absent_a = a.rank == Value::kAbsent, absent_b = b.rank == Value::kAbsent;
  // The direction does not apply to them: they are last in both.
  if (absent_a || absent_b) return static_cast<int>(absent_a) - static_cast<int>(absent_b);
  const auto x = std::tie(a.rank, a.number, a.text), y = std::tie(b.rank, b.number, b.text);
  const int order = x < y ? -1 : (y < x ? 1 : 0);
  return descending ? -order : order;
}

// Returns nullopt for what ToJson does not write.
std::optional<Value> ValueFromJson(const json::Value& json) {
  if (json.is_null()) return Value{};
  if (json.is_number()) return Value{Value::kNumber, json.AsDouble(), ""};
  if (json.is_string()) return Value{Value::kText, 0, json.ToString()};
  return std::nullopt;
}

}  // namespace

absl::StatusOr<SortOrder> SortOrder::Parse(absl::string_view text) {
  SortOrder order;
  order.text_ = std::string(text);
  if (text.empty()) return order;
  std::vector<std::string> needed;
  const std::vector<absl::string_view> parts = SplitKeys(text);
  if (parts.size() > kMaxKeys) {
    return absl::InvalidArgumentError(absl::StrCat("sort: ", parts.size(),
                                                   " fields are too many: a list is sorted by ",
                                                   kMaxKeys, " at most"));
  }
  for (const absl::string_view part : parts) {
    ASSIGN_OR_RETURN(const auto direction_and_expression, DirectionAndExpression(part));
    const auto& [descending, expression] = direction_and_expression;
    auto path = JsonPath::Parse(absl::StrCat("{.", expression, "}"));
    RETURN_IF_ERROR(base::Annotate(path.status(), "sort: ", expression));
    order.keys_.push_back({*std::move(path), descending});
    needed.push_back(PlainPart(expression));
  }
  const bool anything = std::find(needed.begin(), needed.end(), "") != needed.end();
  order.fields_ = json::Fields(anything ? std::vector<std::string>() : needed);
  return order;
}

SortOrder::Values SortOrder::ValuesOf(const json::Value& object) const {
  Values values;
  values.reserve(keys_.size());
  for (const Key& key : keys_) {
    const auto found = key.path.Find(object, JsonPath::MissingKeys::kSkip);
    values.push_back(found.ok() && !found->empty() ? ValueOf(found->front()) : Value());
  }
  return values;
}

SortOrder::Values SortOrder::ValuesOfText(absl::string_view text) const {
  const auto parsed = json::Parse(text, {.kept = &fields_});
  return ValuesOf(parsed.ok() ? *parsed : json::Value());
}

size_t SortOrder::BytesOf(const Values& values) {
  size_t bytes = values.capacity() * sizeof(Value);
  // Short texts lie in the value itself.
  constexpr size_t kInside = 15;
  for (const Value& value : values) {
    if (value.text.capacity() > kInside) bytes += value.text.capacity() + 1;
  }
  return bytes;
}

int SortOrder::Compare(const Values& a, const Values& b) const {
  for (size_t i = 0; i < keys_.size(); ++i) {
    const int result = CompareOne(a[i], b[i], keys_[i].descending);
    if (result != 0) return result;
  }
  return 0;
}

json::Value SortOrder::ToJson(const Values& values) {
  json::Value out = json::Value::Array();
  for (const Value& value : values) {
    switch (value.rank) {
      case Value::kNumber:
        out.Append(value.number);
        break;
      case Value::kText:
        out.Append(value.text);
        break;
      case Value::kAbsent:
        out.Append(json::Value());
        break;
    }
  }
  return out;
}

absl::StatusOr<SortOrder::Values> SortOrder::FromJson(const json::Value& json) const {
  Values values;
  for (const json::Value& item : json.items()) {
    const std::optional<Value> value = ValueFromJson(item);
    // The sizes differ then, which is the error below.
    if (!value.has_value()) break;
    values.push_back(*value);
  }
  if (values.size() == keys_.size() && json.size() == keys_.size()) return values;
  return absl::InvalidArgumentError(
      absl::StrCat("these are not values of a list that is sorted by ", text_));
}

}  // namespace kube
