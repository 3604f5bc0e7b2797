// A karmada-search in this process, behind the authorities of a test, on a sandbox with two
// members.
#ifndef TESTS_CMD_SEARCH_SEARCH_PLANE_H_
#define TESTS_CMD_SEARCH_SEARCH_PLANE_H_

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/stop_token.h"
#include "base/tls.h"
#include "cmd/search/server.h"
#include "kube/client/client.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/meta/object.h"
#include "sandbox/fleet.h"
#include "tests/base/raw_client.h"
#include "tests/support/temp_directory.h"

namespace tests {

inline constexpr char kProxyPath[] = "/apis/search.karmada.io/v1alpha1/proxying/karmada/proxy";
inline constexpr char kViewPath[] = "/apis/search.karmada.io/v1alpha1/search/cache";

// ResourceRegistries are stored as records of the control plane.
class SearchPlane {
 public:
  explicit SearchPlane(const std::vector<std::string>& more_flags = {});
  ~SearchPlane();
  SearchPlane(const SearchPlane&) = delete;

  sandbox::Fleet& fleet() { return *fleet_; }
  sandbox::ApiServer& member(absl::string_view name) { return *fleet_->member(name); }
  cmd::SearchServer& server() { return *server_; }

  // Clients of an administrator: of a cluster ("karmada", "member1"), of this server, and of the
  // proxy, for which all members are one cluster.
  kube::Client& cluster(const std::string& name);
  kube::Client& search() { return *search_; }
  kube::Client& proxy() { return *proxy_; }

  void Create(kube::Client& client, const kube::Resource& resource, absl::string_view yaml);
  // Makes a registry of ConfigMaps, Pods and Nodes in all clusters, or in those that are named.
  void CreateRegistry(const std::string& name, const std::string& clusters = "");
  // Returns the answer to one request of the administrator; `target` is sent as it is.
  RawResponse Get(absl::string_view target);
  // Returns the answer to a request over a connection with this certificate; an empty one shows
  // none. `headers` end in CRLF.
  RawResponse GetAs(const tls::KeyPair& certificate, absl::string_view headers,
                    absl::string_view target);
  // Sends the administrator's bytes as they are, and returns what comes until the connection ends.
  std::string Exchange(absl::string_view bytes) { return ExchangeAs(admin_, bytes); }
  std::string ExchangeAs(const tls::KeyPair& certificate, absl::string_view bytes);
  // A certificate of the authority of clients or of front proxies.
  tls::KeyPair ClientCertificate(const std::string& name, const std::string& group);
  tls::KeyPair ProxyCertificate(const std::string& name);
  // Ends the service, and returns whether every answer was finished.
  bool Stop();

 private:
  std::unique_ptr<kube::Client> ClientOf(kube::ConnectionConfig config);
  void Prepare();
  void StartServer(const std::vector<std::string>& more_flags);

  TempDirectory directory_;
  std::unique_ptr<sandbox::Fleet> fleet_;
  std::unique_ptr<tls::CertificateAuthority> clients_, front_proxies_;
  tls::KeyPair admin_;
  std::map<std::string, std::unique_ptr<kube::Client>> clusters_;
  std::unique_ptr<kube::Client> search_, proxy_;
  std::unique_ptr<cmd::SearchServer> server_;
  base::StopSource stop_;
  std::thread thread_;
  bool finished_ = false;
};

}  // namespace tests

#endif  // TESTS_CMD_SEARCH_SEARCH_PLANE_H_
