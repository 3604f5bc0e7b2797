// Needs become rights: one verb on one resource (of one name), or on one URL, each with the loops
// that have it. Templates are replaced by the kinds of the scope, Roles among them bring the verbs
// that RBAC asks for, and rights that another one contains are dropped. Then resources with the
// same verbs and the same loops become one rule.

#include "controllers/permissions/rights.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/resources.h"
#include "base/json.h"

namespace permissions {
namespace {

constexpr char kAll[] = "*";
constexpr size_t kColumns = 100;

struct Right {
  std::string url;
  std::string group, resource, name;
  friend auto operator<=>(const Right&, const Right&) = default;
};
// The verbs of each right, each with the loops that need it.
using Verbs = std::map<std::string, std::set<std::string>>;
using Rights = std::map<Right, Verbs>;

// A kind of templates: its group, and its plural name.
using Kind = std::pair<std::string, std::string>;

std::vector<Kind> KindsOf(const PermissionScope& scope) {
  if (scope.template_kinds.empty()) return {{kAll, kAll}};
  std::vector<Kind> kinds;
  for (const std::string& text : scope.template_kinds) {
    // "deployments.apps": the plural has no dot, the group may have some.
    const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('.', 1));
    kinds.emplace_back(parts.second, parts.first);
  }
  return kinds;
}

class Merger {
 public:
  explicit Merger(const PermissionScope& scope) : scope_(scope), kinds_(KindsOf(scope)) {}

  void Add(const Need& need) {
    if (need.server != scope_.server) return;
    for (const Grant& grant : need.grants) Add(grant, need.loop);
  }

  std::vector<PermissionRule> Rules() const;

 private:
  void Add(const Grant& grant, const std::string& loop);
  void AddTemplates(const Grant& grant, const std::string& subresource, const std::string& loop);
  void Add(const Right& right, const std::vector<std::string>& verbs, const std::string& loop) {
    for (const std::string& verb : verbs) rights_[right][verb].insert(loop);
  }
  bool Has(const Right& right, const std::string& verb) const {
    const auto found = rights_.find(right);
    return found != rights_.end() && found->second.contains(verb);
  }
  // Returns whether another right contains this one.
  bool IsContained(const Right& right, const std::string& verb) const;

  const PermissionScope& scope_;
  const std::vector<Kind> kinds_;
  Rights rights_;
};

void Merger::Add(const Grant& grant, const std::string& loop) {
  for (const std::string& url : grant.urls) Add(Right{.url = url}, grant.verbs, loop);
  for (const std::string& resource : grant.resources) {
    if (absl::StartsWith(resource, kTemplates)) {
      AddTemplates(grant, resource.substr(kTemplates.size()), loop);
      continue;
    }
    const std::vector<std::string> every = {""};
    for (const std::string& name : grant.names.empty() ? every : grant.names) {
      Add({"", grant.group, resource, name}, grant.verbs, loop);
    }
  }
}

void Merger::AddTemplates(const Grant& grant, const std::string& subresource,
                          const std::string& loop) {
  const std::string& rbac = api::ClusterRoles().gvk.group;
  const bool writes =
      std::find(grant.verbs.begin(), grant.verbs.end(), "patch") != grant.verbs.end();
  for (const auto& [group, plural] : kinds_) {
    Add({"", group, plural + subresource, ""}, grant.verbs, loop);
    if (!writes || !subresource.empty()) continue;
    // The API server refuses changes of what grants more than the writer has.
    const bool all = group == kAll;
    for (const char* roles : {"roles", "clusterroles"}) {
      if (all || (group == rbac && plural == roles)) Add({"", rbac, roles, ""}, {"escalate"}, loop);
    }
    if (all || (group == rbac && absl::EndsWith(plural, "bindings"))) {
      for (const char* roles : {"roles", "clusterroles"})
        Add({"", rbac, roles, ""}, {"bind"}, loop);
    }
  }
}

bool Merger::IsContained(const Right& right, const std::string& verb) const {
  if (!right.url.empty()) return false;
  const size_t slash = right.resource.find('/');
  // In RBAC "*" contains subresources as well, and "*/status" those of this name.
  const std::string same =
      slash == std::string::npos ? kAll : absl::StrCat(kAll, right.resource.substr(slash));
  for (const std::string& group : {right.group, std::string(kAll)}) {
    for (const std::string& resource : {right.resource, same, std::string(kAll)}) {
      // A right without a name is one on all objects.
      const Right wider{"", group, resource, ""};
      if (wider != right && Has(wider, verb)) return true;
    }
  }
  return false;
}

size_t RankOf(const std::string& verb) {
  constexpr std::array kOrder = {"get", "list", "watch", "create", "update", "patch", "delete"};
  return static_cast<size_t>(std::find(kOrder.begin(), kOrder.end(), verb) - kOrder.begin());
}

std::vector<PermissionRule> Merger::Rules() const {
  using Alike = std::tuple<bool, std::string, std::string, std::vector<std::string>,
                           std::set<std::string>, bool>;
  std::map<Alike, std::vector<std::string>> groups;
  for (const auto& [right, verbs] : rights_) {
    std::vector<std::string> kept;
    std::set<std::string> loops;
    for (const auto& [verb, users] : verbs) {
      if (IsContained(right, verb)) continue;
      kept.push_back(verb);
      loops.insert(users.begin(), users.end());
    }
    if (kept.empty()) continue;
    std::stable_sort(kept.begin(), kept.end(),
                     [](const auto& a, const auto& b) { return RankOf(a) < RankOf(b); });
    const bool is_url = !right.url.empty();
    // Rules of all groups are the first, because false is before true.
    groups[{right.group != kAll, right.group, right.name, kept, loops, is_url}].push_back(
        is_url ? right.url : right.resource);
  }
  std::vector<PermissionRule> rules;
  for (auto& [alike, items] : groups) {
    const auto& [specific, group, name, verbs, loops, is_url] = alike;
    PermissionRule rule{{.group = group, .verbs = verbs}, loops};
    (is_url ? rule.grant.urls : rule.grant.resources) = std::move(items);
    if (!name.empty()) rule.grant.names = {name};
    rules.push_back(std::move(rule));
  }
  return rules;
}

// ---- The manifest -----------------------------------------------------------------------------

// The text is written into YAML without quotes only if no reader can take it for something else.
bool IsPlain(absl::string_view text) {
  constexpr absl::string_view kWords[] = {"true", "false", "yes", "no", "on",
                                          "off",  "null",  "y",   "n"};
  if (text.empty() || (!absl::ascii_isalpha(text[0]) && text[0] != '/')) return false;
  if (text.back() == ':') return false;
  for (const absl::string_view word : kWords) {
    if (absl::EqualsIgnoreCase(text, word)) return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("._/:*-", absl::string_view(&c, 1));
  });
}

