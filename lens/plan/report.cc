// Three forms of one plan: text for people, warnings as compilers write them, JSON for programs.
// Text shows templates with a change or a problem, all with `full`, and ends with the numbers.
// Whatever comes from objects is made printable first (tool::OneLine, tool::Printable), because
// names and diffs may contain control characters that a terminal would obey; JSON escapes them by
// itself. No state.

#include "lens/plan/report.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/yaml.h"

namespace lens::plan {
namespace {

std::string InBrackets(const Place& place) {
  return place.empty() ? "" : absl::StrCat("  (", tool::OneLine(place.ToString()), ")");
}

std::string Indented(absl::string_view text, absl::string_view indent) {
  absl::ConsumeSuffix(&text, "\n");
  std::string out;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::StrAppend(&out, indent, line, "\n");
  }
  return out;
}

// Names may be those that annotations record, which nobody has checked.
std::string OneLines(const std::vector<std::string>& names) {
  return tool::OneLine(absl::StrJoin(names, ", "));
}

std::string PolicyLine(const TemplateChange& change) {
  const TemplateOutcome& outcome = change.outcome;
  if (outcome.policy_kind.empty()) {
    if (outcome.required_by.empty()) return "  no policy\n";
    return absl::StrCat("  follows ", OneLines(outcome.required_by), "\n");
  }
  std::string line =
      absl::StrCat("  policy ", outcome.policy_kind, " ", tool::OneLine(outcome.policy.ToString()),
                   InBrackets(change.policy_place));
  if (!outcome.required_by.empty()) {
    absl::StrAppend(&line, ", follows ", OneLines(outcome.required_by));
  }
  return line + "\n";
}

bool IsGone(const ClusterChange& change) {
  return change.action == Action::kDelete || change.action == Action::kRelease;
}

std::string ReplicasText(const ClusterChange& change) {
  if (IsGone(change) || !change.replicas_after.has_value()) return "";
  const int64_t after = *change.replicas_after;
  const std::string unit = after == 1 ? " replica" : " replicas";
  if (change.replicas_before.has_value() && *change.replicas_before != after) {
    return absl::StrCat(", ", *change.replicas_before, " -> ", after, unit);
  }
  return absl::StrCat(", ", after, unit);
}

std::string ActionText(const ClusterChange& change, const tool::Colours& colours) {
  const std::string cluster = tool::OneLine(change.cluster);
  switch (change.action) {
    case Action::kCreate:
      return colours.Green(absl::StrCat("+ ", cluster, ": create"));
    case Action::kChange:
      return colours.Yellow(absl::StrCat("~ ", cluster, ": change"));
    case Action::kDelete:
      return colours.Red(absl::StrCat("- ", cluster, ": delete"));
    case Action::kRelease:
      return colours.Yellow(absl::StrCat("~ ", cluster, ": released, stays there"));
    case Action::kNone:
    case Action::kFail:
      break;
  }
  if (!change.manifest.empty()) return absl::StrCat("  ", cluster, ": no change");
  // The cluster is a target, but the loops made no Work: an override or the like has failed.
  return colours.Red(absl::StrCat("! ", cluster, ": nothing can be made for it"));
}

std::string SummaryOf(const ClusterChange& change, const tool::Colours& colours) {
  std::string line = absl::StrCat(ActionText(change, colours), ReplicasText(change));
  if (change.suspended) absl::StrAppend(&line, ", suspended");
  if (!change.overrides.empty() && !IsGone(change)) {
    absl::StrAppend(&line, ", ", OneLines(change.overrides));
  }
  return line;
}

std::string ClusterText(const ClusterChange& change, const ReportOptions& options) {
  const std::string line = absl::StrCat("  ", SummaryOf(change, options.colours), "\n");
  // A new object has no diff that would show it.
  if (options.full && !change.manifest.empty() && change.action == Action::kCreate) {
    return line + Indented(tool::Printable(yaml::Write(change.manifest.root())), "      ");
  }
  if (change.diff.empty()) return line;
  return line + Indented(options.colours.Diff(tool::Printable(change.diff)), "      ");
}

std::string DependencyLine(const TemplateOutcome& outcome) {
  if (outcome.dependencies.empty()) return "";
  return absl::StrCat("  needs ",
                      absl::StrJoin(outcome.dependencies, ", ",
                                    [](std::string* out, const api::DependentReference& one) {
                                      absl::StrAppend(out, tool::OneLine(one.Describe()));
                                    }),
                      "\n");
}

std::string QuestionText(const WhatIf& answer, const tool::Colours& colours) {
  std::string text = colours.Bold(
      absl::StrCat("What if ", tool::OneLine(absl::StrJoin(answer.changes, ", ")), "?\n"));
  for (const std::string& note : answer.notes) {
    absl::StrAppend(&text, "  ", tool::OneLine(note), "\n");
  }
  if (answer.evictions_take > absl::ZeroDuration()) {
    absl::StrAppend(&text, "  The evictions take ", absl::FormatDuration(answer.evictions_take),
                    " together.\n");
  }
  return absl::StrCat(text, "  Templates: ", CountsOf(answer), ".\n\n");
}

const Fate* FateOf(const Plan& plan, const TemplateChange& change) {
  if (!plan.what_if.has_value()) return nullptr;
  const auto found = plan.what_if->fates.find(change.id);
  return found == plan.what_if->fates.end() ? nullptr : &found->second;
}

std::string VerdictText(Verdict verdict, const tool::Colours& colours) {
  switch (verdict) {
    case Verdict::kUnchanged:
      return "";
    case Verdict::kNoRoom:
    case Verdict::kPinned:
    case Verdict::kQuota:
    case Verdict::kNowhere:
    case Verdict::kStays:
      return absl::StrCat("  ", colours.Red(NameOf(verdict)));
    default:
      return absl::StrCat("  ", colours.Yellow(NameOf(verdict)));
  }
}

std::string LeavingLines(const Fate& fate) {
  std::string text;
  for (const Leaving& leaving : fate.leaves) {
    absl::StrAppend(&text, "  ", tool::OneLine(leaving.ToString()), "\n");
  }
  return text;
}

// Returns why the template is not placed as it should be, or why it is not known where it goes.
std::string WhyLine(const TemplateChange& change, const Fate* fate, const tool::Colours& colours) {
  if (fate != nullptr && fate->verdict == Verdict::kNotSimulated) {
    return absl::StrCat("  ", colours.Yellow("! not known where it goes: "),
                        tool::OneLine(fate->why), "\n");
  }
  const bool is_nowhere = fate != nullptr && fate->verdict == Verdict::kNowhere;
  const std::string& why = is_nowhere ? fate->why : change.outcome.not_scheduled;
  if (why.empty()) return "";
  const bool is_anywhere =
      std::any_of(change.clusters.begin(), change.clusters.end(),
                  [](const ClusterChange& cluster) { return !cluster.manifest.empty(); });
  return absl::StrCat("  ",
                      colours.Red(is_anywhere ? "! not placed in full: " : "! in no cluster: "),
                      tool::OneLine(why), "\n");
}

std::string TemplateText(const TemplateChange& change, const Fate* fate,
                         const ReportOptions& options) {
  std::string text =
      absl::StrCat(options.colours.Bold(tool::OneLine(change.id.ToString())),
                   fate == nullptr ? "" : VerdictText(fate->verdict, options.colours),
                   options.colours.Dim(InBrackets(change.place)), "\n", PolicyLine(change),
                   DependencyLine(change.outcome), fate == nullptr ? "" : LeavingLines(*fate));
  text += WhyLine(change, fate, options.colours);
  if (!change.outcome.held_back.empty()) {
    absl::StrAppend(&text, "  ", options.colours.Yellow("! held back: "),
                    tool::OneLine(change.outcome.held_back), "\n");
  }
  for (const ClusterChange& cluster : change.clusters) {
    text += ClusterText(cluster, options);
  }
  return text;
}

json::Value PlaceJson(const Place& place) {
  if (place.empty()) return nullptr;
  return json::Value::Object({{"file", place.file}, {"line", place.line}});
}

json::Value IntOrNull(const std::optional<int64_t>& number) {
  return number.has_value() ? json::Value(*number) : json::Value();
}

json::Value ClusterJson(const ClusterChange& change) {
  return json::Value::Object({{"name", change.cluster},
                              {"action", NameOf(change.action)},
                              {"replicasBefore", IntOrNull(change.replicas_before)},
                              {"replicas", IntOrNull(change.replicas_after)},
                              {"overrides", json::Value::Strings(change.overrides)},
                              {"suspended", change.suspended},
                              {"diff", change.diff},
                              {"manifest", change.manifest.root()}});
}

json::Value ReferenceJson(const api::DependentReference& reference) {
  auto value = json::Parse(reference.ToText());
  return value.ok() ? *std::move(value) : json::Value();
}

json::Value PolicyJson(const TemplateChange& change) {
  if (change.outcome.policy_kind.empty()) return nullptr;
  return json::Value::Object({{"kind", change.outcome.policy_kind},
                              {"namespace", change.outcome.policy.ns},
                              {"name", change.outcome.policy.name},
                              {"place", PlaceJson(change.policy_place)}});
}

std::string SecondsText(absl::Duration duration) { return absl::FormatDuration(duration); }

absl::string_view NameOf(Leaving::How how) {
  switch (how) {
    case Leaving::How::kAtOnce:
      return "at-once";
    case Leaving::How::kGradually:
      return "gracefully";
    case Leaving::How::kFollows:
      return "follows";
    case Leaving::How::kFirst:
      break;
  }
  return "directly";
}

json::Value FateJson(const Fate& fate) {
  json::Value leaves = json::Value::Array();
  for (const Leaving& leaving : fate.leaves) {
    leaves.Append(json::Value::Object({{"cluster", leaving.cluster},
                                       {"how", NameOf(leaving.how)},
                                       {"after", SecondsText(leaving.after)},
                                       {"atMost", SecondsText(leaving.at_most)},
                                       {"lost", leaving.is_lost}}));
  }
  return json::Value::Object(
      {{"verdict", NameOf(fate.verdict)}, {"why", fate.why}, {"leaves", std::move(leaves)}});
}

json::Value WhatIfJson(const WhatIf& answer) {
  json::Value counts = json::Value::Object();
  for (const Verdict verdict : kVerdicts) {
    const auto found = answer.counts.find(verdict);
    counts.Set(NameOf(verdict),
               static_cast<int64_t>(found == answer.counts.end() ? 0 : found->second));
  }
  return json::Value::Object({{"changes", json::Value::Strings(answer.changes)},
                              {"notes", json::Value::Strings(answer.notes)},
                              {"templates", std::move(counts)},
                              {"evictionsTake", SecondsText(answer.evictions_take)}});
}

json::Value TemplateJson(const TemplateChange& change) {
  json::Value clusters = json::Value::Array(), needs = json::Value::Array();
  for (const ClusterChange& cluster : change.clusters) clusters.Append(ClusterJson(cluster));
  for (const auto& reference : change.outcome.dependencies) needs.Append(ReferenceJson(reference));
  return json::Value::Object({{"apiVersion", change.outcome.api_version},
                              {"kind", change.id.kind},
                              {"namespace", change.id.ns},
                              {"name", change.id.name},
                              {"place", PlaceJson(change.place)},
                              {"policy", PolicyJson(change)},
                              {"notScheduled", change.outcome.not_scheduled},
                              {"heldBack", change.outcome.held_back},
                              {"dependencies", std::move(needs)},
                              {"requiredBy", json::Value::Strings(change.outcome.required_by)},
                              {"clusters", std::move(clusters)}});
}

}  // namespace

