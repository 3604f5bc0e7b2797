#include "kube/cache/internal/cache_step.h"

#include <algorithm>
#include <utility>

namespace kube::internal {
namespace {

using Event = WatchCache::Event;

class StepMaker {
 public:
  StepMaker(const OrderedObjects& objects, const StepVersions& versions)
      : objects_(objects), versions_(versions) {}

  void Add(const PendingChange& change) {
    const ObjectPtr before = objects_.Find(KeyView(change.last));
    const int64_t own = ResourceVersionOf(*change.last);
    if (change.deleted) {
      // The last state has the version of the deletion, if the watch has reported it. One that a
      // list has revealed after the watch has shown a later state is not told apart; so only the
      // version that ends the step is believed.
      // Of objects that took the name one after the other only the first one was ever reported.
      const bool same = before != nullptr && before->uid() == change.last->uid();
      if (same) Add({.before = change.last}, own == versions_.to ? own : -1);
      if (before != nullptr && !same) Add({.before = before}, -1);
    } else if (before == nullptr) {
      Add({.after = change.last}, own);
    } else if (before->uid() != change.last->uid()) {
      AddReplacement(before, change.last, own);
    } else if (before->resource_version() != change.last->resource_version()) {
      Add({.before = before, .after = change.last}, own);
    }
  }

  std::vector<Event> Finish() {
    std::sort(events_.begin(), events_.end(), Precedes);
    // Nothing follows the last event, so that everything up to the end of the step has been seen.
    if (!events_.empty()) events_.back().resume_version = versions_.to;
    return std::move(events_);
  }

 private:
  void AddReplacement(const ObjectPtr& before, const ObjectPtr& after, int64_t own) {
    Add({.before = before}, -1);
    // Whoever has seen the successor must not be given the deletion, which would take it away.
    Event& deletion = events_.back();
    if (IsWithin(own)) deletion.version = std::max(own - 1, versions_.from + 1);
    Add({.after = after}, own);
  }

  // Returns whether a change has this version for certain.
  bool IsWithin(int64_t own) const { return own > versions_.from && own <= versions_.to; }

  // `own`: the version of the change; outside of the step if it is not known.
  void Add(Event event, int64_t own) {
    const bool known = IsWithin(own);
    event.version = known ? own : versions_.to;
    event.resume_version = known ? own : versions_.from;
    event.belated = versions_.to <= versions_.from;
    events_.push_back(std::move(event));
  }

  static bool Precedes(const Event& a, const Event& b) {
    if (a.resume_version != b.resume_version) return a.resume_version < b.resume_version;
    const int keys = CompareKeys(KeyView(StateOf(a)), KeyView(StateOf(b)));
    // The deletion of an object precedes its successor.
    return keys == 0 ? a.after == nullptr && b.after != nullptr : keys < 0;
  }

  const OrderedObjects& objects_;
  const StepVersions versions_;
  std::vector<Event> events_;
};

}  // namespace

std::vector<Event> StepEvents(const OrderedObjects& objects, const PendingChanges& pending,
                              const StepVersions& versions) {
  StepMaker maker(objects, versions);
  for (const auto& [key, change] : pending) maker.Add(change);
  return maker.Finish();
}

bool ShowsEarlierState(const OrderedObjects& objects, const PendingChanges& pending, int64_t from) {
  return std::any_of(pending.begin(), pending.end(), [&](const auto& entry) {
    const PendingChange& change = entry.second;
    if (change.deleted || ResourceVersionOf(*change.last) > from) return false;
    const ObjectPtr before = objects.Find(KeyView(change.last));
    return before == nullptr || before->uid() != change.last->uid() ||
           before->resource_version() != change.last->resource_version();
  });
}

}  // namespace kube::internal
