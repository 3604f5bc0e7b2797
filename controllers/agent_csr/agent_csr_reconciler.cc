// A pass is about one request. It reads the request from the server, since an approval cannot be
// taken back, and leaves it alone when somebody has decided. Who made the request, which the API
// server has written into it, must be permitted to create certificatesigningrequests/clusteragent,
// or /selfclusteragent for an agent that renews its certificate; the control plane's own
// authorization is asked for that. The patch is refused when the request has changed meanwhile.
//
// A request that only looks like an agent's, or whose maker may not make it, gets an event and is
// not looked at again before it changes: an administrator may still approve it.

#include "controllers/agent_csr/agent_csr_reconciler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/signing_request.h"
#include "base/certificate_request.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/agent_csr/recognition.h"
#include "controllers/agent_csr/register.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

constexpr char kApproval[] = "approval";

const kube::Resource& AccessReviews() {
  static const auto& resource = *new kube::Resource{
      {"authorization.k8s.io", "v1", "SubjectAccessReview"}, "subjectaccessreviews", false};
  return resource;
}

absl::StatusOr<tls::CertificateRequest> ContentOf(const api::SigningRequestView& request) {
  ASSIGN_OR_RETURN(const std::string pem, request.Pem());
  return tls::CertificateRequest::Parse(pem);
}

bool IsForClients(const kube::Object& request) {
  return api::SigningRequestView(request).SignerName() == api::kApiServerClientSigner;
}

// Whatever is written into a request, it is not looked at again once it is decided.
bool IsOpen(const kube::Object&, const kube::Object& after) {
  return IsForClients(after) && !api::SigningRequestView(after).IsDecided();
}

}  // namespace

AgentCsrReconciler::AgentCsrReconciler(kube::Manager& manager, IsAllowed is_allowed)
    : manager_(manager),
      is_allowed_(std::move(is_allowed)),
      recorder_(manager.events(), api::kAgentCsrApprovingController) {}

absl::StatusOr<kube::Action> AgentCsrReconciler::Reconcile(const kube::Request& request,
                                                           const base::StopToken& stop) {
  const kube::ObjectPtr cached =
      manager_.cluster().Find(api::CertificateSigningRequests(), request.key);
  if (cached == nullptr || api::SigningRequestView(*cached).IsDecided()) {
    return kube::Action::Done();
  }
  // The version of this answer is the precondition of the approval.
  const auto live = manager_.cluster().GetSubresource(api::CertificateSigningRequests(),
                                                      request.key, kApproval, stop);
  if (kube::IsGone(live.status())) return kube::Action::Done();
  RETURN_IF_ERROR(live.status());
  if ((*live)->IsDeleting() || api::SigningRequestView(**live).IsDecided()) {
    return kube::Action::Done();
  }
  RETURN_IF_ERROR(kube::IgnoreGone(Decide(*live, stop)));
  return kube::Action::Done();
}

absl::Status AgentCsrReconciler::Decide(const kube::ObjectPtr& request,
                                        const base::StopToken& stop) {
  const api::SigningRequestView view(*request);
  const absl::StatusOr<tls::CertificateRequest> content = ContentOf(view);
  if (!content.ok()) {
    Warn(*request, api::reason::kInvalidCertificateRequest, content.status().message());
    return absl::OkStatus();
  }
  const absl::Status recognized = CheckAgentRequest(view, *content);
  // Other clients' requests are none of this loop's business, and get no event.
  if (absl::IsNotFound(recognized)) return absl::OkStatus();
  if (!recognized.ok()) {
    Warn(*request, api::reason::kAgentCertificateNotRecognized,
         absl::StrCat("it looks like the request of a karmada-agent, but is not approved: ",
                      recognized.message()));
    return absl::OkStatus();
  }
  for (const AgentPermission& permission : PermissionsFor(view, *content)) {
    const absl::StatusOr<bool> allowed = is_allowed_(view.ReviewOf(permission.subresource), stop);
    RETURN_IF_ERROR(base::Annotate(allowed.status(), "reviewing the access of ", view.Username()));
    if (!*allowed) continue;
    kube::Object after = *request;
    api::Approve(after, permission.message);
    const auto written = manager_.cluster().Update(api::CertificateSigningRequests(), request,
                                                   after, {.subresource = kApproval}, stop);
    RETURN_IF_ERROR(base::Annotate(written.status(), "approving ", request->Describe()));
    base::LogInfo("the certificate request of an agent is approved",
                  {{"request", request->name()}, {"agent", content->common_names[0]}});
    return absl::OkStatus();
  }
  Warn(*request, api::reason::kAgentCertificateNotPermitted,
       absl::StrCat("it is the request of a karmada-agent, but ", view.Username(),
                    " may not create certificatesigningrequests/clusteragent, nor, for itself, "
                    "certificatesigningrequests/selfclusteragent: grant that, or approve it "
                    "yourself"));
  return absl::OkStatus();
}

void AgentCsrReconciler::Warn(const kube::Object& request, absl::string_view reason,
                              absl::string_view why) {
  recorder_.Warning(kube::InvolvedObject::Of(request), reason, why);
}

absl::Status RegisterAgentCsr(const Context& context, int workers) {
  kube::Client& client = context.manager.cluster().raw();
  AgentCsrReconciler::IsAllowed is_allowed =
      [&client](const json::Value& spec, const base::StopToken& stop) -> absl::StatusOr<bool> {
    kube::Object review = kube::Object::Make(AccessReviews().gvk, {});
    review.Set({"spec"}, spec);
    ASSIGN_OR_RETURN(const kube::Object answer, client.Create(AccessReviews(), review, {}, stop));
    return answer.status()["allowed"].AsBool();
  };
  context.NewController(api::kAgentCsrApprovingController, workers)
      .Watches(api::CertificateSigningRequests(),
               {.when = {.add = IsForClients, .update = IsOpen, .remove = kube::Never}})
      .Build(std::make_unique<AgentCsrReconciler>(context.manager, std::move(is_allowed)));
  return absl::OkStatus();
}

}  // namespace controllers
