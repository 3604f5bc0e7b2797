// A change of an object is a function that makes the wanted state from the current one; the write
// path calls it, and calls it again after a lost race. It gives the object of the request, a
// patched object, one with the changed Scale put back into it, or one with an applied
// configuration. A PUT of a kind that allows it, and an apply, create an object that is not there.
// A subscription to a resource that is not served yet follows its table, which is empty until then.

#include "sandbox/write/server_backend.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/server/metadata_rules.h"
#include "kube/server/wire/typed_fields.h"
#include "sandbox/kinds/approval.h"
#include "sandbox/kinds/namespace_rules.h"
#include "sandbox/kinds/scale.h"
#include "sandbox/kinds/schema.h"

namespace sandbox {
namespace {

Event EventOf(const ResourceInfo* info, const Change& change) {
  if (info == nullptr) return {change.type, change.object, change.previous};
  return {change.type, info->ToServed(change.object), info->ToServed(change.previous)};
}

// Names who writes what the simulated controllers write, as a cluster would.
std::string InsideManager(const ResourceInfo& info, absl::string_view subresource) {
  const kube::Gvk& gvk = info.resource.gvk;
  if (absl::EndsWith(gvk.kind, "ResourceBinding")) return "karmada-scheduler";
  const bool of_kubelet = gvk.kind == "Node" || (gvk.kind == "Pod" && subresource == "status");
  return of_kubelet ? "kubelet" : "kube-controller-manager";
}

WriteContext InsideContext(const ResourceInfo& info, absl::string_view subresource, bool dry_run) {
  WriteContext context;
  context.dry_run = dry_run;
  context.manager = InsideManager(info, subresource);
  return context;
}

// Checks what every configuration must be, whatever it sets.
absl::Status CheckConfiguration(const ResourceInfo& info, const kube::Object& config) {
  if (config.gvk() != info.resource.gvk) {
    return BadRequest(absl::StrCat("invalid object type: ", config.gvk().ToString()));
  }
  if (!config.metadata()["managedFields"].is_null()) {
    return BadRequest("metadata.managedFields must be nil");
  }
  return absl::OkStatus();
}

// Returns a configuration without the fields that the kind does not have. Over HTTP these are
// refused; callers in the process have them from servers of other versions.
absl::StatusOr<json::Value> KnownFields(const ResourceInfo& info, const json::Value& config) {
  kube::Object object(config);
  if (!config.is_object()) return config;
  if (info.custom) {
    if (info.schema != nullptr) info.schema->Prune(object.mutable_root());
  } else {
    std::vector<std::string> unknown;
    RETURN_IF_ERROR(kube::server::DecodeTypedFields(info.resource.gvk, object, unknown));
  }
  RETURN_IF_ERROR(NormalizeMetadata(info, object));
  return object.root();
}

absl::Status NoFieldManager() {
  FieldErrors errors;
  errors.Required("fieldManager", "is required for apply patch");
  return errors.ToStatus({"meta.k8s.io", "PatchOptions"}, "");
}

}  // namespace

ServerBackend::ServerBackend(size_t history_events)
    : store_(history_events),
      owners_(registry_),
      writes_(store_, addresses_, owners_),
      definitions_(store_, registry_, writes_) {
  writes_.SetCommitHook([this](const GroupName& table, const kube::ObjectKey& key) {
    definitions_.OnCommit(table, key);
  });
  Bootstrap();
}

void ServerBackend::Bootstrap() {
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    base::IgnoreError(Create({"", "v1", "namespaces"},
                             kube::Object::Make({"", "v1", "Namespace"}, {"", name}), false)
                          .status(),
                      "an empty server takes its first namespaces");
  }
}

absl::StatusOr<ResourceInfoPtr> ServerBackend::Served(const kube::Gvr& r) const {
  ResourceInfoPtr info = registry_.Find(r);
  if (info == nullptr) return NoSuchResource();
  return info;
}

absl::Status ServerBackend::CheckSubresource(const ResourceInfo& info,
                                             absl::string_view subresource) const {
  if (subresource.empty()) return absl::OkStatus();
  if (subresource == "status" && info.status_subresource) return absl::OkStatus();
  if (subresource == "scale" && info.scale.has_value()) return absl::OkStatus();
  if (subresource == "finalize" && IsNamespaceKind(info)) return absl::OkStatus();
  if (subresource == "approval" && HasApproval(info)) return absl::OkStatus();
  return NoSuchResource();
}

absl::StatusOr<kube::ObjectPtr> ServerBackend::Get(const kube::Gvr& r, const kube::ObjectKey& key) {
  ASSIGN_OR_RETURN(const ResourceInfoPtr info, Served(r));
  return GetOf(*info, key, "");
}

absl::StatusOr<kube::ObjectPtr> ServerBackend::GetOf(const ResourceInfo& info,
                                                     const kube::ObjectKey& key,
                                                     absl::string_view subresource) const {
  return GetAt(info, key, subresource, 0);
}

