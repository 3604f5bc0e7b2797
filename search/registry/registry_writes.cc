// An update reads the newest state, makes the wanted one from it, restricts that to what the
// subresource may change, validates it, and replaces exactly the state that it began with. If
// another writer was faster, it begins again, up to a bound; a request that names a resourceVersion
// then gets its conflict from the new state. A write without a difference is not stored. An update
// that removes the last finalizer of a deleted registry removes it.

#include "search/registry/registry_writes.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resource_registry.h"
#include "base/status.h"
#include "kube/server/api_errors.h"
#include "kube/server/metadata_rules.h"
#include "search/registry/managed_fields.h"
#include "search/registry/registry_rules.h"
#include "search/registry/status_conditions.h"

namespace search {
namespace {

using kube::server::BadRequest;
using kube::server::FieldWriter;
using kube::server::PatchRequest;

constexpr int kMaxAttempts = 20;     // The number of attempts for a write that loses races.
constexpr int kMaxNameAttempts = 8;  // The number of attempts for generated names that are taken.

bool IsReadyToGo(const kube::Object& object) {
  return object.IsDeleting() && object.metadata()["finalizers"].empty();
}

// The main resource leaves status alone, and /status everything else, but for managedFields.
// Upstream lets either change both.
void Restrict(const std::string& subresource, const kube::Object& current, kube::Object& wanted) {
  if (subresource.empty()) {
    wanted.Set({"status"}, current.status());
    return;
  }
  kube::Object result = current;
  result.Set({"status"}, wanted.status());
  if (const json::Value* fields = wanted.metadata().Find("managedFields")) {
    result.Set({"metadata", "managedFields"}, *fields);
  }
  wanted = std::move(result);
}

absl::Status CheckMirror(const kube::Object& before, const kube::Object& wanted,
                         const RegistryWrites::Context& context) {
  const auto target = api::ResourceRegistryView(wanted).OpenSearch();
  if (!context.may_mirror || !target.has_value()) return absl::OkStatus();
  // Only who sets or changes the target needs the right; others may edit the registry around it.
  if (api::ResourceRegistryView(before).OpenSearch() == target) return absl::OkStatus();
  return context.may_mirror(*target);
}

absl::Status CheckedConfiguration(const RegistryWrites::Target& target, const PatchRequest& request,
                                  kube::Object& config) {
  if (!request.patch.is_object()) return BadRequest("an applied configuration must be an object");
  if (request.field_manager.empty()) {
    return BadRequest("fieldManager is required for apply patch");
  }
  config = kube::Object(request.patch);
  if (!config.metadata()["managedFields"].empty()) {
    return BadRequest("metadata.managedFields must be nil");
  }
  RETURN_IF_ERROR(kube::server::CheckTypeMeta(RegistryRules().resource.gvk, config));
  return kube::server::MatchPath(false, {"", target.name}, config);
}

}  // namespace

absl::Status ApiErrorOf(const absl::Status& status, absl::string_view name) {
  if (status.ok() || kube::server::IsApiError(status)) return status;
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return kube::server::NotFound(RegistryResourceName(), name);
    case absl::StatusCode::kAlreadyExists:
      return kube::server::AlreadyExists(RegistryResourceName(), name);
    case absl::StatusCode::kAborted:
      return kube::server::StaleWrite(RegistryResourceName(), name);
    case absl::StatusCode::kOutOfRange:
      return kube::server::Expired(status.message());
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kCancelled:
      return kube::server::ToStatus(
          {503, "ServiceUnavailable",
           absl::StrCat("the storage of ResourceRegistries is not available: ", status.message()),
           json::Value::Object({{"retryAfterSeconds", 1}})});
    default:
      return kube::server::InternalError(status.message());
  }
}

absl::StatusOr<kube::ObjectPtr> RegistryWrites::Create(kube::Object object, const Context& context,
                                                       const base::StopToken& stop) {
  return CreateAs(std::move(object), Fields::kRecord, context, stop);
}

