// A pass is about one ServiceImport: it makes the derived Service, or patches what differs there,
// and then the Service's status: the import's addresses, where the server takes them. It is caused
// by the import, and by changes of the Service that others make.
//
// The Service has an owner reference to the import. By it the garbage collector deletes the Service
// when the import is deleted while no controller manager runs, and a Service of somebody else that
// has such a name is told apart. Upstream's Services have no mark; they get it in the first pass.
// What the server refuses, such as a Service without ports, is refused again until somebody edits
// the import: it is reported, and not tried again.

#include "controllers/service_import/service_import_reconciler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/service_import.h"
#include "base/status.h"
#include "controllers/service_import/derived_service.h"
#include "controllers/service_import/register.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

absl::Status TerminalIfInvalid(const absl::Status& written) {
  return kube::IsInvalid(written) ? base::Terminal(written) : written;
}

// API servers of Kubernetes v1.29 and later refuse addresses in the status of a Service that is not
// a load balancer. Nobody can change that, and the Service is usable without them.
bool MayHaveNoAddresses(const absl::Status& shown) {
  return kube::IsInvalid(shown) &&
         absl::StrContains(shown.message(), "status.loadBalancer.ingress: Forbidden");
}

}  // namespace

ServiceImportReconciler::ServiceImportReconciler(kube::Manager& manager)
    : manager_(manager), recorder_(manager.events(), api::kServiceImportController, outcomes()) {}

absl::StatusOr<kube::Action> ServiceImportReconciler::Reconcile(const kube::Request& request,
                                                                const base::StopToken& stop) {
  const kube::ObjectPtr found = manager_.cluster().Find(api::ServiceImports(), request.key);
  if (found == nullptr) {
    RETURN_IF_ERROR(DeleteDerived(request, stop));
    return kube::Action::Gone();
  }
  if (found->IsDeleting() || !api::ServiceImportView(*found).IsClusterSetIp()) {
    return kube::Action::Done();
  }
  const absl::StatusOr<bool> derived = Derive(*found, stop);
  const absl::Status result = recorder_.Judge(request, "", derived.status());
  recorder_.Outcome({.of = request,
                     .about = {kube::InvolvedObject::Of(*found)},
                     .success = {api::reason::kSyncDerivedServiceSucceed,
                                 api::message::DerivedServiceSynced(found->name())},
                     .failure = {api::reason::kSyncDerivedServiceFailed, ""},
                     .routine = derived.ok() && *derived},
                    result);
  RETURN_IF_ERROR(result);
  return kube::Action::Done();
}

absl::StatusOr<bool> ServiceImportReconciler::Derive(const kube::Object& service_import,
                                                     const base::StopToken& stop) {
  kube::ClusterClient& client = manager_.cluster();
  const kube::ObjectPtr existing =
      client.Find(api::Services(), api::DerivedServiceOf(service_import.key()));
  if (existing != nullptr && existing->IsDeleting()) return false;  // Its end brings the next pass.
  const bool is_other = existing != nullptr && !MayBeUpstreams(*existing) &&
                        api::ServiceImportOf(*existing) != service_import.key();
  if (is_other) {
    return base::Terminal(absl::AlreadyExistsError(absl::StrCat(
        existing->Describe(), " was not derived from the ServiceImport, and stays as it is")));
  }
  const kube::Object wanted = DerivedService(service_import, existing.get());
  const absl::StatusOr<kube::ObjectPtr> service =
      existing == nullptr ? client.Create(api::Services(), wanted, stop)
                          : client.Update(api::Services(), existing, wanted, {}, stop);
  RETURN_IF_ERROR(TerminalIfInvalid(service.status()));
  const absl::StatusOr<kube::ObjectPtr> shown =
      client.Update(api::Services(), *service, WithAddresses(service_import, **service),
                    {.subresource = "status"}, stop);
  // The Service itself is right; its addresses are not tried again before it changes.
  if (MayHaveNoAddresses(shown.status())) return *service != existing;
  RETURN_IF_ERROR(base::Annotate(TerminalIfInvalid(shown.status()), "writing the status of ",
                                 wanted.Describe()));
  return *shown != existing;
}

absl::Status ServiceImportReconciler::DeleteDerived(const kube::Request& request,
                                                    const base::StopToken& stop) {
  kube::ClusterClient& client = manager_.cluster();
  const kube::ObjectPtr service = client.Find(api::Services(), api::DerivedServiceOf(request.key));
  if (service == nullptr || service->IsDeleting()) return absl::OkStatus();
  const bool is_derived = api::ServiceImportOf(*service) == request.key ||
                          (request.reason == kWasDeleted && MayBeUpstreams(*service));
  if (!is_derived) return absl::OkStatus();
  if (request.reason != kWasDeleted) {
    // The cache may be behind an import that has just been made; then it brings the next pass.
    const absl::Status live = client.raw().Get(api::ServiceImports(), request.key, stop).status();
    if (!kube::IsGone(live)) return live;
  }
  return base::Annotate(
      client.Delete(api::Services(), service->key(), {.uid = std::string(service->uid())}, stop),
      "deleting ", service->Describe());
}

namespace {

bool OtherIntent(const kube::Object& before, const kube::Object& after) {
  return before.spec() != after.spec() || before.IsDeleting() != after.IsDeleting() ||
         before.uid() != after.uid();
}

// Labels and annotations are those of others.
bool OtherService(const kube::Object& before, const kube::Object& after) {
  return before.spec() != after.spec() ||
         before.status()["loadBalancer"] != after.status()["loadBalancer"] ||
         before.metadata()["ownerReferences"] != after.metadata()["ownerReferences"];
}

std::vector<kube::Request> RequestForImportOf(const kube::Object& service) {
  const kube::ObjectKey key = api::ServiceImportOf(service);
  if (!key.name.empty()) return {{.key = key}};
  // It is somebody else's; an import may be waiting for its removal.
  const kube::ObjectKey named = api::ServiceImportNamedBy(service.key());
  if (named.name.empty()) return {};
  return {{.key = named}};
}

std::vector<kube::Request> RequestAfterDeletion(const kube::Object& service_import) {
  if (!api::ServiceImportView(service_import).IsClusterSetIp()) return {};
  return {{.key = service_import.key(), .reason = ServiceImportReconciler::kWasDeleted}};
}

}  // namespace

absl::Status RegisterServiceImport(const Context& context, int workers) {
  context.NewController(api::kServiceImportController, workers)
      .Watches(api::ServiceImports(), {.when = {.update = OtherIntent, .remove = kube::Never}})
      .Watches(api::ServiceImports(), {.when = {.add = kube::Never, .update = kube::NeverUpdate},
                                       .map = RequestAfterDeletion})
      .Watches(api::Services(), {.when = {.update = OtherService}, .map = RequestForImportOf})
      .Build(std::make_unique<ServiceImportReconciler>(context.manager));
  return absl::OkStatus();
}

}  // namespace controllers
