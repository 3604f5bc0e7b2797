#include "search/registry/scope_inputs.h"

#include "base/status.h"

namespace search {
namespace {

constexpr absl::Duration kSyncRound = absl::Milliseconds(100);

}  // namespace

KindResolver ResolverOf(kube::RestMapper& mapper) {
  return [&mapper](const kube::Gvk& gvk, const base::StopToken& stop) {
    // A definition may have been deleted and created again under another plural.
    return mapper.ForKindNow(gvk, stop);
  };
}

bool ScopeRunner::AwaitInputs(const base::StopToken& stop) {
  while (!parts_.feed.HasSynced() || !parts_.clusters.HasSynced()) {
    if (!parts_.clock.SleepFor(kSyncRound, stop)) return false;
  }
  return true;
}

absl::Status ScopeRunner::Run(const base::StopToken& stop) {
  CacheScope& scope = parts_.scope;
  const int64_t handler = parts_.clusters.AddHandler(
      {.on_add = [&scope](const kube::ObjectPtr& object, bool) { scope.SetCluster(object); },
       .on_update = [&scope](const kube::ObjectPtr&,
                             const kube::ObjectPtr& after) { scope.SetCluster(after); },
       .on_delete = [&scope](const kube::ObjectPtr& last) { scope.RemoveCluster(last->name()); }});
  if (AwaitInputs(stop)) {
    // The present registries are delivered before Subscribe returns, or are being delivered by
    // another thread: the bookmark after them says that they are complete.
    const auto id = parts_.feed.Subscribe({}, [&scope](const FeedEvent& event) {
      if (event.type == FeedEvent::Type::kBookmark) return scope.SetSynced();
      if (event.type == FeedEvent::Type::kDeleted) {
        return scope.RemoveRegistry(event.object->name());
      }
      scope.SetRegistry(event.object);
    });
    if (id.ok()) {
      scope.Run(stop);
      parts_.feed.Unsubscribe(*id);
    }
  }
  parts_.clusters.RemoveHandler(handler);
  return absl::OkStatus();
}

}  // namespace search
