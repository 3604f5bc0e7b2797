// Reports on a webhook's configuration object that its calls were suspended, or are made again.
#ifndef INTERPRETER_LIVE_BREAKER_EVENTS_H_
#define INTERPRETER_LIVE_BREAKER_EVENTS_H_

#include "interpreter/webhook/circuit_breaker.h"
#include "interpreter/webhook/hook.h"
#include "kube/runtime/manager.h"

namespace interpreter::live {

// One event and one log line; without the object in the cache, the log line alone. Each outage has
// texts of its own: they say when it began.
void TellBreaker(kube::Manager& manager, const webhook::Hook& hook,
                 const webhook::BreakerChange& change);

}  // namespace interpreter::live

#endif  // INTERPRETER_LIVE_BREAKER_EVENTS_H_
