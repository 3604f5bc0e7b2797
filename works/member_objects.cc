// Apply looks for the object in the member's informer, once that has synced. (With Repairs::kByWork
// it waits for that only for a moment, and asks the server until then.) An object that is not
// there is created; when the member refuses that, for whatever reason, the server is asked once
// whether the object exists all the same, and then it is updated. If it does not, the refusal is
// the result. An object from the server that is not Karmada's is refused, unless the manifest says
// that it is to be overwritten. An update takes over what the member owns (labels and annotations
// of others, and what the interpreter retains), and sends the difference with the version that was
// seen, so that it meets a conflict rather than undo another change. What the member has refused as
// invalid waits in refusals_ before it is sent again.
//
// The informer holds objects with Karmada's label. Three kinds of objects are not in it although
// they are Karmada's: those whose creation was not answered and has not been delivered either,
// those from which somebody in the member has removed the label, and those for which there is no
// memory (Informer::LeavesOut; the server is then asked for each object that is missing). So before
// a missing object counts as gone for good, the server is asked; and an object without the label is
// Karmada's as long as its annotations name the Work of the manifest. An update puts the label
// back; with Repairs::kByWork it is refused instead, as upstream does.
//
// Where server-side apply is asked for (configuration.h), the update sends what the manifest has,
// and fields of others stay although the manifest lacks them. Before it applies, it hands the
// fields that Karmada's controller managers have set by updates over to the field manager that
// applies; else they would stay for ever. A field that somebody else has set differently is a
// conflict, which the manifest's conflict resolution decides.
//
// changes_ holds what each object was after our last write, so that our own writes are not taken
// for drift. It may be lost at any moment: an update then finds no difference. Of an object that is
// applied, a change of its content since our last write is answered with an apply, which changes
// nothing if the change was somebody's right; without that memory what the object has is compared
// with the configuration.

#include "works/member_objects.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/programs.h"
#include "api/reasons.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "kube/meta/patch.h"
#include "works/configuration.h"
#include "works/member_errors.h"
#include "works/ownership.h"
#include "works/retention.h"

namespace works {
namespace {

// Under which name objects are applied.
constexpr char kFieldManager[] = "karmada";

// How long a reconcile waits for a member's informer that has had no error so far.
constexpr absl::Duration kSyncWait = absl::Seconds(10);
// How long where the server is asked for the one object then. Most lists take less, and cost less
// than a question for each object.
constexpr absl::Duration kGlance = absl::Milliseconds(200);
// How often it looks meanwhile whether the list has failed.
constexpr absl::Duration kLookAtErrors = absl::Milliseconds(200);

// Returns the label for the outcome of an operation.
metrics::Labels::value_type Result(bool ok) { return {"result", ok ? "success" : "error"}; }

// The managers of an object that upstream's or this controller manager, or the agent of a member
// in pull mode, has created or updated: servers name them after their user agents.
std::set<std::string> ManagersOfUpdates() { return {api::kControllerManager, "karmada-agent"}; }

// Returns whether the object is the one of which the manifest was made: then the member is the
// control plane itself, and what is done to a copy there must not be done to the template.
bool IsTemplate(const kube::Object& manifest, const kube::Object& observed) {
  const absl::string_view uid = manifest.Annotation(api::kTemplateUidAnnotation);
  return !uid.empty() && uid == observed.uid();
}

}  // namespace

MemberObjects::MemberObjects(Deps deps)
    : deps_(deps), refusals_(deps.clock), changes_(deps.repairs) {}

absl::StatusOr<std::shared_ptr<kube::Informer>> MemberObjects::InformerFor(
    const std::string& cluster, const kube::Gvk& gvk, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const Place place, PlaceOf(cluster, gvk, stop));
  return InformerAt(place);
}

absl::Status MemberObjects::Prefetch(const std::string& cluster, const kube::Gvk& gvk,
                                     const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const Place place, PlaceOf(cluster, gvk, stop));
  place.member->client().informers().Get(place.resource);
  return absl::OkStatus();
}

std::shared_ptr<kube::Informer> MemberObjects::InformerAt(const Place& place) {
  std::shared_ptr<kube::Informer> informer = place.member->client().informers().Get(place.resource);
  changes_.Follow(place.cluster, informer);
  return informer;
}

