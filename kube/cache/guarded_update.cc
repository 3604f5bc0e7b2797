// A server refuses a JSON patch with the same words whether a test fails or what it makes of the
// object is invalid. So after a refusal the object is read, and the patch is tried on what the
// server has; that is put into the store, as the next pass has to start from it.

#include "kube/cache/guarded_update.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/cache/internal/own_patch.h"
#include "kube/client/errors.h"
#include "kube/meta/patch.h"

namespace kube {
namespace {

void Remember(ClusterClient& client, const Resource& r, const Object& state) {
  if (const std::shared_ptr<Informer> informer = client.informers().Find(r)) {
    informer->Written(state);
  }
}

json::Value PatchOf(const Object& before, const json::Value& merge_patch) {
  json::Value operations = GuardedJsonPatch(before.root(), merge_patch);
  operations.Insert(
      0, json::Value::Object({{"op", "test"}, {"path", "/metadata/uid"}, {"value", before.uid()}}));
  return operations;
}

}  // namespace

absl::StatusOr<ObjectPtr> GuardedUpdate(ClusterClient& client, const Resource& r,
                                        const Change& change, const base::StopToken& stop) {
  const Object& before = *change.before;
  const json::Value difference = internal::OwnPatch(before, change.after, "");
  if (difference.is_null()) return change.before;
  const json::Value patch = PatchOf(before, difference);
  absl::StatusOr<Object> written =
      client.raw().Patch(r, before.key(), PatchType::kJson, patch, {}, stop);
  if (written.ok()) {
    Remember(client, r, *written);
    return Share(*std::move(written));
  }
  if (!IsInvalid(written.status()) && !IsConflict(written.status())) return written.status();
  ASSIGN_OR_RETURN(const Object live, client.raw().Get(r, before.key(), stop));
  Remember(client, r, live);
  if (IsInvalid(written.status()) && ApplyJsonPatch(live.root(), patch).ok()) {
    return written.status();
  }
  return absl::AbortedError(
      absl::StrCat(before.Describe(), " has changed meanwhile where it was to be patched"));
}

}  // namespace kube
