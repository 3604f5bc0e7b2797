// The controllers of this program, one line each.
#ifndef CMD_CONTROLLER_MANAGER_CONTROLLER_TABLE_H_
#define CMD_CONTROLLER_MANAGER_CONTROLLER_TABLE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "config/feature_gates.h"
#include "config/options.h"
#include "controllers/context/context.h"

namespace cmd {

// Distinguishes controllers that --controllers switches from those that always run.
// config/support.h says whether one that the flag does not name is on.
enum class Switch { kByFlag, kAlwaysOn };

// The flag that sets a number of workers, or the number, where upstream has no flag.
using Workers = std::variant<int config::Concurrency::*, int>;
inline constexpr int kOneWorker = 1;

struct ControllerEntry {
  const char* name;  // As in --controllers; several lines with the same name are switched together.
  Switch switched;
  Workers workers;
  absl::Status (*build)(const controllers::Context& context, int workers);
  // A gate that has to be on, too, for this line. That of all lines of a name is in
  // config/support.h, unless no flag switches them.
  std::optional<config::Gate> gate = std::nullopt;
  // Returns whether the flags ask for it; for one that is always on when they do.
  bool (*is_asked_for)(const config::Options& options) = nullptr;
  const char* asked_for_by = "";  // The flag that asks for it.
};

absl::Span<const ControllerEntry> ControllerTable();

// Returns the number of workers that these settings give the controller of this line.
int WorkersOf(const ControllerEntry& entry, const config::Options& options);

// Returns why these settings do not have the controller of this line run; "" when it runs.
std::string WhyOff(const ControllerEntry& entry, const config::Options& options);

// Returns whether these settings have the controller of this line run.
bool IsWanted(const ControllerEntry& entry, const config::Options& options);

// The names of the controllers and loops that run, and of those that the flags and gates turn off,
// although they run by default.
struct RunningControllers {
  std::set<std::string> on, off;
};
RunningControllers ControllersThatRun(const config::Options& options);

// Returns why each controller and loop that does not run is off, by name; also for those that are
// off by default.
std::map<std::string, std::string> ControllersThatAreOff(const config::Options& options);

// Logs, in one line, how many controllers run and which the flags turn off. With --v=2 a second
// line has the names of those that run.
void LogControllers(const config::Options& options);

// Builds the controllers that the flags enable. Returns the first error and stops there.
absl::Status BuildControllers(const controllers::Context& context);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_CONTROLLER_TABLE_H_
