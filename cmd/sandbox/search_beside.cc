// What an APIService does in a real control plane is done by a handler of the control plane's
// server: it relays each request below /apis/search.karmada.io/v1alpha1 with the certificate of the
// sandbox's administrator, and whom the caller impersonates. The group is in the discovery by a
// definition of ResourceRegistries, whose own storage nobody reaches: requests go to
// karmada-search, which keeps registries in records.

#include "cmd/sandbox/search_beside.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/search_keys.h"
#include "base/status.h"
#include "base/yaml.h"
#include "cmd/sandbox/relays.h"
#include "cmd/sandbox/session.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "sandbox/delegation.h"
#include "sandbox/manifests.h"

namespace cmd {
namespace {

constexpr char kProgram[] = "karmada-search";
// Everything of its group and version.
const std::string& Path() {
  static const auto& path =
      *new std::string(absl::StrCat("/apis/", api::kSearchGroup, "/", api::kSearchVersion));
  return path;
}

constexpr char kDefinition[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: resourceregistries.search.karmada.io}
spec:
  group: search.karmada.io
  scope: Cluster
  names: {plural: resourceregistries, singular: resourceregistry, kind: ResourceRegistry}
  versions:
    - name: v1alpha1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";

// Returns a port of the loopback address that nobody uses now.
absl::StatusOr<int> FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool found = fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (fd >= 0) close(fd);
  if (!found) return absl::UnavailableError("there is no free port for karmada-search");
  return ntohs(address.sin_port);
}

// Creates the object unless it exists.
absl::Status Ensure(sandbox::Backend& backend, const char* resource, kube::Object object) {
  const kube::Gvk gvk = object.gvk();
  const absl::Status created =
      backend.Create({gvk.group, gvk.version, resource}, std::move(object)).status();
  return absl::IsAlreadyExists(created) ? absl::OkStatus() : created;
}

// Publishes the authority of the control plane's clients, where aggregated API servers look for it.
absl::Status PublishAuthority(sandbox::Backend& backend, const std::string& ca_pem) {
  const kube::Gvk map{"", "v1", "ConfigMap"}, ns{"", "v1", "Namespace"};
  RETURN_IF_ERROR(Ensure(backend, "namespaces", kube::Object::Make(ns, {"", "kube-system"})));
  kube::Object authentication =
      kube::Object::Make(map, {"kube-system", "extension-apiserver-authentication"});
  authentication.Set({"data", "client-ca-file"}, ca_pem);
  // Nobody has a certificate of that name.
  authentication.Set({"data", "requestheader-client-ca-file"}, ca_pem);
  authentication.Set({"data", "requestheader-allowed-names"}, R"(["front-proxy-client"])");
  authentication.Set({"data", "requestheader-username-headers"}, R"(["X-Remote-User"])");
  authentication.Set({"data", "requestheader-group-headers"}, R"(["X-Remote-Group"])");
  authentication.Set({"data", "requestheader-extra-headers-prefix"}, R"(["X-Remote-Extra-"])");
  return Ensure(backend, "configmaps", std::move(authentication));
}

absl::Status Install(sandbox::Backend& backend) {
  ASSIGN_OR_RETURN(const std::string directory, sandbox::FindManifests({"", "search", "--search"}));
  ASSIGN_OR_RETURN(std::vector<kube::Object> definitions, sandbox::ReadManifests(directory));
  RETURN_IF_ERROR(sandbox::LoadDefinitions(directory, std::move(definitions), backend));
  ASSIGN_OR_RETURN(json::Value definition, yaml::Parse(kDefinition));
  return Ensure(backend, "customresourcedefinitions", kube::Object(std::move(definition)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SearchBeside>> SearchBeside::Start(sandbox::Fleet& fleet,
                                                                  const std::string& directory) {
  const std::string program = absl::StrCat(ProgramDirectory(), "/", kProgram);
  if (access(program.c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat("--search: ", program, " cannot be run"));
  }
  RETURN_IF_ERROR(Install(fleet.control_plane().backend()));
  ASSIGN_OR_RETURN(const int port, FreePort());
  const std::string kubeconfig = absl::StrCat(directory, "/karmada.kubeconfig"),
                    url = absl::StrCat("https://127.0.0.1:", port);
  ASSIGN_OR_RETURN(kube::ConnectionConfig connection, kube::LoadConnectionConfig({kubeconfig, ""}));
  RETURN_IF_ERROR(PublishAuthority(fleet.control_plane().backend(), connection.ca_pem));
  connection.server = url;
  connection.ca_pem.clear();
  connection.insecure_skip_tls_verify = true;  // Its certificate is of its own making.
  connection.ignore_proxy_environment = true;
  ASSIGN_OR_RETURN(auto forwarder, kube::Forwarder::Create(connection));
  std::unique_ptr<SearchBeside> search(
      new SearchBeside(fleet,
                       {"--kubeconfig", kubeconfig, "--registry-storage=custom-resources",
                        "--bind-address=127.0.0.1", absl::StrCat("--secure-port=", port)},
                       absl::StrCat(directory, "/", kProgram, ".log"), url));
  RETURN_IF_ERROR(search->daemon_.Start(program));
  sandbox::Delegate(fleet.control_plane(), Path(), RelayTo(std::move(forwarder), "", kProgram));
  return search;
}

SearchBeside::~SearchBeside() {
  sandbox::Delegate(fleet_.control_plane(), Path(),
                    [](const base::HttpRequest&, const std::shared_ptr<base::HttpResponder>& to) {
                      to->Send(NotNow(kProgram, "it was stopped"));
                    });
}

}  // namespace cmd
