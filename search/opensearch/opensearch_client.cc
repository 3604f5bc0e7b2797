// Four parts: reading credentials from a Secret; making a transport for an address; choosing the
// address for a request; turning an answer into JSON and a status. Send tries the addresses in
// turn, beginning with another one each time, those that failed within the last minute last, until
// one answers with something else than 502, 503 or 504. SendTo asks one address and records whether
// it answered.
//
// mu_ guards the credentials and what is known of each address; it is not held during a request,
// which keeps its transport alive by its own reference while SetCredentials replaces them all. A
// request may therefore record its failure for the transports that came after it: an address is
// then left out for a minute, or an admission ended, without need. All of that is memory, and is
// learnt again by requests.

#include "search/opensearch/opensearch_client.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/cut_text.h"
#include "base/status.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace search {
namespace {

// A found document is inside of six more levels, and its object may be as deep as any that was
// read.
constexpr int kMaxDepth = json::ParseOptions().max_depth + 16;

// How long an address that did not answer is asked only after the others.
constexpr absl::Duration kLeftOut = absl::Seconds(60);
constexpr size_t kMaxReason = 500;

// A key and its value belong on one line; editors append a line's end.
std::string OneLine(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

absl::Status ErrorOfKey(const kube::Object& secret, absl::string_view key, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("Secret ", secret.key().ToString(), ": data.", key, " is ", what));
}

// The first key of these that the Secret has, decoded; "" if it has none. Any that is there
// and empty is an error: without an authority of its own, a server would be trusted that any public
// authority has signed, and be sent the password.
absl::StatusOr<std::string> Decoded(const kube::Object& secret,
                                    std::initializer_list<absl::string_view> keys) {
  std::optional<std::string> first;
  for (const absl::string_view key : keys) {
    const json::Value* text = secret.root()["data"].Find(key);
    if (text == nullptr) continue;
    std::string value;
    if (!text->is_string() || !absl::Base64Unescape(text->AsString(), &value)) {
      return ErrorOfKey(secret, key, "not base64");
    }
    if (OneLine(value).empty()) return ErrorOfKey(secret, key, "empty");
    if (!first.has_value()) first = std::move(value);
  }
  return first.value_or("");
}

absl::Status BelongTogether(const kube::Object& secret, absl::string_view first, bool has_first,
                            absl::string_view second, bool has_second) {
  if (has_first == has_second) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Secret ", secret.key().ToString(), ": data.",
                                                 has_first ? first : second, " is there, data.",
                                                 has_first ? second : first, " is missing"));
}

absl::Status CheckCertificates(const kube::Object& secret, const OpenSearchCredentials& c) {
  return base::Annotate(
      tls::ClientCredentials::Create({.ca_pem = c.ca_pem, .client = c.client_certificate}).status(),
      "Secret ", secret.key().ToString());
}

// Splits "https://user:password@host" into the URL and its user; the parts are still escaped.
struct SplitUrl {
  std::string url, username, password;
};

std::string Unescaped(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string byte;
    const bool escaped = text[i] == '%' && i + 2 < text.size() &&
                         absl::ascii_isxdigit(text[i + 1]) && absl::ascii_isxdigit(text[i + 2]);
    if (escaped) byte = absl::HexStringToBytes(text.substr(i + 1, 2));
    out += escaped ? byte : std::string(1, text[i]);
    if (escaped) i += 2;
  }
  return out;
}

SplitUrl Split(absl::string_view url) {
  const size_t begin = url.find("://");
  if (begin == absl::string_view::npos) return {.url = std::string(url)};
  const absl::string_view authority = url.substr(begin + 3, url.find('/', begin + 3) - begin - 3);
  const size_t at = authority.rfind('@');
  if (at == absl::string_view::npos) return {.url = std::string(url)};
  const std::pair<absl::string_view, absl::string_view> user =
      absl::StrSplit(authority.substr(0, at), absl::MaxSplits(':', 1));
  return {.url = absl::StrCat(url.substr(0, begin + 3), url.substr(begin + 3 + at + 1)),
          .username = Unescaped(user.first),
          .password = Unescaped(user.second)};
}

