// Events as the page shows them.
#ifndef LENS_SERVE_EVENTS_H_
#define LENS_SERVE_EVENTS_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "kube/meta/object.h"

namespace lens::serve {

// The fields of events that EventAsJson needs.
std::vector<std::string> EventFields();

// Returns {time, severity, what, reason, message, count, from, about}, where `what` is "event".
json::Value EventAsJson(const kube::Object& event);

}  // namespace lens::serve

#endif  // LENS_SERVE_EVENTS_H_
