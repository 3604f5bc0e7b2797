// Reads a write as far as that is possible without the store: parameters, the type and identity of
// the body, the kind of a patch, options and preconditions of a deletion. The checks come in
// apiserver's order, so that a request with several mistakes gets the same answer as there. Patched
// applies a patch to a given state of the object and stores nothing: a caller that meets a conflict
// calls it again with the newer state.

#include "kube/server/write_request.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/meta/patch.h"
#include "kube/schema/strategic_merge_patch.h"
#include "kube/server/negotiation.h"
#include "kube/server/request_info.h"

namespace kube::server {
namespace {

// The same text for whatever a JSON patch fails at, as in apiserver.
constexpr char kUnprocessable[] = "the server rejected our request due to an error in our request";

struct PatchFormat {
  absl::string_view content_type;
  PatchRequest::Type type;
};
constexpr PatchFormat kPatchFormats[] = {
    {"application/json-patch+json", PatchRequest::Type::kJson},
    {"application/merge-patch+json", PatchRequest::Type::kMerge},
    {"application/strategic-merge-patch+json", PatchRequest::Type::kStrategic},
    {"application/apply-patch+yaml", PatchRequest::Type::kApply}};

}  // namespace

absl::StatusOr<WriteParameters> ReadWriteParameters(const base::HttpRequest& request) {
  WriteParameters out;
  FieldErrors errors;
  const absl::string_view dry_run = request.Query("dryRun");
  if (!dry_run.empty() && dry_run != "All") errors.NotSupported("dryRun", dry_run, {"All"});
  out.dry_run = dry_run == "All";
  const absl::string_view validation = request.Query("fieldValidation");
  out.validation = validation == "Strict"   ? FieldValidation::kStrict
                   : validation == "Ignore" ? FieldValidation::kIgnore
                                            : FieldValidation::kWarn;
  RETURN_IF_ERROR(errors.ToStatus({"meta.k8s.io", "CreateOptions"}, ""));
  return out;
}

absl::Status MatchPath(bool namespaced, const kube::ObjectKey& path, kube::Object& object) {
  if (namespaced) {
    // The body may leave out what the path says.
    if (object.ns().empty()) object.Set({"metadata", "namespace"}, path.ns);
    if (object.ns() != path.ns) {
      return BadRequest(
          "the namespace of the provided object does not match the namespace sent on the request");
    }
  }
  if (path.name.empty()) return absl::OkStatus();
  if (object.name().empty()) object.Set({"metadata", "name"}, path.name);
  if (object.name() != path.name) {
    return BadRequest(absl::StrCat("the name of the object (", object.name(),
                                   ") does not match the name on the URL (", path.name, ")"));
  }
  return absl::OkStatus();
}

absl::Status CheckTypeMeta(const kube::Gvk& gvk, kube::Object& object) {
  if (!object.root().is_object()) return BadRequest("the body must be a JSON object");
  if (object.api_version().empty()) object.Set({"apiVersion"}, gvk.ApiVersion());
  if (object.kind().empty()) object.Set({"kind"}, gvk.kind);
  if (object.api_version() != gvk.ApiVersion()) {
    return BadRequest(absl::StrCat("the API version in the data (", object.api_version(),
                                   ") does not match the expected API version (", gvk.ApiVersion(),
                                   ")"));
  }
  if (object.kind() != gvk.kind) {
    return BadRequest(absl::StrCat("the kind in the data (", object.kind(),
                                   ") does not match the expected kind (", gvk.kind, ")"));
  }
  return absl::OkStatus();
}

absl::Status ReportUnknownFields(const kube::Gvk& gvk, const std::vector<std::string>& fields,
                                 FieldValidation validation, std::vector<std::string>* warnings) {
  if (fields.empty() || validation == FieldValidation::kIgnore) return absl::OkStatus();
  std::string all;
  for (const std::string& field : fields) {
    const std::string text = absl::StrCat("unknown field \"", field, "\"");
    absl::StrAppend(&all, all.empty() ? "" : ", ", text);
    if (validation == FieldValidation::kWarn && warnings != nullptr) warnings->push_back(text);
  }
  if (validation == FieldValidation::kWarn) return absl::OkStatus();
  return BadRequest(absl::StrCat(gvk.kind, " in version \"", gvk.version,
                                 "\" cannot be handled as a ", gvk.kind,
                                 ": strict decoding error: ", all));
}

absl::StatusOr<PatchRequest> ReadPatch(const base::HttpRequest& request) {
  const std::string header(request.Header("content-type"));
  // Parameters such as a charset do not matter.
  const std::string type = header.substr(0, header.find(';'));
  const auto* format =
      std::find_if(std::begin(kPatchFormats), std::end(kPatchFormats),
                   [&type](const PatchFormat& f) { return f.content_type == type; });
  if (format == std::end(kPatchFormats)) {
    return UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, "
        "application/strategic-merge-patch+json, application/apply-patch+yaml");
  }
  PatchRequest patch;
  patch.type = format->type;
  patch.field_manager = std::string(request.Query("fieldManager"));
  patch.force = QueryFlag(request, "force");
  ASSIGN_OR_RETURN(patch.patch, BodyOf(request));
  return patch;
}

