// Lists which of upstream's controllers, kinds of objects, feature gates and flags this program
// supports, of the versions in kComparedVersions (config/release.h). A test compares
// docs/support.md with these tables.
#ifndef CONFIG_SUPPORT_H_
#define CONFIG_SUPPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "config/feature_gates.h"
#include "config/warning.h"

namespace config {

enum class State {
  kHere,     // Has the effect that it has upstream.
  kFixed,    // Accepted, but cannot be changed here; the note says what always holds.
  kNoSense,  // Accepted, but there is nothing in this program that it could change.
  kOutside,  // Has no effect in upstream's controller manager either; other programs use it.
};

// One row of a table.
struct Support {
  absl::string_view name;
  State state = State::kHere;
  absl::string_view note = "";
};
struct FlagSupport {
  std::string name;  // With its leading dashes.
  State state = State::kHere;
  absl::string_view note = "";
};

struct ControllerSupport {
  absl::string_view name;  // As written in --controllers.
  bool on_by_default = true;
  State state = State::kHere;
  absl::string_view note = "";
  std::optional<Gate> gate = std::nullopt;  // A gate that has to be on, too.
};

// A kind of Karmada's API groups, by the name of its resource. The note describes the consequence
// for its objects.
struct KindSupport {
  absl::string_view group;
  absl::string_view version;
  absl::string_view resource;
  absl::string_view kind;
  State state = State::kHere;
  absl::string_view note = "";
  std::optional<Gate> gate = std::nullopt;  // Without it nothing here looks at its objects.
};

// Returns the word for the state in docs/support.md.
absl::string_view StateText(State state);

// Returns all controllers that upstream's --controllers switches, sorted by name.
absl::Span<const ControllerSupport> Controllers();
// Returns those of upstream's agent.
absl::Span<const ControllerSupport> AgentControllers();
// Returns the row of a controller; nullptr when --controllers does not know the name.
const ControllerSupport* FindController(absl::string_view name);
const ControllerSupport* FindAgentController(absl::string_view name);
// Returns the loops that run without being named in --controllers.
absl::Span<const Support> LoopsWithoutSwitch();
// Returns all resources of Karmada's API groups.
absl::Span<const KindSupport> Kinds();
// Returns all gates, in the order of --help.
std::vector<Support> GateSupport();
// Returns all flags, sorted by name.
std::vector<FlagSupport> Flags();
// Returns those of the agent.
std::vector<FlagSupport> AgentFlags();

// Returns a warning for each token of --controllers that names a controller which upstream does not
// have either: it has no effect. The text has the name that was probably meant.
std::vector<Warning> WarningsOfControllers(const std::vector<std::string>& tokens);
// The same for the agent's.
std::vector<Warning> WarningsOfAgentControllers(const std::vector<std::string>& tokens);

}  // namespace config

#endif  // CONFIG_SUPPORT_H_
