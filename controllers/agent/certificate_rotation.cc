// A look reads the Secret, its kubeconfig, and the user of the current context. When the
// certificate is due, the steps are: a new key; a request for the old subject and life; the
// certificate, once somebody has approved the request and it is signed; a trial of the pair; the
// Secret, on the condition that nobody has changed it; and the process's own connections.
//
// A process that ends between two of these steps loses the key, which is stored nowhere before the
// Secret has it. The old certificate is still valid then, and the next look begins again; what is
// left behind is a request that nobody needs, which the control plane removes by itself. A process
// that ends after the Secret was written finds the new certificate at its start, or the old one as
// long as the mounted file has it. Two agents that renew at the same time meet a conflict, and the
// second one throws its pair away.

#include "controllers/agent/certificate_rotation.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/certificate_renewal.h"
#include "base/json.h"
#include "base/log.h"
#include "base/random.h"
#include "base/status.h"
#include "base/yaml.h"
#include "kube/client/errors.h"

namespace controllers {
namespace {

constexpr char kSecretName[] = "karmada-kubeconfig";
constexpr char kSecretField[] = "karmada-kubeconfig";
constexpr char kSigner[] = "kubernetes.io/kube-apiserver-client";
constexpr char kCertificateField[] = "client-certificate-data";
constexpr char kKeyField[] = "client-key-data";
// As upstream.
constexpr absl::Duration kPoll = absl::Seconds(1);
constexpr absl::Duration kPatience = absl::Minutes(5);
constexpr size_t kSuffix = 5;

absl::StatusOr<std::string> Decoded(absl::string_view what, absl::string_view base64) {
  std::string text;
  if (!base64.empty() && absl::Base64Unescape(base64, &text)) return text;
  return absl::InvalidArgumentError(
      absl::StrCat(what, base64.empty() ? " is missing" : " is not base64"));
}

// Returns the index of the item of this name; -1 when there is none.
int IndexOf(const json::Value& list, absl::string_view name) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list.items()[i]["name"].AsString() == name) return static_cast<int>(i);
  }
  return -1;
}

// The kubeconfig in the Secret, and the user of its current context.
struct Kubeconfig {
  json::Value document;
  std::string user;
  std::string certificate;  // PEM.

  static absl::StatusOr<Kubeconfig> Of(const kube::Object& secret) {
    ASSIGN_OR_RETURN(const std::string text,
                     Decoded(absl::StrCat("data.", kSecretField),
                             secret.Get({"data", kSecretField}).AsString()));
    Kubeconfig config;
    ASSIGN_OR_RETURN(config.document, yaml::Parse(text));
    const json::Value& contexts = config.document["contexts"];
    const int context = IndexOf(contexts, config.document["current-context"].AsString());
    if (context < 0) return absl::InvalidArgumentError("its current-context does not exist");
    config.user = contexts.items()[static_cast<size_t>(context)]["context"]["user"].ToString();
    const int user = IndexOf(config.document["users"], config.user);
    if (user < 0)
      return absl::InvalidArgumentError("the user of its current-context does not exist");
    const json::Value& credentials =
        config.document["users"].items()[static_cast<size_t>(user)]["user"];
    ASSIGN_OR_RETURN(config.certificate, Decoded(absl::StrCat(kCertificateField, " of its user"),
                                                 credentials[kCertificateField].AsString()));
    return config;
  }

  // Returns the text with this pair as the user's.
  std::string With(const tls::KeyPair& pair) const {
    json::Value users = json::Value::Array();
    for (const json::Value& item : document["users"].items()) {
      json::Value changed = item;
      if (item["name"].AsString() == user) {
        changed.Set({"user", kCertificateField}, absl::Base64Escape(pair.cert_pem));
        changed.Set({"user", kKeyField}, absl::Base64Escape(pair.key_pem));
      }
      users.Append(std::move(changed));
    }
    json::Value whole = document;
    whole.Set("users", std::move(users));
    return yaml::Write(whole);
  }
};

kube::Object RequestFor(const std::string& user, const std::string& request_pem,
                        absl::Duration life) {
  // A suffix as Kubernetes makes them: of letters and digits.
  const std::string name = absl::StrCat(user, "-", base::NewUuid().substr(0, kSuffix));
  kube::Object request = kube::Object::Make(api::CertificateSigningRequests().gvk, {"", name});
  request.Set({"spec", "request"}, absl::Base64Escape(request_pem));
  request.Set({"spec", "signerName"}, kSigner);
  request.Set({"spec", "expirationSeconds"}, absl::ToInt64Seconds(life));
  request.Set({"spec", "usages"},
              json::Value::Array({"digital signature", "key encipherment", "client auth"}));
  return request;
}

}  // namespace

