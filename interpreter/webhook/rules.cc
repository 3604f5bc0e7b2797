#include "interpreter/webhook/rules.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace interpreter::webhook {

namespace {

constexpr char kAny[] = "*";

// Describes one list of a rule.
struct ListField {
  const char* name;
  const char* described;  // "if '*' is present, must not specify other <described>"
  bool may_hold_empty = false;
};
constexpr ListField kOperations = {"operations", "operations"};
constexpr ListField kGroups = {"apiGroups", "API groups", /*may_hold_empty=*/true};
constexpr ListField kVersions = {"apiVersions", "API versions"};
constexpr ListField kKinds = {"kinds", "kinds"};
constexpr ListField kResources = {"resources", "resources"};

std::vector<std::string> AllOperationNames(Dialect dialect) {
  std::vector<std::string> names = {kAny};
  for (const Operation op : kAllOperations) {
    const absl::string_view name = OperationNameIn(dialect, op);
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

// Returns the texts of a list; empty when it is missing, which is reported.
std::vector<std::string> ReadList(const json::Value& rule, const ListField& list,
                                  const std::string& rule_field, Problems& problems) {
  const std::string field = Child(rule_field, list.name);
  const json::Value& value = rule[list.name];
  if (value.empty()) problems.Required(field);
  std::vector<std::string> texts;
  for (size_t i = 0; i < value.size(); ++i) {
    texts.push_back(value.At(i).ToString());
    if (texts.back().empty() && !list.may_hold_empty) problems.Required(Item(field, i));
  }
  if (texts.size() > 1 && std::find(texts.begin(), texts.end(), kAny) != texts.end()) {
    problems.Invalid(field, value,
                     absl::StrCat("if '*' is present, must not specify other ", list.described));
  }
  return texts;
}

std::vector<Operation> ReadOperations(const json::Value& rule, Dialect dialect,
                                      const std::string& rule_field, Problems& problems) {
  const std::vector<std::string> names = ReadList(rule, kOperations, rule_field, problems);
  std::vector<Operation> operations;
  for (size_t i = 0; i < names.size(); ++i) {
    bool known = false;
    for (const Operation op : kAllOperations) {
      const absl::string_view name = OperationNameIn(dialect, op);
      if (name.empty() || (names[i] != kAny && names[i] != name)) continue;
      operations.push_back(op);
      known = true;
    }
    if (!known) {
      problems.Unsupported(Item(Child(rule_field, kOperations.name), i), names[i],
                           AllOperationNames(dialect));
    }
  }
  std::sort(operations.begin(), operations.end());
  operations.erase(std::unique(operations.begin(), operations.end()), operations.end());
  return operations;
}

KindPattern::Scope ReadScope(const json::Value& rule, const std::string& rule_field,
                             Problems& problems) {
  const std::string scope = rule["scope"].ToString(kAny);
  if (scope == "Cluster") return KindPattern::Scope::kCluster;
  if (scope == "Namespaced") return KindPattern::Scope::kNamespaced;
  if (scope != kAny) {
    problems.Unsupported(Child(rule_field, "scope"), scope, {kAny, "Cluster", "Namespaced"});
  }
  return KindPattern::Scope::kAny;
}

}  // namespace

std::vector<Rule> ReadRules(absl::Span<const json::Value> rules, Dialect dialect,
                            const std::string& field, Problems& problems) {
  const bool exploring = dialect == Dialect::kExploreReview;
  std::vector<Rule> out;
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string rule_field = Item(field, i);
    Rule rule;
    rule.operations = ReadOperations(rules[i], dialect, rule_field, problems);
    rule.kinds.groups = ReadList(rules[i], kGroups, rule_field, problems);
    rule.kinds.versions = ReadList(rules[i], kVersions, rule_field, problems);
    std::vector<std::string>& what = exploring ? rule.kinds.resources : rule.kinds.kinds;
    what = ReadList(rules[i], exploring ? kResources : kKinds, rule_field, problems);
    if (exploring) rule.kinds.scope = ReadScope(rules[i], rule_field, problems);
    const bool complete = !rule.operations.empty() && !rule.kinds.groups.empty() &&
                          !rule.kinds.versions.empty() && !what.empty();
    if (complete) out.push_back(std::move(rule));
  }
  return out;
}

}  // namespace interpreter::webhook
