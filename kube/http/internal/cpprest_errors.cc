// Translates the exceptions of cpprestsdk, which identify a failure only by their text.

#include <cpprest/http_msg.h>
#include <netdb.h>
#include <openssl/err.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kube/http/internal/cpprest_exchange.h"

namespace kube {
namespace {

struct KnownFailure {
  absl::string_view library_text;  // The beginning of the exception's text.
  absl::string_view ours;
  bool not_processed;
};
// The first one that matches counts.
constexpr KnownFailure kKnownFailures[] = {
    {"Error resolving proxy", "the proxy's host name cannot be resolved", true},
    {"Error resolving", "the host name cannot be resolved", true},
    {"Failed to resolve", "the host name cannot be resolved", true},
    {"Failed to connect to any resolved proxy", "cannot connect to the proxy", true},
    {"Failed to connect", "cannot connect", true},
    {"Expected a 200 response from proxy", "the proxy refuses", true},
    {"Failed to send connect request", "the proxy broke the connection", true},
    {"Failed to read HTTP status line from proxy", "the proxy broke the connection", true},
    {"Invalid HTTP status line during proxy", "the proxy does not speak HTTP", true},
    {"Error in SSL handshake", "TLS handshake", true},
    {"Failed to write request", "the connection broke before the request was sent", true},
    {"Failed to read HTTP status line", "the connection broke before an answer came", false},
    {"Invalid HTTP status line", "the server does not speak HTTP", false},
    {"Failed to read response body", "the connection broke inside the answer", false},
    {"Retrieving message chunk header", "the connection broke inside the answer", false},
    {"Failed to read chunked response", "the connection broke inside the answer", false},
};

// OpenSSL's codes use the upper bits of an int; smaller ones are errno values, or end-of-file codes
// of asio, which cannot be distinguished from errno's.
constexpr unsigned int kSmallestSslCode = 1 << 16;
constexpr int kAsioEof = 2, kAsioTruncated = 1;

// Describes asio's codes of name lookups, which are those of <netdb.h>.
std::string DescribeLookup(int code) {
  switch (code) {
    case HOST_NOT_FOUND:
      return "no such host";
    case TRY_AGAIN:
      return "no name server answers";
    case NO_DATA:
      return "the name has no address";
    default:
      return gai_strerror(code);
  }
}

std::string DescribeCode(int code) {
  if (static_cast<unsigned int>(code) >= kSmallestSslCode) {
    const char* reason = ERR_reason_error_string(static_cast<unsigned int>(code));
    return reason == nullptr ? "TLS error" : reason;
  }
  if (code == kAsioEof || code == kAsioTruncated || code == ECONNABORTED)
    return "closed by the peer";
  // The library does not distinguish the two.
  if (code == EHOSTUNREACH) return "refused or unreachable";
  return std::generic_category().message(code);
}

absl::Status ErrorOfHttpException(const web::http::http_exception& e, absl::string_view verdict) {
  const absl::string_view what = e.what();
  const int code = e.error_code().value();
  if (code == ECANCELED) return absl::CancelledError("cancelled");
  for (const KnownFailure& known : kKnownFailures) {
    if (!absl::StartsWith(what, known.library_text)) continue;
    const bool lookup =
        absl::StrContains(what, "resolving") || absl::StrContains(what, "to resolve");
    std::string detail = code == 0 ? std::string(what)
                         : lookup  ? DescribeLookup(code)
                                   : DescribeCode(code);
    if (absl::StrContains(detail, "certificate verify failed") && !verdict.empty()) {
      detail = absl::StrCat("the server's certificate is refused: ", verdict);
    }
    const absl::Status status = absl::UnavailableError(absl::StrCat(known.ours, ": ", detail));
    return known.not_processed ? NotProcessed(status) : status;
  }
  return absl::UnavailableError(what);
}

}  // namespace

absl::Status ErrorOfException(const std::exception_ptr& exception, absl::string_view verdict) {
  try {
    std::rethrow_exception(exception);
  } catch (const web::http::http_exception& e) {
    return ErrorOfHttpException(e, verdict);
  } catch (const std::exception& e) {
    return absl::UnavailableError(e.what());
  } catch (...) {
    return absl::UnknownError("unknown exception of the HTTP library");
  }
}

}  // namespace kube
