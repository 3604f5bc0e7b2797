#include "tests/statuses/status_server.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <utility>

#include <catch2/catch.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "kube/client/errors.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "sandbox/cluster_identity.h"

namespace tests {
namespace {

const kube::Resource kNamespaces{{"", "v1", "Namespace"}, "namespaces", false};

kube::Resource ResourceOf(const kube::Object& object) {
  const std::string lower = absl::AsciiStrToLower(object.gvk().kind);
  return {object.gvk(), absl::StrCat(lower, lower.back() == 's' ? "es" : "s"), true};
}

template <class T>
T Must(absl::StatusOr<T> result) {
  INFO(result.status().ToString());
  REQUIRE(result.ok());
  return *std::move(result);
}

std::string UniqueNamespace() {
  static std::atomic<int> count{0};
  return absl::StrCat("statuses-", getpid(), "-", absl::ToUnixSeconds(absl::Now()) % 100000, "-",
                      ++count);
}

}  // namespace

StatusServer::StatusServer() : namespace_(UniqueNamespace()) {
  kube::ConnectionConfig config;
  if (const char* real = std::getenv("STATUS_SERVER")) {
    config = Must(kube::LoadConnectionConfig({real, ""}));
  } else {
    const sandbox::ClusterIdentity identity = Must(sandbox::MakeIdentity("statuses"));
    sandbox::ApiServerOptions options;
    options.name = "statuses";
    options.tls.server = identity.server;
    options.tls.client_ca_pem = identity.ca_pem;
    sandbox_ = Must(sandbox::ApiServer::Start(std::move(options)));
    config = Must(kube::ParseKubeconfig(
        sandbox::AdminKubeconfig("statuses", sandbox_->url(), identity), "", ""));
  }
  client_ = std::make_unique<kube::Client>(
      Must(kube::NewHttpTransport(config)),
      kube::ClientOptions{.name = "statuses", .host = "statuses", .user_agent = "statuses-test"},
      base::RealClock(), nullptr);
  const kube::HttpResponse version = Must(client_->GetRaw("/version", {}));
  REQUIRE(absl::SimpleAtoi(Must(json::Parse(version.body))["minor"].AsString(), &minor_));
  Must(client_->Create(kNamespaces, kube::Object::Make(kNamespaces.gvk, {"", namespace_}), {}, {}));
  // Admission of a real server asks for it when a Pod is created.
  Must(client_->Create({{"", "v1", "ServiceAccount"}, "serviceaccounts", true},
                       kube::Object::Make({"", "v1", "ServiceAccount"}, {namespace_, "default"}),
                       {}, {}));
}

StatusServer::~StatusServer() {
  static_cast<void>(client_->Delete(kNamespaces, {"", namespace_}, {}, {}));
}

kube::Object StatusServer::Create(const std::string& name, const kube::Object& object) {
  kube::Object named = object;
  named.Set({"metadata", "name"}, name);
  named.Set({"metadata", "namespace"}, namespace_);
  return Must(client_->Create(ResourceOf(object), named, {}, {}));
}

kube::Object StatusServer::PatchSpec(const kube::Object& object, const json::Value& spec) {
  return Must(client_->Patch(ResourceOf(object), object.key(), kube::PatchType::kMerge,
                             json::Value::Object({{"spec", spec}}), {}, {}));
}

absl::StatusOr<kube::Object> StatusServer::WriteStatus(const kube::Object& object,
                                                       const json::Value& status) {
  kube::Object wanted = object;
  wanted.Set({"status"}, status);
  absl::StatusOr<kube::Object> written =
      client_->Replace(ResourceOf(object), wanted, {.subresource = "status"}, {});
  if (written.ok()) return written;
  INFO(written.status().ToString());
  REQUIRE(kube::IsInvalid(written.status()));
  return absl::InvalidArgumentError(written.status().message());
}

void StatusServer::Delete(const kube::Object& object) {
  Must(client_->Delete(ResourceOf(object), object.key(), {}, {}));
}

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

}  // namespace tests