absl::StatusOr<MemberObjects::Place> MemberObjects::PlaceOf(const std::string& cluster,
                                                            const kube::Gvk& gvk,
                                                            const base::StopToken& stop) {
  ASSIGN_OR_RETURN(std::shared_ptr<kube::MemberCluster> member, deps_.clusters.Get(cluster));
  ASSIGN_OR_RETURN(kube::Resource resource, ResourceOf(*member, gvk, stop));
  return Place{cluster, std::move(member), std::move(resource)};
}

absl::StatusOr<kube::Resource> MemberObjects::ResourceOf(kube::MemberCluster& member,
                                                         const kube::Gvk& gvk,
                                                         const base::StopToken& stop) {
  absl::StatusOr<kube::Resource> resource = deps_.mapper.ForKind(gvk, stop);
  if (!kube::IsNoSuchKind(resource.status())) return resource;
  absl::StatusOr<kube::Resource> own = member.client().mapper().ForKind(gvk, stop);
  // When neither serves the kind, return the control plane's error: that is what the user can
  // repair.
  return kube::IsNoSuchKind(own.status()) ? resource : own;
}

bool MemberObjects::IsKindGone(const std::string& cluster, const kube::Gvk& gvk,
                               const base::StopToken& stop) {
  const auto member = deps_.clusters.Get(cluster);
  if (!member.ok()) return false;
  return kube::IsNoSuchKind((*member)->client().mapper().ForKindNow(gvk, stop).status());
}

absl::StatusOr<kube::ObjectPtr> MemberObjects::Find(const std::string& cluster,
                                                    const kube::Object& manifest,
                                                    const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const Place place, PlaceOf(cluster, manifest.gvk(), stop));
  return FindAt(place, manifest, stop);
}

absl::StatusOr<kube::ObjectPtr> MemberObjects::FindAt(const Place& place,
                                                      const kube::Object& manifest,
                                                      const base::StopToken& stop) {
  const std::shared_ptr<kube::Informer> informer = InformerAt(place);
  const bool asks = deps_.repairs == Repairs::kByWork;
  const absl::Status synced = AwaitFirstList(*informer, asks ? kGlance : kSyncWait, stop);
  if (asks && !synced.ok()) return FindAtServer(place, manifest, stop);
  // The kind may be served meanwhile; the informer looks again in half a minute only.
  if (kube::IsNoSuchKind(synced)) return FindAtServer(place, manifest, stop);
  RETURN_IF_ERROR(base::Annotate(synced, "listing ", informer->resource().gvr().ToString(),
                                 " in cluster ", place.cluster));
  const bool leaves_out = informer->LeavesOut();
  kube::ObjectPtr held = informer->store().Find(manifest.key());
  return held == nullptr && leaves_out ? FindAtServer(place, manifest, stop) : held;
}

absl::Status MemberObjects::AwaitFirstList(const kube::Informer& informer, absl::Duration patience,
                                           const base::StopToken& stop) const {
  const base::SteadyTime deadline = deps_.clock.SteadyNow() + patience;
  for (;;) {
    if (informer.HasSynced()) return absl::OkStatus();
    // An informer that has failed will not sync soon: fail at once, so that the queue backs off
    // instead of a worker waiting.
    RETURN_IF_ERROR(informer.last_error());
    const base::SteadyTime now = deps_.clock.SteadyNow();
    const absl::Status synced = informer.WaitForSync(std::min(deadline, now + kLookAtErrors), stop);
    if (!absl::IsDeadlineExceeded(synced) || deps_.clock.SteadyNow() >= deadline) return synced;
  }
}

absl::StatusOr<kube::ObjectPtr> MemberObjects::FindAtServer(const Place& place,
                                                            const kube::Object& manifest,
                                                            const base::StopToken& stop) {
  // At an address that no server has, there is no object: a Work may name anything.
  if (!kube::IsAddress(place.resource, manifest.key())) return nullptr;
  absl::StatusOr<kube::Object> found =
      place.member->client().raw().Get(place.resource, manifest.key(), stop);
  if (kube::IsGone(found.status())) return nullptr;
  RETURN_IF_ERROR(found.status());
  if (!IsKarmadas(manifest, *found)) return nullptr;
  return kube::Share(*std::move(found));
}

absl::StatusOr<kube::ObjectPtr> MemberObjects::FindOfServedKind(const std::string& cluster,
                                                                const kube::Object& manifest,
                                                                const base::StopToken& stop) {
  return FindOfServedKindAt(PlaceOf(cluster, manifest.gvk(), stop), cluster, manifest, stop);
}

