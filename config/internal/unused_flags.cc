#include "config/internal/unused_flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/status.h"
#include "config/duration.h"
#include "config/flag_types.h"

namespace config::internal {
namespace {

using enum State;

using Type = FlagType;

struct Flag {
  absl::string_view name;
  Type type;
  State state;
  absl::string_view note;
  // The value that asks for this program's behaviour, if there is one.
  absl::string_view as_here = "\n";
};

constexpr absl::string_view kStderr = "every line is written to standard error at once";
constexpr absl::string_view kNeverRead = "upstream never reads it either";

constexpr Flag kLogFlags[] = {
    {"--add-dir-header", Type::kSwitch, kNoSense, "lines name the file without its folder",
     "false"},
    {"--alsologtostderr", Type::kSwitch, kNoSense, kStderr, "false"},
    {"--alsologtostderrthreshold", Type::kText, kNoSense, kStderr},
    {"--legacy-stderr-threshold-behavior", Type::kSwitch, kNoSense,
     "every line is written to standard error at once, whatever --stderrthreshold says; upstream "
     "does the same, because its lines do not pass the writer that this concerns",
     "true"},
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
    {"--skip-headers", Type::kSwitch, kNoSense, "lines keep their prefix", "false"},
    {"--skip-log-headers", Type::kSwitch, kNoSense, kStderr},
    {"--stderrthreshold", Type::kText, kNoSense, kStderr},
};

// Those of the controller manager alone.
constexpr Flag kManagerFlags[] = {
    {"--concurrent-dependent-resource-syncs", Type::kInteger, kNoSense,
     "events of dependencies need no workers; their bindings are made by those of "
     "--concurrent-resourcebinding-syncs"},
    {"--horizontal-pod-autoscaler-downscale-delay", Type::kDuration, kOutside, kNeverRead},
    {"--horizontal-pod-autoscaler-upscale-delay", Type::kDuration, kOutside, kNeverRead},
};

void Add(CLI::App& app, absl::Span<const Flag> flags) {
  for (const Flag& flag : flags) {
    AddCheckedFlag(app, flag.name, flag.type, std::string(flag.note))->group("");
  }
}

}  // namespace

void AddUnusedFlags(CLI::App& app) {
  Add(app, kLogFlags);
  Add(app, kManagerFlags);
}

void AddUnusedLogFlags(CLI::App& app) { Add(app, kLogFlags); }

std::vector<Warning> UnusedFlagWarnings(const CLI::App& app) {
  std::vector<Warning> out;
  for (const absl::Span<const Flag> flags :
       {absl::Span<const Flag>(kLogFlags), absl::Span<const Flag>(kManagerFlags)}) {
    for (const Flag& flag : flags) {
      if (app.get_option_no_throw(std::string(flag.name)) == nullptr) continue;
      const std::string value = GivenValue(app, flag.name);
      if (!IsGiven(app, flag.name) || value == flag.as_here || flag.state == kOutside) continue;
      out.push_back({{std::string(flag.name)},
                     absl::StrCat(flag.name, "=", value, " has no effect: ", flag.note)});
    }
  }
  return out;
}

std::vector<Support> UnusedLogFlagSupport() {
  std::vector<Support> out;
  for (const Flag& flag : kLogFlags) out.push_back({flag.name, flag.state, flag.note});
  return out;
}

std::vector<Support> UnusedFlagSupport() {
  std::vector<Support> out = UnusedLogFlagSupport();
  for (const Flag& flag : kManagerFlags) out.push_back({flag.name, flag.state, flag.note});
  return out;
}

}  // namespace config::internal
