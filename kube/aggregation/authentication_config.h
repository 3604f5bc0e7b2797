// What this server believes of its callers: the authorities of client certificates and of front
// proxies, and where it gets them from.
//
// Each of the two comes from flags if those name a CA file, else from the ConfigMap
// kube-system/extension-apiserver-authentication, in which kube-apiserver publishes its own. The
// ConfigMap is watched and the files are read again every minute: a rotated authority counts for
// the next request, also on connections that are open. Content that cannot be used is logged, and
// what was in use before stays; so it does when the ConfigMap is gone.
#ifndef KUBE_AGGREGATION_AUTHENTICATION_CONFIG_H_
#define KUBE_AGGREGATION_AUTHENTICATION_CONFIG_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "base/tls.h"
#include "kube/aggregation/request_fields.h"
#include "kube/client/client.h"

namespace kube::aggregation {

// A front proxy is believed when it says who the user is.
struct FrontProxies {
  std::shared_ptr<const tls::ClientAuthority> authority;
  std::vector<std::string> allowed_names;  // Common names; if there are none, any name will do.
  RequestHeaderNames names;
};

// Immutable; one for each state of the flags' files and of the ConfigMap.
struct AuthenticationConfig {
  std::shared_ptr<const tls::ClientAuthority>
      clients;                                // nullptr: client certificates do not count.
  std::optional<FrontProxies> front_proxies;  // nullopt: no front proxy is believed.

  // Returns the names of the fields that a front proxy uses, or the standard ones.
  const RequestHeaderNames& header_names() const;
};

// The flags of upstream's DelegatingAuthenticationOptions.
struct AuthenticationOptions {
  std::string client_ca_file;                // --client-ca-file
  std::string requestheader_client_ca_file;  // --requestheader-client-ca-file
  // The following two apply only together with that file.
  std::vector<std::string> requestheader_allowed_names;
  RequestHeaderNames requestheader_names = RequestHeaderNames::Standard();
  bool skip_lookup = false;              // --authentication-skip-lookup
  bool tolerate_lookup_failure = false;  // --authentication-tolerate-lookup-failure
  // How long the first lookup may take, with its retries.
  absl::Duration lookup_timeout = absl::Seconds(10);
  // How often files are read again.
  absl::Duration file_period = absl::Minutes(1);
};

// Returns OK, or names the flag that has an empty element or contradicts another one.
absl::Status Validate(const AuthenticationOptions& options);

// Reads the `data` of the ConfigMap. kInvalidArgument names the key that is missing or unusable.
absl::StatusOr<std::shared_ptr<const tls::ClientAuthority>> ParseClients(const json::Value& data);
absl::StatusOr<FrontProxies> ParseFrontProxies(const json::Value& data);

// Thread-safe.
class AuthenticationSource {
 public:
  // Reads files and ConfigMap, and follows their changes on a thread of its own. `client` may be
  // null: then nothing is looked up. Errors: an unusable file or flag; unless lookup failures are
  // tolerated, a ConfigMap that cannot be read, or has no usable front proxy. With toleration the
  // lookup goes on in the background. REQUIRES: `client` and `clock` outlive the source.
  static absl::StatusOr<std::unique_ptr<AuthenticationSource>> Start(AuthenticationOptions options,
                                                                     Client* client,
                                                                     const base::Clock& clock,
                                                                     const base::StopToken& stop);
  virtual ~AuthenticationSource() = default;  // Ends the watch.
  // Returns the present configuration, never nullptr.
  virtual std::shared_ptr<const AuthenticationConfig> Get() const = 0;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_AUTHENTICATION_CONFIG_H_
