// The table of feature gates, and the rules by which --feature-gates sets them. They are
// Kubernetes' rules: a gate that is named has that value, whether AllAlpha or AllBeta stands before
// or behind it; the two set all gates of their stage that are not named. Hence named values and
// values by stage are kept apart, and Enabled() looks at the named ones first, then at those of the
// gate's stage in the emulated release, then at the default of that release. Warnings are for gates
// that can be set but do not do here what they do in upstream.

#include "config/feature_gates.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/spelling.h"
#include "config/support.h"

namespace config {
namespace {

using enum State;

// kOwn is for gates of this program only. AllAlpha and AllBeta do not switch them, so that nothing
// changes when it takes upstream's place.
enum class Stage { kAlpha, kBeta, kOwn };

std::string StageName(Stage stage) {
  switch (stage) {
    case Stage::kAlpha:
      return "ALPHA";
    case Stage::kBeta:
      return "BETA";
    case Stage::kOwn:
      return "OWN";
  }
  return "";
}

constexpr char kAllAlpha[] = "AllAlpha";
constexpr char kAllBeta[] = "AllBeta";

// What a gate is in a release.
struct Level {
  bool on;  // The default.
  Stage stage;

  // Returns the gate that switches the stage, "" for none.
  absl::string_view StageSwitch() const {
    if (stage == Stage::kOwn) return "";
    return stage == Stage::kAlpha ? kAllAlpha : kAllBeta;
  }
  // Returns "BETA - default=true".
  std::string Described() const {
    return absl::StrCat(StageName(stage), " - default=", on ? "true" : "false");
  }
};

struct Spec {
  Gate gate;
  absl::string_view name;
  bool on;  // This and the stage are those of v1.18.
  Stage stage;
  State state = kHere;
  absl::string_view note = "";
};

// As in upstream's pkg/features of v1.18; Failover is off by default although it is beta.
constexpr Spec kSpecs[] = {
    {Gate::kFailover, "Failover", false, Stage::kBeta},
    {Gate::kGracefulEviction, "GracefulEviction", true, Stage::kBeta},
    {Gate::kPropagateDeps, "PropagateDeps", true, Stage::kBeta},
    {Gate::kCustomizedClusterResourceModeling, "CustomizedClusterResourceModeling", true,
     Stage::kBeta},
    {Gate::kControllerPriorityQueue, "ControllerPriorityQueue", true, Stage::kBeta, kFixed,
     "queues always have priorities"},
    {Gate::kLoggingBetaOptions, "LoggingBetaOptions", true, Stage::kBeta, kFixed,
     "--logging-format=json needs no gate"},
    {Gate::kContextualLogging, "ContextualLogging", true, Stage::kBeta, kNoSense,
     "it belongs to a Go library"},
    {Gate::kLoggingAlphaOptions, "LoggingAlphaOptions", false, Stage::kAlpha, kNoSense,
     "it belongs to a Go library"},
    {Gate::kPropagationPolicyPreemption, "PropagationPolicyPreemption", false, Stage::kAlpha},
    {Gate::kMultiClusterService, "MultiClusterService", false, Stage::kAlpha},
    {Gate::kStatefulFailoverInjection, "StatefulFailoverInjection", false, Stage::kAlpha},
    {Gate::kFederatedQuotaEnforcement, "FederatedQuotaEnforcement", false, Stage::kAlpha},
    {Gate::kMultiplePodTemplatesScheduling, "MultiplePodTemplatesScheduling", false, Stage::kAlpha},
    {Gate::kPriorityBasedScheduling, "PriorityBasedScheduling", false, Stage::kAlpha},
    {Gate::kResourceQuotaEstimate, "ResourceQuotaEstimate", false, Stage::kAlpha},
    {Gate::kWorkloadAffinity, "WorkloadAffinity", false, Stage::kAlpha},
    {Gate::kSchedulingOvercommitProtection, "SchedulingOvercommitProtection", false, Stage::kAlpha,
     kOutside, "scheduler and estimator read it"},
    {Gate::kTransitiveDependencies, "TransitiveDependencies", false, Stage::kOwn, kHere,
     "of this program only: what dependencies depend on follows, too"},
    {Gate::kCombinedCustomizations, "CombinedCustomizations", false, Stage::kOwn, kHere,
     "of this program only: customizations of several kinds, and several that retain"},
};

// What a later release has changed.
struct Change {
  Gate gate;
  Release since;
  Level level;
};
constexpr Change kChanges[] = {
    {Gate::kPriorityBasedScheduling, Release::kV1_19, {true, Stage::kBeta}},
};

Level LevelOf(const Spec& s, Release release) {
  Level level{s.on, s.stage};
  for (const Change& change : kChanges) {
    if (change.gate == s.gate && change.since <= release) level = change.level;
  }
  return level;
}

constexpr char kFlag[] = "--feature-gates";

constexpr size_t kShortestPart = 5;

std::string Assignment(absl::string_view name, bool value) {
  return absl::StrCat(name, value ? "=true" : "=false");
}

// Returns a sentence when this value of the gate does not have the effect that it has upstream,
// else "".
std::string WarningOf(const Spec& s, Release release, bool value) {
  const std::string what = absl::StrCat(kFlag, "=", Assignment(s.name, value));
  switch (s.state) {
    case kFixed:
      return value == LevelOf(s, release).on ? "" : absl::StrCat(what, " has no effect: ", s.note);
    case kNoSense:
      return value == LevelOf(s, release).on ? "" : absl::StrCat(what, " has no effect: ", s.note);
    case kHere:
    case kOutside:
      return "";
  }
  return "";
}

std::optional<bool> ParseBool(absl::string_view text) {
  const std::string lower = absl::AsciiStrToLower(text);
  if (lower == "true" || lower == "t" || lower == "1") return true;
  if (lower == "false" || lower == "f" || lower == "0") return false;
  return std::nullopt;
}

absl::Status Unrecognized(absl::string_view name) {
  std::vector<std::string> names = {kAllAlpha, kAllBeta};
  for (const Spec& s : kSpecs) names.emplace_back(s.name);
  std::string meant = base::DidYouMean(name, names);
  // A part of a name is too far from the whole one to be a slip of the pen.
  for (const std::string& whole : names) {
    const bool is_part =
        name.size() >= kShortestPart &&
        absl::StrContains(absl::AsciiStrToLower(whole), absl::AsciiStrToLower(name));
    if (meant.empty() && is_part) meant = absl::StrCat("; did you mean ", whole, "?");
  }
  return absl::InvalidArgumentError(absl::StrCat("unrecognized feature gate: ", name, meant));
}

}  // namespace

std::map<std::string, bool> FeatureGates::All() const {
  std::map<std::string, bool> all;
  for (const Spec& s : kSpecs) all[std::string(s.name)] = Enabled(s.gate);
  return all;
}

absl::string_view FeatureGates::NameOf(Gate gate) {
  for (const Spec& s : kSpecs) {
    if (s.gate == gate) return s.name;
  }
  return "";
}

bool FeatureGates::Enabled(Gate gate) const {
  // A gate that is named keeps its value whatever is said of its stage, before or behind it.
  if (const auto named = named_.find(gate); named != named_.end()) return named->second;
  for (const Spec& s : kSpecs) {
    if (s.gate != gate) continue;
    const Level level = LevelOf(s, release_);
    const auto stage = stages_.find(std::string(level.StageSwitch()));
    return stage == stages_.end() ? level.on : stage->second;
  }
  return false;
}

absl::Status FeatureGates::Set(absl::string_view text) {
  for (absl::string_view item : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(item, absl::MaxSplits('=', 1));
    const absl::string_view name = absl::StripAsciiWhitespace(parts.first);
    const std::optional<bool> on = ParseBool(absl::StripAsciiWhitespace(parts.second));
    if (!on.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("invalid value of feature gate ", name, ": \"",
                                                     parts.second, "\" (expected ", name,
                                                     "=true or ", name, "=false)"));
    }
    bool known = name == kAllAlpha || name == kAllBeta;
    if (known) stages_[std::string(name)] = *on;
    for (const Spec& s : kSpecs) {
      if (name != s.name) continue;
      named_[s.gate] = *on;
      known = true;
    }
    if (!known) return Unrecognized(name);
  }
  return absl::OkStatus();
}

