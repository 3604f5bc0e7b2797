#include "absl/time/clock.h"
#include "base/status.h"
#include "lens/fleet/reader.h"
#include "lens/serve/views.h"

namespace lens::serve {

absl::StatusOr<json::Value> ScopedFleetView(const Asked& asked) {
  ASSIGN_OR_RETURN(const auto served, asked.viewer.Served(asked.stop));
  const fleet::Scope scope{asked.parameters.Get("namespace"), asked.parameters.Get("cluster"),
                           asked.parameters.Get("policy")};
  const absl::Time start = absl::Now();
  const absl::StatusOr<fleet::Fleet> read =
      fleet::ReadFleet(asked.viewer.client(), *served, scope, asked.flags, asked.stop);
  const absl::Time end = absl::Now();
  const FleetAnswer answer = AnswerOf(read, end - start, end);
  RETURN_IF_ERROR(answer.status);
  return json::Parse(*answer.json);
}

}  // namespace lens::serve
