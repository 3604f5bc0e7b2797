// `karmada-lens why` about all templates: -A, -n, --cluster, --policy.
#ifndef CMD_LENS_FLEET_H_
#define CMD_LENS_FLEET_H_

#include <functional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "cmd/lens/flags.h"
#include "lens/fleet/fleet.h"
#include "tool/command.h"
#include "tool/console.h"

namespace cmd::lens {

struct FleetOptions {
  ::lens::fleet::Scope scope;
  bool all_namespaces = false;
  bool full = false;   // Every template, not the first ones of each group.
  bool watch = false;  // Print again what has changed.
};

// Reads everything once.
using ReadFleetFn = std::function<absl::StatusOr<::lens::fleet::Fleet>()>;

// Prints what is not fine. kFailed unless all is. With `watch` it reads again after each pause and
// prints what differs from before, until it is stopped or nobody reads `out` any more; then the
// last answer counts. Only the first reading may fail.
absl::StatusOr<tool::ExitCode> ShowFleet(const FleetOptions& options, Output output,
                                         const ReadFleetFn& read, absl::Duration pause,
                                         const base::StopToken& stop, tool::Console& console);

}  // namespace cmd::lens

#endif  // CMD_LENS_FLEET_H_
