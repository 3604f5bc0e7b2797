// Putting manifests into member clusters and keeping them there (upstream's objectwatcher).
//
// Reads come from the member's informers (objects labelled karmada.io/managed=true). A live GET
// happens only for an object that the informer does not show, if the informer says that the kind is
// not served or leaves objects out, if the member refuses to create the object, and before the
// object counts as gone for good; and where somebody asks who owns its fields.
#ifndef WORKS_MEMBER_OBJECTS_H_
#define WORKS_MEMBER_OBJECTS_H_

#include <memory>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "interpreter/interpreter.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/object.h"
#include "kube/runtime/cluster_set.h"
#include "works/member_changes.h"
#include "works/refusals.h"

namespace works {

enum class ApplyResult { kCreated, kNone, kUnchanged, kUpdated };

// Thread-safe.
class MemberObjects {
 public:
  struct Deps {
    kube::RestMapper& mapper;  // The control plane's mapper. Members may serve further kinds.
    kube::ClusterSet& clusters;
    const interpreter::Interpreter& interpreter;
    const base::Clock& clock;
    metrics::Registry& registry;
    // Objects whose template does not say otherwise are put into members by server-side apply.
    bool server_side_apply = false;
    Repairs repairs = Repairs::kByObject;
  };
  // REQUIRES: everything in `deps` outlives this object.
  explicit MemberObjects(Deps deps);

  Repairs repairs() const { return deps_.repairs; }
  // With Repairs::kByWork, has the Works of objects that others change or delete in members put
  // into the queue (MemberChanges::QueueWorksInto).
  void QueueRepairsInto(kube::WorkQueue& works) { changes_.QueueWorksInto(works); }

  // Returns the informer of a kind in a member; it is created and started if need be.
  absl::StatusOr<std::shared_ptr<kube::Informer>> InformerFor(const std::string& cluster,
                                                              const kube::Gvk& gvk,
                                                              const base::StopToken& stop);

  // Starts the informer of a kind in a member, if need be, and leaves its changes alone: for a
  // process that does not lead yet.
  absl::Status Prefetch(const std::string& cluster, const kube::Gvk& gvk,
                        const base::StopToken& stop);

  // Creates the object or updates what differs from the manifest, retaining what the member owns.
  // An object that Karmada does not manage, also one for whose sake the member refuses the
  // creation, is only taken over if the manifest's conflict resolution says so, else the error is
  // kAlreadyExists with upstream's message. Karmada manages an object that has its label, or whose
  // annotations name the manifest's Work; with Repairs::kByWork only one that has its label.
  absl::StatusOr<ApplyResult> Apply(const std::string& cluster, const kube::Object& manifest,
                                    const base::StopToken& stop);
  // Creates an object that somebody deleted in the member. Returns kNone when it is there already,
  // kUpdated when only its label was missing.
  absl::StatusOr<ApplyResult> Recreate(const std::string& cluster, const kube::Object& manifest,
                                       const base::StopToken& stop);
  // Updates `observed`, which the functions below or an informer of the member have returned. A
  // change that the member has refused as invalid a moment ago is not sent again yet, and fails as
  // it did then.
  absl::StatusOr<ApplyResult> Update(const std::string& cluster, const kube::Object& manifest,
                                     const kube::ObjectPtr& observed, const base::StopToken& stop);
  // Deletes the object unless it or its kind is gone, or it lacks Karmada's label. The server is
  // asked for an object that the cache does not show: the creation of ours may not have been
  // answered. Does not wait for it to vanish.
  absl::Status Delete(const std::string& cluster, const kube::Object& manifest,
                      const base::StopToken& stop);
  // Looks into the cache. Returns nullptr when the object is not there or not labelled as
  // Karmada's; an error for which IsNoSuchKind holds when the member does not serve the kind. Where
  // the cache cannot tell (see above), the server is asked; an object without the label is then
  // returned if its annotations name the manifest's Work.
  absl::StatusOr<kube::ObjectPtr> Find(const std::string& cluster, const kube::Object& manifest,
                                       const base::StopToken& stop);

  // Returns nullptr when the member has no such object of Karmada's, also because it does not serve
  // the kind. The server is asked for an object that the cache does not show. One without Karmada's
  // label is returned if its annotations name the manifest's Work.
  absl::StatusOr<kube::ObjectPtr> FindOfServedKind(const std::string& cluster,
                                                   const kube::Object& manifest,
                                                   const base::StopToken& stop);