absl::StatusOr<kube::ObjectPtr> MemberObjects::FindOfServedKindAt(
    const absl::StatusOr<Place>& place, const std::string& cluster, const kube::Object& manifest,
    const base::StopToken& stop) {
  absl::StatusOr<kube::ObjectPtr> found =
      place.ok() ? FindAt(*place, manifest, stop) : place.status();
  if (found.ok() && *found == nullptr) found = FindAtServer(*place, manifest, stop);
  if (kube::IsNoSuchKind(found.status()) && IsKindGone(cluster, manifest.gvk(), stop)) {
    return nullptr;  // An object of a kind that is not served does not exist.
  }
  return found;
}

absl::StatusOr<ApplyResult> MemberObjects::Apply(const std::string& cluster,
                                                 const kube::Object& manifest,
                                                 const base::StopToken& stop) {
  const absl::StatusOr<Place> place = PlaceOf(cluster, manifest.gvk(), stop);
  if (!place.ok()) return Explained(cluster, manifest, place.status());
  const MemberChanges::Attempt attempt(changes_, {cluster, manifest.gvk(), manifest.key()});
  const absl::StatusOr<kube::ObjectPtr> observed = FindAt(*place, manifest, stop);
  if (!observed.ok()) return Explained(cluster, manifest, observed.status());
  if (*observed != nullptr && IsTemplate(manifest, **observed) && Overwrites(manifest)) {
    return RefuseTemplate(cluster, manifest);
  }
  if (*observed != nullptr && !MayWrite(manifest, **observed)) {
    return RefuseForeign(cluster, manifest);
  }
  if (*observed != nullptr) return UpdateAt(place, cluster, manifest, *observed, stop);
  const absl::StatusOr<ApplyResult> result = CreateOrAdopt(*place, manifest, stop);
  // Update has already counted an object that was taken over.
  if (result.ok() && *result != ApplyResult::kCreated) return result;
  Count("create_resource_to_cluster", cluster, manifest,
        {{"recreate", "false"}, Result(result.ok())});
  if (!result.ok()) return Explained(cluster, manifest, result.status());
  return result;
}

absl::StatusOr<ApplyResult> MemberObjects::CreateOrAdopt(const Place& place,
                                                         const kube::Object& manifest,
                                                         const base::StopToken& stop) {
  kube::ClusterClient& client = place.member->client();
  ASSIGN_OR_RETURN(const bool applies, UsesServerSideApply(manifest, deps_.server_side_apply));
  const absl::StatusOr<kube::ObjectPtr> created =
      client.Create(place.resource, applies ? WithDigest(manifest) : manifest, stop);
  if (created.ok()) {
    // What was refused of a former object says nothing about this one.
    refusals_.Note({place.cluster, manifest.gvk(), manifest.key()}, {}, absl::OkStatus());
    applies ? changes_.RecordApplied(place.cluster, *created)
            : changes_.Record(place.cluster, *created);
    return ApplyResult::kCreated;
  }
  const absl::Status refused = NamedIfDenied(place.cluster, created.status());
  if (!MayBeThere(created.status())) return refused;
  // An object that is there although the informer does not show it is somebody else's, or our own
  // that was not delivered yet or has lost its label.
  absl::StatusOr<kube::Object> found = client.raw().Get(place.resource, manifest.key(), stop);
  if (!found.ok()) {
    const bool says_why = kube::AlreadyExists(refused) || kube::IsNoOutcome(found.status());
    return says_why ? found.status() : refused;
  }
  if (IsTemplate(manifest, *found) && Overwrites(manifest)) {
    return RefuseTemplate(place.cluster, manifest);
  }
  if (!MayWrite(manifest, *found)) return RefuseForeign(place.cluster, manifest);
  return UpdateAt(place, place.cluster, manifest, kube::Share(*std::move(found)), stop);
}

bool MemberObjects::MayWrite(const kube::Object& manifest, const kube::Object& observed) const {
  if (Overwrites(manifest)) return true;
  return deps_.repairs == Repairs::kByWork ? IsManaged(observed) : IsKarmadas(manifest, observed);
}

