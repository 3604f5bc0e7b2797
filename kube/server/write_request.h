// What the body and the query of a write ask for, before anything is read from a store.
#ifndef KUBE_SERVER_WRITE_REQUEST_H_
#define KUBE_SERVER_WRITE_REQUEST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/http_server.h"
#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/server/api_errors.h"

namespace kube::server {

// How to treat fields that the kind does not have.
enum class FieldValidation { kIgnore, kWarn, kStrict };

// The query parameters that every write takes.
struct WriteParameters {
  bool dry_run = false;
  FieldValidation validation = FieldValidation::kWarn;
};
// 422 for a dryRun other than All.
absl::StatusOr<WriteParameters> ReadWriteParameters(const base::HttpRequest& request);

// Checks that path and body mean the same object; sets name and namespace from the path where the
// body has none. 400 when they differ.
absl::Status MatchPath(bool namespaced, const kube::ObjectKey& path, kube::Object& object);

// Checks apiVersion and kind; sets them where the body has none. 400 when they differ.
absl::Status CheckTypeMeta(const kube::Gvk& gvk, kube::Object& object);

// Reports fields that the kind does not have: 400 when validation is strict; otherwise `warnings`
// (may be null) gets the texts for Warning headers if validation warns.
absl::Status ReportUnknownFields(const kube::Gvk& gvk, const std::vector<std::string>& fields,
                                 FieldValidation validation, std::vector<std::string>* warnings);

struct PatchRequest {
  enum class Type { kJson, kMerge, kStrategic, kApply } type = Type::kMerge;
  json::Value patch;
  std::string subresource;
  bool dry_run = false;
  std::string field_manager;
  bool force = false;
};
// Fills all but subresource and dry_run. 415 for a content type that is not one of patches.
absl::StatusOr<PatchRequest> ReadPatch(const base::HttpRequest& request);
// Returns the patched object. `strategic` is false for kinds that have no Go type, which answer 415
// to a strategic merge patch. REQUIRES: the patch is not an apply patch.
absl::StatusOr<kube::Object> Patched(const kube::Object& current, const PatchRequest& request,
                                     bool strategic);

struct DeleteRequest {
  std::string propagation;            // "Background" (default), "Foreground", "Orphan".
  std::string uid, resource_version;  // Preconditions unless they are empty.
  bool dry_run = false;
};
// Reads DeleteOptions from body and query. 422 for an unknown propagation policy.
absl::StatusOr<DeleteRequest> ReadDelete(const base::HttpRequest& request);

// Check uid and resourceVersion that a write or a deletion names: 409 unless they are the current
// ones. Absent ones are not checked.
absl::Status CheckUpdatePreconditions(const GroupName& resource, const kube::Object& current,
                                      const kube::Object& wanted);
absl::Status CheckDeletePreconditions(const GroupName& kind, const kube::Object& current,
                                      const DeleteRequest& request);

}  // namespace kube::server

#endif  // KUBE_SERVER_WRITE_REQUEST_H_
