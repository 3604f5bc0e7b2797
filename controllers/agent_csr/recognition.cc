#include "controllers/agent_csr/recognition.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace controllers {
namespace {

constexpr AgentPermission kSelf = {
    "selfclusteragent", "Auto approving self karmada agent certificate after SubjectAccessReview."};
constexpr AgentPermission kAny = {
    "clusteragent", "Auto approving karmada agent certificate after SubjectAccessReview."};

bool IsAgentName(const std::string& name) { return absl::StartsWith(name, api::kAgentUserPrefix); }

bool MentionsAgents(const tls::CertificateRequest& content) {
  return std::any_of(content.common_names.begin(), content.common_names.end(), IsAgentName) ||
         std::find(content.organizations.begin(), content.organizations.end(), api::kAgentGroup) !=
             content.organizations.end();
}

bool HasAgentUsages(const std::set<std::string>& usages) {
  return usages == std::set<std::string>{"client auth", "digital signature"} ||
         usages == std::set<std::string>{"client auth", "digital signature", "key encipherment"};
}

}  // namespace

absl::Status CheckAgentRequest(const api::SigningRequestView& request,
                               const tls::CertificateRequest& content) {
  if (request.SignerName() != api::kApiServerClientSigner || !MentionsAgents(content)) {
    return absl::NotFoundError("not a request of a karmada-agent");
  }
  if (content.organizations != std::vector<std::string>{api::kAgentGroup}) {
    return absl::FailedPreconditionError(
        absl::StrCat("the organization of its subject is not ", api::kAgentGroup, " alone"));
  }
  if (content.common_names.size() != 1 || !IsAgentName(content.common_names[0])) {
    return absl::FailedPreconditionError(absl::StrCat(
        "its subject has not one common name that begins with ", api::kAgentUserPrefix));
  }
  if (content.has_alternative_names) {
    return absl::FailedPreconditionError("it asks for alternative names, which agents do not have");
  }
  if (!HasAgentUsages(request.Usages())) {
    return absl::FailedPreconditionError(
        "its usages are not client auth and digital signature, with or without key encipherment");
  }
  return absl::OkStatus();
}

std::vector<AgentPermission> PermissionsFor(const api::SigningRequestView& request,
                                            const tls::CertificateRequest& content) {
  if (request.Username() == content.common_names[0]) return {kSelf, kAny};
  return {kAny};
}

}  // namespace controllers
