// Reports on a webhook's configuration object that calls of the webhook were suspended or resumed.
#ifndef INTERPRETER_LIVE_BREAKER_EVENTS_H_
#define INTERPRETER_LIVE_BREAKER_EVENTS_H_

#include "interpreter/webhook/circuit_breaker.h"
#include "interpreter/webhook/hook.h"
#include "kube/runtime/manager.h"

namespace interpreter::live {

// Writes one event and one log line; without the object in the cache, only the log line. The texts
// contain the time when the outage began, so that each outage gets its own events.
void ReportBreakerChange(kube::Manager& manager, const webhook::Hook& hook,
                         const webhook::BreakerChange& change);

}  // namespace interpreter::live

#endif  // INTERPRETER_LIVE_BREAKER_EVENTS_H_
