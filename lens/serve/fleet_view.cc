#include "base/clock.h"
#include "base/status.h"
#include "lens/fleet/reader.h"
#include "lens/serve/views.h"

namespace lens::serve {

absl::StatusOr<json::Value> ScopedFleetView(const Asked& asked) {
  ASSIGN_OR_RETURN(const auto served, asked.viewer.Served(asked.stop));
  const fleet::Scope scope{asked.parameters.Get("namespace"), asked.parameters.Get("cluster"),
                           asked.parameters.Get("policy")};
  const base::Clock& clock = base::RealClock();
  const base::SteadyTime start = clock.SteadyNow();
  const absl::StatusOr<fleet::Fleet> read =
      fleet::ReadFleet(asked.viewer.client(), *served, scope, asked.flags, asked.stop);
  // A part would be shown as the whole.
  if (asked.stop.stop_requested()) return absl::CancelledError("not all lists were read");
  const FleetAnswer answer = AnswerOf(read, clock.SteadyNow() - start, clock);
  RETURN_IF_ERROR(answer.status);
  return json::Parse(*answer.json);
}

}  // namespace lens::serve
