#include "controllers/context/new_specs.h"

#include <memory>
#include <utility>

#include "kube/runtime/handler_registration.h"

namespace controllers {

void QueueNewSpecs(const Context& context, kube::Controller& controller, NewSpecs what) {
  const auto informer = context.InformerOf(what.resource);
  const auto queue = [&manager = context.manager, &queue = controller.queue(),
                      reason = what.reason](const kube::Object& object) {
    if (manager.IsLeader()) queue.Add({.key = object.key(), .reason = reason});
  };
  kube::EventHandler handler;
  handler.on_add = [queue](const kube::ObjectPtr& object, bool initial) {
    if (!initial) queue(*object);
  };
  handler.on_update = [queue, differs = std::move(what.differs)](const kube::ObjectPtr& before,
                                                                 const kube::ObjectPtr& after) {
    if (differs(*before, *after)) queue(*after);
  };
  controller.Keep(std::make_shared<kube::HandlerRegistration>(informer, std::move(handler)));
}

}  // namespace controllers