absl::StatusOr<ApplyResult> MemberObjects::Recreate(const std::string& cluster,
                                                    const kube::Object& manifest,
                                                    const base::StopToken& stop) {
  const absl::StatusOr<Place> place = PlaceOf(cluster, manifest.gvk(), stop);
  if (!place.ok()) return Explained(cluster, manifest, place.status());
  const absl::StatusOr<kube::ObjectPtr> observed = FindAt(*place, manifest, stop);
  if (!observed.ok()) return Explained(cluster, manifest, observed.status());
  if (*observed != nullptr) return ApplyResult::kNone;
  const absl::StatusOr<ApplyResult> created = CreateOrAdopt(*place, manifest, stop);
  // Update has already counted an object that was there.
  if (created.ok() && *created != ApplyResult::kCreated) return created;
  Count("create_resource_to_cluster", cluster, manifest,
        {{"recreate", "true"}, Result(created.ok())});
  if (!created.ok()) return Explained(cluster, manifest, created.status());
  return created;
}

absl::StatusOr<ApplyResult> MemberObjects::Update(const std::string& cluster,
                                                  const kube::Object& manifest,
                                                  const kube::ObjectPtr& observed,
                                                  const base::StopToken& stop) {
  return UpdateAt(PlaceOf(cluster, manifest.gvk(), stop), cluster, manifest, observed, stop);
}

absl::StatusOr<ApplyResult> MemberObjects::UpdateAt(const absl::StatusOr<Place>& place,
                                                    const std::string& cluster,
                                                    const kube::Object& manifest,
                                                    const kube::ObjectPtr& observed,
                                                    const base::StopToken& stop) {
  const absl::StatusOr<ApplyResult> result =
      place.ok() ? SendUpdate(*place, manifest, observed, stop) : place.status();
  const char* outcome = "none";
  if (result.ok() && *result == ApplyResult::kUnchanged) outcome = "unchanged";
  if (result.ok() && *result == ApplyResult::kUpdated) outcome = "updated";
  Count("update_resource_to_cluster", cluster, manifest,
        {{"operationResult", outcome}, Result(result.ok())});
  if (!result.ok()) return NamedIfDenied(cluster, result.status());
  return result;
}

absl::StatusOr<ApplyResult> MemberObjects::SendConfiguration(const Place& place,
                                                             const kube::Object& manifest,
                                                             const kube::ObjectPtr& observed,
                                                             const base::StopToken& stop) {
  ASSIGN_OR_RETURN(kube::Object configuration,
                   ConfigurationOf(manifest, *observed, deps_.interpreter));
  // What has changed since our last write is for the server to judge, which knows the schema.
  if (IsApplied(configuration, *observed) && !changes_.HasOtherContent(place.cluster, *observed)) {
    changes_.RecordApplied(place.cluster, observed);
    return ApplyResult::kNone;
  }
  const Refusals::Object object{place.cluster, observed->gvk(), observed->key()};
  RETURN_IF_ERROR(refusals_.Check(object, configuration.root()));
  kube::ClusterClient& client = place.member->client();
  ASSIGN_OR_RETURN(
      const kube::ObjectPtr ours,
      client.HandOverFields(place.resource, observed, ManagersOfUpdates(), kFieldManager, stop));
  const kube::ApplyOptions options{.field_manager = kFieldManager, .force = Overwrites(manifest)};
  const absl::StatusOr<kube::ObjectPtr> applied =
      client.Apply(place.resource, ours, configuration, options, stop);
  const absl::Status refused = ExplainConflict(place.cluster, applied.status());
  refusals_.Note(object, configuration.root(), refused);
  RETURN_IF_ERROR(refused);
  changes_.RecordApplied(place.cluster, *applied);
  return (*applied)->resource_version() == ours->resource_version() ? ApplyResult::kUnchanged
                                                                    : ApplyResult::kUpdated;
}

absl::StatusOr<json::Value> MemberObjects::ReleaseOf(const kube::Object& manifest,
                                                     const kube::Object& observed) {
  ASSIGN_OR_RETURN(const json::Value change, ChangeOf(manifest, observed, deps_.interpreter));
  json::Value metadata = json::Value::Object();
  for (const char* map : {"labels", "annotations"}) {
    const json::Value& entries = change["metadata"][map];
    if (entries.is_object()) metadata.Set(map, entries);
  }
  json::Value patch = json::Value::Object({{"metadata", std::move(metadata)}});
  patch.Set({"metadata", "annotations", api::kAppliedManifestAnnotation}, json::Value());
  return patch;
}

