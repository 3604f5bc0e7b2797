// The controllers of this program: one line each.
#ifndef CMD_CONTROLLER_MANAGER_CONTROLLER_TABLE_H_
#define CMD_CONTROLLER_MANAGER_CONTROLLER_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "config/feature_gates.h"
#include "config/options.h"
#include "loops/context.h"

namespace cmd {

// Says whether --controllers switches a controller. Whether one that it does not name is on is
// written in config/support.h.
enum class Switch { kByFlag, kAlwaysOn };

// Stands in the place of a flag, for controllers whose number of workers no flag sets.
inline constexpr int config::Concurrency::*kOneWorker = nullptr;

struct ControllerEntry {
  const char* name;  // As in --controllers; several lines of one name are switched together.
  Switch switched;
  int config::Concurrency::*workers;  // The flag that says how many, or kOneWorker.
  absl::Status (*build)(const loops::Context& context, int workers);
  std::optional<config::Gate> gate = std::nullopt;  // Has to be on, too.
};

absl::Span<const ControllerEntry> ControllerTable();

// The names that --controllers knows, sorted, each once.
std::vector<std::string> ControllerNames();

// One line in the log: which controllers run, which the flags turn off, and which of upstream's are
// not part of this program yet.
void LogControllers(const config::Options& options);

// Builds the controllers that the flags ask for. The first error ends it.
absl::Status BuildControllers(const loops::Context& context);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_CONTROLLER_TABLE_H_
