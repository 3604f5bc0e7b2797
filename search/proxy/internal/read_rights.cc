#include "search/proxy/internal/read_rights.h"

#include <exception>
#include <utility>

#include "base/log.h"
#include "kube/server/api_errors.h"
#include "kube/server/negotiation.h"
#include "kube/server/requirements.h"

namespace search {
namespace {

using kube::aggregation::Attributes;
using kube::aggregation::Decision;

void Refuse(const absl::Status& why, base::HttpResponder& responder) {
  responder.Send(kube::server::ErrorAnswer(why));
}

// Runs what is not on a thread of the chain, which would do this.
template <class Work>
void Guarded(base::HttpResponder& responder, const Work& work) {
  try {
    const absl::Status status = work();
    if (!status.ok()) Refuse(status, responder);
  } catch (const std::exception& e) {
    base::LogError("an exception while a cached read was answered", {{"error", e.what()}});
    Refuse(kube::server::InternalError("the request could not be handled"), responder);
  }
}

absl::Status Refusal(const Attributes& attributes, const absl::StatusOr<Decision>& decision) {
  if (!decision.ok()) return kube::aggregation::AuthorizationError(decision.status());
  if (decision->allowed) return absl::OkStatus();
  return kube::aggregation::ForbiddenError(attributes, decision->reason);
}

}  // namespace

void WithReadRights(kube::aggregation::Authorizer* authorizer,
                    kube::aggregation::ApiRequest request, const ResponderPtr& responder,
                    std::function<void(const ReadRequestPtr&)> then) {
  const absl::Status too_long = kube::server::CheckRequirements(request.info, request.http);
  if (!too_long.ok()) return Refuse(too_long, *responder);
  const auto read = std::make_shared<kube::aggregation::ApiRequest>(std::move(request));
  if (authorizer == nullptr) return then(read);
  Attributes attributes = kube::aggregation::AttributesOf(read->user, read->info, read->http);
  // Rights to a Namespace can be granted by a Role in it.
  if (read->info.gvr.resource == "namespaces") attributes.ns = read->info.key.name;
  authorizer->Authorize(attributes, [read, attributes, responder, then = std::move(then)](
                                        const absl::StatusOr<Decision>& decision) {
    Guarded(*responder, [&] {
      absl::Status refused = Refusal(attributes, decision);
      if (refused.ok()) then(read);
      return refused;
    });
  });
}

void RunRead(kube::aggregation::WorkPool& pool, const kube::aggregation::Refusals& refusals,
             const std::string& owner, const ResponderPtr& responder,
             std::function<absl::Status()> work) {
  const bool taken = pool.Run(
      owner, [responder, work = std::move(work)] { Guarded(*responder, [&] { return work(); }); });
  if (taken) return;
  Refuse(refusals.Refuse(), *responder);
}

}  // namespace search
