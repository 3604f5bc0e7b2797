// Connects to a server for command-line programs. Connect asks /version first with a short
// deadline, because a server that accepts connections and says nothing would make each of the many
// requests of discovery wait for its own; then it runs discovery once. Nothing is retried, cached
// beyond the process, or written. A type is looked up as kubectl does it: by plural, kind or short
// name, in the group's preferred version.

#include "tool/live_objects.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "config/version.h"
#include "kube/client/client.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace tool {
namespace {

// Singular names are kinds in lower case, so the comparison without case finds them, too.
bool IsCalled(const kube::ApiResource& found, absl::string_view type) {
  if (absl::EqualsIgnoreCase(found.resource.plural, type)) return true;
  if (absl::EqualsIgnoreCase(found.resource.gvk.kind, type)) return true;
  return std::any_of(found.short_names.begin(), found.short_names.end(),
                     [&](const std::string& name) { return absl::EqualsIgnoreCase(name, type); });
}

// `where` is "apps" or "v1.apps", the part after the first dot of "deployments.v1.apps".
bool IsIn(const kube::ApiResource& found, absl::string_view where) {
  const kube::Gvk& gvk = found.resource.gvk;
  if (where.empty()) return true;
  return where == gvk.group || where == absl::StrCat(gvk.version, ".", gvk.group) ||
         (gvk.group.empty() && where == gvk.version);
}

}  // namespace

absl::StatusOr<LiveReference> ParseLiveReference(absl::string_view text) {
  const size_t slash = text.find('/');
  const bool has_both = slash != absl::string_view::npos && slash > 0 && slash + 1 < text.size();
  if (!has_both || absl::StrContains(text.substr(slash + 1), "/") || text[0] == '.') {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not TYPE/NAME, such as deployment/web"));
  }
  return LiveReference{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

absl::StatusOr<kube::Resource> FindResource(const kube::Discovery& discovery,
                                            absl::string_view type) {
  const size_t dot = std::min(type.find('.'), type.size());
  const absl::string_view name = type.substr(0, dot);
  const absl::string_view where = dot < type.size() ? type.substr(dot + 1) : "";
  const kube::ApiResource* best = nullptr;
  for (const kube::ApiResource& found : discovery.resources) {
    if (!IsCalled(found, name) || !IsIn(found, where) || !found.HasVerbs({"get"})) continue;
    // The first group of the server's list counts, and in it the preferred version.
    if (best == nullptr || (found.preferred && !best->preferred)) best = &found;
  }
  if (best == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("the server doesn't have a resource type \"", type, "\""));
  }
  return best->resource;
}

LiveConnection::LiveConnection(kube::ConnectionConfig how,
                               std::shared_ptr<kube::Transport> transport,
                               kube::ClientOptions options)
    : config(std::move(how)),
      client(std::move(transport), std::move(options), base::RealClock(), nullptr) {}

namespace {

std::string KubeconfigOf(const LiveOptions& options) {
  if (!options.kubeconfig.empty()) return absl::StrCat("kubeconfig ", options.kubeconfig);
  const char* list = std::getenv("KUBECONFIG");
  if (list == nullptr || *list == '\0') return "the default kubeconfig";
  return absl::StrCat("kubeconfig ", list, " of $KUBECONFIG");
}

// Returns "kubeconfig /x, context y", for messages.
std::string NameOf(const LiveOptions& options) {
  return absl::StrCat(
      KubeconfigOf(options), ", ",
      options.context.empty() ? "its current context" : "context " + options.context);
}

absl::StatusOr<kube::ConnectionConfig> ConfigOf(const LiveOptions& options) {
  auto config = kube::LoadConnectionConfig({options.kubeconfig, options.context});
  if (config.ok() || options.kubeconfig.empty()) return config;
  return base::Annotate(config.status(), options.flag);
}

// A server that takes the connection and says nothing would keep each request of discovery waiting
// for its whole deadline. Any other failure is that of discovery, too, which tries again.
absl::Status AwaitFirstAnswer(kube::Client& client, const LiveOptions& options) {
  const auto answer = client.GetRaw("/version", options.first_answer, base::StopToken());
  // x
  if (!absl::IsDeadlineExceeded(answer.status())) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat(
      "the API server ", client.name(), ", by ", NameOf(options), ", has not answered within ",
      absl::FormatDuration(options.first_answer), ": see whether it runs and can be reached"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LiveConnection>> Connect(const LiveOptions& options) {
  ASSIGN_OR_RETURN(const kube::ConnectionConfig config, ConfigOf(options));
  ASSIGN_OR_RETURN(std::shared_ptr<kube::Transport> transport, kube::NewHttpTransport(config));
  kube::ClientOptions client;
  client.name = kube::WithoutUserInfo(config.server);
  if (!options.program.empty()) {
    client.user_agent = config::UserAgent(options.program);
  }
  auto connection =
      std::make_unique<LiveConnection>(config, std::move(transport), std::move(client));
  RETURN_IF_ERROR(AwaitFirstAnswer(connection->client, options));
  auto discovery = kube::Discover(connection->client, base::StopToken());
  if (absl::IsUnauthenticated(discovery.status())) {
    return absl::UnauthenticatedError(absl::StrCat(
        kube::WithoutUserInfo(config.server), " does not accept the credentials of ",
        NameOf(options), " (any more): renew them (", discovery.status().message(), ")"));
  }
  if (!discovery.ok()) {
    return base::Annotate(discovery.status(), "asking ", kube::WithoutUserInfo(config.server),
                          " what it serves, by ", NameOf(options));
  }
  connection->discovery = *std::move(discovery);
  connection->ns = !options.ns.empty()                 ? options.ns
                   : !config.default_namespace.empty() ? config.default_namespace
                                                       : "default";
  return connection;
}

LiveObjects::LiveObjects(LiveOptions options) : options_(std::move(options)) {}
LiveObjects::~LiveObjects() = default;

absl::StatusOr<kube::Object> LiveObjects::Get(absl::string_view reference) {
  ASSIGN_OR_RETURN(const LiveReference parts, ParseLiveReference(reference));
  if (connection_ == nullptr) {
    ASSIGN_OR_RETURN(connection_, Connect(options_));
  }
  ASSIGN_OR_RETURN(const kube::Resource resource, FindResource(connection_->discovery, parts.type));
  const std::string ns = resource.namespaced ? connection_->ns : "";
  return connection_->client.Get(resource, {ns, parts.name}, base::StopToken());
}

}  // namespace tool
