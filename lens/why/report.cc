// Way builds the tree in the order in which a template travels: policies, interpreter, binding,
// scheduler, then for each cluster Work and member, then dependencies. Each step has the findings
// of the checks about it and is marked by the worst of them; other lines only show what was read
// and say nothing about whether it is right. JSON contains the same tree, so that both forms agree.
// What a terminal must not see is removed where the tree is printed. No state.

#include "lens/why/report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/policy.h"
#include "api/resources.h"
#include "api/work.h"
#include "kube/meta/patch_paths.h"
#include "lens/why/agents.h"
#include "lens/why/expected.h"
#include "lens/why/health.h"
#include "lens/why/matching.h"
#include "lens/why/newest_edit.h"
#include "lens/why/own_objects.h"

namespace lens::why {
namespace {

using interpreter::Operation;

constexpr size_t kPathsShown = 8;

Mark MarkOf(Grade grade) {
  switch (grade) {
    case Grade::kStuck:
      return Mark::kStuck;
    case Grade::kWaiting:
      return Mark::kWaiting;
    case Grade::kNote:
      break;
  }
  return Mark::kNote;
}

std::string ConditionsText(const json::Value& conditions) {
  std::vector<std::string> texts;
  for (const json::Value& condition : conditions.items()) {
    texts.push_back(ConditionText(condition, condition["status"].AsString() != "True"));
  }
  return texts.empty() ? "no conditions yet" : absl::StrJoin(texts, ", ");
}

class Way {
 public:
  Way(const Chain& chain, const Diagnosis& diagnosis) : chain_(chain), diagnosis_(diagnosis) {}

  Node Build() {
    Node root = Step(Step::kTemplate, chain_.Name());
    if (chain_.object == nullptr) absl::StrAppend(&root.text, "  (does not exist)");
    if (chain_.object != nullptr && chain_.object->generation() > 0) {
      absl::StrAppend(&root.text, "  generation ", chain_.object->generation());
    }
    if (!chain_.asked.through.empty()) {
      absl::StrAppend(&root.text, "  (asked about by ", chain_.asked.through, ")");
    }
    if (IsAboutOwnObject(chain_)) {
      AddOwnState(root);
      return root;
    }
    root.children.push_back(Policies());
    if (chain_.object != nullptr) root.children.push_back(Interpreter());
    root.children.push_back(Binding());
    if (chain_.binding != nullptr) root.children.push_back(Scheduling());
    for (const std::string& cluster : Clusters()) root.children.push_back(Cluster(cluster));
    if (const auto edit = NewestEditOf(chain_); edit.has_value()) {
      AddLines(TextOf(*edit, chain_.now), LinesOf(*edit, chain_.now), root);
    }
    AddShared(StepType::kWork, "Works", root);
    AddShared(StepType::kMember, "members", root);
    if (!chain_.needed.empty() || Has(StepType::kDependencies)) {
      root.children.push_back(Dependencies());
    }
    return root;
  }

 private:
  using StepType = why::Step;

  // Makes a node, marks it by the worst finding of the step, and puts what was found below it.
  Node Step(StepType step, std::string text, const std::string& cluster = "") const {
    Node node{Mark::kFine, std::move(text)};
    for (const Finding& finding : diagnosis_.findings) {
      const bool is_elsewhere = step != StepType::kTemplate && finding.cluster != cluster;
      if (finding.step != step || is_elsewhere) continue;
      const Mark mark = MarkOf(finding.grade);
      const bool worse = node.mark == Mark::kFine || mark < node.mark;
      if (worse) node.mark = mark;
      Node found{Mark::kNone, absl::StrCat(GradeName(finding.grade), ": ", finding.cause)};
      for (const std::string& line : finding.evidence)
        found.children.push_back({Mark::kNone, line});
      if (!finding.advice.empty()) {
        found.children.push_back({Mark::kNone, absl::StrCat("what to do: ", finding.advice)});
      }
      node.children.push_back(std::move(found));
    }
    return node;
  }

  // Returns whether something was found at the step that does not concern one cluster alone.
  bool Has(StepType step) const {
    return std::any_of(
        diagnosis_.findings.begin(), diagnosis_.findings.end(),
        [&](const Finding& finding) { return finding.step == step && finding.cluster.empty(); });
  }

