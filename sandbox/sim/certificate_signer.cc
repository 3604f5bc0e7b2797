#include "sandbox/sim/certificate_signer.h"

#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/time/time.h"
#include "api/resources.h"
#include "base/certificate_signing.h"
#include "base/json.h"
#include "base/status.h"
#include "kube/meta/object.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

constexpr char kSigner[] = "kubernetes.io/kube-apiserver-client";
constexpr absl::Duration kYear = absl::Hours(24 * 365);

bool Has(const kube::Object& request, const char* condition) {
  return kube::FindCondition(request.status()["conditions"], condition) != nullptr;
}

// Whether it waits for its certificate.
bool Waits(const kube::Object& request) {
  return request.spec()["signerName"].AsString() == kSigner && Has(request, "Approved") &&
         !Has(request, "Denied") && !Has(request, "Failed") &&
         request.status()["certificate"].AsString().empty();
}

json::Value Failed(const absl::Status& why) {
  return json::Value::Object({{"type", "Failed"},
                              {"status", "True"},
                              {"reason", "SignerValidationFailure"},
                              {"message", std::string(why.message())}});
}

}  // namespace

CertificateSigner::CertificateSigner(Backend& backend, EventLoop& loop,
                                     std::shared_ptr<const tls::CertificateAuthority> authority)
    : backend_(backend),
      authority_(std::move(authority)),
      controller_("csrsigning", backend, loop,
                  [this](const kube::ObjectKey& key) { return Reconcile(key); }) {
  controller_.WatchKeys(api::CertificateSigningRequests().gvr());
}

absl::Status CertificateSigner::Reconcile(const kube::ObjectKey& key) {
  const kube::Gvr gvr = api::CertificateSigningRequests().gvr();
  ASSIGN_OR_RETURN(const kube::ObjectPtr request, FindObject(backend_, gvr, key));
  if (request == nullptr || !Waits(*request)) return absl::OkStatus();
  const int64_t seconds = request->spec()["expirationSeconds"].AsInt();
  std::string pem;
  absl::Base64Unescape(request->spec()["request"].AsString(), &pem);
  const absl::StatusOr<std::string> signed_pem = tls::SignCertificateRequest(
      *authority_, pem, controller_.Now(), seconds > 0 ? absl::Seconds(seconds) : kYear);
  json::Value status = request->status();
  if (signed_pem.ok()) {
    status.Set("certificate", absl::Base64Escape(*signed_pem));
  } else {
    json::Value conditions = status["conditions"];
    conditions.Append(Failed(signed_pem.status()));
    status.Set("conditions", std::move(conditions));
  }
  return UnlessGone(WriteStatus(backend_, gvr, *request, std::move(status)));
}

}  // namespace sandbox