absl::StatusOr<std::shared_ptr<kube::Transport>> Connect(const std::string& url,
                                                         const OpenSearchCredentials& c) {
  const SplitUrl split = Split(url);
  const bool web = absl::StartsWithIgnoreCase(split.url, "http://") ||
                   absl::StartsWithIgnoreCase(split.url, "https://");
  if (!web) {
    return absl::InvalidArgumentError("an address of OpenSearch has to be an http or https URL");
  }
  kube::ConnectionConfig config;
  config.server = std::string(absl::StripSuffix(split.url, "/"));
  config.ca_pem = c.ca_pem;
  config.insecure_skip_tls_verify = c.insecure_skip_tls_verify;
  config.client_certificate = c.client_certificate;
  config.max_answer_bytes = kMaxOpenSearchAnswer;
  if (!split.username.empty()) {
    config.username = split.username;
    config.password = split.password;
  } else if (!c.token.empty()) {
    config.token = c.token;
  } else {
    config.username = c.username;
    config.password = c.password;
  }
  return kube::NewCpprestTransport(config);
}

absl::StatusOr<std::shared_ptr<kube::Transport>> ConnectTo(const std::string& url,
                                                           const OpenSearchCredentials& c) {
  auto transport = Connect(url, c);
  if (transport.ok()) return transport;
  return base::Annotate(transport.status(), "OpenSearch ", kube::WithoutUserInfo(url));
}

// Another address may do better.
bool IsOfProxy(int code) { return code == 502 || code == 503 || code == 504; }

absl::Status ErrorOfCode(int code) {
  return absl::UnavailableError(absl::StrCat("it answered ", code));
}

absl::StatusOr<OpenSearchAnswer> Read(const kube::HttpResponse& response) {
  OpenSearchAnswer answer{.code = response.code, .bytes = response.body.size()};
  int seconds = 0;
  const auto header = response.headers.find("retry-after");
  if (header != response.headers.end() && absl::SimpleAtoi(header->second, &seconds)) {
    // A server's wish is followed up to five minutes.
    answer.retry_after = absl::Seconds(std::clamp(seconds, 0, 300));
  }
  if (response.body.empty()) return answer;
  auto body = json::Parse(response.body, {.max_depth = kMaxDepth});
  if (body.ok()) {
    answer.body = *std::move(body);
  } else if (response.code < 300) {
    return absl::UnavailableError(
        absl::StrCat("the answer is not JSON: ", body.status().message()));
  } else {
    // An error that is not JSON comes from something in front of OpenSearch; its code says enough.
    answer.body = json::Value(base::CutText(response.body, kMaxReason));
  }
  return answer;
}

}  // namespace

bool operator==(const OpenSearchCredentials& a, const OpenSearchCredentials& b) {
  return a.username == b.username && a.password == b.password && a.token == b.token &&
         a.ca_pem == b.ca_pem && a.client_certificate.cert_pem == b.client_certificate.cert_pem &&
         a.client_certificate.key_pem == b.client_certificate.key_pem &&
         a.insecure_skip_tls_verify == b.insecure_skip_tls_verify;
}

absl::StatusOr<OpenSearchCredentials> CredentialsOf(const kube::Object& secret) {
  OpenSearchCredentials out;
  ASSIGN_OR_RETURN(out.username, Decoded(secret, {"username", "userName"}));
  ASSIGN_OR_RETURN(out.password, Decoded(secret, {"password"}));
  ASSIGN_OR_RETURN(out.token, Decoded(secret, {"token"}));
  ASSIGN_OR_RETURN(out.ca_pem, Decoded(secret, {"ca.crt", "caBundle"}));
  ASSIGN_OR_RETURN(out.client_certificate.cert_pem, Decoded(secret, {"tls.crt"}));
  ASSIGN_OR_RETURN(out.client_certificate.key_pem, Decoded(secret, {"tls.key"}));
  ASSIGN_OR_RETURN(const std::string insecure, Decoded(secret, {"insecureSkipTLSVerify"}));
  out.username = OneLine(out.username);
  out.password = OneLine(out.password);
  out.token = OneLine(out.token);
  out.insecure_skip_tls_verify = OneLine(insecure) == "true";
  RETURN_IF_ERROR(
      BelongTogether(secret, "username", !out.username.empty(), "password", !out.password.empty()));
  RETURN_IF_ERROR(BelongTogether(secret, "tls.crt", !out.client_certificate.cert_pem.empty(),
                                 "tls.key", !out.client_certificate.key_pem.empty()));
  RETURN_IF_ERROR(CheckCertificates(secret, out));
  return out;
}

