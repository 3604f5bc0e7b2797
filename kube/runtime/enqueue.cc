#include "kube/runtime/enqueue.h"

#include <string>
#include <utility>

namespace kube {
namespace {

std::vector<Request> OwnKey(const Object& object) { return {Request{.key = object.key()}}; }

}  // namespace

bool GenerationChanged(const Object& before, const Object& after) {
  return before.generation() != after.generation() || before.spec() != after.spec() ||
         before.IsDeleting() != after.IsDeleting();
}

bool ContentChanged(const Object& before, const Object& after) {
  return GenerationChanged(before, after) || before.labels() != after.labels() ||
         before.annotations() != after.annotations();
}

bool ResourceVersionChanged(const Object& before, const Object& after) {
  return before.resource_version() != after.resource_version();
}

bool Never(const Object&) { return false; }
bool NeverUpdate(const Object&, const Object&) { return false; }

IndexFn IndexByLabel(absl::string_view label) {
  return [label = std::string(label)](const Object& object) {
    const absl::string_view value = object.Label(label);
    return value.empty() ? std::vector<std::string>()
                         : std::vector<std::string>{std::string(value)};
  };
}

EventHandler EnqueueHandler(WorkQueue& queue, Enqueue enqueue) {
  const bool by_own_key = !enqueue.map;
  if (by_own_key) enqueue.map = OwnKey;
  if (!enqueue.map_update) {
    enqueue.map_update = [by_own_key, map = enqueue.map](const Object& before,
                                                         const Object& after) {
      if (by_own_key) return map(after);
      std::vector<Request> requests = map(before);
      for (Request& request : map(after)) requests.push_back(std::move(request));
      return requests;
    };
  }
  const auto add = [&queue, delay = enqueue.delay](const std::vector<Request>& requests,
                                                   int priority) {
    for (const Request& request : requests) {
      if (delay > absl::ZeroDuration()) {
        queue.AddAfter(request, delay, priority);
      } else {
        queue.Add(request, priority);
      }
    }
  };
  EventHandler handler;
  // Nothing has changed, so an object counts as one that is there at the start does.
  if (enqueue.resync) {
    handler.on_resync = [add, when = enqueue.when.add, map = enqueue.map](const ObjectPtr& object) {
      if (!when || when(*object)) add(map(*object), kInitialListPriority);
    };
  }
  handler.on_add = [add, when = std::move(enqueue.when.add), map = enqueue.map](
                       const ObjectPtr& object, bool initial) {
    if (when && !when(*object)) return;
    add(map(*object), initial ? kInitialListPriority : kNormalPriority);
  };
  handler.on_update = [add, when = std::move(enqueue.when.update),
                       map = std::move(enqueue.map_update)](const ObjectPtr& before,
                                                            const ObjectPtr& after) {
    if (when && !when(*before, *after)) return;
    add(map(*before, *after), kNormalPriority);
  };
  handler.on_delete = [&queue, add, when = std::move(enqueue.when.remove),
                       map = std::move(enqueue.map), delay = enqueue.delay,
                       removal_delay = std::move(enqueue.removal_delay)](const ObjectPtr& last) {
    if (!when || when(*last)) {
      const absl::Duration more = removal_delay ? removal_delay(*last) : absl::ZeroDuration();
      if (more <= absl::ZeroDuration()) return add(map(*last), kNormalPriority);
      for (const Request& request : map(*last)) {
        const bool waits = queue.failing().Contains(request);
        queue.AddAfter(request, waits ? delay : delay + more, kNormalPriority);
      }
      return;
    }
    // A key that is not tried again must not count as failing for ever when its object has gone.
    if (queue.failing().size() == 0) return;
    for (const Request& request : map(*last)) {
      if (queue.failing().Contains(request)) queue.Add(request);
    }
  };
  return handler;
}

}  // namespace kube
