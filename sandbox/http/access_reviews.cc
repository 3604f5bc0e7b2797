#include "sandbox/http/access_reviews.h"

#include <utility>

#include "base/status.h"
#include "sandbox/http/resource_answers.h"

namespace sandbox {
namespace {

json::Value UserInfo(const UserIdentity& user) {
  return json::Value::Object(
      {{"username", user.name}, {"groups", json::Value::Strings(user.groups)}});
}

json::Value EveryRule() {
  const json::Value any = json::Value::Array({"*"});
  return json::Value::Object(
      {{"incomplete", false},
       {"resourceRules", json::Value::Array({json::Value::Object(
                             {{"verbs", any}, {"apiGroups", any}, {"resources", any}})})},
       {"nonResourceRules",
        json::Value::Array({json::Value::Object({{"verbs", any}, {"nonResourceURLs", any}})})}});
}

json::Value StatusOf(const std::string& kind, const ResourceCall& call) {
  if (kind == "SelfSubjectReview") {
    return json::Value::Object({{"userInfo", UserInfo(call.user)}});
  }
  if (kind == "SelfSubjectRulesReview") return EveryRule();
  if (kind == "TokenReview") {
    return json::Value::Object(
        {{"authenticated", false}, {"error", "tokens are not reviewed by this server"}});
  }
  return json::Value::Object({{"allowed", true}});
}

}  // namespace

absl::StatusOr<base::HttpResponse> AnswerReview(const ResourceCall& call) {
  ASSIGN_OR_RETURN(json::Value body, kube::server::BodyOf(call.request));
  if (!body.is_object()) return BadRequest("the body must be a JSON object");
  kube::Object review(std::move(body));
  const kube::Gvk& gvk = call.resource->resource.gvk;
  review.Set({"apiVersion"}, gvk.ApiVersion());
  review.Set({"kind"}, gvk.kind);
  review.Set({"status"}, StatusOf(gvk.kind, call));
  return ObjectAnswer(call, 201, kube::Share(std::move(review)));
}

}  // namespace sandbox