absl::StatusOr<kube::ObjectPtr> ServerBackend::GetAt(const ResourceInfo& info,
                                                     const kube::ObjectKey& key,
                                                     absl::string_view subresource,
                                                     int64_t as_of) const {
  RETURN_IF_ERROR(CheckSubresource(info, subresource));
  kube::ObjectPtr stored;
  if (as_of == 0) {
    stored = store_.Get(info.table(), key);
  } else {
    ASSIGN_OR_RETURN(stored, store_.GetAt(info.table(), key, std::min(as_of, store_.version())));
  }
  const kube::ObjectPtr object = info.ToServed(stored);
  if (object == nullptr) return NotFound(info.name(), key.name);
  return subresource == "scale" ? kube::Share(ScaleOf(info, *object)) : object;
}

absl::StatusOr<std::vector<kube::ObjectPtr>> ServerBackend::List(
    const kube::Gvr& r, absl::string_view ns, const kube::LabelSelector& selector) {
  ASSIGN_OR_RETURN(const ResourceInfoPtr info, Served(r));
  std::vector<kube::ObjectPtr> out;
  for (const kube::ObjectPtr& object : store_.List(info->table(), ns).objects) {
    if (selector.Matches(object->labels())) out.push_back(info->ToServed(object));
  }
  return out;
}

absl::StatusOr<kube::ObjectPtr> ServerBackend::Create(const kube::Gvr& r, kube::Object object,
                                                      bool dry_run) {
  ASSIGN_OR_RETURN(const ResourceInfoPtr info, Served(r));
  return CreateOf(*info, std::move(object), InsideContext(*info, "", dry_run));
}

absl::StatusOr<kube::ObjectPtr> ServerBackend::CreateOf(const ResourceInfo& info,
                                                        kube::Object object,
                                                        const WriteContext& context) {
  if (info.review) return MethodNotAllowed("reviews are answered, not stored");
  return writes_.Create(info, std::move(object), context);
}

absl::StatusOr<kube::ObjectPtr> ServerBackend::Update(const kube::Gvr& r, kube::Object object,
                                                      absl::string_view subresource, bool dry_run) {
  ASSIGN_OR_RETURN(const ResourceInfoPtr info, Served(r));
  ASSIGN_OR_RETURN(Written written, UpdateOf(*info, {object.key(), std::string(subresource)},
                                             object, InsideContext(*info, subresource, dry_run)));
  return written.object;
}

absl::StatusOr<ServerBackend::Written> ServerBackend::UpdateOf(const ResourceInfo& info,
                                                               const WritePath::Target& target,
                                                               const kube::Object& object,
                                                               const WriteContext& context) {
  RETURN_IF_ERROR(CheckSubresource(info, target.subresource));
  const auto whole = [&object](const kube::Object&) -> absl::StatusOr<kube::Object> {
    return object;
  };
  if (target.subresource == "scale") {
    ASSIGN_OR_RETURN(kube::ObjectPtr scale, UpdateScale(info, target.key, whole, context));
    return Written{std::move(scale), false};
  }
  auto updated = writes_.Update(info, target, whole, context);
  const bool absent = absl::IsNotFound(updated.status());
  if (absent && info.create_on_update && target.subresource.empty()) {
    ASSIGN_OR_RETURN(kube::ObjectPtr created, CreateOf(info, object, context));
    return Written{std::move(created), true};
  }
  if (!updated.ok()) return updated.status();
  return Written{*std::move(updated), false};
}

absl::StatusOr<kube::ObjectPtr> ServerBackend::UpdateScale(const ResourceInfo& info,
                                                           const kube::ObjectKey& key,
                                                           const WritePath::Change& make_scale,
                                                           const WriteContext& context) {
  const auto change = [&](const kube::Object& current) -> absl::StatusOr<kube::Object> {
    ASSIGN_OR_RETURN(const kube::Object scale, make_scale(ScaleOf(info, current)));
    return WithScale(info, current, scale);
  };
  WriteContext of_scale = context;
  // The whole object is written, but what changes is noted as owned through "scale".
  of_scale.owned_subresource = "scale";
  ASSIGN_OR_RETURN(const kube::ObjectPtr updated,
                   writes_.Update(info, {key, ""}, change, of_scale));
  return kube::Share(ScaleOf(info, *updated));
}

absl::StatusOr<kube::ObjectPtr> ServerBackend::Patch(const kube::Gvr& r, const kube::ObjectKey& key,
                                                     const PatchRequest& request) {
  ASSIGN_OR_RETURN(const ResourceInfoPtr info, Served(r));
  WriteContext context = InsideContext(*info, request.subresource, request.dry_run);
  if (!request.field_manager.empty()) context.manager = request.field_manager;
  PatchRequest known = request;
  if (known.type == PatchRequest::Type::kApply) {
    ASSIGN_OR_RETURN(known.patch, KnownFields(*info, request.patch));
  }
  ASSIGN_OR_RETURN(Written written, PatchOf(*info, key, known, context));
  return written.object;
}

