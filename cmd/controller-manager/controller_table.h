// The controllers of this program, one line each.
#ifndef CMD_CONTROLLER_MANAGER_CONTROLLER_TABLE_H_
#define CMD_CONTROLLER_MANAGER_CONTROLLER_TABLE_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "config/feature_gates.h"
#include "config/options.h"
#include "loops/context.h"

namespace cmd {

// Distinguishes controllers that --controllers switches from those that always run.
// config/support.h says whether one that the flag does not name is on.
enum class Switch { kByFlag, kAlwaysOn };

// For controllers whose number of workers no flag sets.
inline constexpr int config::Concurrency::*kOneWorker = nullptr;

struct ControllerEntry {
  const char* name;  // As in --controllers; several lines with the same name are switched together.
  Switch switched;
  int config::Concurrency::*workers;  // The flag with the number of workers, or kOneWorker.
  absl::Status (*build)(const loops::Context& context, int workers);
  std::optional<config::Gate> gate = std::nullopt;  // A gate that has to be on, too.
  // Returns whether the flags ask for it; for one that is always on when they do.
  bool (*is_asked_for)(const config::Options& options) = nullptr;
};

absl::Span<const ControllerEntry> ControllerTable();

// Returns the names that --controllers knows, sorted, each once.
std::vector<std::string> ControllerNames();

// Returns whether these settings have the controller of this line run.
bool IsWanted(const ControllerEntry& entry, const config::Options& options);

// The names of the controllers and loops that run, and of those that the flags and gates turn off,
// although they run by default.
struct RunningControllers {
  std::set<std::string> on, off;
};
RunningControllers ControllersThatRun(const config::Options& options);

// Logs, in one line, how many controllers run and which the flags turn off. With --v=2 a second
// line has the names of those that run.
void LogControllers(const config::Options& options);

// Builds the controllers that the flags enable. Returns the first error and stops there.
absl::Status BuildControllers(const loops::Context& context);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_CONTROLLER_TABLE_H_
