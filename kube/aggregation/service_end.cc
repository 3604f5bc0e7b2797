#include "kube/aggregation/service_end.h"

#include "base/log.h"

namespace kube::aggregation {
namespace {

// How long connections may take to close once all requests have ended. The HTTP server waits two
// seconds for clients to close theirs.
constexpr absl::Duration kConnections = absl::Seconds(10);

}  // namespace

bool EndService(const ServiceEnd& end, const base::Clock& clock, const base::StopToken& hurry) {
  end.health.BeginShutdown();
  clock.SleepFor(end.delay, hurry);
  end.chain.BeginDrain();
  const bool idle = end.chain.AwaitIdle(end.patience, hurry);
  if (!idle) base::LogWarning("requests are broken off, because the service ends");
  const bool closed = idle && end.server.Drain(kConnections);
  end.server.Stop();
  return closed;
}

}  // namespace kube::aggregation
