// Runs a case and compares its results with the expected ones.

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "base/yaml.h"
#include "interpreter/customized/case_file.h"
#include "interpreter/customized/line_diff.h"
#include "interpreter/typed_results.h"
#include "kube/meta/quantity.h"

namespace interpreter::customized {

namespace {

constexpr absl::string_view kExclude = "{{EXCLUDE}}";

// Removes from both values the members that are not to be compared.
void RemoveExcluded(json::Value& expected, json::Value& got) {
  if (expected.is_array() && got.is_array()) {
    for (size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
      RemoveExcluded(expected.MutableAt(i), got.MutableAt(i));
    }
  }
  if (!expected.is_object() || !got.is_object()) return;
  const json::Value before = expected;
  for (const json::Member& member : before.members()) {
    if (member.value.AsString() == kExclude) {
      expected.Erase(member.name());
      got.Erase(member.name());
    } else if (got.Has(member.name())) {
      RemoveExcluded(expected.Mutable(member.name()), got.Mutable(member.name()));
    }
  }
}

bool SameQuantity(const json::Value& a, const json::Value& b) {
  if (!a.is_string() || !b.is_string()) return false;
  const absl::StatusOr<kube::Quantity> x = kube::Quantity::Parse(a.AsString());
  const absl::StatusOr<kube::Quantity> y = kube::Quantity::Parse(b.AsString());
  return x.ok() && y.ok() && *x == *y;
}

// Replaces quantities of `got` by those of `expected` that have the same value: "1Gi" and
// "1073741824" do not differ.
void AlignQuantities(const json::Value& expected, json::Value& got, bool are_quantities = false) {
  if (are_quantities && SameQuantity(expected, got)) got = expected;
  if (expected.is_array() && got.is_array()) {
    for (size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
      AlignQuantities(expected.At(i), got.MutableAt(i), are_quantities);
    }
  }
  if (!expected.is_object() || !got.is_object()) return;
  for (const json::Member& member : expected.members()) {
    if (!got.Has(member.name())) continue;
    AlignQuantities(member.value, got.Mutable(member.name()),
                    are_quantities || member.name() == "resourceRequest");
  }
}

json::Value SortedBy(const json::Value& list, std::initializer_list<absl::string_view> keys) {
  std::vector<json::Value> items(list.items().begin(), list.items().end());
  std::stable_sort(items.begin(), items.end(), [&](const json::Value& a, const json::Value& b) {
    for (const absl::string_view key : keys) {
      if (const int order = a[key].AsString().compare(b[key].AsString()); order != 0) {
        return order < 0;
      }
    }
    return false;
  });
  json::Value sorted = json::Value::Array();
  for (json::Value& item : items) sorted.Append(std::move(item));
  return sorted;
}

// Returns the value of a result in a form in which values that mean the same are equal.
absl::StatusOr<json::Value> Normal(absl::string_view result, const json::Value& value) {
  if (value.is_null()) return value;
  if (result == "requires") return ReadRequirements(value);
  if (result == "components") {
    ASSIGN_OR_RETURN(const json::Value components, ReadComponents(value));
    return SortedBy(components, {"name"});
  }
  if (result == "dependencies") {
    ASSIGN_OR_RETURN(const json::Value dependencies, ReadDependencies(value));
    return SortedBy(dependencies, {"apiVersion", "kind", "namespace", "name"});
  }
  if (result == "aggregatedStatus") return value["status"];
  return value;
}

// Returns the report of the differences; "" when the result is as expected.
std::string Compare(const NamedResult& result, const json::Value& wanted) {
  absl::StatusOr<json::Value> expected = Normal(result.name, wanted);
  if (!expected.ok()) {
    return absl::StrCat("output.", result.name, ": ", expected.status().message(), "\n");
  }
  absl::StatusOr<json::Value> got = Normal(result.name, result.value);
  if (!got.ok()) return absl::StrCat(result.name, ": ", got.status().message(), "\n");
  RemoveExcluded(*expected, *got);
  if (result.name == "requires" || result.name == "components") AlignQuantities(*expected, *got);
  if (*expected == *got) return "";
  return absl::StrCat(result.name, " (-want +got):\n",
                      LineDiff(yaml::Write(*expected), yaml::Write(*got)));
}

CaseResult RunToFail(const absl::Status& outcome, absl::string_view expected) {
  CaseResult out;
  out.passed = !outcome.ok() && absl::StrContains(outcome.message(), expected);
  if (outcome.ok()) {
    out.report = absl::StrCat("no error, but expected one: ", expected, "\n");
  } else if (!out.passed) {
    out.report = absl::StrCat("error: ", outcome.message(), "\nexpected one: ", expected, "\n");
  }
  return out;
}

template <class Answering>
CaseResult Run(const Case& c, const Answering& answering) {
  CaseResult out;
  const auto results = RunOperation(c.input, answering);
  if (const json::Value* error = c.output.Find("error"); error != nullptr) {
    return RunToFail(results.status(), error->AsString());
  }
  if (!results.ok()) {
    out.report = absl::StrCat("error: ", results.status().message(), "\n");
    return out;
  }
  json::Value missing = c.output;
  for (const NamedResult& result : *results) {
    const json::Value* wanted = c.output.Find(result.name);
    if (wanted == nullptr) {
      // Words are for people, and a test need not depend on them.
      if (result.name != kHealthMessage) out.unchecked.push_back(result.name);
      continue;
    }
    missing.Erase(result.name);
    out.report += Compare(result, *wanted);
  }
  for (const json::Member& member : missing.members()) {
    absl::StrAppend(&out.report, "output.", member.name(), ": ", OperationName(c.input.operation),
                    " has no such result\n");
  }
  out.passed = out.report.empty();
  return out;
}

}  // namespace

CaseResult RunCase(const Case& c, const Backend& backend) { return Run(c, backend); }

CaseResult RunCase(const Case& c, const Interpreter& interpreter) { return Run(c, interpreter); }

}  // namespace interpreter::customized
