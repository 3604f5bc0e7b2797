#include "overrides/internal/applied_record.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "kube/schema/go_text.h"

namespace overrides {
namespace {

void AppendItem(std::string* out, const AppliedRule& applied) {
  const std::string name = json::Write(applied.policy->name(), {.html_escape = true});
  absl::StrAppend(out, R"({"policyName":)", name, R"(,"overriders":)",
                  kube::schema::GoText(kube::schema::Overriders(), applied.rule->overriders), "}");
}

}  // namespace

size_t RecordedBytes(const AppliedRule& applied) {
  std::string item;
  AppendItem(&item, applied);
  return item.size() + 1;  // With the comma or bracket behind it.
}

std::string AppliedRecord(std::vector<AppliedRule> rules) {
  if (rules.empty()) return "";
  // Several rules of a policy stay in the order in which they were applied.
  std::stable_sort(rules.begin(), rules.end(), [](const AppliedRule& a, const AppliedRule& b) {
    return a.policy->name() < b.policy->name();
  });
  return absl::StrCat("[", absl::StrJoin(rules, ",", AppendItem), "]");
}

}  // namespace overrides