absl::StatusOr<kube::Object> Patched(const kube::Object& current, const PatchRequest& request,
                                     bool strategic) {
  switch (request.type) {
    case PatchRequest::Type::kMerge:
      if (!request.patch.is_object()) return BadRequest("a merge patch must be a JSON object");
      return kube::Object(kube::ApplyMergePatch(current.root(), request.patch));
    case PatchRequest::Type::kJson: {
      auto patched = kube::ApplyJsonPatch(current.root(), request.patch);
      // A test of the patch that fails, or a path that is absent: upstream does not say which.
      if (!patched.ok()) return ToStatus({422, "Invalid", kUnprocessable, json::Value::Object()});
      return kube::Object(*std::move(patched));
    }
    case PatchRequest::Type::kStrategic: {
      if (!strategic) {
        return UnsupportedMediaType(
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, "
            "application/apply-patch+yaml");
      }
      if (!request.patch.is_object()) return BadRequest("a strategic patch must be a JSON object");
      auto patched = kube::ApplyStrategicMergePatch(current.root(), request.patch);
      if (!patched.ok()) return BadRequest(patched.status().message());
      return kube::Object(*std::move(patched));
    }
    case PatchRequest::Type::kApply:
      break;
  }
  return BadRequest("not a patch of an existing object");
}

absl::StatusOr<DeleteRequest> ReadDelete(const base::HttpRequest& request) {
  json::Value options = json::Value::Object();
  if (!request.body.empty()) {
    ASSIGN_OR_RETURN(options, BodyOf(request));
  }
  DeleteRequest out;
  out.propagation = options["propagationPolicy"].ToString();
  if (out.propagation.empty()) out.propagation = std::string(request.Query("propagationPolicy"));
  // The older, deprecated form of the same option.
  if (options["orphanDependents"].is_bool()) {
    out.propagation = options["orphanDependents"].AsBool() ? "Orphan" : "Background";
  }
  const std::string& policy = out.propagation;
  if (!policy.empty() && policy != "Background" && policy != "Foreground" && policy != "Orphan") {
    FieldErrors errors;
    errors.NotSupported("propagationPolicy", policy, {"Background", "Foreground", "Orphan"});
    return errors.ToStatus({"meta.k8s.io", "DeleteOptions"}, "");
  }
  out.uid = options["preconditions"]["uid"].ToString();
  out.resource_version = options["preconditions"]["resourceVersion"].ToString();
  out.dry_run = !options["dryRun"].empty() || request.Query("dryRun") == "All";
  return out;
}

absl::Status CheckUpdatePreconditions(const GroupName& resource, const kube::Object& current,
                                      const kube::Object& wanted) {
  if (!wanted.uid().empty() && wanted.uid() != current.uid()) {
    return Conflict(resource, current.name(),
                    absl::StrCat("Precondition failed: UID in precondition: ", wanted.uid(),
                                 ", UID in object meta: ", current.uid()));
  }
  if (!wanted.resource_version().empty() &&
      wanted.resource_version() != current.resource_version()) {
    return StaleWrite(resource, current.name());
  }
  return absl::OkStatus();
}

absl::Status CheckDeletePreconditions(const GroupName& kind, const kube::Object& current,
                                      const DeleteRequest& request) {
  if (!request.uid.empty() && request.uid != current.uid()) {
    return Conflict(kind, current.name(),
                    absl::StrCat("the UID in the precondition (", request.uid,
                                 ") does not match the UID in record (", current.uid(),
                                 "). The object might have been deleted and then recreated"));
  }
  if (!request.resource_version.empty() && request.resource_version != current.resource_version()) {
    return Conflict(
        kind, current.name(),
        absl::StrCat("the ResourceVersion in the precondition (", request.resource_version,
                     ") does not match the ResourceVersion in record (", current.resource_version(),
                     "). The object might have been modified"));
  }
  return absl::OkStatus();
}

}  // namespace kube::server