absl::StatusOr<kube::ObjectPtr> RegistryWrites::CreateAs(kube::Object object, Fields fields,
                                                         const Context& context,
                                                         const base::StopToken& stop) {
  if (!object.resource_version().empty()) {
    return kube::server::ToStatus(
        {500, "", "resourceVersion should not be set on objects to be created", {}});
  }
  RETURN_IF_ERROR(DecodeRegistry(object, context.validation, context.warnings));
  kube::server::SetNewIdentity(RegistryRules(), object, clock_.Now());
  object.Set({"status"}, json::Value::Object());
  if (fields == Fields::kRecord) {
    RecordUpdate({}, {context.field_manager, "", clock_.Now()}, object);
  }
  kube::server::FieldErrors errors;
  ValidateRegistry(object, errors);
  RETURN_IF_ERROR(errors.ToStatus(RegistryKindName(), object.name()));
  RETURN_IF_ERROR(CheckMirror({}, object, context));
  return Insert(std::move(object), context, stop);
}

absl::StatusOr<kube::ObjectPtr> RegistryWrites::Insert(kube::Object object, const Context& context,
                                                       const base::StopToken& stop) {
  const bool generated = !object.metadata()["generateName"].AsString().empty();
  for (int attempt = 0;; ++attempt) {
    absl::Status failed;
    if (context.dry_run) {
      failed = store_.Get(object.name(), stop).status();
      if (absl::IsNotFound(failed)) return kube::Share(std::move(object));
      if (failed.ok()) failed = absl::AlreadyExistsError("");
    } else {
      auto stored = store_.Create(object, stop);
      if (stored.ok()) return stored;
      failed = stored.status();
    }
    const bool again = generated && absl::IsAlreadyExists(failed) && attempt < kMaxNameAttempts;
    if (!again) return ApiErrorOf(failed, object.name());
    kube::server::GenerateName(object);
  }
}

absl::StatusOr<kube::ObjectPtr> RegistryWrites::Replace(const Target& target,
                                                        const kube::Object& object,
                                                        const Context& context,
                                                        const base::StopToken& stop) {
  const auto whole = [&object](const kube::Object&) -> absl::StatusOr<kube::Object> {
    return object;
  };
  return Update(target, whole, Fields::kRecord, context, stop);
}

absl::StatusOr<RegistryWrites::Patched> RegistryWrites::Patch(const Target& target,
                                                              const PatchRequest& request,
                                                              const Context& context,
                                                              const base::StopToken& stop) {
  if (request.type == PatchRequest::Type::kApply) return Apply(target, request, context, stop);
  const auto change = [&](const kube::Object& current) {
    return kube::server::Patched(current, request, /*strategic=*/true);
  };
  ASSIGN_OR_RETURN(kube::ObjectPtr object, Update(target, change, Fields::kRecord, context, stop));
  return Patched{std::move(object), false};
}

absl::StatusOr<RegistryWrites::Patched> RegistryWrites::Apply(const Target& target,
                                                              const PatchRequest& request,
                                                              const Context& context,
                                                              const base::StopToken& stop) {
  kube::Object config;
  RETURN_IF_ERROR(CheckedConfiguration(target, request, config));
  const FieldWriter writer{request.field_manager, target.subresource, clock_.Now()};
  const auto change = [&](const kube::Object& current) {
    return Applied(current, config, writer, request.force);
  };
  // Each round ends with an object, an error, or a registry that was created or deleted in between.
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    auto updated = Update(target, change, Fields::kApplied, context, stop);
    if (updated.ok()) return Patched{*std::move(updated), false};
    if (!absl::IsNotFound(updated.status()) || !target.subresource.empty()) return updated.status();
    ASSIGN_OR_RETURN(kube::Object fresh, Applied({}, config, writer, request.force));
    auto created = CreateAs(std::move(fresh), Fields::kApplied, context, stop);
    if (created.ok()) return Patched{*std::move(created), true};
    if (!absl::IsAlreadyExists(created.status())) return created.status();
  }
  return kube::server::StaleWrite(RegistryResourceName(), target.name);
}

