// Objects that somebody makes or edits while this process leads, for reports that must not be made
// again at each start.
#ifndef CONTROLLERS_CONTEXT_NEW_SPECS_H_
#define CONTROLLERS_CONTEXT_NEW_SPECS_H_

#include <functional>

#include "controllers/context/context.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/runtime/controller.h"

namespace controllers {

struct NewSpecs {
  kube::Resource resource;
  // Returns whether an update changed what the report is about.
  std::function<bool(const kube::Object& before, const kube::Object& after)> differs;
  kube::Reason reason;  // The one that requests get.
};

// While this process leads, queues a request with the object's key and `reason` whenever an object
// is created, or changed so that `differs` holds. Objects of the first list are not queued. Ends
// when `controller` is destroyed.
void QueueNewSpecs(const Context& context, kube::Controller& controller, NewSpecs what);

}  // namespace controllers

#endif  // CONTROLLERS_CONTEXT_NEW_SPECS_H_