absl::Duration CertificateRotation::Tick(const base::StopToken& stop) {
  const absl::StatusOr<bool> looked = Look(stop);
  if (!looked.ok() && !stop.stop_requested()) {
    // Not sooner than the next look: each try may leave a request behind.
    base::LogError(
        "the certificate of this agent could not be looked after, trying again",
        {{"error", looked.status()}, {"again after", absl::FormatDuration(options_.interval)}});
  }
  return options_.interval;
}

absl::StatusOr<bool> CertificateRotation::Look(const base::StopToken& stop) {
  const kube::ObjectKey key{options_.kubeconfig_namespace, kSecretName};
  const absl::StatusOr<kube::Object> secret = deps_.member.Get(api::Secrets(), key, stop);
  RETURN_IF_ERROR(
      base::Annotate(secret.status(), "reading the Secret ", key.ToString(), " in the cluster"));
  const absl::StatusOr<Kubeconfig> config = Kubeconfig::Of(*secret);
  RETURN_IF_ERROR(base::Annotate(config.status(), "the Secret ", key.ToString()));
  ASSIGN_OR_RETURN(const tls::Validity validity, tls::ValidityOf(config->certificate));
  if (validity.PartLeft(deps_.clock.Now()) > options_.threshold) return false;
  ASSIGN_OR_RETURN(const tls::KeyPair pair, Renew(config->user, config->certificate, stop));
  json::Value patch = json::Value::Object();
  patch.Set({"data", kSecretField}, absl::Base64Escape(config->With(pair)));
  patch.Set({"metadata", "resourceVersion"}, secret->resource_version());
  RETURN_IF_ERROR(base::Annotate(
      deps_.member.Patch(api::Secrets(), key, kube::PatchType::kMerge, patch, {}, stop).status(),
      "writing the new certificate into the Secret ", key.ToString()));
  if (deps_.use) deps_.use(config->certificate, pair);
  const absl::StatusOr<tls::Validity> now = tls::ValidityOf(pair.cert_pem);
  base::LogInfo("the certificate of this agent was renewed",
                {{"valid until", now.ok() ? kube::FormatTime(now->not_after) : "?"}});
  return true;
}

absl::StatusOr<tls::KeyPair> CertificateRotation::Renew(const std::string& user,
                                                        const std::string& old,
                                                        const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const tls::Validity validity, tls::ValidityOf(old));
  ASSIGN_OR_RETURN(const tls::RenewalRequest renewal, tls::RenewalRequest::For(old));
  const kube::Object request = RequestFor(user, renewal.request_pem, validity.Whole());
  RETURN_IF_ERROR(base::Annotate(
      deps_.control_plane.Create(api::CertificateSigningRequests(), request, {}, stop).status(),
      "asking for a new certificate"));
  base::LogInfo("a new certificate of this agent was asked for; it waits for its approval",
                {{"request", request.name()}});
  ASSIGN_OR_RETURN(std::string certificate, AwaitCertificate(std::string(request.name()), stop));
  const tls::KeyPair pair{std::move(certificate), renewal.key_pem};
  RETURN_IF_ERROR(base::Annotate(tls::CheckKeyPair(pair.cert_pem, pair.key_pem),
                                 "the certificate that was issued"));
  if (deps_.try_out) {
    RETURN_IF_ERROR(base::Annotate(deps_.try_out(pair), "trying the certificate that was issued"));
  }
  return pair;
}

absl::StatusOr<std::string> CertificateRotation::AwaitCertificate(const std::string& request,
                                                                  const base::StopToken& stop) {
  const base::SteadyTime deadline = deps_.clock.SteadyNow() + kPatience;
  for (;;) {
    const absl::StatusOr<kube::Object> found =
        deps_.control_plane.Get(api::CertificateSigningRequests(), {"", request}, stop);
    RETURN_IF_ERROR(found.status());
    const json::Value& status = found->status();
    if (!status["certificate"].AsString().empty()) {
      return Decoded("status.certificate", status["certificate"].AsString());
    }
    for (const char* end : {"Denied", "Failed"}) {
      const json::Value* condition = kube::FindCondition(status["conditions"], end);
      if (condition == nullptr) continue;
      return absl::FailedPreconditionError(absl::StrCat("the request ", request, " is ", end, ": ",
                                                        (*condition)["message"].AsString()));
    }
    if (deps_.clock.SteadyNow() >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("the request ", request,
                       " was not signed in time: is it approved (agentcsrapproving, or kubectl "
                       "certificate approve), and does the control plane have a signer?"));
    }
    if (!deps_.clock.SleepFor(kPoll, stop)) return absl::CancelledError("stopped");
  }
}

}  // namespace controllers