absl::StatusOr<kube::Object> RegistryWrites::Prepare(const Target& target,
                                                     const kube::Object& current,
                                                     kube::Object wanted, const Context& context) {
  RETURN_IF_ERROR(kube::server::CheckTypeMeta(RegistryRules().resource.gvk, wanted));
  RETURN_IF_ERROR(kube::server::CheckUpdatePreconditions(RegistryResourceName(), current, wanted));
  RETURN_IF_ERROR(DecodeRegistry(wanted, context.validation, context.warnings));
  kube::server::KeepServerMetadata(current, wanted);
  Restrict(target.subresource, current, wanted);
  return wanted;
}

absl::StatusOr<kube::ObjectPtr> RegistryWrites::Update(const Target& target, const Change& change,
                                                       Fields fields, const Context& context,
                                                       const base::StopToken& stop) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const auto current = store_.Get(target.name, stop);
    if (!current.ok()) return ApiErrorOf(current.status(), target.name);
    // Those of an attempt that lost its race are not answered.
    if (context.warnings != nullptr) context.warnings->clear();
    ASSIGN_OR_RETURN(kube::Object wanted, change(**current));
    ASSIGN_OR_RETURN(wanted, Prepare(target, **current, std::move(wanted), context));
    if (fields == Fields::kRecord) {
      RecordUpdate(**current, {context.field_manager, target.subresource, clock_.Now()}, wanted);
    }
    if (wanted.spec() != (*current)->spec()) MarkConditionsOutdated(wanted, clock_.Now());
    kube::server::FieldErrors errors;
    kube::server::ValidateMetadataUpdate(**current, wanted, errors);
    // A status may be written even if the older spec is not valid.
    if (target.subresource.empty()) ValidateRegistry(wanted, errors);
    RETURN_IF_ERROR(errors.ToStatus(RegistryKindName(), target.name));
    RETURN_IF_ERROR(CheckMirror(**current, wanted, context));
    if (wanted == **current && !IsReadyToGo(wanted)) return *current;
    if (context.dry_run) return kube::Share(std::move(wanted));
    auto stored = Commit(std::move(wanted), stop);
    if (stored.ok()) return stored;
    // It may also have been deleted and created again meanwhile, which the next attempt sees.
    if (!absl::IsAborted(stored.status())) return ApiErrorOf(stored.status(), target.name);
  }
  return kube::server::StaleWrite(RegistryResourceName(), target.name);
}

absl::StatusOr<kube::ObjectPtr> RegistryWrites::Commit(kube::Object object,
                                                       const base::StopToken& stop) {
  if (!IsReadyToGo(object)) return store_.Update(object, stop);
  RETURN_IF_ERROR(store_.Delete(object, stop).status());
  return kube::Share(std::move(object));
}

absl::StatusOr<RegistryWrites::Deleted> RegistryWrites::Delete(
    const std::string& name, const kube::server::DeleteRequest& request,
    const base::StopToken& stop) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const auto current = store_.Get(name, stop);
    if (!current.ok()) return ApiErrorOf(current.status(), name);
    RETURN_IF_ERROR(kube::server::CheckDeletePreconditions(RegistryKindName(), **current, request));
    kube::Object last = **current;
    kube::server::SetPropagation(request.propagation, last);
    const bool at_once = last.metadata()["finalizers"].empty();
    if (!at_once) kube::server::MarkDeleted(last, clock_.Now());
    if (request.dry_run) return Deleted{kube::Share(std::move(last)), at_once};
    if (!at_once && last == **current) return Deleted{*current, false};
    absl::Status status;
    if (at_once) {
      status = store_.Delete(last, stop).status();
      if (status.ok()) return Deleted{kube::Share(std::move(last)), true};
    } else {
      auto stored = store_.Update(last, stop);
      if (stored.ok()) return Deleted{*std::move(stored), false};
      status = stored.status();
    }
    if (!absl::IsAborted(status)) return ApiErrorOf(status, name);
  }
  return kube::server::Conflict(RegistryResourceName(), name,
                                "the object changes too fast to be deleted");
}

}  // namespace search
