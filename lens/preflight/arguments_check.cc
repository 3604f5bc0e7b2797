// The parser ends at the first mistake. To find all of them, the argument is looked for without
// which the parser says something else; it is taken out, and the rest is parsed again. An argument
// that is right only together with another one is so judged together with it. --feature-gates,
// which may be repeated, is taken apart first: one unknown gate must not hide what the daemon does
// with the others.

#include "lens/preflight/arguments_check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/programs.h"
#include "config/release.h"
#include "config/support.h"

namespace lens::preflight {
namespace {

constexpr char kControllersFlag[] = "--controllers";
constexpr char kGatesFlag[] = "--feature-gates";

using config::Warning;

// One flag with its value, in one word or two.
using Group = std::vector<std::string>;

// Returns "--kube-api-qps" for "--kube_api_qps=40", "--v" for "-v=4".
std::string NameOf(const Group& group) {
  std::string name = group[0].substr(0, group[0].find('='));
  if (!absl::StartsWith(name, "--")) return absl::StrCat("-", name);
  return "--" + absl::StrReplaceAll(name.substr(2), {{"_", "-"}});
}

// Returns the value as it was given; nothing for a switch without one.
std::optional<std::string> ValueOf(const Group& group) {
  const size_t equals = group[0].find('=');
  if (equals != std::string::npos) return group[0].substr(equals + 1);
  if (group.size() > 1) return group[1];
  return std::nullopt;
}

std::vector<Group> GroupsOf(const std::vector<std::string>& words) {
  std::vector<Group> groups;
  for (const std::string& word : words) {
    const bool is_value = !absl::StartsWith(word, "-") && !groups.empty() &&
                          groups.back().size() == 1 && !absl::StrContains(groups.back()[0], "=");
    if (is_value) {
      groups.back().push_back(word);
    } else {
      groups.push_back({word});
    }
  }
  return groups;
}

// Returns the groups with one gate in each.
std::vector<Group> Apart(const std::vector<Group>& groups) {
  std::vector<Group> apart;
  for (const Group& group : groups) {
    const std::string name = NameOf(group);
    const std::optional<std::string> value = ValueOf(group);
    if (name != kGatesFlag || !value.has_value()) {
      apart.push_back(group);
      continue;
    }
    for (absl::string_view part : absl::StrSplit(*value, ',')) {
      apart.push_back({absl::StrCat(name, "=", part)});
    }
  }
  return apart;
}

config::Parsed Parse(const std::vector<Group>& groups) {
  std::vector<const char*> argv = {api::kControllerManager};
  for (const Group& group : groups) {
    for (const std::string& word : group) argv.push_back(word.c_str());
  }
  return config::ParseCommandLine(static_cast<int>(argv.size()), argv.data());
}

bool IsRefused(const config::Parsed& parsed) {
  return parsed.outcome == config::Parsed::Outcome::kExit && parsed.exit_code != 0;
}

// Returns the parser's sentence without what is for a person at a shell.
std::string MessageOf(const config::Parsed& parsed) {
  const std::vector<absl::string_view> lines = absl::StrSplit(parsed.output, '\n');
  return std::string(absl::StripPrefix(lines[0], "Error: "));
}

std::vector<Group> Without(const std::vector<Group>& groups, size_t index) {
  std::vector<Group> rest = groups;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(index));
  return rest;
}

// Returns the group that the refusal is about: the parser says something else, or nothing, without
// it. Of several that all change the answer, the one whose flag the message names is meant; when
// none changes it, because it is there twice, the first one that the message names.
size_t Culprit(const std::vector<Group>& groups, const std::string& message) {
  std::optional<size_t> found;
  for (size_t i = 0; i < groups.size(); ++i) {
    const config::Parsed rest = Parse(Without(groups, i));
    if (IsRefused(rest) && MessageOf(rest) == message) continue;
    if (absl::StrContains(message, NameOf(groups[i]))) return i;
    if (!found.has_value()) found = i;
  }
  for (size_t i = 0; i < groups.size() && !found.has_value(); ++i) {
    if (absl::StrContains(message, NameOf(groups[i]))) found = i;
  }
  return found.value_or(groups.size() - 1);
}

Part PartOf(absl::string_view flag) {
  if (flag == kControllersFlag) return Part::kControllers;
  return flag == kGatesFlag ? Part::kGates : Part::kFlags;
}

Row RefusedRow(const Group& group, const std::string& message) {
  const std::string name = NameOf(group);
  const std::string value = ValueOf(group).value_or("");
  Row row{.part = PartOf(name), .name = name, .grade = Grade::kLost, .note = message};
  if (row.part != Part::kGates) {
    row.use = value;
  } else {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(value, absl::MaxSplits('=', 1));
    row.name = parts.first;
    row.use = parts.second;
  }
  return row;
}

// Takes out what is refused, and adds a row for it, until the daemon would start.
config::Parsed ParseAccepted(std::vector<Group>& groups, std::vector<Row>& rows) {
  config::Parsed parsed = Parse(groups);
  while (IsRefused(parsed) && !groups.empty()) {
    const std::string message = MessageOf(parsed);
    const size_t culprit = Culprit(groups, message);
    rows.push_back(RefusedRow(groups[culprit], message));
    groups = Without(groups, culprit);
    parsed = Parse(groups);
  }
  return parsed;
}

bool Has(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the texts of the daemon's warnings about a flag; "" without one.
std::string TextsAbout(const std::string& flag, const std::vector<Warning>& warnings) {
  std::vector<absl::string_view> texts;
  for (const Warning& warning : warnings) {
    if (Has(warning.flags, flag)) texts.push_back(warning.text);
  }
  return absl::StrJoin(texts, "; ");
}

// Adds a row for each flag but those that list gates and controllers; takes out the warnings that
// the rows have.
void AddFlagRows(const std::vector<Group>& groups, std::vector<Warning>& warnings,
                 std::vector<Row>& rows) {
  std::map<std::string, config::FlagSupport> known;
  for (config::FlagSupport& flag : config::Flags()) known[flag.name] = std::move(flag);
  std::map<std::string, std::string> given;  // A later value replaces an earlier one.
  for (const Group& group : groups) {
    const std::string name = NameOf(group);
    if (PartOf(name) != Part::kFlags) continue;
    given[name] = ValueOf(group).value_or("true");
  }
  for (const auto& [name, value] : given) {
    Row row{.part = Part::kFlags, .name = name, .use = value};
    const auto support = known.find(name);
    if (support != known.end()) row.note = std::string(support->second.note);
    if (std::string texts = TextsAbout(name, warnings); !texts.empty()) {
      row.grade = Grade::kDiffers;
      row.note = std::move(texts);
    }
    rows.push_back(std::move(row));
  }
  std::erase_if(warnings, [&given](const Warning& warning) {
    return std::any_of(warning.flags.begin(), warning.flags.end(),
                       [&given](const std::string& flag) { return given.contains(flag); });
  });
}

// Returns why a gate does not have the effect that it has upstream. A warning may be about many
// gates, so what is known of this one goes before it.
std::string WhyNoEffect(const config::Support& gate, const Warning& warning) {
  if (gate.state == config::State::kHere) return warning.text;
  return absl::StrCat("has no effect: ", gate.note);
}

std::string TagOf(const std::string& image) {
  const size_t slash = image.rfind('/');
  const size_t colon = image.find(':', slash == std::string::npos ? 0 : slash);
  if (colon == std::string::npos) return "";
  return image.substr(colon + 1, image.find('@', colon) - colon - 1);
}

// Returns the release of upstream that the image's tag names, if this program behaves as it.
std::optional<config::Release> ReleaseOfImage(const std::string& image) {
  const std::string tag = TagOf(image);
  for (const absl::string_view release : config::kReleases.Texts()) {
    if (absl::StartsWith(tag, absl::StrCat(release, "."))) return config::kReleases.Named(release);
  }
  return std::nullopt;
}

// Returns why a gate is not as it is in the image that runs, whose default is another one; "" if it
// is.
std::string WhyOtherDefault(const std::string& name, bool on, config::FeatureGates gates,
                            std::optional<config::Release> image) {
  if (!image.has_value()) return "";
  gates.Emulate(*image);
  if (gates.All().at(name) == on) return "";
  return absl::StrCat("is ", on ? "off" : "on", " in the running ",
                      config::kReleases.TextOf(*image), ", whose default is another one; ",
                      kGatesFlag, "=", name, "=", on ? "false" : "true", " keeps that");
}

// Adds a row for each gate, and takes out the warnings about gates. `image` is the release that
// runs, if it is known.
void AddGateRows(const config::Options& options, std::optional<config::Release> image,
                 std::vector<Warning>& warnings, std::vector<Row>& rows) {
  config::FeatureGates defaults;
  defaults.Emulate(options.release);
  const std::map<std::string, bool> standard = defaults.All();
  for (const config::Support& gate : config::GateSupport()) {
    const std::string name(gate.name);
    const bool on = options.gates.All().at(name);
    const bool is_standard = on == standard.at(name);
    const auto warning = std::find_if(warnings.begin(), warnings.end(),
                                      [&](const Warning& w) { return Has(w.gates, name); });
    std::string why = warning != warnings.end() ? WhyNoEffect(gate, *warning)
                                                : WhyOtherDefault(name, on, options.gates, image);
    const bool differs = !why.empty();
    rows.push_back({.part = Part::kGates,
                    .name = name,
                    .use = on ? "on" : "off",
                    .grade = differs ? Grade::kDiffers : Grade::kSame,
                    .note = differs ? std::move(why) : std::string(gate.note),
                    .details = json::Value::Object({{"on", on}, {"byDefault", is_standard}}),
                    .quiet = is_standard && !differs});
  }
  std::erase_if(warnings, [](const Warning& warning) { return !warning.gates.empty(); });
}

Row ImageRow(const Arguments& arguments, config::Release release) {
  Row row{.part = Part::kDeployment, .name = arguments.source, .use = arguments.image};
  if (arguments.image.empty()) return row;
  const std::optional<config::Release> image = ReleaseOfImage(arguments.image);
  if (image == release) return row;
  row.grade = Grade::kDiffers;
  if (image.has_value()) {
    const absl::string_view as = config::kReleases.TextOf(release);
    row.note = absl::StrCat("this program would behave as ", as,
                            ", which is not the release of "
                            "the image; ",
                            config::kReleaseFlag, "=", config::kReleases.TextOf(*image),
                            " makes it behave as that one");
    return row;
  }
  row.note = absl::StrCat("this program was compared with upstream's ", ComparedVersions(),
                          "; what other releases do differently is not known here");
  return row;
}

Row UnresolvedRow(const std::string& word) {
  return {.part = Part::kFlags,
          .name = NameOf({word}),
          .use = ValueOf({word}).value_or(""),
          .grade = Grade::kUnknown,
          .note = "names a variable whose value is not known here, and was left out"};
}

bool Runs(const config::ControllerSupport& controller, const config::Options& options) {
  if (controller.gate.has_value() && !options.gates.Enabled(*controller.gate)) return false;
  return options.ControllerEnabled(std::string(controller.name), controller.on_by_default);
}

}  // namespace

absl::StatusOr<CheckedArguments> CheckArguments(const Arguments& arguments,
                                                config::Release release) {
  CheckedArguments checked;
  std::vector<Group> groups = Apart(GroupsOf(arguments.words));
  std::vector<Row> refused;
  config::Parsed parsed = ParseAccepted(groups, refused);
  if (parsed.outcome != config::Parsed::Outcome::kRun) {
    return absl::InvalidArgumentError(
        absl::StrCat("the arguments of ", arguments.source,
                     " do not run a controller manager, but print help or a version"));
  }
  checked.options = std::move(parsed.options);
  checked.options.Emulate(checked.options.wanted_release.value_or(release));
  checked.rows.push_back(ImageRow(arguments, checked.options.release));
  for (Row& row : refused) checked.rows.push_back(std::move(row));
  for (const std::string& word : arguments.unresolved) {
    checked.rows.push_back(UnresolvedRow(word));
  }
  std::vector<Warning> warnings = checked.options.warnings;
  std::erase_if(warnings, [](const Warning& warning) { return warning.as_upstream; });
  AddFlagRows(groups, warnings, checked.rows);
  AddGateRows(checked.options, ReleaseOfImage(arguments.image), warnings, checked.rows);
  for (const Warning& warning : warnings) {
    const std::string& name = warning.flags.front();
    checked.rows.push_back(
        {.part = PartOf(name), .name = name, .grade = Grade::kDiffers, .note = warning.text});
  }
  return checked;
}

std::vector<Row> ControllerRows(const config::Options& options) {
  config::Options standard;
  standard.Emulate(options.release);
  std::vector<Row> rows;
  for (const config::ControllerSupport& controller : config::Controllers()) {
    const bool on = Runs(controller, options);
    const bool is_standard = on == Runs(controller, standard);
    const bool has_effect =
        controller.state == config::State::kHere || controller.state == config::State::kOutside;
    const bool differs = on && !has_effect;
    rows.push_back({.part = Part::kControllers,
                    .name = std::string(controller.name),
                    .use = on ? "on" : (is_standard ? "off" : "turned off"),
                    .grade = differs ? Grade::kDiffers : Grade::kSame,
                    .note = std::string(controller.note),
                    .details = json::Value::Object({{"on", on}, {"byDefault", is_standard}}),
                    .quiet = is_standard && !differs});
  }
  return rows;
}

}  // namespace lens::preflight
