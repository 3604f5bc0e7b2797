// The credentials for one API server: loaded when first needed, kept, and renewed in time.
#ifndef KUBE_KUBECONFIG_CREDENTIALS_H_
#define KUBE_KUBECONFIG_CREDENTIALS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "base/tls.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace kube {

// An immutable snapshot. Equal credentials are the same object, so that comparing pointers shows a
// change.
struct Credentials {
  std::string authorization;  // The value of the header; "" sends none.
  tls::KeyPair certificate;
  std::string ca_pem;  // The authorities by which the server is judged; "" for the system's.
  // Shared by snapshots with the same certificate and authorities; connections with older ones must
  // not be used any more.
  std::shared_ptr<const tls::ClientCredentials> tls;
};
using CredentialsPtr = std::shared_ptr<const Credentials>;

// Returns the headers that ask a server to impersonate whom the configuration's impersonate_...
// fields name.
std::vector<std::pair<std::string, std::string>> ImpersonationHeaders(
    const ConnectionConfig& config);

// Thread-safe.
class CredentialSource {
 public:
  // kInvalidArgument when the CA, certificate or key is unusable. The token file is not read yet,
  // nor the plugin run. REQUIRES: `clock` outlives the source.
  static absl::StatusOr<std::unique_ptr<CredentialSource>> Create(const ConnectionConfig& config,
                                                                  const base::Clock& clock);

  // Returns the current credentials. Files are checked again every 10 s, an exec plugin is run when
  // its credentials have expired; one caller does it, the others wait. A file of authorities that
  // cannot be read again, or not be used, leaves the old ones in force. kUnauthenticated when there
  // are no credentials, kDeadlineExceeded, kCancelled.
  absl::StatusOr<CredentialsPtr> Get(base::SteadyTime deadline, const base::StopToken& stop);

  // Returns the current credentials if that does not block, else null.
  CredentialsPtr GetIfFresh();

  // Replaces the configuration's token; the next Get() returns the new one. Returns false, and
  // changes nothing, when the authorization does not come from a token in the configuration.
  bool ReplaceToken(const std::string& token);

  // Call it when the server has answered 401 to these credentials: the next Get() loads them again.
  void Reject(const CredentialsPtr& rejected);

 private:
  struct Loaded {
    std::string authorization;
    tls::KeyPair certificate;
    std::string ca_pem;
    base::SteadyTime fresh_until = base::SteadyTime::InfiniteFuture();
  };

  CredentialSource(const ConnectionConfig& config, const base::Clock& clock);
  absl::StatusOr<Loaded> Load(const std::string& token, const std::string& authorities,
                              base::SteadyTime deadline, const base::StopToken& stop) const;
  absl::Status LoadFiles(Loaded& loaded) const;
  // Returns the authorities that the file names now, else `before`.
  std::string Authorities(const std::string& before) const;
  bool IsFresh() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<CredentialsPtr> MakeCredentials(Loaded loaded, const CredentialsPtr& before) const;
  // Loads with mu_ released, and stores the result or the failure.
  void Refresh(base::SteadyTime deadline, const base::StopToken& stop);
  absl::Status AwaitOtherRefresh(base::SteadyTime deadline, const base::StopToken& stop);

  const ConnectionConfig config_;
  const base::Clock& clock_;
  absl::Mutex mu_;
  std::string token_ ABSL_GUARDED_BY(mu_);  // The configured token or its replacement.
  bool refreshing_ ABSL_GUARDED_BY(mu_) = false;
  bool loaded_before_ ABSL_GUARDED_BY(mu_) = false;
  CredentialsPtr current_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime fresh_until_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
  // When the file of authorities is read again; it is never the reason to run a plugin again.
  base::SteadyTime authorities_until_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfiniteFuture();
  base::SteadyTime last_reject_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
  absl::Status failure_ ABSL_GUARDED_BY(mu_);  // The failure of the last refresh, if it failed.
  base::SteadyTime failure_until_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
};

}  // namespace kube

#endif  // KUBE_KUBECONFIG_CREDENTIALS_H_
