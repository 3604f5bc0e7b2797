// Parsed label selectors. Requirements are sorted by key when they are made, so that equal
// selectors have equal texts whatever order they were written in; values of a requirement are
// sorted, too, and are searched by halves. "Nothing" is a flag and not a requirement, because it
// has to match no object at all, not even one with every label. Wording and rules are
// apimachinery's.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "kube/meta/internal/field_error.h"
#include "kube/meta/internal/label_requirement.h"
#include "kube/meta/selector.h"

namespace kube {
namespace {

using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

bool HasValue(const Requirement& r, absl::string_view value) {
  return std::binary_search(r.values.begin(), r.values.end(), value);
}

bool MatchesNumber(const Requirement& r, const json::Value& label) {
  int64_t bound = 0;
  int64_t number = 0;
  if (r.values.empty() || !internal::ParseWholeNumber(r.values.front(), bound)) return false;
  if (!internal::ParseWholeNumber(label.AsString(), number)) return false;
  return r.op == Operator::kGreaterThan ? number > bound : number < bound;
}

bool MatchesRequirement(const Requirement& r, const json::Value& labels) {
  const json::Value* label = labels.Find(r.key);
  switch (r.op) {
    case Operator::kIn:
      return label != nullptr && HasValue(r, label->AsString());
    case Operator::kNotIn:
      // A label that is missing is in no set.
      return label == nullptr || !HasValue(r, label->AsString());
    case Operator::kExists:
      return label != nullptr;
    case Operator::kDoesNotExist:
      return label == nullptr;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      return label != nullptr && MatchesNumber(r, *label);
  }
  return false;
}

std::string RequirementText(const Requirement& r) {
  const std::string values = absl::StrJoin(r.values, ",");
  const bool single = r.values.size() == 1;
  switch (r.op) {
    case Operator::kIn:
      return single ? absl::StrCat(r.key, "=", values) : absl::StrCat(r.key, " in (", values, ")");
    case Operator::kNotIn:
      return single ? absl::StrCat(r.key, "!=", values)
                    : absl::StrCat(r.key, " notin (", values, ")");
    case Operator::kExists:
      return r.key;
    case Operator::kDoesNotExist:
      return absl::StrCat("!", r.key);
    case Operator::kGreaterThan:
      return absl::StrCat(r.key, ">", values);
    case Operator::kLessThan:
      return absl::StrCat(r.key, "<", values);
  }
  return "";
}

absl::StatusOr<Operator> OperatorFromName(absl::string_view name) {
  if (name == "In") return Operator::kIn;
  if (name == "NotIn") return Operator::kNotIn;
  if (name == "Exists") return Operator::kExists;
  if (name == "DoesNotExist") return Operator::kDoesNotExist;
  return absl::InvalidArgumentError(
      absl::StrCat(internal::Quote(name), " is not a valid label selector operator"));
}

absl::StatusOr<Requirement> RequirementFromExpression(const json::Value& expression) {
  ASSIGN_OR_RETURN(const Operator op, OperatorFromName(expression["operator"].AsString()));
  RETURN_IF_ERROR(json::FindArray(expression, {"values"}).status());
  std::vector<std::string> values;
  for (const json::Value& v : expression["values"].items()) {
    if (!v.is_string()) {
      return absl::InvalidArgumentError(absl::StrCat("values: not a string: ", json::Write(v)));
    }
    values.push_back(v.ToString());
  }
  return internal::MakeRequirement(expression["key"].AsString(), op, std::move(values));
}

void SortByKey(std::vector<Requirement>& requirements) {
  std::stable_sort(requirements.begin(), requirements.end(),
                   [](const Requirement& a, const Requirement& b) { return a.key < b.key; });
}

}  // namespace

LabelSelector LabelSelector::Nothing() {
  LabelSelector selector;
  selector.nothing_ = true;
  return selector;
}

LabelSelector LabelSelector::Equal(absl::string_view key, absl::string_view value) {
  LabelSelector selector;
  selector.requirements_.push_back({std::string(key), Operator::kIn, {std::string(value)}});
  return selector;
}

absl::StatusOr<LabelSelector> LabelSelector::Parse(absl::string_view text) {
  LabelSelector selector;
  ASSIGN_OR_RETURN(selector.requirements_, internal::ParseRequirements(text));
  SortByKey(selector.requirements_);
  return selector;
}

absl::StatusOr<LabelSelector> LabelSelector::FromJson(const json::Value& selector) {
  // A selector that is missing selects nothing; an empty one selects everything.
  if (selector.is_null()) return Nothing();
  RETURN_IF_ERROR(json::FindObject(selector, {"matchLabels"}).status());
  RETURN_IF_ERROR(json::FindArray(selector, {"matchExpressions"}).status());
  LabelSelector result;
  for (const json::Member& m : selector["matchLabels"].members()) {
    RETURN_IF_ERROR(json::FindString(selector, {"matchLabels", m.name()}).status());
    ASSIGN_OR_RETURN(Requirement r,
                     internal::MakeRequirement(m.name(), Operator::kIn, {m.value.ToString()}));
    result.requirements_.push_back(std::move(r));
  }
  for (const json::Value& expression : selector["matchExpressions"].items()) {
    ASSIGN_OR_RETURN(Requirement r, RequirementFromExpression(expression));
    result.requirements_.push_back(std::move(r));
  }
  SortByKey(result.requirements_);
  return result;
}

bool LabelSelector::Matches(const json::Value& labels) const {
  // It is asked before the requirements, of which there are none.
  if (nothing_) return false;
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& r) { return MatchesRequirement(r, labels); });
}

std::string LabelSelector::ToString() const {
  // Every server can parse this text, and no labels fulfil it.
  if (nothing_) return "nothing,!nothing";
  return absl::StrJoin(requirements_, ",", [](std::string* out, const Requirement& r) {
    absl::StrAppend(out, RequirementText(r));
  });
}

}  // namespace kube