bool Differs(const TemplateChange& change) {
  return std::any_of(change.clusters.begin(), change.clusters.end(),
                     [](const ClusterChange& one) { return one.action != Action::kNone; });
}

std::string LineOf(const ClusterChange& change) {
  const std::string line = SummaryOf(change, tool::Colours(false));
  return std::string(absl::StripLeadingAsciiWhitespace(line));
}

std::string CountsOf(const WhatIf& answer) {
  if (answer.counts.empty()) return "no template is propagated, so nothing was asked";
  std::vector<std::string> parts;
  for (const Verdict verdict : kVerdicts) {
    const auto found = answer.counts.find(verdict);
    if (found != answer.counts.end()) {
      parts.push_back(absl::StrCat(NameOf(verdict), " ", found->second));
    }
  }
  return parts.empty() ? "every template stays as it is" : absl::StrJoin(parts, ", ");
}

std::string TextOf(const Plan& plan, const ReportOptions& options) {
  std::string text;
  if (plan.what_if.has_value()) text = QuestionText(*plan.what_if, options.colours);
  for (const TemplateChange& change : plan.templates) {
    // What stays as it is only appears in the numbers, unless something keeps it from its clusters.
    const Fate* fate = FateOf(plan, change);
    const bool is_stuck =
        !change.outcome.not_scheduled.empty() || !change.outcome.held_back.empty();
    // What is stuck whatever becomes of the fleet is another question's answer.
    const bool concerned = fate == nullptr ? is_stuck : fate->verdict != Verdict::kUnchanged;
    if (options.full || Differs(change) || concerned) {
      absl::StrAppend(&text, TemplateText(change, fate, options), "\n");
    }
  }
  const Counts counts = plan.Count();
  const std::string numbers = absl::StrCat(
      counts.create, " to create, ", counts.change, " to change, ", counts.remove, " to delete, ",
      counts.release > 0 ? absl::StrCat(counts.release, " to release, ") : "", counts.unchanged,
      " unchanged", counts.fail > 0 ? absl::StrCat(", ", counts.fail, " that cannot be made") : "");
  return absl::StrCat(text, options.colours.Bold("Plan: "),
                      tool::Count(plan.templates.size(), "template"), ", ",
                      tool::Count(plan.clusters, "cluster"), ": ", numbers, ".\n");
}

