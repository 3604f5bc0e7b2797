// The page says what the text says, in the same order: question, warnings, templates, numbers. A
// template is a <details> that is open when nobody has to look for it among many; differences are
// in a <details> of their own. Whatever comes from objects is made printable and escaped
// (tool::XmlText). The policy in the head forbids scripts and requests of any kind, should
// something get through all the same.

#include "lens/plan/page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/yaml.h"
#include "lens/plan/report.h"
#include "tool/console.h"
#include "tool/xml.h"

namespace lens::plan {
namespace {

constexpr size_t kOpenUpTo = 20;  // With more templates each one is closed at first.

constexpr char kHead[] = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>)";

constexpr char kStyle[] = R"(</title>
<style>
:root { color-scheme: light dark; --line: #8886;
  --good: #1a7f37; --bad: #cf222e; --warn: #9a6700; }
@media (prefers-color-scheme: dark) {
  :root { --good: #3fb950; --bad: #ff7b72; --warn: #d29922; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem;
  overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; }
table { border-collapse: collapse; } th, td { padding: .2rem .8rem .2rem 0; text-align: left; }
details { border: 1px solid var(--line); border-radius: .4rem; padding: .4rem .8rem;
  margin: .5rem 0; }
summary { cursor: pointer; font-weight: 600; }
ul { padding-left: 1.2rem; } code, pre { font: .85rem/1.4 ui-monospace, monospace; }
pre { overflow-x: auto; white-space: pre; }
.add { color: var(--good); } .remove { color: var(--bad); } .warn { color: var(--warn); }
.verdict { border: 1px solid currentColor; border-radius: 1rem; padding: 0 .6rem;
  font-size: .85rem; }
footer { border-top: 1px solid var(--line); margin-top: 1rem; }
</style>
</head>
<body>
<main>
)";

std::string Line(absl::string_view text) { return tool::XmlText(tool::OneLine(text)); }

std::string Item(const std::string& text, absl::string_view style = "") {
  if (style.empty()) return absl::StrCat("<li>", text, "</li>\n");
  return absl::StrCat("<li class=\"", style, "\">", text, "</li>\n");
}

absl::string_view StyleOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kUnchanged:
    case Verdict::kSpreads:
      return "add";
    case Verdict::kMoves:
    case Verdict::kShrinks:
    case Verdict::kNotSimulated:
      return "warn";
    default:
      return "remove";
  }
}

absl::string_view StyleOf(Action action) {
  switch (action) {
    case Action::kCreate:
      return "add";
    case Action::kDelete:
    case Action::kFail:
      return "remove";
    case Action::kChange:
    case Action::kRelease:
      return "warn";
    case Action::kNone:
      break;
  }
  return "";
}

std::string DiffHtml(const std::string& diff) {
  std::string html = "<pre>";
  absl::string_view text = diff;
  absl::ConsumeSuffix(&text, "\n");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const char first = line.empty() ? ' ' : line[0];
    const std::string escaped = tool::XmlText(tool::Printable(line));
    const char* style = first == '+' ? "add" : "remove";
    absl::StrAppend(&html,
                    first == '+' || first == '-'
                        ? absl::StrCat("<span class=\"", style, "\">", escaped, "</span>")
                        : escaped,
                    "\n");
  }
  return absl::StrCat(html, "</pre>\n");
}

std::string ClusterHtml(const ClusterChange& change) {
  const std::string line = tool::XmlText(LineOf(change));
  const std::string shown =
      change.diff.empty() && change.action == Action::kCreate && !change.manifest.empty()
          ? tool::XmlText(tool::Printable(yaml::Write(change.manifest.root())))
          : "";
  if (change.diff.empty() && shown.empty()) return Item(line, StyleOf(change.action));
  return absl::StrCat(
      "<li><details><summary class=\"", StyleOf(change.action), "\">", line, "</summary>",
      shown.empty() ? DiffHtml(change.diff) : absl::StrCat("<pre>", shown, "</pre>\n"),
      "</details></li>\n");
}

std::string PolicyHtml(const TemplateChange& change) {
  const TemplateOutcome& outcome = change.outcome;
  std::string text;
  if (!outcome.policy_kind.empty()) {
    absl::StrAppend(&text, "Policy: ", Line(outcome.policy_kind), " ",
                    Line(outcome.policy.ToString()), ". ");
  }
  if (!outcome.required_by.empty()) {
    absl::StrAppend(&text, "Follows ", Line(absl::StrJoin(outcome.required_by, ", ")), ". ");
  }
  return text.empty() ? "" : absl::StrCat("<p>", text, "</p>\n");
}