absl::Status CheckAddress(const std::string& address) { return ConnectTo(address, {}).status(); }

OpenSearchClient::OpenSearchClient(std::vector<std::string> addresses, const base::Clock& clock)
    : urls_(std::move(addresses)), clock_(clock), addresses_(urls_.size()) {}

absl::StatusOr<std::unique_ptr<OpenSearchClient>> OpenSearchClient::Create(
    const std::vector<std::string>& addresses, const OpenSearchCredentials& credentials,
    const base::Clock& clock) {
  if (addresses.empty()) return absl::InvalidArgumentError("there is no address of OpenSearch");
  std::unique_ptr<OpenSearchClient> client(new OpenSearchClient(addresses, clock));
  RETURN_IF_ERROR(client->SetCredentials(credentials));
  return client;
}

std::unique_ptr<OpenSearchClient> OpenSearchClient::Over(std::shared_ptr<kube::Transport> transport,
                                                         const base::Clock& clock) {
  std::unique_ptr<OpenSearchClient> client(new OpenSearchClient({""}, clock));
  absl::MutexLock lock(&client->mu_);
  client->addresses_[0].transport = std::move(transport);
  return client;
}

absl::Status OpenSearchClient::SetCredentials(const OpenSearchCredentials& credentials) {
  {
    absl::MutexLock lock(&mu_);
    if (addresses_[0].transport != nullptr && credentials_ == credentials) {
      return absl::OkStatus();
    }
  }
  std::vector<Address> fresh;
  for (const std::string& url : urls_) {
    auto transport = ConnectTo(url, credentials);
    if (!transport.ok()) return transport.status();
    fresh.push_back({*std::move(transport)});
  }
  absl::MutexLock lock(&mu_);
  credentials_ = credentials;
  addresses_ = std::move(fresh);
  return absl::OkStatus();
}

std::vector<size_t> OpenSearchClient::Order() {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  std::vector<size_t> order(addresses_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(next_), order.end());
  // Each request begins with the next address, so that the load is shared.
  next_ = (next_ + 1) % addresses_.size();
  if (requires_admission_) {
    std::erase_if(order,
                  [&](size_t i) ABSL_NO_THREAD_SAFETY_ANALYSIS { return !addresses_[i].admitted; });
  }
  std::stable_partition(order.begin(), order.end(), [&](size_t i) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return addresses_[i].left_out_until <= now;
  });
  return order;
}

std::shared_ptr<kube::Transport> OpenSearchClient::TransportOf(size_t position) const {
  absl::MutexLock lock(&mu_);
  return addresses_[position].transport;
}

void OpenSearchClient::Record(size_t position, const absl::Status& error) {
  const base::SteadyTime until =
      error.ok() ? base::SteadyTime::InfinitePast() : clock_.SteadyNow() + kLeftOut;
  absl::MutexLock lock(&mu_);
  Address& address = addresses_[position];
  address.left_out_until = until;
  address.error = std::string(error.message());
  if (!error.ok()) address.admitted = false;
}

absl::Status OpenSearchClient::NoAddress() const {
  std::string message = "no address is known to lead to the right OpenSearch at the moment";
  absl::MutexLock lock(&mu_);
  for (size_t i = 0; i < addresses_.size(); ++i) {
    if (addresses_[i].error.empty()) continue;
    absl::StrAppend(&message, "; ", kube::WithoutUserInfo(urls_[i]), ": ",
                    base::CutText(addresses_[i].error, kMaxReason));
    break;
  }
  return absl::UnavailableError(message);
}