  // What an object of Karmada's own says of itself; it has no way to members.
  void AddOwnState(Node& root) const {
    if (chain_.object == nullptr) return;
    const std::vector<std::string> warnings = OwnWarnings(chain_);
    AddLines("conditions", OwnConditions(chain_), root);
    if (!warnings.empty()) AddLines("Warning events", warnings, root);
    if (chain_.asked.gvk != api::Clusters().gvk) return;
    const std::string agent = AgentLine(chain_, chain_.asked.key.name);
    if (!agent.empty()) root.children.push_back({Mark::kNone, agent});
  }

  static void AddLines(const std::string& title, const std::vector<std::string>& lines,
                       Node& root) {
    Node node{Mark::kNone, lines.empty() ? absl::StrCat(title, ": none") : title};
    for (const std::string& line : lines) node.children.push_back({Mark::kNone, line});
    root.children.push_back(std::move(node));
  }

  void AddShared(StepType step, const char* title, Node& root) const {
    if (Has(step)) root.children.push_back(Step(step, title));
  }

  Node Policies() const {
    std::string claim;
    const kube::ObjectPtr governing =
        chain_.object == nullptr ? nullptr : ClaimingPolicy(chain_, *chain_.object, &claim);
    Node node = Step(StepType::kPolicy,
                     absl::StrCat("policy: ", claim.empty() ? "none has claimed it" : claim));
    const std::vector<Match> matches = Matches(chain_);
    for (const Match& match : matches) {
      node.children.push_back(
          {Mark::kNone, absl::StrCat(match.Describe(), " selects it, priority ", match.priority,
                                     match.policy == governing ? "  <- governs it" : "")});
    }
    if (matches.empty()) {
      node.children.push_back(
          {Mark::kNone, absl::StrCat("none of ", chain_.policies.size(), " policies selects it")});
    }
    return node;
  }

  // Who answers the questions that decide about this template.
  Node Interpreter() const {
    Node node{Mark::kFine, "interpreter"};
    for (const Operation op :
         {Operation::kInterpretReplica, Operation::kReviseReplica, Operation::kInterpretDependency,
          Operation::kRetain, Operation::kInterpretHealth, Operation::kAggregateStatus}) {
      const interpreter::RuleName rule = chain_.rules->RuleFor(chain_.asked.gvk, op);
      if (rule.layer.empty()) continue;
      node.children.push_back({Mark::kNone, absl::StrCat(interpreter::OperationName(op), ": ",
                                                         rule.layer, " ", rule.name, Answer(op))});
    }
    if (node.children.empty()) node.text = "interpreter: no layer has a rule for this kind";
    return node;
  }

  // What the interpreter says about the number of replicas.
  std::string Answer(Operation op) const {
    if (op != Operation::kInterpretReplica ||
        chain_.rules->IsAnsweredByWebhook(chain_.asked.gvk, op)) {
      return "";
    }
    const auto replicas = chain_.rules->WithoutWebhooks().GetReplicas(*chain_.object);
    return replicas.ok() ? absl::StrCat("  -> ", replicas->replicas,
                                        replicas->replicas == 1 ? " replica" : " replicas")
                         : absl::StrCat("  -> ", replicas.status().message());
  }

  Node Binding() const {
    return Step(
        StepType::kBinding,
        absl::StrCat("binding: ", chain_.binding == nullptr ? "none" : chain_.binding->Describe()));
  }

  Node Scheduling() const {
    const api::BindingView view(*chain_.binding);
    std::vector<std::string> targets;
    for (const api::TargetCluster& target : view.Clusters()) {
      targets.push_back(target.replicas > 0 ? absl::StrCat(target.name, ":", target.replicas)
                                            : target.name);
    }
    if (view.Placement().is_null() && !view.RequiredBy().empty()) {
      for (const api::TargetCluster& target : view.DispatchTargets()) {
        targets.push_back(target.name);
      }
      return Step(StepType::kScheduling,
                  absl::StrCat("scheduler: not asked; follows what needs it to ",
                               targets.empty() ? "no cluster" : absl::StrJoin(targets, ", ")));
    }
    const json::Value* scheduled = kube::FindCondition(view.Conditions(), api::kBindingScheduled);
    Node node = Step(
        StepType::kScheduling,
        absl::StrCat("scheduler: ", targets.empty() ? "no cluster" : absl::StrJoin(targets, ", ")));
    node.children.insert(
        node.children.begin(),
        {Mark::kNone, scheduled == nullptr ? "the scheduler has not said anything yet"
                                           : ConditionText(*scheduled, true)});
    return node;
  }

