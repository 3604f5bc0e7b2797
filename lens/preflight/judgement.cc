// One row for each thing that is in use, in the order kinds, bindings, policies, customizations,
// webhooks, members. The grade follows one rule: "lost" where this program would not do what the
// present one does, "differs" where it does it visibly otherwise, "unknown" where the facts could
// not be read, and "same" for the rest; facts that could not be read never become "same". A kind
// that nobody uses differs in nothing. Customizations and webhooks are judged as admission would
// judge them (interpreter/check). No state; only scripts of customizations are run.

#include "lens/preflight/judgement.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/agent_version.h"
#include "api/cluster.h"
#include "api/eviction.h"
#include "api/leadership.h"
#include "interpreter/check/admission_review.h"
#include "interpreter/customized/customization.h"
#include "lens/preflight/documented.h"
#include "tool/console.h"

namespace lens::preflight {
namespace {

using interpreter::check::Verdict;
using interpreter::customized::MergeOptions;

bool Serves(const KindFacts& kind, absl::string_view version) {
  return std::find(kind.served.begin(), kind.served.end(), version) != kind.served.end();
}

json::Value DetailsOf(const KindFacts& kind) {
  json::Value details = json::Value::Object({{"kind", kind.resource.gvk.kind},
                                             {"served", json::Value::Strings(kind.served)},
                                             {"stored", json::Value()},
                                             {"count", json::Value()},
                                             {"read", json::Value()}});
  if (kind.support != nullptr) details.Set("read", kind.support->version);
  if (kind.served.empty()) return details;
  if (kind.stored.ok()) details.Set("stored", json::Value::Strings(*kind.stored));
  if (kind.count.ok()) details.Set("count", *kind.count);
  if (kind.concerned.has_value()) details.Set("concerned", *kind.concerned);
  return details;
}

std::string UseOf(const KindFacts& kind) {
  if (kind.served.empty()) return "";
  const std::string count =
      kind.count.ok() ? tool::Count(static_cast<size_t>(*kind.count), "object") : "? objects";
  std::string use = absl::StrCat(count, ", served as ", absl::StrJoin(kind.served, " "));
  if (kind.stored.ok() && !kind.stored->empty()) {
    absl::StrAppend(&use, ", stored as ", absl::StrJoin(*kind.stored, " "));
  }
  return use;
}

struct Judged {
  Grade grade = Grade::kSame;
  std::string note;
};

Judged JudgeUnknownKind(const KindFacts& kind) {
  constexpr char kUnknownHere[] = "this program does not know the kind";
  if (!kind.count.ok()) {
    return {Grade::kUnknown, absl::StrCat(kUnknownHere, ", and its objects could not be counted: ",
                                          kind.count.status().message())};
  }
  return {*kind.count > 0 ? Grade::kLost : Grade::kSame, kUnknownHere};
}

Judged JudgeMissingKind(const KindFacts& kind) {
  if (!kind.discovery.ok()) return {Grade::kUnknown, std::string(kind.discovery.message())};
  // A kind that this program does not read need not be served.
  if (kind.support->state != config::State::kHere) return {Grade::kSame, "is not served"};
  return {Grade::kLost,
          "is not served; karmada-controller-manager ends when a kind that its controllers watch "
          "stays missing. Apply the kind's definition first (config/crds)"};
}

Judged JudgeReadableKind(const config::KindSupport& support, bool is_used) {
  std::string note(support.note);
  const std::string documented = DifferencesOf(support);
  if (!is_used || documented.empty()) return {Grade::kSame, std::move(note)};
  const VisibleDifference* visible = VisibleDifferenceOf(support);
  absl::StrAppend(&note, note.empty() ? "" : "; ");
  if (visible != nullptr) absl::StrAppend(&note, visible->effect, "; ");
  absl::StrAppend(&note, "see also ", documented);
  return {visible == nullptr ? Grade::kSame : Grade::kDiffers, std::move(note)};
}

Judged JudgeTemplates(const KindFacts& kind, const VisibleDifference& visible) {
  if (!kind.count.ok()) {
    return {Grade::kUnknown,
            absl::StrCat("the objects could not be counted: ", kind.count.status().message())};
  }
  if (kind.concerned.value_or(*kind.count) == 0) return {Grade::kSame, ""};
  const std::string how_many =
      kind.concerned.has_value() ? absl::StrCat(*kind.concerned, " of them: ") : "";
  return {Grade::kDiffers, absl::StrCat(how_many, visible.effect, "; see also docs/differences.md#",
                                        visible.anchor)};
}

Judged JudgeKind(const KindFacts& kind) {
  if (const auto* visible = VisibleDifferenceOf(kind.resource); visible != nullptr) {
    return JudgeTemplates(kind, *visible);
  }
  if (kind.support == nullptr) return JudgeUnknownKind(kind);
  if (kind.served.empty()) return JudgeMissingKind(kind);
  const config::KindSupport& support = *kind.support;
  const bool is_read = support.state == config::State::kHere;
  if (is_read && !Serves(kind, support.version)) {
    return {Grade::kLost,
            absl::StrCat("this program reads ", support.version, ", which is not served")};
  }
  if (!kind.count.ok()) {
    return {Grade::kUnknown,
            absl::StrCat("the objects could not be counted: ", kind.count.status().message())};
  }
  if (!kind.stored.ok()) {
    return {Grade::kUnknown, absl::StrCat("the stored versions could not be read: ",
                                          kind.stored.status().message())};
  }
  return JudgeReadableKind(support, *kind.count > 0);
}

Row KindRow(const KindFacts& kind) {
  Judged judged = JudgeKind(kind);
  const bool is_used = kind.count.ok() && *kind.count > 0;
  return {.part = Part::kKinds,
          .name = absl::StrCat(kind.resource.plural, ".", kind.resource.gvk.group),
          .use = UseOf(kind),
          .grade = judged.grade,
          .note = std::move(judged.note),
          .details = DetailsOf(kind),
          .quiet = judged.grade == Grade::kSame && !is_used};
}

// Returns the row of objects that could not be listed.
Row UnreadRow(Part part, const absl::Status& status) {
  return {.part = part,
          .name = "all",
          .grade = Grade::kUnknown,
          .note = absl::StrCat("could not be listed: ", status.message())};
}

Judged JudgedBy(const Verdict& verdict) {
  std::vector<std::string> findings = verdict.errors;
  findings.insert(findings.end(), verdict.warnings.begin(), verdict.warnings.end());
  const Grade grade = !verdict.errors.empty()     ? Grade::kLost
                      : !verdict.warnings.empty() ? Grade::kDiffers
                                                  : Grade::kSame;
  return {grade, absl::StrJoin(findings, "; ")};
}

std::string CustomizationUse(const interpreter::customized::Customization& customization) {
  std::vector<std::string> operations;
  for (const auto& [operation, script] : customization.scripts) {
    const auto* field = interpreter::customized::ScriptFieldOf(operation);
    if (field != nullptr) operations.emplace_back(field->function);
  }
  return absl::StrCat(customization.target.kind, " (", customization.target.ApiVersion(),
                      "): ", absl::StrJoin(operations, ", "));
}

Row CustomizationRow(const kube::Object& object, const std::vector<kube::ObjectPtr>& all,
                     const MergeOptions& merge) {
  Judged judged = JudgedBy(interpreter::check::Judge(object, all, merge));
  return {.part = Part::kRules,
          .use = CustomizationUse(interpreter::customized::ParseCustomization(object)),
          .grade = judged.grade,
          .note = std::move(judged.note)};
}

Row WebhookRow(const kube::Object& object) {
  std::vector<std::string> names;
  for (const json::Value& hook : object.root()["webhooks"].items()) {
    names.push_back(hook["name"].ToString());
  }
  Judged judged = JudgedBy(interpreter::check::Judge(object, {}));
  return {.part = Part::kWebhooks,
          .use = absl::StrJoin(names, ", "),
          .grade = judged.grade,
          .note = std::move(judged.note)};
}

// Upstream's agent does not write a version.
Row PullRow(const kube::Object& cluster, const Facts& facts) {
  Row row{.part = Part::kMembers,
          .use = "Pull",
          .note = "its karmada-agent stays and goes on doing its work",
          .details = json::Value::Object({{"syncMode", "Pull"}})};
  const auto lease =
      std::find_if(facts.agents.begin(), facts.agents.end(),
                   [&](const kube::ObjectPtr& one) { return one->name() == cluster.name(); });
  if (lease == facts.agents.end()) return row;
  const std::string renewed = (*lease)->spec()["renewTime"].ToString();
  row.details.Set("agentRenewed", renewed);
  const std::string version = api::AgentVersion(**lease);
  if (!version.empty()) row.details.Set("agentVersion", version);
  if (!api::WhyNobodyLeads(**lease, facts.read_at).empty()) {
    row.note = absl::StrCat("its karmada-agent is silent since ", renewed,
                            ": its Works wait, with either controller manager");
    return row;
  }
  absl::StrAppend(&row.note, "; ",
                  version.empty() ? "it" : absl::StrCat("this project's ", version),
                  " last renewed its Lease at ", renewed);
  return row;
}

Row MemberRow(const kube::Object& object, const Facts& facts) {
  if (api::ClusterView(object).IsPull()) return PullRow(object, facts);
  return {.part = Part::kMembers,
          .use = "Push",
          .details = json::Value::Object({{"syncMode", "Push"}}),
          .quiet = true};
}

using Objects = std::vector<kube::ObjectPtr>;

// Adds a row for each object, with its name, or one that says why they could not be listed.
template <class RowOf>
void AddRows(Part part, const absl::StatusOr<Objects>& objects, RowOf row_of,
             std::vector<Row>& rows) {
  if (!objects.ok()) {
    rows.push_back(UnreadRow(part, objects.status()));
    return;
  }
  for (const kube::ObjectPtr& object : *objects) {
    rows.push_back(row_of(*object));
    rows.back().name = std::string(object->name());
  }
}

// Returns "ns/a, ns/b"; of many the first ones.
std::string Some(const std::vector<std::string>& names, absl::string_view separator = ", ") {
  constexpr size_t kShown = 5;
  const size_t shown = std::min(names.size(), kShown);
  return absl::StrCat(absl::StrJoin(names.begin(), names.begin() + shown, separator),
                      names.size() > shown ? absl::StrCat(separator, "...") : "");
}

// Adds a row about bindings that have another effect here, if there are any.
void AddBindings(absl::string_view name, const std::vector<std::string>& bindings,
                 const BindingDifference& difference, std::vector<Row>& rows) {
  if (bindings.empty()) return;
  rows.push_back({.part = Part::kKinds,
                  .name = std::string(name),
                  .use = tool::Count(bindings.size(), "object"),
                  .grade = Grade::kDiffers,
                  .note = absl::StrCat(difference.effect, ": ", Some(bindings),
                                       "; see also docs/differences.md#", difference.anchor),
                  .details = json::Value::Object({{"count", static_cast<int64_t>(bindings.size())},
                                                  {"bindings", json::Value::Strings(bindings)}})});
}

// A server without the document shows no release; one that may not be asked might show one.
void AddReleaseRow(const absl::StatusOr<config::Release>& release, std::vector<Row>& rows) {
  if (release.ok() || absl::IsNotFound(release.status())) return;
  rows.push_back(
      {.part = Part::kKinds,
       .name = "release of Karmada",
       .grade = Grade::kUnknown,
       .note = absl::StrCat("the definitions do not show it: ", release.status().message())});
}

void AddBindingRows(const absl::StatusOr<BindingFacts>& facts, std::vector<Row>& rows) {
  constexpr char kBindings[] = "bindings that have another effect";
  if (!facts.ok()) {
    rows.push_back(UnreadRow(Part::kKinds, facts.status()));
    rows.back().name = kBindings;
    return;
  }
  AddBindings("refused bindings", facts->refused, kRefusedBindings, rows);
  AddBindings("bindings of released templates", facts->released, kReleasedTemplates, rows);
}

// Adds a row about policies that Karmada v1.19 refuses, if there are any.
void AddPurgeModeRow(const absl::StatusOr<std::vector<OutdatedPurgeMode>>& facts,
                     std::vector<Row>& rows) {
  constexpr char kPolicies[] = "policies with an old purge mode";
  if (!facts.ok()) {
    rows.push_back(UnreadRow(Part::kKinds, facts.status()));
    rows.back().name = kPolicies;
    return;
  }
  if (facts->empty()) return;
  std::vector<std::string> named;
  for (const OutdatedPurgeMode& outdated : *facts) {
    named.push_back(
        absl::StrCat(outdated.policy, ": ", api::message::PurgeModeOutdated(outdated.mode)));
  }
  const auto count = static_cast<int64_t>(named.size());
  rows.push_back({.part = Part::kKinds,
                  .name = kPolicies,
                  .use = tool::Count(named.size(), "object"),
                  .grade = Grade::kDiffers,
                  .note = absl::StrCat(
                      kOldPurgeModes.effect, "; spec.failover.application.purgeMode of ",
                      Some(named, "; "), "; see also docs/differences.md#", kOldPurgeModes.anchor),
                  .details = json::Value::Object(
                      {{"count", count}, {"policies", json::Value::Strings(named)}})});
}

}  // namespace

std::vector<Row> Judge(const Facts& facts, const MergeOptions& merge) {
  std::vector<Row> rows;
  for (const KindFacts& kind : facts.kinds) rows.push_back(KindRow(kind));
  AddReleaseRow(facts.release, rows);
  AddBindingRows(facts.bindings, rows);
  AddPurgeModeRow(facts.purge_modes, rows);
  const auto customization_row = [&](const kube::Object& object) {
    return CustomizationRow(object, *facts.customizations, merge);
  };
  AddRows(Part::kRules, facts.customizations, customization_row, rows);
  AddRows(Part::kWebhooks, facts.webhooks, WebhookRow, rows);
  AddRows(
      Part::kMembers, facts.clusters,
      [&](const kube::Object& cluster) { return MemberRow(cluster, facts); }, rows);
  return rows;
}

}  // namespace lens::preflight
