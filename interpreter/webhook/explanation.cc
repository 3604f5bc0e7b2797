#include "interpreter/webhook/explanation.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/resources.h"

namespace interpreter::webhook {

namespace {

// Returns "a", or "{a,b}" for several texts.
std::string AnyOf(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return texts[0];
  return absl::StrCat("{",
                      absl::StrJoin(texts, ",",
                                    [](std::string* out, const std::string& text) {
                                      absl::StrAppend(out, text.empty() ? "\"\"" : text);
                                    }),
                      "}");
}

bool IsAbout(const Rule& rule, Operation op) {
  return std::find(rule.operations.begin(), rule.operations.end(), op) != rule.operations.end();
}

std::string NotAskedFor(const Hook& hook) {
  std::set<Operation> asked;
  for (const Rule& rule : hook.rules) asked.insert(rule.operations.begin(), rule.operations.end());
  if (asked.empty()) return "it has no complete rule";
  return absl::StrCat("it is asked for ",
                      absl::StrJoin(asked, ", ",
                                    [&](std::string* out, Operation op) {
                                      absl::StrAppend(out, OperationNameIn(hook.dialect, op));
                                    }),
                      " only");
}

// Describes how the control plane serves the kind, which is what rules by resource match.
std::string ServedText(const kube::Gvk& gvk, const ResourceLookup& lookup) {
  const std::string kind = absl::StrCat(gvk.ApiVersion(), " ", gvk.kind);
  const auto served = lookup ? lookup(gvk) : std::nullopt;
  if (!served.has_value()) return absl::StrCat("how ", kind, " is served is not known");
  return absl::StrCat(kind, " is served as ", served->plural,
                      served->namespaced ? ", namespaced" : ", cluster-scoped");
}

// Returns why the hook is not asked; "" when one of its rules matches.
std::string WhyNot(const Hook& hook, const kube::Gvk& gvk, Operation op,
                   const ResourceLookup& lookup) {
  const absl::string_view name = OperationNameIn(hook.dialect, op);
  if (name.empty()) {
    const kube::Resource& resource = hook.dialect == Dialect::kExploreReview
                                         ? api::ExploringWebhookConfigurations()
                                         : api::InterpreterWebhookConfigurations();
    return absl::StrCat("webhooks of a ", resource.gvk.kind, " are never asked for ",
                        OperationName(op));
  }
  std::vector<std::string> patterns;
  for (const Rule& rule : hook.rules) {
    if (!IsAbout(rule, op)) continue;
    if (rule.kinds.Matches(gvk, lookup)) return "";
    patterns.push_back(KindPatternText(rule.kinds));
  }
  if (patterns.empty()) return NotAskedFor(hook);
  std::string why = absl::StrCat("no rule matches: it is asked for ", name, " of ",
                                 absl::StrJoin(patterns, ", "));
  if (hook.dialect == Dialect::kExploreReview) {
    absl::StrAppend(&why, "; ", ServedText(gvk, lookup));
  }
  return why;
}

}  // namespace

std::vector<HookVerdict> Explain(const HookSet& hooks, const kube::Gvk& gvk, Operation op) {
  const Hook* const asked = hooks.Find(gvk, op);
  std::vector<HookVerdict> verdicts;
  for (const Hook& hook : hooks.hooks()) {
    HookVerdict verdict{&hook, ""};
    if (&hook != asked) {
      verdict.reason = WhyNot(hook, gvk, op, hooks.lookup());
      if (verdict.reason.empty()) {
        verdict.reason = absl::StrCat("it has a rule, but ", asked->uid, " comes first");
      }
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

std::string KindPatternText(const KindPattern& pattern) {
  const bool core = pattern.groups.size() == 1 && pattern.groups[0].empty();
  std::string text =
      absl::StrCat(core ? "" : absl::StrCat(AnyOf(pattern.groups), "/"), AnyOf(pattern.versions),
                   " ", AnyOf(pattern.kinds.empty() ? pattern.resources : pattern.kinds));
  if (pattern.scope == KindPattern::Scope::kCluster) text += " (scope Cluster)";
  if (pattern.scope == KindPattern::Scope::kNamespaced) text += " (scope Namespaced)";
  return text;
}

}  // namespace interpreter::webhook
