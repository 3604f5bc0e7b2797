// A create takes these steps: decode the body, which reports or prunes unknown fields and sets
// defaults; note who owns the fields; give the object its identity; admission; the namespace must
// be there and stay; fill in addresses; validate; insert. An update makes the wanted state from the
// current one, takes the same steps for it, restricts it to what the subresource may change, before
// owners are noted (what admission and the server set is nobody's), moves the generation, and
// replaces exactly the state that it began with. If another writer was faster, it begins again with
// the new state, up to a bound. A write without a difference is not stored. A deletion sets the
// deletion timestamp and finalizers, or removes the object when nothing holds it; so does an update
// that removes the last finalizer.
//
// The commit hook runs after the store has the change and before the writer gets its answer. Locks
// are held only to read the list of admission hooks: the store decides between writers.

#include "sandbox/write/write_path.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/server/fields/field_owners.h"
#include "kube/server/metadata_rules.h"
#include "kube/server/wire/typed_fields.h"
#include "sandbox/kinds/custom_definitions.h"
#include "sandbox/kinds/namespace_rules.h"
#include "sandbox/kinds/schema.h"
#include "sandbox/write/builtin_defaults.h"
#include "sandbox/write/builtin_validation.h"
#include "sandbox/write/status_validation.h"
#include "sandbox/write/subresource_rules.h"