std::string Scalar(const std::string& text) {
  return IsPlain(text) ? text : json::Write(json::Value(text));
}

std::string List(const std::vector<std::string>& texts) {
  return absl::StrCat("[",
                      absl::StrJoin(texts, ", ",
                                    [](std::string* out, const std::string& text) {
                                      absl::StrAppend(out, Scalar(text));
                                    }),
                      "]");
}

// Returns the names as a comment of as many lines as they need.
std::string Comment(const std::set<std::string>& loops) {
  std::string out("#");
  size_t begin = 0;  // Where the last line begins.
  for (const std::string& loop : loops) {
    const std::string word = absl::StrCat(" ", loop, loop == *loops.rbegin() ? "" : ",");
    if (out.size() - begin + word.size() > kColumns) {
      begin = out.size() + 1;
      absl::StrAppend(&out, "\n#");
    }
    absl::StrAppend(&out, word);
  }
  return absl::StrCat(out, "\n");
}

std::string RuleText(const PermissionRule& rule) {
  const Grant& grant = rule.grant;
  std::string out = Comment(rule.loops);
  if (!grant.urls.empty()) {
    absl::StrAppend(&out, "- nonResourceURLs: ", List(grant.urls), "\n");
  } else {
    absl::StrAppend(&out, "- apiGroups: ", List({grant.group}),
                    "\n  resources: ", List(grant.resources), "\n");
  }
  if (!grant.names.empty()) absl::StrAppend(&out, "  resourceNames: ", List(grant.names), "\n");
  absl::StrAppend(&out, "  verbs: ", List(grant.verbs), "\n");
  return out;
}

std::string SubjectText(const Role& role) {
  if (role.server == Server::kControlPlane) {
    return absl::StrCat("- apiGroup: rbac.authorization.k8s.io\n  kind: User\n  name: ",
                        Scalar(role.subject), "\n");
  }
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(role.subject, absl::MaxSplits('/', 1));
  return absl::StrCat("- kind: ServiceAccount\n  namespace: ", Scalar(parts.first),
                      "\n  name: ", Scalar(parts.second), "\n");
}

std::string HeadOf(const char* kind, const std::string& name) {
  return absl::StrCat("apiVersion: rbac.authorization.k8s.io/v1\nkind: ", kind,
                      "\nmetadata:\n  name: ", name, "\n");
}

}  // namespace

std::vector<PermissionRule> MergedRules(const std::vector<Need>& needs,
                                        const PermissionScope& scope) {
  Merger merger(scope);
  for (const Need& need : needs) merger.Add(need);
  return merger.Rules();
}

std::string RoleManifest(const std::vector<PermissionRule>& rules, const Role& role) {
  std::string out = absl::StrCat(role.comment, HeadOf("ClusterRole", role.name),
                                 rules.empty() ? "rules: []\n" : "rules:\n");
  for (const PermissionRule& rule : rules) absl::StrAppend(&out, RuleText(rule));
  absl::StrAppend(&out, "---\n", HeadOf("ClusterRoleBinding", role.name),
                  "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: ",
                  role.name, "\nsubjects:\n", SubjectText(role));
  return out;
}

}  // namespace permissions
