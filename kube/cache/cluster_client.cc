// A write takes these steps: the difference between the two objects becomes a merge patch, without
// what the server owns and without the parts that this write may not change; an empty patch is not
// sent; the precondition is added where it is asked for; the patch is sent; and the answer is put
// into the informer's store, so that the next read sees it before the watch reports it. Where
// patches are not permitted (ReplaceInsteadOfPatching) the patch is applied here, and the whole
// object is sent.
//
// A conflict, or that the object does not exist, means that the cache may be behind. The object is
// then read from the server and put into the store, or taken out of it, so that the next try starts
// from the present state even when the watch is dead. An object whose deletion is answered with 404
// and that the read shows is still to be deleted, so that nothing is left behind for ever. Nothing
// is locked here: the store decides which of two states is newer.

#include "kube/cache/cluster_client.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/cache/internal/own_patch.h"
#include "kube/cache/read_scope.h"
#include "kube/client/errors.h"
#include "kube/client/subresource.h"
#include "kube/meta/managed_fields.h"
#include "kube/meta/patch.h"

namespace kube {
namespace {

// How often a change that others' changes do not concern is made to the present object.
constexpr int kReplacements = 5;

bool NeedsPrecondition(const Object& before, const json::Value& patch,
                       UpdateOptions::Precondition precondition) {
  switch (precondition) {
    case UpdateOptions::Precondition::kAlways:
      return true;
    case UpdateOptions::Precondition::kNever:
      return false;
    case UpdateOptions::Precondition::kWhenListsChange:
      return PatchTouchesList(before.root(), patch);
  }
  return true;
}

}  // namespace

ClusterClient::ClusterClient(Client& client, RestMapper& mapper, InformerSet& informers)
    : client_(client), mapper_(mapper), informers_(informers) {}

ObjectPtr ClusterClient::Find(const Resource& r, const ObjectKey& key) {
  const std::shared_ptr<Informer> informer = InformerToRead(r);
  return informer == nullptr ? nullptr : informer->store().Find(key);
}

std::vector<ObjectPtr> ClusterClient::List(const Resource& r, absl::string_view ns,
                                           const LabelSelector& selector) {
  const std::shared_ptr<Informer> informer = InformerToRead(r);
  return informer == nullptr ? std::vector<ObjectPtr>() : informer->store().List(ns, selector);
}

std::vector<ObjectPtr> ClusterClient::ByIndex(const Resource& r, absl::string_view index,
                                              absl::string_view value) {
  const std::shared_ptr<Informer> informer = InformerToRead(r);
  return informer == nullptr ? std::vector<ObjectPtr>() : informer->store().ByIndex(index, value);
}

size_t ClusterClient::CountByIndex(const Resource& r, absl::string_view index,
                                   absl::string_view value) {
  const std::shared_ptr<Informer> informer = InformerToRead(r);
  return informer == nullptr ? 0 : informer->store().CountByIndex(index, value);
}

std::shared_ptr<Informer> ClusterClient::InformerToRead(const Resource& r) {
  std::shared_ptr<Informer> informer = informers_.Find(r);
  ReadScope::Note(*this, informer.get(), r);
  return informer;
}

absl::StatusOr<ObjectPtr> ClusterClient::Get(const Resource& r, const ObjectKey& key,
                                             const base::StopToken& stop) {
  const std::shared_ptr<Informer> informer = informers_.Find(r);
  if (informer != nullptr && informer->HasSynced()) {
    const bool holds_all = informer->HoldsAll();  // Asked first: see Informer::LeavesOut.
    if (ObjectPtr held = informer->store().Find(key)) return held;
    if (holds_all) return GoneError(r, key);
  }
  ASSIGN_OR_RETURN(Object object, client_.Get(r, key, stop));
  return Share(std::move(object));
}

absl::StatusOr<ObjectPtr> ClusterClient::GetSubresource(const Resource& r, const ObjectKey& key,
                                                        const std::string& subresource,
                                                        const base::StopToken& stop) {
  ASSIGN_OR_RETURN(Object object, kube::GetSubresource(client_, {r, key, subresource}, stop));
  return Share(std::move(object));
}

absl::StatusOr<ObjectPtr> ClusterClient::Create(const Resource& r, const Object& object,
                                                const base::StopToken& stop) {
  ASSIGN_OR_RETURN(Object created, client_.Create(r, object, {}, stop));
  Remember(r, created);
  return Share(std::move(created));
}

absl::StatusOr<ObjectPtr> ClusterClient::Update(const Resource& r, const ObjectPtr& before,
                                                const Object& after, const UpdateOptions& options,
                                                const base::StopToken& stop) {
  json::Value patch = internal::OwnPatch(*before, after, options.subresource);
  if (patch.is_null()) return before;
  const bool guarded = NeedsPrecondition(*before, patch, options.precondition);
  if (guarded) patch.Set({"metadata", "resourceVersion"}, before->resource_version());
  const WriteOptions write{.subresource = options.status_on_object ? "" : options.subresource};
  absl::StatusOr<Object> written =
      IsReplaced(r, write.subresource)
          ? Replace(r, {*before, patch, guarded}, write, stop)
          : client_.Patch(r, before->key(), PatchType::kMerge, patch, write, stop);
  // A 404 for a subresource may mean that the kind does not have it.
  const bool is_gone = IsGone(written.status()) && options.subresource.empty();
  if (IsConflict(written.status()) || is_gone) ReadLive(r, *before, stop);
  RETURN_IF_ERROR(written.status());
  Remember(r, *written);
  return Share(*std::move(written));
}

void ClusterClient::ReplaceInsteadOfPatching(const Resource& r, const std::string& subresource) {
  replaced_.insert({r.gvr(), subresource});
}

bool ClusterClient::IsReplaced(const Resource& r, const std::string& subresource) const {
  return !replaced_.empty() && replaced_.contains({r.gvr(), subresource});
}

absl::StatusOr<Object> ClusterClient::Replace(const Resource& r, const Edit& edit,
                                              const WriteOptions& write,
                                              const base::StopToken& stop) {
  Object base = edit.before;
  for (int attempt = 1;; ++attempt) {
    absl::StatusOr<Object> written =
        client_.Replace(r, Object(ApplyMergePatch(base.root(), edit.patch)), write, stop);
    if (!IsConflict(written.status()) || edit.guarded || attempt == kReplacements) return written;
    absl::StatusOr<Object> live = client_.Get(r, edit.before.key(), stop);
    // Another object that has taken the name is not the one to be changed.
    if (!live.ok() || live->uid() != edit.before.uid()) return written;
    base = *std::move(live);
  }
}

absl::StatusOr<ObjectPtr> ClusterClient::Apply(const Resource& r, const ObjectPtr& before,
                                               Object configuration, const ApplyOptions& options,
                                               const base::StopToken& stop) {
  configuration.Set({"metadata", "resourceVersion"}, before->resource_version());
  // An apply creates what is not there, whatever the resourceVersion; with a uid it does not.
  if (!before->uid().empty()) configuration.Set({"metadata", "uid"}, before->uid());
  const WriteOptions write{.field_manager = options.field_manager, .force = options.force};
  absl::StatusOr<Object> written =
      client_.Patch(r, configuration.key(), PatchType::kApply, configuration.root(), write, stop);
  if (IsConflict(written.status()) || IsGone(written.status())) ReadLive(r, *before, stop);
  RETURN_IF_ERROR(written.status());
  Remember(r, *written);
  return Share(*std::move(written));
}

absl::StatusOr<ObjectPtr> ClusterClient::HandOverFields(const Resource& r, const ObjectPtr& before,
                                                        const std::set<std::string>& from,
                                                        const std::string& to,
                                                        const base::StopToken& stop) {
  const absl::StatusOr<json::Value> owners = client_.GetManagedFields(r, before->key(), stop);
  if (IsGone(owners.status())) ReadLive(r, *before, stop);
  RETURN_IF_ERROR(owners.status());
  std::optional<json::Value> after = kube::HandOverFields(*owners, from, to);
  if (!after.has_value()) return before;
  // The owners are from the server and `before` may be older: the version makes that a conflict.
  json::Value patch = json::Value::Object();
  patch.Set({"metadata", "managedFields"}, *std::move(after));
  patch.Set({"metadata", "resourceVersion"}, before->resource_version());
  absl::StatusOr<Object> written =
      client_.Patch(r, before->key(), PatchType::kMerge, patch, {}, stop);
  if (IsConflict(written.status()) || IsGone(written.status())) ReadLive(r, *before, stop);
  RETURN_IF_ERROR(written.status());
  Remember(r, *written);
  return Share(*std::move(written));
}

absl::Status ClusterClient::RemoveFinalizer(const Resource& r, const ObjectPtr& object,
                                            absl::string_view finalizer,
                                            const base::StopToken& stop) {
  Object after = *object;
  if (!after.RemoveFinalizer(finalizer)) return absl::OkStatus();
  return IgnoreGone(Update(r, object, after, {}, stop).status());
}

absl::Status ClusterClient::Delete(const Resource& r, const ObjectKey& key,
                                   const DeleteOptions& options, const base::StopToken& stop) {
  const std::shared_ptr<Informer> informer = informers_.Find(r);
  const ObjectPtr held = informer == nullptr ? nullptr : informer->store().Find(key);
  const absl::StatusOr<Object> left = client_.Delete(r, key, options, stop);
  if (IsConflict(left.status()) && held != nullptr) ReadLive(r, *held, stop);
  // A kind that is not served has no objects either.
  if (!left.ok() && !absl::IsNotFound(left.status())) return left.status();
  if (left.ok() && !left->empty()) {
    Remember(r, *left);
  } else if (held != nullptr) {
    if (!left.ok()) RETURN_IF_ERROR(ConfirmGone(r, *held, stop));
    // An object that has taken the name since has another uid and stays.
    informer->WrittenDeleteOf(key, held->uid());
  }
  return absl::OkStatus();
}

absl::Status ClusterClient::ConfirmGone(const Resource& r, const Object& held,
                                        const base::StopToken& stop) {
  const absl::StatusOr<Object> live = client_.Get(r, held.key(), stop);
  // Who may not read it has the first answer alone.
  if (absl::IsNotFound(live.status()) || absl::IsPermissionDenied(live.status())) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(live.status());
  Remember(r, *live);
  if (live->uid() != held.uid() || live->IsDeleting()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("the server did not find ", held.Describe(),
                                             " to delete it, but has it; it may be starting"));
}

void ClusterClient::ReadLive(const Resource& r, const Object& held, const base::StopToken& stop) {
  const absl::StatusOr<Object> live = client_.Get(r, held.key(), stop);
  if (live.ok()) Remember(r, *live);
  if (!IsGone(live.status())) return;
  if (const std::shared_ptr<Informer> informer = informers_.Find(r)) {
    informer->WrittenDeleteOf(held.key(), held.uid());
  }
}

void ClusterClient::Remember(const Resource& r, const Object& written) {
  if (written.kind() != r.gvk.kind) return;  // This is a sub-resource with a kind of its own.
  if (const std::shared_ptr<Informer> informer = informers_.Find(r)) informer->Written(written);
}

}  // namespace kube
