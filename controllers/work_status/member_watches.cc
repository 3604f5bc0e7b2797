// A pass over a Work of a ready cluster that is served makes sure that each kind of its manifests
// has an informer in the member, to which the queue of the work-status loop is attached (Attach,
// once for each informer). A cluster that is not ready is left alone; its Ready condition, or a new
// connection, queues its Works again, and a new connection has new informers.
//
// A member's controllers write the status of an object in several steps, one shortly after the
// other. A change that cannot be drift is therefore queued a moment later, so that one pass sees
// the steps that follow.
//
// An object that was deleted before the handler was there is not reported by it. When the informer
// had synced by then, the Works whose objects it lacks are handed to the execution loop.

#include "controllers/work_status/member_watches.h"

#include <algorithm>
#include <vector>

#include "absl/types/span.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "controllers/work_status/work_status_reconciler.h"
#include "kube/runtime/controller.h"
#include "works/related.h"

namespace controllers {
namespace {

constexpr absl::Duration kStatusHold = absl::Milliseconds(100);

// Returns whether somebody may have changed what is propagated. Without a generation any change may
// be of that.
bool MayBeDrift(const kube::Object& before, const kube::Object& after) {
  return after.generation() == 0 || before.generation() != after.generation() ||
         before.labels() != after.labels();
}

}  // namespace

MemberWatches::MemberWatches(const MemberWatchesDeps& deps, kube::WorkQueue& queue)
    : deps_(deps), queue_(queue) {}

absl::StatusOr<kube::Action> MemberWatches::Reconcile(const kube::Request& request,
                                                      const base::StopToken& stop) {
  const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(request.key.ns);
  if (!cluster.ok()) return kube::Action::Done();
  const kube::ObjectPtr work = deps_.manager.cluster().Find(api::Works(), request.key);
  if (work == nullptr || work->IsDeleting() || works::HasNoObjects(*work))
    return kube::Action::Done();
  const kube::ObjectPtr object = deps_.manager.cluster().Find(api::Clusters(), {"", *cluster});
  if (object == nullptr) return kube::Action::Done();
  const api::ClusterView view(*object);
  // When the cluster becomes ready, its Works are queued again.
  if (!deps_.served.Have(*object) || !view.IsReady()) return kube::Action::Done();
  base::ErrorList errors;  // A kind that nobody serves keeps no other from being watched.
  for (const json::Value& manifest : api::WorkView(*work).Manifests()) {
    const absl::StatusOr<std::shared_ptr<kube::Informer>> informer =
        deps_.objects.InformerFor(*cluster, kube::Object(manifest).gvk(), stop);
    errors.Add(informer.status());
    if (informer.ok()) Attach(*cluster, *informer);
  }
  RETURN_IF_ERROR(errors.Join());
  return kube::Action::Done();
}

void MemberWatches::Attach(const std::string& cluster,
                           const std::shared_ptr<kube::Informer>& informer) {
  const bool is_new = handlers_.Add(cluster, informer,
                                    [&] { return HandlerFor(cluster, informer->resource().gvk); });
  if (is_new && deps_.objects.repairs() == works::Repairs::kByObject)
    RecheckMissing(cluster, *informer);
}

kube::EventHandler MemberWatches::HandlerFor(const std::string& cluster, const kube::Gvk& gvk) {
  const auto request_for = [cluster, gvk](const kube::ObjectPtr& object, kube::Reason reason) {
    return kube::Request{.key = object->key(), .gvk = gvk, .cluster = cluster, .reason = reason};
  };
  kube::EventHandler handler;
  handler.on_add = [this, request_for](const kube::ObjectPtr& object, bool initial) {
    queue_.Add(request_for(object, kMemberObjectSeen),
               initial ? kube::kInitialListPriority : kube::kNormalPriority);
  };
  handler.on_resync = [add = handler.on_add](const kube::ObjectPtr& object) { add(object, true); };
  handler.on_update = [this, request_for](const kube::ObjectPtr& before,
                                          const kube::ObjectPtr& after) {
    if (!kube::ResourceVersionChanged(*before, *after)) return;
    queue_.AddAfter(request_for(after, kMemberObjectSeen),
                    MayBeDrift(*before, *after) ? absl::ZeroDuration() : kStatusHold);
  };
  handler.on_delete = [this, request_for](const kube::ObjectPtr& last) {
    queue_.Add(request_for(last, kMemberObjectDeleted));
  };
  return handler;
}

// The execution loop may have seen, or made, an object that was deleted before the handler was
// added: in the seconds after a start, when it is the first to look at a kind. It looks at a kind
// only once the informer has synced; before that it has missed nothing.
void MemberWatches::RecheckMissing(const std::string& cluster, const kube::Informer& informer) {
  if (!informer.HasSynced()) return;
  const kube::Gvk& gvk = informer.resource().gvk;
  for (const kube::ObjectPtr& work :
       deps_.manager.cluster().List(api::Works(), api::ExecutionNamespace(cluster))) {
    const absl::Span<const json::Value> manifests = api::WorkView(*work).Manifests();
    const bool missing =
        std::any_of(manifests.begin(), manifests.end(), [&](const json::Value& raw) {
          const kube::Object manifest(raw);
          return manifest.gvk() == gvk && informer.store().Find(manifest.key()) == nullptr;
        });
    if (missing && !work->IsDeleting()) deps_.rechecks.Publish(*work);
  }
}

}  // namespace controllers