namespace sandbox {

using kube::server::CheckDeletePreconditions;
using kube::server::CheckTypeMeta;
using kube::server::DecodeTypedFields;
using kube::server::GenerateName;
using kube::server::KeepServerMetadata;
using kube::server::MarkDeleted;
using kube::server::ReportUnknownFields;
using kube::server::ValidateMetadataUpdate;

namespace {

constexpr int kMaxAttempts = 20;     // The number of attempts for a write that loses races.
constexpr int kMaxNameAttempts = 8;  // The number of attempts for generated names that are taken.

void Validate(const ResourceInfo& info, const kube::Object& object, FieldErrors& errors) {
  ValidateMetadata(info, object, errors);
  if (info.custom) {
    if (info.schema != nullptr) info.schema->Validate(object.root(), errors);
    return;
  }
  ValidateBuiltin(info, object, errors);
}

void SetOwners(json::Value owners, kube::Object& object) {
  if (owners.is_null()) {
    object.Erase({"metadata", "managedFields"});
  } else {
    object.Set({"metadata", "managedFields"}, std::move(owners));
  }
}

bool IsService(const ResourceInfo& info) {
  return info.resource.gvk.group.empty() && info.resource.gvk.kind == "Service";
}

}  // namespace

void WritePath::AddAdmission(AdmissionHook hook) {
  absl::MutexLock lock(&mu_);
  admission_.push_back(std::move(hook));
}

absl::Status WritePath::Admit(const AdmissionRequest& request, kube::Object& object) {
  std::vector<AdmissionHook> hooks;
  {
    absl::MutexLock lock(&mu_);
    // Called without mu_, because they read from this server, and may write to it.
    hooks = admission_;
  }
  for (const AdmissionHook& hook : hooks) RETURN_IF_ERROR(hook(request, object));
  return absl::OkStatus();
}

absl::Status WritePath::Decode(const ResourceInfo& info, kube::Object& object,
                               const WriteContext& context) {
  RETURN_IF_ERROR(CheckTypeMeta(info.resource.gvk, object));
  RETURN_IF_ERROR(NormalizeMetadata(info, object));
  if (info.custom) {
    if (info.schema == nullptr) return absl::OkStatus();
    RETURN_IF_ERROR(ReportUnknownFields(info.resource.gvk,
                                        info.schema->Prune(object.mutable_root()),
                                        context.validation, context.warnings));
    info.schema->ApplyDefaults(object.mutable_root());
    return absl::OkStatus();
  }
  std::vector<std::string> unknown;
  RETURN_IF_ERROR(DecodeTypedFields(info.resource.gvk, object, unknown));
  RETURN_IF_ERROR(
      ReportUnknownFields(info.resource.gvk, unknown, context.validation, context.warnings));
  ApplyBuiltinDefaults(info, object);
  return absl::OkStatus();
}

json::Value WritePath::OwnersOf(const ResourceInfo& info, const Target& target,
                                const kube::Object& current, const json::Value& given,
                                const WriteContext& context, const kube::Object& wanted) const {
  if (context.applied) return given;
  const FieldWriter writer{
      context.manager,
      context.owned_subresource.empty() ? target.subresource : context.owned_subresource,
      base::RealClock().Now()};
  return owners_.AfterUpdate(info, current, wanted, given, writer);
}

absl::Status WritePath::CheckNamespace(const ResourceInfo& info, const kube::Object& object) const {
  if (!info.resource.namespaced || object.ns().empty()) return absl::OkStatus();
  const kube::ObjectPtr ns = store_.Get(NamespaceTable(), {"", std::string(object.ns())});
  return CheckCreateInNamespace(info, object, ns);
}

void WritePath::FillAddresses(const ResourceInfo& info, const kube::Object& current,
                              kube::Object& wanted, FieldErrors& errors) {
  if (!IsService(info)) return;
  const auto stored = [&] { return store_.List(info.table(), "").objects; };
  ServiceAddresses::CheckFree(current, wanted, stored, errors);
  addresses_.Fill(current, wanted);
}

absl::StatusOr<kube::ObjectPtr> WritePath::Create(const ResourceInfo& info, kube::Object object,
                                                  const WriteContext& context) {
  if (info.terminating) {
    return MethodNotAllowed("create not allowed while custom resource definition is terminating");
  }
  if (!object.resource_version().empty()) {
    return ToStatus({500, "", "resourceVersion should not be set on objects to be created", {}});
  }
  const json::Value given = object.metadata()["managedFields"];
  RETURN_IF_ERROR(Decode(info, object, context));
  SetOwners(OwnersOf(info, {object.key(), ""}, {}, given, context, object), object);
  SetNewIdentity(info, object, base::RealClock().Now());
  if (info.custom) {
    if (info.status_subresource) object.Erase({"status"});
  } else {
    PrepareBuiltinForCreate(info, object);
    // Once more, because what was prepared may have defaults of its own.
    ApplyBuiltinDefaults(info, object);
  }
  AdmissionRequest request{Verbs::kCreate, info.resource, "", context.user, context.dry_run, {}};
  RETURN_IF_ERROR(Admit(request, object));
  RETURN_IF_ERROR(CheckNamespace(info, object));
  FieldErrors errors;
  FillAddresses(info, {}, object, errors);
  PrepareDefinition(info, {}, object);
  Validate(info, object, errors);
  ValidateDefinition(info, object, errors);
  RETURN_IF_ERROR(errors.ToStatus(info.kind(), object.name()));
  return Insert(info, std::move(object), context);
}

absl::StatusOr<kube::ObjectPtr> WritePath::Insert(const ResourceInfo& info, kube::Object object,
                                                  const WriteContext& context) {
  object = info.ToStored(std::move(object));
  const bool generated = !object.metadata()["generateName"].AsString().empty();
  for (int attempt = 0; attempt < kMaxNameAttempts; ++attempt) {
    const kube::ObjectKey key = object.key();
    if (context.dry_run) {
      // A dry run does everything but this one step, and so finds the same mistakes.
      if (store_.Get(info.table(), key) == nullptr) return info.ToServed(kube::Share(object));
    } else if (const auto stored = store_.Insert(info.table(), object)) {
      Committed(info, *stored, context);
      return info.ToServed(stored);
    }
    if (!generated) break;
    GenerateName(object);
  }
  return AlreadyExists(info.name(), object.name());
}

absl::StatusOr<kube::Object> WritePath::Prepare(const ResourceInfo& info, const Target& target,
                                                const kube::Object& current, kube::Object wanted,
                                                const WriteContext& context) {
  RETURN_IF_ERROR(CheckTypeMeta(info.resource.gvk, wanted));
  // On each attempt: a write with a version fails as soon as somebody else has written, one without
  // it is repeated on what is there.
  RETURN_IF_ERROR(CheckWritePreconditions(info, current, wanted));
  const json::Value given = wanted.metadata()["managedFields"];
  RETURN_IF_ERROR(Decode(info, wanted, context));
  KeepServerMetadata(current, wanted);
  // A kube-apiserver notes as owned what a status of a custom resource comes with, and drops it.
  const kube::Object noted = wanted;
  RestrictToSubresource(info, target.subresource, current, wanted);
  const bool of_custom_status = info.custom && target.subresource == "status";
  SetOwners(OwnersOf(info, target, current, given, context, of_custom_status ? noted : wanted),
            wanted);
  const bool of_status = !info.custom && target.subresource == "status";
  if (of_status) CompleteBuiltinStatus(info, current, wanted);
  AdmissionRequest request{Verbs::kUpdate, info.resource,   target.subresource,
                           context.user,   context.dry_run, current};
  RETURN_IF_ERROR(Admit(request, wanted));
  FieldErrors errors;
  FillAddresses(info, current, wanted, errors);
  PrepareDefinition(info, current, wanted);
  UpdateGeneration(info, current, wanted);
  ValidateMetadataUpdate(current, wanted, errors);
  // A status may be written even if the older spec is not valid.
  if (target.subresource.empty() || info.custom) Validate(info, wanted, errors);
  if (!info.custom) ValidateBuiltinUpdate(info, current, wanted, errors);
  if (of_status) ValidateBuiltinStatus(info, current, wanted, errors);
  ValidateDefinition(info, wanted, errors);
  RETURN_IF_ERROR(errors.ToStatus(info.kind(), current.name()));
  return wanted;
}

kube::ObjectPtr WritePath::Commit(const ResourceInfo& info, const kube::ObjectPtr& current,
                                  kube::Object object) {
  if (IsReadyToGo(info, object)) return store_.Remove(info.table(), current, std::move(object));
  return store_.Replace(info.table(), current, std::move(object));
}

absl::StatusOr<kube::ObjectPtr> WritePath::Update(const ResourceInfo& info, const Target& target,
                                                  const Change& change,
                                                  const WriteContext& context) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const kube::ObjectPtr current = store_.Get(info.table(), target.key);
    if (current == nullptr) return NotFound(info.name(), target.key.name);
    const kube::ObjectPtr served = info.ToServed(current);
    ASSIGN_OR_RETURN(kube::Object wanted, change(*served));
    ASSIGN_OR_RETURN(wanted, Prepare(info, target, *served, std::move(wanted), context));
    const bool is_final = IsReadyToGo(info, wanted);
    kube::server::TakeTimesIfEqual(*served, wanted);
    // A write that changes nothing gives no new version, and no event.
    if (!is_final && wanted == *served) return served;
    wanted = info.ToStored(std::move(wanted));
    if (context.dry_run) return info.ToServed(kube::Share(std::move(wanted)));
    if (const auto stored = Commit(info, current, std::move(wanted))) {
      Committed(info, *stored, context);
      return info.ToServed(stored);
    }
  }
  return StaleWrite(info.name(), target.key.name);
}