absl::StatusOr<ApplyResult> MemberObjects::SendUpdate(const Place& place,
                                                      const kube::Object& manifest,
                                                      const kube::ObjectPtr& observed,
                                                      const base::StopToken& stop) {
  // A manifest without Karmada's label is that of an object that is released.
  const bool releases = !IsManaged(manifest);
  if (!releases) {
    ASSIGN_OR_RETURN(const bool applies, UsesServerSideApply(manifest, deps_.server_side_apply));
    if (applies) return SendConfiguration(place, manifest, observed, stop);
  }
  const bool was_applied = !observed->Annotation(api::kAppliedManifestAnnotation).empty();
  ASSIGN_OR_RETURN(const json::Value patch, (releases && was_applied)
                                                ? ReleaseOf(manifest, *observed)
                                                : ChangeOf(manifest, *observed, deps_.interpreter));
  const Refusals::Object object{place.cluster, observed->gvk(), observed->key()};
  RETURN_IF_ERROR(refusals_.Check(object, patch));
  const kube::Object after(kube::ApplyMergePatch(observed->root(), patch));

  kube::UpdateOptions options;
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  const absl::StatusOr<kube::ObjectPtr> updated =
      place.member->client().Update(place.resource, observed, after, options, stop);
  refusals_.Note(object, patch, updated.status());
  RETURN_IF_ERROR(updated.status());
  const kube::ObjectPtr& now = *updated;
  changes_.Record(place.cluster, now);
  if (now == observed) return ApplyResult::kNone;
  return now->resource_version() == observed->resource_version() ? ApplyResult::kUnchanged
                                                                 : ApplyResult::kUpdated;
}

absl::StatusOr<json::Value> MemberObjects::ManagedFieldsOf(const std::string& cluster,
                                                           const kube::Object& observed,
                                                           const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const Place place, PlaceOf(cluster, observed.gvk(), stop));
  return place.member->client().raw().GetManagedFields(place.resource, observed.key(), stop);
}

absl::Status MemberObjects::Delete(const std::string& cluster, const kube::Object& manifest,
                                   const base::StopToken& stop) {
  const absl::StatusOr<Place> place = PlaceOf(cluster, manifest.gvk(), stop);
  ASSIGN_OR_RETURN(const kube::ObjectPtr observed,
                   FindOfServedKindAt(place, cluster, manifest, stop));
  Forget(cluster, manifest.gvk(), manifest.key());
  // As upstream, leave alone an object from which somebody has removed the label.
  if (observed == nullptr || !IsManaged(*observed)) return absl::OkStatus();
  if (IsTemplate(manifest, *observed)) return absl::OkStatus();
  kube::DeleteOptions options;
  options.propagation = "Background";  // With another policy, Jobs would orphan their pods.
  options.uid = std::string(observed->uid());
  const absl::Status deleted =
      place->member->client().Delete(place->resource, manifest.key(), options, stop);
  Count("delete_resource_from_cluster", cluster, manifest, {Result(deleted.ok())});
  return NamedIfDenied(cluster, deleted);
}

kube::ObjectPtr MemberObjects::FindDrifted(const std::string& cluster, const kube::Object& manifest,
                                           const base::StopToken& stop) {
  if (!changes_.HasDrifted({cluster, manifest.gvk(), manifest.key()})) return nullptr;
  const auto informer = InformerFor(cluster, manifest.gvk(), stop);
  return informer.ok() ? (*informer)->store().Find(manifest.key()) : nullptr;
}

void MemberObjects::Forget(const std::string& cluster) {
  refusals_.Forget([&](const auto& object) { return std::get<0>(object) == cluster; });
  changes_.Forget(cluster);
}

void MemberObjects::Forget(const std::string& cluster, const kube::Gvk& gvk,
                           const kube::ObjectKey& key) {
  const Refusals::Object object{cluster, gvk, key};
  refusals_.Forget([&](const auto& refused) { return refused == object; });
  changes_.Forget(object);
}

void MemberObjects::Count(const char* name, const std::string& cluster,
                          const kube::Object& manifest, metrics::Labels labels) {
  labels["apiversion"] = std::string(manifest.api_version());
  labels["kind"] = std::string(manifest.kind());
  labels["member_cluster"] = cluster;
  deps_.registry.GetCounter(name, "Operations on resources of member clusters.", labels)
      .Increment();
}

}  // namespace works