  // Asks the member who owns the fields of the object (metadata.managedFields, which caches leave
  // out); null if it keeps no record of that.
  absl::StatusOr<json::Value> ManagedFieldsOf(const std::string& cluster,
                                              const kube::Object& observed,
                                              const base::StopToken& stop);

  // Returns whether somebody else has changed `observed` since our last write to it.
  bool NeedsUpdate(const std::string& cluster, const kube::Object& manifest,
                   const kube::Object& observed) const {
    return changes_.NeedsUpdate(cluster, manifest, observed);
  }
  // With Repairs::kByWork: returns the manifest's object, as the cache has it, if others have
  // changed it since our last write to it; else nullptr.
  kube::ObjectPtr FindDrifted(const std::string& cluster, const kube::Object& manifest,
                              const base::StopToken& stop);
  // Forgets a cluster that left, or one object that does not exist in its cluster any more.
  void Forget(const std::string& cluster);
  void Forget(const std::string& cluster, const kube::Gvk& gvk, const kube::ObjectKey& key);

 private:
  // Where objects of a kind are in a member. It keeps the member's client alive: the cluster may
  // leave during a call.
  struct Place {
    std::string cluster;
    std::shared_ptr<kube::MemberCluster> member;
    kube::Resource resource;
  };
  absl::StatusOr<Place> PlaceOf(const std::string& cluster, const kube::Gvk& gvk,
                                const base::StopToken& stop);
  // Returns the kind as the control plane serves it, else as the member does: a definition that was
  // deleted in the control plane must not keep its objects in members. kNotFound when neither
  // serves it.
  absl::StatusOr<kube::Resource> ResourceOf(kube::MemberCluster& member, const kube::Gvk& gvk,
                                            const base::StopToken& stop);
  // Returns the informer of the place; it is created, started and followed if need be.
  std::shared_ptr<kube::Informer> InformerAt(const Place& place);
  // Waits for a member's informer that has had no error so far. Returns its error as soon as it has
  // one, and kDeadlineExceeded when the patience is over.
  absl::Status AwaitFirstList(const kube::Informer& informer, absl::Duration patience,
                              const base::StopToken& stop) const;
  absl::StatusOr<kube::ObjectPtr> FindAt(const Place& place, const kube::Object& manifest,
                                         const base::StopToken& stop);
  absl::StatusOr<kube::ObjectPtr> FindOfServedKindAt(const absl::StatusOr<Place>& place,
                                                     const std::string& cluster,
                                                     const kube::Object& manifest,
                                                     const base::StopToken& stop);
  // As FindOfServedKind, but asks only the server. REQUIRES: the member serves the resource, else
  // IsNoSuchKind holds.
  static absl::StatusOr<kube::ObjectPtr> FindAtServer(const Place& place,
                                                      const kube::Object& manifest,
                                                      const base::StopToken& stop);
  // Returns whether the member's own discovery says that it does not serve the kind.
  bool IsKindGone(const std::string& cluster, const kube::Gvk& gvk, const base::StopToken& stop);
  absl::StatusOr<ApplyResult> CreateOrAdopt(const Place& place, const kube::Object& manifest,
                                            const base::StopToken& stop);
  // As Update. A place that could not be found counts as a failed update.
  absl::StatusOr<ApplyResult> UpdateAt(const absl::StatusOr<Place>& place,
                                       const std::string& cluster, const kube::Object& manifest,
                                       const kube::ObjectPtr& observed,
                                       const base::StopToken& stop);
  absl::StatusOr<ApplyResult> SendUpdate(const Place& place, const kube::Object& manifest,
                                         const kube::ObjectPtr& observed,
                                         const base::StopToken& stop);
  // As SendUpdate, by server-side apply.
  absl::StatusOr<ApplyResult> SendConfiguration(const Place& place, const kube::Object& manifest,
                                                const kube::ObjectPtr& observed,
                                                const base::StopToken& stop);
  // Returns whether an object that is in the member may be made what the manifest says.
  bool MayWrite(const kube::Object& manifest, const kube::Object& observed) const;
  // Takes Karmada's marks off an object that is applied, and changes nothing else.
  absl::StatusOr<json::Value> ReleaseOf(const kube::Object& manifest, const kube::Object& observed);
  void Count(const char* name, const std::string& cluster, const kube::Object& manifest,
             metrics::Labels labels);

  const Deps deps_;
  Refusals refusals_;
  MemberChanges changes_;
};

}  // namespace works

#endif  // WORKS_MEMBER_OBJECTS_H_
