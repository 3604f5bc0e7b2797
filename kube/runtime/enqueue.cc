#include "kube/runtime/enqueue.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kube {
namespace {

std::vector<Request> OwnKey(const Object& object) { return {Request{.key = object.key()}}; }

// What the functions of a handler share: each of them would hold a copy of half of it otherwise,
// and an agent of many clusters has some dozens of handlers for each.
class Entrance {
 public:
  Entrance(WorkQueue& queue, Enqueue enqueue) : queue_(queue), enqueue_(std::move(enqueue)) {}

  // Also at a resync: nothing has changed, so an object counts as one that is there at the start.
  void Added(const Object& object, int priority) const {
    if (enqueue_.when.add && !enqueue_.when.add(object)) return;
    Add(RequestsOf(object), priority);
  }

  void Updated(const Object& before, const Object& after) const {
    if (enqueue_.when.update && !enqueue_.when.update(before, after)) return;
    if (enqueue_.map_update) return Add(enqueue_.map_update(before, after), kNormalPriority);
    if (enqueue_.map) Add(enqueue_.map(before), kNormalPriority);
    Add(RequestsOf(after), kNormalPriority);
  }

  void Removed(const Object& last) const {
    if (!enqueue_.when.remove || enqueue_.when.remove(last)) return AddRemoved(last);
    // A key that is not tried again must not count as failing for ever when its object has gone.
    if (queue_.failing().size() == 0) return;
    for (const Request& request : RequestsOf(last)) {
      if (queue_.failing().Contains(request)) queue_.Add(request);
    }
  }

 private:
  std::vector<Request> RequestsOf(const Object& object) const {
    return enqueue_.map ? enqueue_.map(object) : OwnKey(object);
  }

  void Add(const std::vector<Request>& requests, int priority) const {
    for (const Request& request : requests) {
      if (enqueue_.delay > absl::ZeroDuration()) {
        queue_.AddAfter(request, enqueue_.delay, priority);
      } else {
        queue_.Add(request, priority);
      }
    }
  }

  void AddRemoved(const Object& last) const {
    const absl::Duration more =
        enqueue_.removal_delay ? enqueue_.removal_delay(last) : absl::ZeroDuration();
    if (more <= absl::ZeroDuration()) return Add(RequestsOf(last), kNormalPriority);
    for (const Request& request : RequestsOf(last)) {
      const bool waits = queue_.failing().Contains(request);
      queue_.AddAfter(request, waits ? enqueue_.delay : enqueue_.delay + more, kNormalPriority);
    }
  }

  WorkQueue& queue_;
  const Enqueue enqueue_;
};

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
  const bool resync = enqueue.resync;
  const auto entrance = std::make_shared<const Entrance>(queue, std::move(enqueue));
  EventHandler handler;
  if (resync) {
    handler.on_resync = [entrance](const ObjectPtr& object) {
      entrance->Added(*object, kInitialListPriority);
    };
  }
  handler.on_add = [entrance](const ObjectPtr& object, bool initial) {
    entrance->Added(*object, initial ? kInitialListPriority : kNormalPriority);
  };
  handler.on_update = [entrance](const ObjectPtr& before, const ObjectPtr& after) {
    entrance->Updated(*before, *after);
  };
  handler.on_delete = [entrance](const ObjectPtr& last) { entrance->Removed(*last); };
  return handler;
}

}  // namespace kube