std::string TemplateHtml(const TemplateChange& change, const Fate* fate, bool open) {
  std::string html =
      absl::StrCat("<details", open ? " open" : "", "><summary>", Line(change.id.ToString()));
  if (fate != nullptr && fate->verdict != Verdict::kUnchanged) {
    absl::StrAppend(&html, " <span class=\"verdict ", StyleOf(fate->verdict), "\">",
                    NameOf(fate->verdict), "</span>");
  }
  absl::StrAppend(&html, "</summary>\n", PolicyHtml(change), "<ul>\n");
  if (fate != nullptr) {
    for (const Leaving& leaving : fate->leaves) html += Item(Line(leaving.ToString()));
  }
  if (fate != nullptr && fate->verdict == Verdict::kNotSimulated) {
    html += Item(absl::StrCat("It is not known where it goes: ", Line(fate->why)), "warn");
  } else if (fate != nullptr && fate->verdict == Verdict::kNowhere) {
    html += Item(absl::StrCat("In no cluster: ", Line(fate->why)), "remove");
  } else if (!change.outcome.not_scheduled.empty()) {
    html += Item(absl::StrCat("The scheduler: ", Line(change.outcome.not_scheduled)), "remove");
  }
  if (!change.outcome.held_back.empty()) {
    html += Item(absl::StrCat("Held back: ", Line(change.outcome.held_back)), "warn");
  }
  for (const ClusterChange& cluster : change.clusters) html += ClusterHtml(cluster);
  return html + "</ul>\n</details>\n";
}

std::string TitleOf(const Plan& plan) {
  if (!plan.what_if.has_value()) return "What the clusters would get";
  return absl::StrCat("What if ", Line(absl::StrJoin(plan.what_if->changes, ", ")), "?");
}

std::string QuestionHtml(const WhatIf& answer) {
  std::string html = "<ul>\n";
  for (const std::string& note : answer.notes) html += Item(Line(note));
  if (answer.evictions_take > absl::ZeroDuration()) {
    html += Item(absl::StrCat("The evictions take ", absl::FormatDuration(answer.evictions_take),
                              " together."));
  }
  return absl::StrCat(html, Item(absl::StrCat("Templates: ", CountsOf(answer), ".")), "</ul>\n");
}

std::string WarningsHtml(const Plan& plan) {
  if (plan.findings.empty()) return "";
  std::string html = "<h2>Warnings</h2>\n<ul>\n";
  for (const Finding& found : plan.findings) {
    html += Item(absl::StrCat(
        "<code>", Line(found.code), "</code> ", Line(found.object), ": ", Line(found.message),
        found.place.empty() ? "" : absl::StrCat(" (", Line(found.place.ToString()), ")")));
  }
  return html + "</ul>\n";
}

std::string NumbersHtml(const Plan& plan) {
  const Counts counts = plan.Count();
  return absl::StrCat("<footer><p>", tool::Count(plan.templates.size(), "template"), ", ",
                      tool::Count(plan.clusters, "cluster"), ": ", counts.create, " to create, ",
                      counts.change, " to change, ", counts.remove, " to delete, ", counts.release,
                      " to release, ", counts.unchanged, " unchanged, ", counts.fail,
                      " that cannot be made.</p></footer>\n");
}

bool IsShown(const TemplateChange& change, const Fate* fate) {
  if (Differs(change)) return true;
  if (fate != nullptr) return fate->verdict != Verdict::kUnchanged;
  return !change.outcome.not_scheduled.empty() || !change.outcome.held_back.empty();
}

}  // namespace

std::string PageOf(const Plan& plan) {
  const std::string title = TitleOf(plan);
  std::string html = absl::StrCat(kHead, title, kStyle, "<h1>", title, "</h1>\n");
  if (plan.what_if.has_value()) html += QuestionHtml(*plan.what_if);
  html += WarningsHtml(plan);
  html += "<h2>Templates</h2>\n";
  size_t shown = 0;
  std::string templates;
  for (const TemplateChange& change : plan.templates) {
    const Fate* fate = plan.what_if.has_value() ? &plan.what_if->fates.at(change.id) : nullptr;
    if (!IsShown(change, fate)) continue;
    ++shown;
    templates += TemplateHtml(change, fate, plan.templates.size() <= kOpenUpTo);
  }
  if (shown == 0) templates = "<p>Every cluster keeps what it has.</p>\n";
  return absl::StrCat(html, templates, NumbersHtml(plan), "</main>\n</body>\n</html>\n");
}

}  // namespace lens::plan