  // The targets, and those that still have a Work.
  std::vector<std::string> Clusters() const {
    std::vector<std::string> names;
    for (const api::TargetCluster& target : chain_.Targets()) names.push_back(target.name);
    const auto add = [&](const std::string& name) {
      const bool known = std::find(names.begin(), names.end(), name) != names.end();
      if (!known && chain_.Concerns(name)) names.push_back(name);
    };
    for (const auto& [name, work] : chain_.works) add(name);
    for (const Finding& finding : diagnosis_.findings) {
      if (!finding.cluster.empty()) add(finding.cluster);
    }
    return names;
  }

  Node Cluster(const std::string& name) const {
    const auto cluster = chain_.clusters.find(name);
    std::string state = "does not exist";
    if (cluster != chain_.clusters.end()) {
      state = api::ClusterView(*cluster->second).IsReady() ? "ready" : "not ready";
    }
    Node node = Step(StepType::kScheduling, absl::StrCat("cluster ", name, ": ", state), name);
    if (state != "ready" && node.mark == Mark::kFine) node.mark = Mark::kNote;
    node.children.push_back(Work(name));
    node.children.push_back(Member(name));
    return node;
  }

  Node Work(const std::string& cluster) const {
    const auto work = chain_.works.find(cluster);
    if (work == chain_.works.end()) return Step(StepType::kWork, "Work: none", cluster);
    Node node = Step(StepType::kWork,
                     absl::StrCat(work->second->Describe(), ": ",
                                  ConditionsText(api::WorkView(*work->second).Conditions())),
                     cluster);
    AddOverrides(cluster, *work->second, node);
    return node;
  }

  // Shows the override policies that the Work was made with: it may have been made before they
  // were changed, or be held back. Those that still apply are shown with their rules.
  void AddOverrides(const std::string& cluster, const kube::Object& work, Node& node) const {
    for (const std::string& policy : OverridesOf(work, chain_.asked.key.ns)) {
      std::vector<std::string> fields = FieldsOf(policy, cluster);
      if (fields.empty()) fields.emplace_back("(its rule does not apply any more)");
      for (const std::string& field : fields) {
        node.children.push_back({Mark::kNone, absl::StrCat("override: ", policy, " ", field)});
      }
    }
  }

  // Returns the fields of the policy's rules that apply in the cluster now.
  std::vector<std::string> FieldsOf(const std::string& policy, const std::string& cluster) const {
    std::vector<std::string> fields;
    if (chain_.object == nullptr || chain_.binding == nullptr) return fields;
    for (const api::TargetCluster& target : chain_.Targets()) {
      if (target.name != cluster) continue;
      const absl::StatusOr<Expected> expected = ExpectedFor(chain_, target);
      if (!expected.ok()) continue;
      for (const auto* rules :
           {&expected->application.of_cluster_policies, &expected->application.of_policies}) {
        for (const overrides::AppliedRule& applied : *rules) {
          if (applied.policy->object().Describe() == policy) fields.push_back(applied.rule->field);
        }
      }
    }
    return fields;
  }

  Node Member(const std::string& cluster) const {
    const auto answer = chain_.members.find(cluster);
    std::string text = "was not asked";
    if (answer != chain_.members.end()) {
      const MemberAnswer& said = answer->second;
      text = !said.status.ok() ? absl::StrCat("cannot be asked from here: ", said.status.message())
             : said.object == nullptr ? absl::StrCat("has no ", chain_.Name())
                                      : absl::StrCat("has ", chain_.Name());
    }
    Node node = Step(StepType::kMember, absl::StrCat("member: ", text), cluster);
    if (answer != chain_.members.end() && !answer->second.status.ok() && node.mark == Mark::kFine) {
      node.mark = Mark::kNote;
    }
    const absl::StatusOr<json::Value> difference = DifferenceIn(chain_, cluster);
    if (!difference.ok()) {
      node.children.push_back({Mark::kNone, std::string(difference.status().message())});
    } else if (!difference->empty()) {
      node.children.push_back(
          {Mark::kNone, absl::StrCat("differs in ", kube::PathsOf(*difference, kPathsShown))});
    }
    AddHealth(cluster, node);
    return node;
  }