std::string WarningsOf(const Plan& plan, const tool::Colours& colours) {
  std::string text;
  for (const Finding& found : plan.findings) {
    absl::StrAppend(&text, colours.Yellow("warning: "), tool::OneLine(found.place.ToString()),
                    found.place.empty() ? "" : ": ", tool::OneLine(found.object), ": ",
                    tool::OneLine(found.message), "\n");
  }
  return text;
}

json::Value JsonOf(const Plan& plan) {
  json::Value templates = json::Value::Array(), warnings = json::Value::Array();
  for (const TemplateChange& change : plan.templates) {
    json::Value one = TemplateJson(change);
    const Fate* fate = FateOf(plan, change);
    if (fate != nullptr) one.Set("whatIf", FateJson(*fate));
    templates.Append(std::move(one));
  }
  for (const Finding& found : plan.findings) {
    warnings.Append(json::Value::Object({{"code", found.code},
                                         {"object", found.object},
                                         {"message", found.message},
                                         {"place", PlaceJson(found.place)}}));
  }
  const Counts counts = plan.Count();
  const auto number = [](size_t n) { return static_cast<int64_t>(n); };
  json::Value all =
      json::Value::Object({{"templates", std::move(templates)},
                           {"warnings", std::move(warnings)},
                           {"summary", json::Value::Object({{"clusters", number(plan.clusters)},
                                                            {"create", number(counts.create)},
                                                            {"change", number(counts.change)},
                                                            {"delete", number(counts.remove)},
                                                            {"release", number(counts.release)},
                                                            {"unchanged", number(counts.unchanged)},
                                                            {"fail", number(counts.fail)}})}});
  if (plan.what_if.has_value()) all.Set("whatIf", WhatIfJson(*plan.what_if));
  return all;
}

}  // namespace lens::plan
