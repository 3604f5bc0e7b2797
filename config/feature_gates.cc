#include "config/feature_gates.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace config {
namespace {

enum class Stage { kAlpha, kBeta };

struct Spec {
  Gate gate;
  absl::string_view name;
  bool on;
  Stage stage;
};

// Upstream's pkg/features; Failover is beta and off by default all the same.
constexpr std::array kSpecs = {
    Spec{Gate::kFailover, "Failover", false, Stage::kBeta},
    Spec{Gate::kGracefulEviction, "GracefulEviction", true, Stage::kBeta},
    Spec{Gate::kPropagateDeps, "PropagateDeps", true, Stage::kBeta},
    Spec{Gate::kCustomizedClusterResourceModeling, "CustomizedClusterResourceModeling", true,
         Stage::kBeta},
    Spec{Gate::kControllerPriorityQueue, "ControllerPriorityQueue", true, Stage::kBeta},
    Spec{Gate::kLoggingBetaOptions, "LoggingBetaOptions", true, Stage::kBeta},
    Spec{Gate::kContextualLogging, "ContextualLogging", true, Stage::kBeta},
    Spec{Gate::kLoggingAlphaOptions, "LoggingAlphaOptions", false, Stage::kAlpha},
    Spec{Gate::kPropagationPolicyPreemption, "PropagationPolicyPreemption", false, Stage::kAlpha},
    Spec{Gate::kMultiClusterService, "MultiClusterService", false, Stage::kAlpha},
    Spec{Gate::kStatefulFailoverInjection, "StatefulFailoverInjection", false, Stage::kAlpha},
    Spec{Gate::kFederatedQuotaEnforcement, "FederatedQuotaEnforcement", false, Stage::kAlpha},
    Spec{Gate::kMultiplePodTemplatesScheduling, "MultiplePodTemplatesScheduling", false,
         Stage::kAlpha},
    Spec{Gate::kPriorityBasedScheduling, "PriorityBasedScheduling", false, Stage::kAlpha},
    Spec{Gate::kResourceQuotaEstimate, "ResourceQuotaEstimate", false, Stage::kAlpha},
    Spec{Gate::kWorkloadAffinity, "WorkloadAffinity", false, Stage::kAlpha},
    Spec{Gate::kSchedulingOvercommitProtection, "SchedulingOvercommitProtection", false,
         Stage::kAlpha},
};

std::optional<bool> ParseBool(absl::string_view text) {
  const std::string lower = absl::AsciiStrToLower(text);
  if (lower == "true" || lower == "t" || lower == "1") return true;
  if (lower == "false" || lower == "f" || lower == "0") return false;
  return std::nullopt;
}

}  // namespace

FeatureGates::FeatureGates() {
  for (const Spec& s : kSpecs) values_[s.gate] = s.on;
}

bool FeatureGates::Enabled(Gate gate) const {
  const auto named = named_.find(gate);
  return named != named_.end() ? named->second : values_.at(gate);
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
    bool known = false;
    for (const Spec& s : kSpecs) {
      const bool bulk = (name == "AllAlpha" && s.stage == Stage::kAlpha) ||
                        (name == "AllBeta" && s.stage == Stage::kBeta);
      if (bulk) values_[s.gate] = *on;
      if (name == s.name) named_[s.gate] = *on;
      known = known || bulk || name == s.name;
    }
    if (!known)
      return absl::InvalidArgumentError(absl::StrCat("unrecognized feature gate: ", name));
  }
  return absl::OkStatus();
}

std::string FeatureGates::Describe() {
  std::string out =
      "AllAlpha=true|false (ALPHA - default=false)\nAllBeta=true|false (BETA - default=false)";
  for (const Spec& s : kSpecs) {
    absl::StrAppend(&out, "\n", s.name, "=true|false (",
                    s.stage == Stage::kAlpha ? "ALPHA" : "BETA",
                    " - default=", s.on ? "true" : "false", ")");
  }
  return out;
}

}  // namespace config
