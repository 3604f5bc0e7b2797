#include "api/signing_request.h"

#include <utility>

#include "absl/strings/escaping.h"

namespace api {

std::set<std::string> SigningRequestView::Usages() const {
  std::set<std::string> usages;
  for (const json::Value& usage : object_.spec()["usages"].items()) {
    usages.insert(usage.ToString());
  }
  return usages;
}

absl::StatusOr<std::string> SigningRequestView::Pem() const {
  std::string pem;
  if (!absl::Base64Unescape(object_.spec()["request"].AsString(), &pem)) {
    return absl::InvalidArgumentError("spec.request is not base64");
  }
  return pem;
}

bool SigningRequestView::IsDecided() const {
  if (!object_.status()["certificate"].AsString().empty()) return true;
  const json::Value& conditions = object_.status()["conditions"];
  return kube::FindCondition(conditions, "Approved") != nullptr ||
         kube::FindCondition(conditions, "Denied") != nullptr;
}

json::Value SigningRequestView::ReviewOf(absl::string_view subresource) const {
  json::Value review = json::Value::Object();
  review.Set("resourceAttributes", json::Value::Object({{"group", "certificates.k8s.io"},
                                                        {"resource", "certificatesigningrequests"},
                                                        {"subresource", subresource},
                                                        {"verb", "create"},
                                                        {"version", "*"}}));
  review.Set("user", Username());
  for (const char* field : {"uid", "groups", "extra"}) {
    if (object_.spec().Has(field)) review.Set(field, object_.spec()[field]);
  }
  return review;
}

void Approve(kube::Object& request, absl::string_view message) {
  json::Value conditions = request.status()["conditions"];
  if (!conditions.is_array()) conditions = json::Value::Array();
  conditions.Append(json::Value::Object({{"type", "Approved"},
                                         {"status", "True"},
                                         {"reason", "AutoApproved"},
                                         {"message", message}}));
  request.Set({"status", "conditions"}, std::move(conditions));
}

}  // namespace api