absl::StatusOr<ServerBackend::Written> ServerBackend::PatchOf(const ResourceInfo& info,
                                                              const kube::ObjectKey& key,
                                                              const PatchRequest& request,
                                                              const WriteContext& context) {
  RETURN_IF_ERROR(CheckSubresource(info, request.subresource));
  if (request.type == PatchRequest::Type::kApply && request.subresource != "scale") {
    return ApplyOf(info, key, request, context);
  }
  const auto change = [&](const kube::Object& current) {
    return kube::server::Patched(current, request, /*strategic=*/!info.custom);
  };
  if (request.subresource == "scale") {
    ASSIGN_OR_RETURN(kube::ObjectPtr scale, UpdateScale(info, key, change, context));
    return Written{std::move(scale), false};
  }
  ASSIGN_OR_RETURN(kube::ObjectPtr updated,
                   writes_.Update(info, {key, request.subresource}, change, context));
  return Written{std::move(updated), false};
}

absl::StatusOr<ServerBackend::Written> ServerBackend::ApplyOf(const ResourceInfo& info,
                                                              const kube::ObjectKey& key,
                                                              const PatchRequest& request,
                                                              const WriteContext& context) {
  if (!request.patch.is_object()) return BadRequest("an applied configuration must be an object");
  if (request.field_manager.empty()) return NoFieldManager();
  const kube::Object config(request.patch);
  RETURN_IF_ERROR(CheckConfiguration(info, config));
  const auto change = [&](const kube::Object& current) -> absl::StatusOr<kube::Object> {
    const FieldWriter writer{request.field_manager, request.subresource, base::RealClock().Now()};
    ASSIGN_OR_RETURN(kube::Object applied,
                     owners_.AfterApply(info, current, config, writer, request.force));
    if (applied.name().empty()) applied.Set({"metadata", "name"}, key.name);
    if (info.resource.namespaced) applied.Set({"metadata", "namespace"}, key.ns);
    return applied;
  };
  WriteContext of_apply = context;
  of_apply.applied = true;
  Written written;
  auto updated = writes_.Update(info, {key, request.subresource}, change, of_apply);
  if (absl::IsNotFound(updated.status()) && request.subresource.empty()) {
    // An apply creates what does not exist, but a subresource does not.
    ASSIGN_OR_RETURN(kube::Object first, change(kube::Object()));
    updated = CreateOf(info, std::move(first), of_apply);
    written.created = updated.ok();
  }
  if (!updated.ok()) return updated.status();
  written.object = *std::move(updated);
  return written;
}

absl::StatusOr<kube::ObjectPtr> ServerBackend::Delete(const kube::Gvr& r,
                                                      const kube::ObjectKey& key,
                                                      const DeleteRequest& request) {
  ASSIGN_OR_RETURN(const ResourceInfoPtr info, Served(r));
  return DeleteOf(*info, key, request, {.dry_run = request.dry_run});
}

absl::StatusOr<kube::ObjectPtr> ServerBackend::DeleteOf(const ResourceInfo& info,
                                                        const kube::ObjectKey& key,
                                                        const DeleteRequest& request,
                                                        const WriteContext& context) {
  return writes_.Delete(info, key, request, context);
}

int64_t ServerBackend::Subscribe(const kube::Gvr& r, std::function<void(const Event&)> callback) {
  const bool everything = r.resource.empty();
  const ResourceInfoPtr info = everything ? nullptr : registry_.Find(r);
  // A resource that is not served yet may be served later; until then its table is empty.
  const GroupName table = everything        ? GroupName{}
                          : info != nullptr ? info->table()
                                            : GroupName{r.group, r.resource};
  const auto sink = [info, callback = std::move(callback)](const ChangePtr& change, int64_t) {
    if (change != nullptr) callback(EventOf(info.get(), *change));
  };
  // A watch from the present state cannot expire.
  return *store_.Watch({.table = table}, sink);
}

void ServerBackend::Unsubscribe(int64_t id) { store_.Unwatch(id); }

void ServerBackend::AddAdmission(AdmissionHook hook) { writes_.AddAdmission(std::move(hook)); }

std::vector<kube::Resource> ServerBackend::Resources() const {
  std::vector<kube::Resource> out;
  for (const ResourceInfoPtr& info : registry_.All()) {
    if (!info->review) out.push_back(info->resource);
  }
  return out;
}

kube::Resource ServerBackend::Find(const kube::Gvk& gvk) const {
  const ResourceInfoPtr info = registry_.Find(gvk);
  return info == nullptr ? kube::Resource{} : info->resource;
}

}  // namespace sandbox
