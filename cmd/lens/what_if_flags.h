// The flags of `plan` that ask about the fleet.
#ifndef CMD_LENS_WHAT_IF_FLAGS_H_
#define CMD_LENS_WHAT_IF_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "config/options.h"
#include "lens/plan/fleet_edit.h"
#include "tool/console.h"

namespace CLI {
class App;
}  // namespace CLI

namespace cmd::lens {

// The daemon's flags that decide what becomes of lost and tainted clusters.
struct FailoverFlags {
  config::TaintEviction taint_eviction;
  absl::Duration graceful_eviction_timeout = config::Options().graceful_eviction_timeout;
  absl::Duration failure_threshold = config::ClusterMonitoring().failure_threshold;
  absl::Duration monitor_grace_period = config::ClusterMonitoring().monitor_grace_period;

  void ApplyTo(config::Options& daemon) const;
};

// Adds these flags, in the group "What if" of the help.
void AddFailoverFlags(CLI::App& app, FailoverFlags& flags);

struct WhatIfOptions {
  std::vector<std::string> without, lost, drained, cordoned, uncordoned;
  std::vector<std::string> taints, labels, capacities;
  std::vector<std::string> joining;  // Files.
  FailoverFlags failover;

  // Returns whether nothing is asked.
  bool empty() const;
};

void AddWhatIfFlags(CLI::App& app, WhatIfOptions& options);

// Returns the changes that the flags stand for; reads the files of clusters that join.
// kInvalidArgument names the flag.
absl::StatusOr<std::vector<::lens::plan::FleetEdit>> EditsOf(const WhatIfOptions& options,
                                                             tool::Console& console);

}  // namespace cmd::lens

#endif  // CMD_LENS_WHAT_IF_FLAGS_H_