std::string FeatureGates::Describe() {
  std::string out =
      "AllAlpha=true|false (ALPHA - default=false)\nAllBeta=true|false (BETA - default=false)";
  for (const Spec& s : kSpecs) {
    absl::StrAppend(&out, "\n", s.name, "=true|false (", LevelOf(s, Release::kV1_18).Described());
    for (const Change& change : kChanges) {
      if (change.gate != s.gate) continue;
      absl::StrAppend(&out, "; as ", kReleases.TextOf(change.since), ": ",
                      change.level.Described());
    }
    absl::StrAppend(&out, ")");
  }
  return out;
}

std::vector<Warning> FeatureGates::Warnings() const {
  std::vector<Warning> out;
  std::map<std::string, std::vector<std::string>> by_stage;
  for (const Spec& s : kSpecs) {
    const auto named = named_.find(s.gate);
    const auto stage = stages_.find(std::string(LevelOf(s, release_).StageSwitch()));
    if (named != named_.end()) {
      std::string warning = WarningOf(s, release_, named->second);
      if (warning.empty()) continue;
      out.push_back({{kFlag}, std::move(warning), {std::string(s.name)}});
    } else if (stage != stages_.end() && !WarningOf(s, release_, stage->second).empty()) {
      // One warning for the stage names them all, because the user has not named any of them.
      by_stage[Assignment(stage->first, stage->second)].emplace_back(s.name);
    }
  }
  for (const auto& [stage, gates] : by_stage) {
    out.push_back({{kFlag},
                   absl::StrCat(kFlag, "=", stage, " has no effect, or not the whole one, on ",
                                absl::StrJoin(gates, ", "), " (docs/support.md)"),
                   gates});
  }
  return out;
}

std::string FeatureGates::Changed() const {
  std::vector<std::string> changed;
  for (const Spec& s : kSpecs) {
    if (Enabled(s.gate) != LevelOf(s, release_).on)
      changed.push_back(Assignment(s.name, Enabled(s.gate)));
  }
  return absl::StrJoin(changed, ",");
}

std::vector<Support> GateSupport() {
  std::vector<Support> out;
  for (const Spec& s : kSpecs) out.push_back({s.name, s.state, s.note});
  return out;
}

}  // namespace config
