// `impact` compares two sets of rules about live objects. It reads the given customizations first,
// so that a mistake in a file is reported before any server is asked; then the live rules; then it
// merges the rules as they are and as they would be, and lets the walk (impact_walk.h) ask both
// sides about each object. Nothing is written to the control plane. The objects are read page by
// page while the walk goes on, so changes made meanwhile are seen or not.
//
// The exit code is that of a difference: 0 says that everything could be compared and nothing
// changes. What could not be read or compared, and a customization that admission would refuse,
// make it 1.

#include "cmd/interpret/impact.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/enumerated.h"
#include "base/status.h"
#include "cmd/interpret/flags.h"
#include "cmd/interpret/impact_report.h"
#include "cmd/interpret/impact_walk.h"
#include "cmd/interpret/live_rules.h"
#include "cmd/interpret/member_source.h"
#include "cmd/interpret/object_source.h"
#include "cmd/interpret/rule_side.h"
#include "config/flag_types.h"
#include "interpreter/check/upstream_admission.h"

namespace cmd::interpret {
namespace {

using interpreter::customized::Customization;
using interpreter::customized::CustomizationSet;
using interpreter::customized::MergeOptions;

constexpr char kExamples[] = R"(Examples:
  %prog% impact -f widget.yaml --kubeconfig ~/.kube/karmada.config
  %prog% impact -f widget.yaml --diff             # what each answer would be, line by line
  %prog% impact -R -f customizations/ --members   # also asks about the members' objects
  %prog% impact -f widget.yaml -n shop -o json

The old rules are the live customizations and webhooks, the shipped customizations and the built-in
rules; the new ones are the same with the given customizations in the place of those of the same
name, or beside them. Nothing is written.

Exit codes:
  0  nothing changes
  1  it could not be determined: a wrong flag, an unreachable server; or none of the answers that
     could be compared changes, and some could not be compared
  2  something changes)";

// The codes of `terraform plan -detailed-exitcode`.
constexpr tool::ExitNumbers kExitNumbers = {.failed = 2, .unusable = 1};

struct ImpactOptions {
  LayerOptions input;
  ImpactReportOptions report;
  bool members = false;
  bool json = false;
};

using Customizations = std::map<std::string, std::shared_ptr<const Customization>>;

// They are merged as the controller manager merges them, so that the same one answers.
std::shared_ptr<const CustomizationSet> Merged(const Customizations& customizations,
                                               const MergeOptions& merge) {
  std::vector<std::shared_ptr<const Customization>> all;
  for (const auto& [name, customization] : customizations) all.push_back(customization);
  return CustomizationSet::Merge(std::move(all), merge);
}

struct Given {
  Customizations rules;
  std::vector<kube::Object> objects;
};

// Reads the given customizations. kInvalidArgument for one without a name, or with the name of
// another: which live one it replaces would not be known.
absl::StatusOr<Given> ReadGiven(const LayerOptions& input, ObjectSource& source) {
  Given given;
  for (const std::string& argument : input.customizations) {
    ASSIGN_OR_RETURN(const std::vector<tool::Document> documents,
                     source.Customizations(argument, input.recursive));
    for (const tool::Document& document : documents) {
      const kube::Object object(document.value);
      Customization read = interpreter::customized::ParseCustomization(object);
      for (const auto& problem : read.problems) {
        if (!problem.field.empty()) continue;
        return absl::InvalidArgumentError(absl::StrCat(document.Where(), ": ", problem.ToString(),
                                                       "; -f takes customizations only"));
      }
      const std::string name(object.name());
      if (name.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(document.Where(), ": it has no name"));
      }
      auto shared = std::make_shared<const Customization>(std::move(read));
      given.objects.push_back(object);
      if (given.rules.emplace(name, std::move(shared)).second) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(document.Where(), ": ", name, " is given twice"));
    }
  }
  return given;
}

// The rules before and after.
struct Sides {
  std::shared_ptr<const CustomizationSet> before, after;
};

// Before are all live ones; after, the given ones take the place of those of the same name.
Sides SidesOf(const LiveRules& live, const Customizations& given, const MergeOptions& merge) {
  Customizations all;
  for (const kube::Object& object : live.customizations) {
    all[std::string(object.name())] =
        std::make_shared<const Customization>(interpreter::customized::ParseCustomization(object));
  }
  Sides sides;
  sides.before = Merged(all, merge);
  // A given customization replaces the live one of its name.
  for (const auto& [name, customization] : given) all[name] = customization;
  sides.after = Merged(all, merge);
  return sides;
}

void Warn(tool::Console& console, absl::string_view text) {
  console.err << console.err_colours.Yellow("warning:") << " " << tool::Printable(text) << "\n";
}

void WarnOfProblems(const LiveRules& live, const CustomizationSet& after,
                    const Customizations& given, tool::Console& console) {
  for (const std::string& text : live.unread) Warn(console, text);
  for (const std::string& text : live.webhooks.problems) Warn(console, text);
  for (const auto& [name, problems] : after.problems()) {
    // Problems of live customizations that are not touched are not this user's question.
    if (given.count(name) == 0) continue;
    for (const auto& problem : problems)
      Warn(console, absl::StrCat(name, ": ", problem.ToString()));
  }
}