  void AddHealth(const std::string& cluster, Node& node) const {
    const auto work = chain_.works.find(cluster);
    if (work == chain_.works.end()) return;
    const std::string health = HealthIn(chain_, *work->second);
    if (health.empty()) return;
    std::string text = absl::StrCat("health: ", health);
    if (health != api::kHealthy) {
      const std::string why = WhyUnhealthy(chain_, cluster, *work->second);
      if (!why.empty()) absl::StrAppend(&text, ": ", why);
    }
    node.children.push_back({Mark::kNone, std::move(text)});
  }

  Node Dependencies() const {
    Node node = Step(StepType::kDependencies, "dependencies");
    for (const api::DependentReference& reference : chain_.needed) {
      const bool missing = std::find(chain_.missing.begin(), chain_.missing.end(), reference) !=
                           chain_.missing.end();
      const bool known = chain_.CouldRead(reference.gvk(), {reference.ns, reference.name});
      const char* state = !missing ? "" : known ? "  (does not exist)" : "  (could not be read)";
      const bool is_refused = std::any_of(
          diagnosis_.findings.begin(), diagnosis_.findings.end(), [&](const Finding& finding) {
            return finding.check == "dependency-refused" &&
                   absl::StrContains(finding.cause, absl::StrCat(reference.Describe(), ","));
          });
      if (is_refused) node.mark = Mark::kStuck;
      node.children.push_back({Mark::kNone, absl::StrCat(reference.Describe(), state,
                                                         is_refused ? "  (is refused)" : "")});
    }
    return node;
  }

  const Chain& chain_;
  const Diagnosis& diagnosis_;
};

json::Value ToJson(const Finding& finding) {
  json::Value value = json::Value::Object({{"check", finding.check},
                                           {"step", StepName(finding.step)},
                                           {"grade", GradeName(finding.grade)},
                                           {"text", finding.cause}});
  if (!finding.advice.empty()) value.Set("advice", finding.advice);
  if (!finding.cluster.empty()) value.Set("cluster", finding.cluster);
  if (!finding.evidence.empty()) value.Set("evidence", json::Value::Strings(finding.evidence));
  return value;
}

json::Value ToJson(const Node& node) {
  json::Value value = json::Value::Object({{"text", node.text}});
  if (node.mark != Mark::kNone) value.Set("mark", MarkName(node.mark));
  if (node.children.empty()) return value;
  json::Value children = json::Value::Array();
  for (const Node& child : node.children) children.Append(ToJson(child));
  value.Set("children", std::move(children));
  return value;
}

}  // namespace

absl::string_view MarkName(Mark mark) {
  switch (mark) {
    case Mark::kFine:
      return "ok";
    case Mark::kStuck:
      return "stuck";
    case Mark::kWaiting:
      return "waiting";
    case Mark::kNote:
      return "note";
    case Mark::kNone:
      break;
  }
  return "";
}

Node WayOf(const Chain& chain, const Diagnosis& diagnosis) { return Way(chain, diagnosis).Build(); }

json::Value ReportAsJson(const Chain& chain, const Diagnosis& diagnosis) {
  const std::optional<NewestEdit> edit = NewestEditOf(chain);
  json::Value findings = json::Value::Array();
  for (const Finding& finding : diagnosis.findings) findings.Append(ToJson(finding));
  return json::Value::Object(
      {{"headline", AsSentence(diagnosis.headline)},
       {"arrived", diagnosis.arrived},
       {"advice", AsSentence(diagnosis.advice)},
       {"cause", diagnosis.cause == nullptr ? json::Value() : ToJson(*diagnosis.cause)},
       {"findings", std::move(findings)},
       {"newestEdit", edit.has_value() ? ToJson(*edit, chain.now) : json::Value()},
       {"way", ToJson(WayOf(chain, diagnosis))},
       {"unread", json::Value::Strings(chain.UnreadWithMembers())}});
}

}  // namespace lens::why
