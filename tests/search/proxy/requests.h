// Requests to the proxy for tests.
#ifndef TESTS_SEARCH_PROXY_REQUESTS_H_
#define TESTS_SEARCH_PROXY_REQUESTS_H_

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/http_server.h"
#include "kube/server/api_errors.h"
#include "search/proxy/internal/inner_request.h"

namespace search {

inline constexpr char kProxyUrl[] = "/apis/search.karmada.io/v1alpha1/proxying/karmada/proxy";

// Returns a request as the HTTP server delivers it, for a target whose query needs no decoding.
inline base::HttpRequest Outer(const std::string& method, const std::string& target) {
  base::HttpRequest request;
  request.method = method;
  request.target = target;
  const size_t question = target.find('?');
  request.path = target.substr(0, question);
  std::string rest = question == std::string::npos ? "" : target.substr(question + 1);
  while (!rest.empty()) {
    const std::string item = rest.substr(0, rest.find('&'));
    rest.erase(0, item.size() + 1);
    const size_t equals = item.find('=');
    request.query.emplace_back(item.substr(0, equals),
                               equals == std::string::npos ? "" : item.substr(equals + 1));
  }
  return request;
}

// Adds a header as the HTTP server delivers it.
inline void SetHeader(base::HttpRequest& request, const std::string& name,
                      const std::string& value) {
  request.fields.emplace_back(name, value);
  std::string& joined = request.headers[absl::AsciiStrToLower(name)];
  absl::StrAppend(&joined, joined.empty() ? "" : ", ", value);
}

inline absl::StatusOr<InnerRequest> TryInner(const std::string& method, const std::string& target) {
  return InnerRequestOf(Outer(method, absl::StrCat(kProxyUrl, target)));
}

inline InnerRequest Inner(const std::string& method, const std::string& target) {
  auto inner = TryInner(method, target);
  CAPTURE(method, target, inner.status());
  REQUIRE(inner.ok());
  return *std::move(inner);
}

// Returns the HTTP status code of an API error; 200 for OK.
inline int CodeOf(const absl::Status& status) {
  return status.ok() ? 200 : kube::server::ErrorOf(status).code;
}

}  // namespace search

#endif  // TESTS_SEARCH_PROXY_REQUESTS_H_