absl::Status WritePath::CheckDeletable(const ResourceInfo& info, const kube::Object& current,
                                       const DeleteRequest& request) const {
  RETURN_IF_ERROR(CheckDeletePreconditions(info.kind(), current, request));
  return CheckNamespaceDeletable(info, current);
}

absl::StatusOr<kube::ObjectPtr> WritePath::Delete(const ResourceInfo& info,
                                                  const kube::ObjectKey& key,
                                                  const DeleteRequest& request,
                                                  const WriteContext& context) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const kube::ObjectPtr current = store_.Get(info.table(), key);
    if (current == nullptr) return NotFound(info.name(), key.name);
    RETURN_IF_ERROR(CheckDeletable(info, *current, request));
    kube::Object last = *info.ToServed(current);
    AdmissionRequest admission{Verbs::kDelete, info.resource,   "",
                               context.user,   context.dry_run, last};
    RETURN_IF_ERROR(Admit(admission, last));
    // Admission may refuse a deletion, but not change what is deleted.
    last = *info.ToServed(current);
    SetDeletionFinalizers(info, request.propagation, last);
    const bool at_once = last.metadata()["finalizers"].empty() && !HoldsNamespace(info, last);
    if (!at_once) {
      MarkDeleted(last, base::RealClock().Now());
      MarkTerminating(info, last);
    }
    if (request.dry_run || context.dry_run) return at_once ? nullptr : kube::Share(last);
    if (!at_once && last == *info.ToServed(current)) return info.ToServed(current);
    last = info.ToStored(std::move(last));
    const kube::ObjectPtr stored = at_once ? store_.Remove(info.table(), current, std::move(last))
                                           : store_.Replace(info.table(), current, std::move(last));
    // Somebody wrote in between: the preconditions are checked again on what is there now.
    if (stored == nullptr) continue;
    Committed(info, *stored, context);
    // The rest of the deletion may have been done on commit.
    if (at_once || store_.Get(info.table(), key) == nullptr) return nullptr;
    return info.ToServed(stored);
  }
  return Conflict(info.name(), key.name, "the object changes too fast to be deleted");
}

void WritePath::Committed(const ResourceInfo& info, const kube::Object& stored,
                          const WriteContext& context) {
  if (context.stored != nullptr) context.stored->push_back(kube::ResourceVersionOf(stored));
  if (commit_hook_) commit_hook_(info.table(), stored.key());
}

}  // namespace sandbox
