#include "cmd/agent/loops.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/log.h"
#include "base/status.h"
#include "config/support.h"
#include "controllers/cluster_status/register.h"
#include "controllers/execution/register.h"
#include "controllers/members/register.h"
#include "controllers/slice_collection/register.h"
#include "controllers/work_status/register.h"

namespace cmd {
namespace {

using config::Concurrency;

// As in the controller manager's table.
constexpr int kSliceCollectors = 3;
constexpr int kWatchAttachers = 2;

absl::Status BuildWorkStatus(const controllers::Context& context, int workers) {
  return controllers::RegisterWorkStatus(context, {workers, kWatchAttachers});
}

struct Loop {
  const char* name;  // As in --controllers; "" for one that always runs.
  absl::Status (*build)(const controllers::Context& context, int workers);
  int Concurrency::*workers;  // nullptr for kSliceCollectors.
};

constexpr Loop kLoops[] = {
    {"", controllers::RegisterMembers, &Concurrency::cluster},
    {"clusterStatus", controllers::RegisterClusterStatus, &Concurrency::cluster},
    {"endpointsliceCollect", controllers::RegisterEndpointSliceCollect, nullptr},
    {"execution", controllers::RegisterExecution, &Concurrency::work},
    {"serviceExport", controllers::RegisterServiceExport, nullptr},
    {"workStatus", BuildWorkStatus, &Concurrency::work},
};

}  // namespace

bool RunsOnAgent(const char* controller, const config::Options& options) {
  const config::ControllerSupport* const support = config::FindAgentController(controller);
  if (support == nullptr) return false;
  if (support->gate.has_value() && !options.gates.Enabled(*support->gate)) return false;
  return options.ControllerEnabled(controller, support->on_by_default);
}

absl::Status BuildAgentLoops(const controllers::Context& context) {
  for (const Loop& loop : kLoops) {
    const bool always = loop.name[0] == '\0';
    if (!always && !RunsOnAgent(loop.name, context.options)) continue;
    const int workers =
        loop.workers == nullptr ? kSliceCollectors : context.options.concurrency.*loop.workers;
    RETURN_IF_ERROR(
        base::Annotate(loop.build(context, workers), "building the ", loop.name, " controller"));
  }
  return absl::OkStatus();
}

void LogAgentLoops(const config::Options& options) {
  std::vector<std::string> on, off;
  for (const config::ControllerSupport& controller : config::AgentControllers()) {
    const std::string name(controller.name);
    (RunsOnAgent(name.c_str(), options) ? on : off).push_back(name);
  }
  base::LogInfo("controllers", {{"on", absl::StrJoin(on, ",")},
                                {"off", off.empty() ? "none" : absl::StrJoin(off, ",")}});
}

}  // namespace cmd