// Reports which customizations Karmada's admission would refuse because another one customizes the
// same operation of the same target. Returns whether there are any.
bool ReportRefused(const LiveRules& live, const Given& given, tool::Console& console) {
  std::vector<kube::Object> others;
  for (const kube::Object& object : live.customizations) {
    if (given.rules.count(std::string(object.name())) == 0) others.push_back(object);
  }
  bool refused = false;
  for (const kube::Object& object : given.objects) {
    for (const kube::Object& other : others) {
      // `others` grows by each given one below, since the given ones can contradict each other as
      // well.
      const std::string conflict = interpreter::check::ConflictWith(other, object);
      if (conflict.empty()) continue;
      refused = true;
      console.err << console.err_colours.Red("error:") << " "
                  << tool::Printable(absl::StrCat(object.name(), " would be refused: ", conflict))
                  << "\n";
    }
    others.push_back(object);
  }
  return refused;
}

// Says that no object was found to ask about, which a misspelt kind or namespace looks like.
std::string NothingIsOf(const std::vector<interpreter::customized::KindOperation>& touched,
                        const std::string& ns) {
  std::set<std::string> kinds;
  for (const auto& pair : touched) kinds.insert(pair.gvk.ToString());
  return absl::StrCat("no binding and no Work", ns.empty() ? "" : " of the namespace ", ns,
                      " has an object of a kind whose rules change: ", absl::StrJoin(kinds, "; "));
}

// A change counts more than what could not be compared.
tool::ExitCode CodeOf(const ImpactReport& report, const LiveRules& live) {
  if (report.changed() > 0) return tool::ExitCode::kFailed;
  return report.not_compared() == 0 && live.unread.empty() ? tool::ExitCode::kFine
                                                           : tool::ExitCode::kUnusable;
}

absl::StatusOr<tool::ExitCode> Impact(const ImpactOptions& options, tool::Console& console) {
  if (options.input.customizations.empty()) {
    return absl::InvalidArgumentError("nothing to try: give customizations with -f");
  }
  tool::DocumentReader reader(console.in);
  tool::LiveObjects live_objects(options.input.live);
  ObjectSource source(reader, live_objects);
  ASSIGN_OR_RETURN(const Given given, ReadGiven(options.input, source));
  ASSIGN_OR_RETURN(const std::unique_ptr<tool::LiveConnection> live,
                   tool::Connect(options.input.live));
  ASSIGN_OR_RETURN(const LiveRules rules, ReadLiveRules(*live));
  const Sides sides = SidesOf(rules, given.rules, options.input.merge);
  WarnOfProblems(rules, *sides.after, given.rules, console);
  const bool refused = ReportRefused(rules, given, console);
  RuleSide before(sides.before, rules.webhooks), after(sides.after, rules.webhooks);
  const ImpactSides both{before, after, [&](const kube::Gvk& gvk, interpreter::Operation op) {
                           return interpreter::customized::AnswersDiffer(
                               sides.before.get(), sides.after.get(), {gvk, op});
                         }};
  ImpactReport report(options.report);
  MemberSource members(*live);
  const std::vector<interpreter::customized::KindOperation> changed =
      interpreter::customized::ChangedRules(sides.before.get(), sides.after.get());
  if (changed.empty()) {
    report.AddRemark("the given customizations have the same rules as the live ones");
  } else {
    ImpactWalk walk(*live, both, options.members ? &members : nullptr, report);
    RETURN_IF_ERROR(walk.Run(options.input.live.ns, console));
    if (report.objects() == 0) report.AddRemark(NothingIsOf(changed, options.input.live.ns));
  }
  if (options.json) {
    console.out << tool::Formatted(report.ToJson(), tool::Format::kJson);
  } else {
    report.Print(console);
  }
  const tool::ExitCode code = CodeOf(report, rules);
  // That nothing changes does not make a customization fine that Karmada would refuse.
  return refused && code == tool::ExitCode::kFine ? tool::ExitCode::kUnusable : code;
}

}  // namespace

void AddImpact(tool::CommandLine& line) {
  CLI::App& app =
      line.Add("impact", "Say what customizations would change for live objects", kExamples);
  auto options = std::make_shared<ImpactOptions>();
  AddInputFlags(app, options->input);
  app.add_flag("--members", options->members,
               "read the members' objects, with the credentials of their Clusters or through the "
               "control plane's proxy");
  app.add_flag("--diff", options->report.diff, "print a diff of each answer that changes");
  app.add_option("--limit", options->report.most_changes,
                 "print at most so many changes; all are counted")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  constexpr auto kFormats = base::Enumerate<bool>({{false, "text"}, {true, "json"}});
  config::AddChoice(app, "-o,--output", options->json, kFormats, "how to print what is found")
      ->type_name("FORMAT");
  line.UseExitNumbers(app, kExitNumbers);
  line.OnRun(app, [options](tool::Console& console) { return Impact(*options, console); });
}

}  // namespace cmd::interpret