void OpenSearchClient::RequireAdmission() {
  absl::MutexLock lock(&mu_);
  requires_admission_ = true;
}

void OpenSearchClient::SetAdmitted(size_t position, bool admitted) {
  absl::MutexLock lock(&mu_);
  addresses_[position].admitted = admitted;
}

std::vector<size_t> OpenSearchClient::WorthALook() const {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  const bool none = std::none_of(addresses_.begin(), addresses_.end(),
                                 [](const Address& address) { return address.admitted; });
  std::vector<size_t> positions;
  for (size_t i = 0; i < addresses_.size(); ++i) {
    const Address& address = addresses_[i];
    if (none || address.admitted || address.left_out_until <= now) positions.push_back(i);
  }
  return positions;
}

absl::StatusOr<OpenSearchAnswer> OpenSearchClient::SendTo(size_t position,
                                                          const OpenSearchRequest& request,
                                                          const base::StopToken& stop) {
  const absl::Duration left = request.deadline - clock_.SteadyNow();
  if (left <= absl::ZeroDuration()) {
    return absl::DeadlineExceededError("OpenSearch has not answered everything in time");
  }
  auto response = TransportOf(position)->Send({.method = request.method,
                                               .path = request.path,
                                               .content_type = request.content_type,
                                               .body = request.body,
                                               .timeout = std::min(request.timeout, left),
                                               .user_agent = "karmada-search",
                                               .max_answer_bytes = request.max_answer_bytes},
                                              stop);
  if (absl::IsResourceExhausted(response.status())) {
    // The answer was longer than the limit: the address works.
    Record(position, absl::OkStatus());
    return absl::OutOfRangeError(response.status().message());
  }
  if (response.ok()) {
    Record(position, IsOfProxy(response->code) ? ErrorOfCode(response->code) : absl::OkStatus());
    return Read(*response);
  }
  // A request that was ended, or had little time, says nothing about the address.
  const bool had_time = left >= request.timeout || !absl::IsDeadlineExceeded(response.status());
  if (!absl::IsCancelled(response.status()) && had_time) Record(position, response.status());
  return response.status();
}

absl::StatusOr<OpenSearchAnswer> OpenSearchClient::Send(const OpenSearchRequest& request,
                                                        const base::StopToken& stop) {
  const std::vector<size_t> order = Order();
  if (order.empty()) return NoAddress();
  absl::StatusOr<OpenSearchAnswer> last;
  for (const size_t position : order) {
    // The error of the address before says more than that the time is over.
    if (position != order.front() && clock_.SteadyNow() >= request.deadline) return last;
    last = SendTo(position, request, stop);
    if (absl::IsCancelled(last.status()) || absl::IsOutOfRange(last.status())) return last;
    if (last.ok() && !IsOfProxy(last->code)) return last;
  }
  return last;
}

absl::Status StatusOf(const OpenSearchAnswer& answer) {
  if (answer.code >= 200 && answer.code < 300) return absl::OkStatus();
  // The message is shown to whoever reads registries. Of an answer that is not OpenSearch's it has
  // nothing: an author of registries may name any server that this program reaches.
  const json::Value& error = answer.body["error"];
  std::string text = error["reason"].ToString();
  if (text.empty()) text = error["type"].ToString();
  const std::string message =
      absl::StrCat("OpenSearch answered ", answer.code, text.empty() ? "" : ": ",
                   text.empty() ? "" : base::CutText(text, kMaxReason));
  switch (answer.code) {
    case 401:
      return absl::UnauthenticatedError(message);
    case 403:
      return absl::PermissionDeniedError(message);
    case 404:
      return absl::NotFoundError(message);
    case 413:
    case 429:
      return absl::ResourceExhaustedError(message);
    default:
      return answer.code >= 400 && answer.code < 500 ? absl::InvalidArgumentError(message)
                                                     : absl::UnavailableError(message);
  }
}

}  // namespace search
