#include "config/internal/unused_flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status.h"
#include "config/duration.h"

namespace config::internal {
namespace {

using enum State;

enum class Type { kSwitch, kDuration, kInteger, kNumber, kText };

struct Flag {
  absl::string_view name;
  Type type;
  State state;
  absl::string_view note;
  // The value that asks for this program's behaviour, if there is one.
  absl::string_view as_here = "\n";
};

constexpr absl::string_view kScale = "scale by FederatedHPAs";
constexpr absl::string_view kStderr = "every line is written to standard error at once";
constexpr absl::string_view kNeverRead = "upstream never reads it either";
constexpr absl::string_view kProfiles = "there are no Go profiles; use perf";

constexpr Flag kFlags[] = {
    {"--add-dir-header", Type::kSwitch, kNoSense, "lines name the file without its folder",
     "false"},
    {"--alsologtostderr", Type::kSwitch, kNoSense, kStderr, "false"},
    {"--cluster-api-context", Type::kText, kNotYet, "select a context of --cluster-api-kubeconfig",
     ""},
    {"--cluster-api-kubeconfig", Type::kText, kNotYet, "join clusters that Cluster API provisions",
     ""},
    {"--concurrent-dependent-resource-syncs", Type::kInteger, kNoSense,
     "events of dependencies need no workers; their bindings are made by those of "
     "--concurrent-resourcebinding-syncs"},
    {"--enable-pprof", Type::kSwitch, kNoSense, kProfiles, "false"},
    {"--federated-resource-quota-sync-period", Type::kDuration, kNotYet,
     "add up FederatedResourceQuotas anew after this time"},
    {"--horizontal-pod-autoscaler-cpu-initialization-period", Type::kDuration, kNotYet, kScale},
    {"--horizontal-pod-autoscaler-downscale-delay", Type::kDuration, kOutside, kNeverRead},
    {"--horizontal-pod-autoscaler-downscale-stabilization", Type::kDuration, kNotYet, kScale},
    {"--horizontal-pod-autoscaler-initial-readiness-delay", Type::kDuration, kNotYet, kScale},
    {"--horizontal-pod-autoscaler-sync-period", Type::kDuration, kNotYet, kScale},
    {"--horizontal-pod-autoscaler-tolerance", Type::kNumber, kNotYet, kScale},
    {"--horizontal-pod-autoscaler-upscale-delay", Type::kDuration, kOutside, kNeverRead},
    {"--log-backtrace-at", Type::kText, kNoSense, "lines carry no backtrace", ":0"},
    {"--log-dir", Type::kText, kNoSense, kStderr, ""},
    {"--log-file", Type::kText, kNoSense, kStderr, ""},
    {"--log-file-max-size", Type::kInteger, kNoSense, kStderr},
    {"--log-flush-frequency", Type::kDuration, kNoSense, kStderr},
    {"--log-json-info-buffer-size", Type::kText, kNoSense, kStderr, "0"},
    {"--log-json-split-stream", Type::kSwitch, kNoSense, kStderr, "false"},
    {"--log-text-info-buffer-size", Type::kText, kNoSense, kStderr, "0"},
    {"--log-text-split-stream", Type::kSwitch, kNoSense, kStderr, "false"},
    {"--logtostderr", Type::kSwitch, kNoSense, kStderr, "true"},
    {"--one-output", Type::kSwitch, kNoSense, kStderr},
    {"--profiling-bind-address", Type::kText, kNoSense, kProfiles},
    {"--resync-period", Type::kDuration, kNotYet,
     "hand every object to its controllers again after this time", "0"},
    {"--skip-headers", Type::kSwitch, kNoSense, "lines keep their prefix", "false"},
    {"--skip-log-headers", Type::kSwitch, kNoSense, kStderr},
    {"--stderrthreshold", Type::kText, kNoSense, kStderr},
};

absl::Status CheckValue(Type type, const std::string& text) {
  double number = 0;
  int64_t integer = 0;
  absl::Duration duration;
  bool on = false;
  switch (type) {
    case Type::kDuration:
      return ParseGoDuration(text, duration);
    case Type::kInteger:
      if (absl::SimpleAtoi(text, &integer)) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not an integer"));
    case Type::kNumber:
      if (absl::SimpleAtod(text, &number)) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not a number"));
    case Type::kSwitch:
      if (absl::SimpleAtob(text, &on)) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is neither true nor false"));
    case Type::kText:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

bool IsGiven(const CLI::App& app, absl::string_view name) {
  return app.get_option(std::string(name))->count() > 0;
}

// Returns the last value that was given, for switches "true" or "false"; "" when the flag was not
// given.
std::string Given(const CLI::App& app, absl::string_view name) {
  const CLI::Option* option = app.get_option(std::string(name));
  if (option->count() == 0 || option->results().empty()) return "";
  const std::string& last = option->results().back();
  bool on = false;
  const bool is_switch = option->get_expected_max() == 0 && absl::SimpleAtob(last, &on);
  return is_switch ? (on ? "true" : "false") : last;
}

absl::Status Refused(absl::string_view flag, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", why));
}

CLI::Option* AddFlag(CLI::App& app, const Flag& flag, const std::string& help) {
  const std::string name(flag.name);
  if (flag.type == Type::kSwitch) {
    return app.add_flag(name, help)
        ->check(
            [](const std::string& text) {
              return std::string(CheckValue(Type::kSwitch, text).message());
            },
            "");
  }
  CLI::Option* option = app.add_option_function<std::string>(
      name,
      [type = flag.type, name](const std::string& text) {
        const absl::Status valid = CheckValue(type, text);
        if (!valid.ok()) throw CLI::ValidationError(name, std::string(valid.message()));
      },
      help);
  return flag.type == Type::kDuration ? option->type_name("duration") : option;
}

}  // namespace

void AddUnusedFlags(CLI::App& app) {
  for (const Flag& flag : kFlags) {
    const bool planned = flag.state == kNotYet;
    AddFlag(app, flag, absl::StrCat(planned ? "would " : "", flag.note))
        ->group(planned ? "Accepted, but without effect yet" : "");
  }
}

absl::Status ValidateUnusedFlags(const CLI::App& app) {
  absl::Duration period = absl::InfiniteDuration();
  constexpr absl::string_view kPeriod = "--federated-resource-quota-sync-period";
  if (IsGiven(app, kPeriod)) RETURN_IF_ERROR(ParseGoDuration(Given(app, kPeriod), period));
  if (period <= absl::ZeroDuration()) return Refused(kPeriod, "must be greater than 0");
  return absl::OkStatus();
}

std::vector<std::string> UnusedFlagWarnings(const CLI::App& app) {
  std::vector<std::string> out;
  for (const Flag& flag : kFlags) {
    const std::string value = Given(app, flag.name);
    if (!IsGiven(app, flag.name) || value == flag.as_here || flag.state == kOutside) continue;
    out.push_back(absl::StrCat(flag.name, "=", value, " has no effect",
                               flag.state == kNotYet ? " yet; it would " : ": ", flag.note));
  }
  return out;
}

std::vector<Support> UnusedFlagSupport() {
  std::vector<Support> out;
  for (const Flag& flag : kFlags) out.push_back({flag.name, flag.state, flag.note});
  return out;
}

}  // namespace config::internal
