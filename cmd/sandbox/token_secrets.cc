#include "cmd/sandbox/token_secrets.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status.h"
#include "sandbox/sim/writes.h"

namespace cmd {
namespace {

const kube::Gvr kSecrets{"", "v1", "secrets"};
constexpr char kType[] = "kubernetes.io/service-account-token";
constexpr char kAccount[] = "kubernetes.io/service-account.name";

}  // namespace

TokenSecrets::TokenSecrets(sandbox::ApiServer& server, sandbox::EventLoop& loop, std::string ca_pem)
    : server_(server),
      ca_pem_(std::move(ca_pem)),
      controller_("tokens", server.backend(), loop,
                  [this](const kube::ObjectKey& key) { return Reconcile(key); }) {
  controller_.WatchKeys(kSecrets);
}

absl::Status TokenSecrets::Reconcile(const kube::ObjectKey& key) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr secret,
                   sandbox::FindObject(server_.backend(), kSecrets, key));
  if (secret == nullptr || secret->root()["type"].AsString() != kType) return absl::OkStatus();
  const absl::string_view account = secret->Annotation(kAccount);
  if (account.empty() || !secret->root()["data"]["token"].is_null()) return absl::OkStatus();
  const std::string token = absl::StrCat(base::NewUuid(), ".", base::NewUuid());
  json::Value patch;
  patch.Set({"data", "token"}, absl::Base64Escape(token));
  patch.Set({"data", "namespace"}, absl::Base64Escape(key.ns));
  patch.Set({"data", "ca.crt"}, absl::Base64Escape(ca_pem_));
  server_.AddToken(token, absl::StrCat("system:serviceaccount:", key.ns, ":", account));
  return sandbox::PatchAsRead(server_.backend(), kSecrets, *secret, std::move(patch));
}

}  // namespace cmd
