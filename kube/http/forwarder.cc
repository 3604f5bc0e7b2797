// Sends a caller's request to another server. Headers that belong to one connection are removed,
// with all that the header Connection names (RFC 9110, 7.6.1); each side writes its own. A
// forwarder whose configuration impersonates removes such headers of the caller, since they would
// be added to the configured ones. Nothing is kept of a request here: ForwardCall owns it.

#include "kube/http/forwarder.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/internal/forward_call.h"
#include "kube/http/internal/server_access.h"
#include "kube/kubeconfig/credentials.h"

namespace kube {
namespace {

// Headers for one connection only, and those that each side writes by itself.
constexpr absl::string_view kOwnHeaders[] = {
    "connection",     "content-length",   "expect",  "host",
    "keep-alive",     "proxy-connection", "te",      "proxy-authenticate",
    "trailer",        "trailers",         "upgrade", "proxy-authorization",
    "http2-settings", "transfer-encoding"};

bool IsOwn(absl::string_view name) {
  return std::any_of(std::begin(kOwnHeaders), std::end(kOwnHeaders),
                     [&](absl::string_view own) { return absl::EqualsIgnoreCase(own, name); });
}

// Returns the names that Connection headers list.
std::vector<std::string> NamedByConnection(const HeaderFields& fields) {
  std::vector<std::string> names;
  for (const auto& [name, value] : fields) {
    if (!absl::EqualsIgnoreCase(name, "connection")) continue;
    for (const absl::string_view token : absl::StrSplit(value, ',')) {
      names.emplace_back(absl::StripAsciiWhitespace(token));
    }
  }
  return names;
}

class ServerForwarder : public Forwarder {
 public:
  ServerForwarder(std::shared_ptr<ServerAccess> server, bool impersonates)
      : server_(std::move(server)), impersonates_(impersonates) {}

  ForwardStreamPtr Forward(ForwardRequest request, ForwardCallbacks callbacks) override {
    if (impersonates_) {
      auto& headers = request.headers;
      headers.erase(std::remove_if(headers.begin(), headers.end(),
                                   [](const auto& field) {
                                     return absl::StartsWithIgnoreCase(field.first, "impersonate-");
                                   }),
                    headers.end());
    }
    auto call = std::make_shared<ForwardCall>(server_, std::move(request), std::move(callbacks));
    call->Start();
    return call;
  }

  bool ReplaceToken(const std::string& token) override {
    return server_->credentials().ReplaceToken(token);
  }

  const std::string& url() const override { return server_->url(); }

 private:
  const std::shared_ptr<ServerAccess> server_;
  const bool impersonates_;
};

}  // namespace

HeaderFields EndToEndHeaders(const HeaderFields& fields) {
  const std::vector<std::string> named = NamedByConnection(fields);
  HeaderFields kept;
  for (const auto& field : fields) {
    const bool listed = std::any_of(named.begin(), named.end(), [&](const std::string& name) {
      return absl::EqualsIgnoreCase(name, field.first);
    });
    if (!listed && !IsOwn(field.first)) kept.push_back(field);
  }
  return kept;
}

void RemoveHeader(HeaderFields& fields, absl::string_view name) {
  fields.erase(
      std::remove_if(fields.begin(), fields.end(),
                     [&](const auto& field) { return absl::EqualsIgnoreCase(field.first, name); }),
      fields.end());
}

absl::StatusOr<std::shared_ptr<Forwarder>> Forwarder::Create(const ConnectionConfig& config) {
  ASSIGN_OR_RETURN(std::shared_ptr<ServerAccess> server,
                   ServerAccess::Create(config, EventLoop::Prompt()));
  return std::make_shared<ServerForwarder>(std::move(server),
                                           !ImpersonationHeaders(config).empty());
}

}  // namespace kube
