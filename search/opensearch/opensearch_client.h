// Requests to one OpenSearch, which may have several addresses.
//
// Requests go round the addresses. One that does not answer, or answers 502, 503 or 504, is left
// out for a while, and the next one is asked. So a request may be executed twice: callers send only
// requests that may be repeated (searches; writes with external versions).
//
// An address may lead to another OpenSearch than before. Whoever cares calls RequireAdmission, and
// admits each address after a look at what answers there.
#ifndef SEARCH_OPENSEARCH_OPENSEARCH_CLIENT_H_
#define SEARCH_OPENSEARCH_OPENSEARCH_CLIENT_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "base/tls.h"
#include "kube/http/transport.h"
#include "kube/meta/object.h"

namespace search {

// The longest answer that any request may have: with one found document it is that long because
// this one is.
inline constexpr size_t kMaxOpenSearchAnswer = 32 << 20;

// How to authenticate to OpenSearch, and how to recognise it. Never logged.
struct OpenSearchCredentials {
  std::string username, password;
  std::string token;   // A bearer token; takes precedence over the password.
  std::string ca_pem;  // "" stands for the system's roots.
  tls::KeyPair client_certificate;
  bool insecure_skip_tls_verify = false;

  friend bool operator==(const OpenSearchCredentials&, const OpenSearchCredentials&);
};

// Reads the Secret that a ResourceRegistry refers to. Keys: `username` (or `userName`, as
// upstream's API document says) and `password`; `token`; `ca.crt` (or `caBundle`); `tls.crt` and
// `tls.key`; `insecureSkipTLSVerify: "true"`. All are optional. kInvalidArgument names the Secret
// and the key, never the value: data that is not base64, or empty, one of two keys that belong
// together, a user without password, an unusable certificate.
absl::StatusOr<OpenSearchCredentials> CredentialsOf(const kube::Object& secret);

struct OpenSearchRequest {
  std::string method = "GET";
  std::string path;  // Escaped, with the query: "/_bulk?filter_path=errors".
  std::string content_type = "application/json";
  std::string body;
  // An answer that is longer is kOutOfRange.
  size_t max_answer_bytes = kMaxOpenSearchAnswer;
  absl::Duration timeout = absl::Seconds(60);  // For each address that is tried.
  // For all of them together, of the client's clock.
  base::SteadyTime deadline = base::SteadyTime::InfiniteFuture();
};

struct OpenSearchAnswer {
  int code = 0;
  json::Value body;
  size_t bytes = 0;                                   // Of the body's text.
  absl::Duration retry_after = absl::ZeroDuration();  // What the header asks for.
};

// OK for an http or https URL with a host. The error does not repeat a user or password in it.
absl::Status CheckAddress(const std::string& address);

// Thread-safe.
class OpenSearchClient {
 public:
  // kInvalidArgument when there is no address, or one is not an http or https URL with a host, or
  // the credentials are unusable. The user and password of a URL take precedence over those of the
  // credentials, for that address.
  static absl::StatusOr<std::unique_ptr<OpenSearchClient>> Create(
      const std::vector<std::string>& addresses, const OpenSearchCredentials& credentials,
      const base::Clock& clock);

  // A client whose one address is this transport, which SetCredentials would replace.
  static std::unique_ptr<OpenSearchClient> Over(std::shared_ptr<kube::Transport> transport,
                                                const base::Clock& clock);
  // Returns the answer of the first address that gave one; an HTTP error code is an answer. Errors
  // are those of kube::Transport::Send, of the address that was tried last; kUnavailable too for an
  // answer that is not JSON; kOutOfRange for one of more bytes than the request permits,
  // which no other address makes smaller; kDeadlineExceeded after the request's deadline.
  absl::StatusOr<OpenSearchAnswer> Send(const OpenSearchRequest& request,
                                        const base::StopToken& stop);
  // As Send, but asks the address at this position alone, for what is about one node.
  absl::StatusOr<OpenSearchAnswer> SendTo(size_t position, const OpenSearchRequest& request,
                                          const base::StopToken& stop);
  // As given to Create: they may contain a user and password.
  const std::vector<std::string>& addresses() const { return urls_; }
  // Requests that start from now on use these. Equal credentials change nothing, others end all
  // admissions. On an error the old ones stay.
  absl::Status SetCredentials(const OpenSearchCredentials& credentials);

  // From now on Send asks only addresses that are admitted. kUnavailable when there is none, with
  // the last error of one that has not answered.
  void RequireAdmission();
  // An admission ends when the address does not answer a request: what answers there afterwards may
  // be another server.
  void SetAdmitted(size_t position, bool admitted);
  // The addresses that are worth a look: those that are admitted and those that are not left out at
  // the moment; all if none is admitted.
  std::vector<size_t> WorthALook() const;

 private:
  struct Address {
    std::shared_ptr<kube::Transport> transport;
    base::SteadyTime left_out_until = base::SteadyTime::InfinitePast();
    bool admitted = false;
    std::string error;  // Why it did not answer last; "" if it did.
  };

  OpenSearchClient(std::vector<std::string> addresses, const base::Clock& clock);
  // Returns the positions of the addresses in the order in which a request tries them.
  std::vector<size_t> Order();
  std::shared_ptr<kube::Transport> TransportOf(size_t position) const;
  // `error` is OK when the address has answered.
  void Record(size_t position, const absl::Status& error);
  // The error of a request that no address may be asked for.
  absl::Status NoAddress() const;

  const std::vector<std::string> urls_;
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  OpenSearchCredentials credentials_ ABSL_GUARDED_BY(mu_);
  std::vector<Address> addresses_ ABSL_GUARDED_BY(mu_);
  bool requires_admission_ ABSL_GUARDED_BY(mu_) = false;
  size_t next_ ABSL_GUARDED_BY(mu_) = 0;
};

// Returns the error that an answer other than 2xx is: its code, type and reason. kUnauthenticated
// for 401, kPermissionDenied for 403, kNotFound for 404, kResourceExhausted for 413 and 429,
// kInvalidArgument for other 4xx, kUnavailable for the rest. OK for 2xx.
absl::Status StatusOf(const OpenSearchAnswer& answer);

}  // namespace search

#endif  // SEARCH_OPENSEARCH_OPENSEARCH_CLIENT_H_
