#include "tests/cmd/search/search_plane.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "api/resource_registry.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/yaml.h"
#include "cmd/search/connections.h"
#include "cmd/search/options.h"
#include "kube/http/http_transport.h"
#include "search/registry/record_store.h"
#include "tests/support/eventually.h"

namespace tests {
namespace {

const kube::Resource kConfigMaps{{"", "v1", "ConfigMap"}, "configmaps", true};
const kube::Resource kDefinitions{
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"}, "customresourcedefinitions", false};

// Fails the test if there is none.
template <class T>
T Got(absl::StatusOr<T> value) {
  INFO(value.status().ToString());
  REQUIRE(value.ok());
  return *std::move(value);
}

std::string FileText(const std::string& path) { return Got(base::ReadFile(path)); }

}  // namespace

SearchPlane::SearchPlane(const std::vector<std::string>& more_flags)
    : fleet_(Got(sandbox::Fleet::Start({.members = 2, .nodes_per_member = 1}))),
      clients_(Got(tls::CertificateAuthority::Create("clients"))),
      front_proxies_(Got(tls::CertificateAuthority::Create("front proxies"))),
      admin_(ClientCertificate("admin", "system:masters")) {
  REQUIRE(fleet_->WriteKubeconfigs(directory_.path()).ok());
  Prepare();
  StartServer(more_flags);
}

SearchPlane::~SearchPlane() { Stop(); }

tls::KeyPair SearchPlane::ClientCertificate(const std::string& name, const std::string& group) {
  return Got(clients_->Issue({.common_name = name, .organizations = {group}}));
}

tls::KeyPair SearchPlane::ProxyCertificate(const std::string& name) {
  return Got(front_proxies_->Issue({.common_name = name}));
}

// What kube-apiserver publishes about itself, and the definition of the records.
void SearchPlane::Prepare() {
  kube::Object config =
      kube::Object::Make(kConfigMaps.gvk, {"kube-system", "extension-apiserver-authentication"});
  config.Set({"data"}, json::Value::Object(
                           {{"client-ca-file", clients_->cert_pem()},
                            {"requestheader-client-ca-file", front_proxies_->cert_pem()},
                            {"requestheader-allowed-names", R"(["front-proxy"])"},
                            {"requestheader-username-headers", R"(["X-Remote-User"])"},
                            {"requestheader-group-headers", R"(["X-Remote-Group"])"},
                            {"requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])"}}));
  REQUIRE(cluster("karmada").Create(kConfigMaps, config, {}, {}).ok());
  Create(cluster("karmada"), kDefinitions,
         FileText("config/search/storage.search.karmada.io_resourceregistryrecords.yaml"));
  REQUIRE(Eventually(
      [&] { return cluster("karmada").List(search::RegistryRecordResource(), "", {}, {}).ok(); }));
}

void SearchPlane::StartServer(const std::vector<std::string>& more_flags) {
  std::vector<std::string> words = {
      "karmada-search", absl::StrCat("--kubeconfig=", directory_.path(), "/karmada.kubeconfig"),
      "--registry-storage=custom-resources", "--bind-address=127.0.0.1", "--secure-port=0"};
  words.insert(words.end(), more_flags.begin(), more_flags.end());
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  cmd::ParsedSearchFlags parsed = cmd::ParseSearchFlags(static_cast<int>(argv.size()), argv.data());
  INFO(parsed.output);
  REQUIRE_FALSE(parsed.exit_code.has_value());
  parsed.options.status_period = absl::Milliseconds(100);
  server_ = Got(cmd::SearchServer::Start(parsed.options, Got(cmd::Connect(parsed.options)), {}));
  thread_ = std::thread([this] { finished_ = server_->Run(stop_.get_token()).ok(); });
  kube::ConnectionConfig config;
  config.server = absl::StrCat("https://127.0.0.1:", server_->port());
  config.insecure_skip_tls_verify = true;
  config.client_certificate = admin_;
  search_ = ClientOf(config);
  config.server += kProxyPath;
  proxy_ = ClientOf(config);
}

bool SearchPlane::Stop() {
  if (thread_.joinable()) {
    stop_.request_stop();
    thread_.join();
  }
  return finished_;
}

std::unique_ptr<kube::Client> SearchPlane::ClientOf(kube::ConnectionConfig config) {
  return std::make_unique<kube::Client>(Got(kube::NewHttpTransport(config)),
                                        kube::ClientOptions{.name = "test"}, base::RealClock(),
                                        nullptr);
}

kube::Client& SearchPlane::cluster(const std::string& name) {
  std::unique_ptr<kube::Client>& slot = clusters_[name];
  if (slot == nullptr) {
    slot = ClientOf(Got(kube::ParseKubeconfig(Got(fleet_->Kubeconfig(name)), "", "")));
  }
  return *slot;
}

void SearchPlane::Create(kube::Client& client, const kube::Resource& resource,
                         absl::string_view yaml) {
  const std::vector<json::Value> documents = Got(yaml::ParseAll(yaml));
  for (const json::Value& document : documents) {
    Got(client.Create(resource, kube::Object(document), {}, {}));
  }
}

void SearchPlane::CreateRegistry(const std::string& name, const std::string& clusters) {
  Create(search(), api::ResourceRegistryResource(),
         absl::Substitute(R"(
apiVersion: search.karmada.io/v1alpha1
kind: ResourceRegistry
metadata: {name: $0}
spec:
  targetCluster: {clusterNames: [$1]}
  resourceSelectors:
  - {apiVersion: v1, kind: ConfigMap}
  - {apiVersion: v1, kind: Pod}
  - {apiVersion: v1, kind: Node}
)",
                          name, clusters));
}

RawResponse SearchPlane::Get(absl::string_view target) { return GetAs(admin_, "", target); }

std::string SearchPlane::ExchangeAs(const tls::KeyPair& certificate, absl::string_view bytes) {
  const auto credentials =
      Got(tls::ClientCredentials::Create({.skip_verify = true, .client = certificate}));
  TlsRawClient client(server_->port(), *credentials);
  REQUIRE(client.secure());
  client.Send(bytes);
  return client.ReadToEnd();
}

RawResponse SearchPlane::GetAs(const tls::KeyPair& certificate, absl::string_view headers,
                               absl::string_view target) {
  const auto credentials =
      Got(tls::ClientCredentials::Create({.skip_verify = true, .client = certificate}));
  TlsRawClient client(server_->port(), *credentials);
  REQUIRE(client.secure());
  client.Send(absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: test\r\n", headers, "\r\n"));
  return client.ReadResponse();
}

}  // namespace tests
