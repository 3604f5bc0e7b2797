// A viewer is known by a digest of the token, so that no map has tokens for its keys, or of the
// user whom the API server has named. Credentials that do not count make no entry: they are tried
// on a connection of their own, which is dropped. The
// control plane is asked at each request, so that nothing is shown to a token that has expired
// since, not even what it has read itself.

#include "lens/serve/viewer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/status.h"
#include "config/version.h"
#include "kube/http/http_transport.h"
#include "lens/serve/bounds.h"
#include "lens/why/server_kind.h"

namespace lens::serve {
namespace {

constexpr absl::Duration kServedFor = absl::Minutes(1);
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;

// Whether an answer of 403 to a question for a path refuses to act for the user: only that is about
// a resource, which the details name (users, groups, userextras). If it is the user who may not ask
// for the path, they name none.
bool RefusesToAct(const json::Value& refusal) {
  return !refusal["details"]["kind"].AsString().empty();
}

kube::ClientOptions OptionsFor(const kube::ConnectionConfig& config) {
  kube::ClientOptions options;
  options.name = kube::WithoutUserInfo(config.server);
  options.timeout = kPatienceForCall;
  options.user_agent = config::UserAgent("karmada-lens");
  return options;
}

}  // namespace

Viewer::Viewer(kube::ConnectionConfig config, std::shared_ptr<kube::Transport> transport,
               std::string owner, int version)
    : owner_(std::move(owner)),
      version_(version),
      config_(std::move(config)),
      client_(std::move(transport), OptionsFor(config_), base::RealClock(), nullptr),
      mapper_(client_, base::RealClock()) {}

absl::StatusOr<std::shared_ptr<Viewer>> Viewer::Create(kube::ConnectionConfig config,
                                                       std::string owner, int version) {
  ASSIGN_OR_RETURN(std::shared_ptr<kube::Transport> transport, kube::NewHttpTransport(config));
  return std::shared_ptr<Viewer>(
      new Viewer(std::move(config), std::move(transport), std::move(owner), version));
}

absl::Status Viewer::CheckAnswers(const base::StopToken& stop) { return AskVersion(stop).status(); }

absl::StatusOr<kube::HttpResponse> Viewer::AskVersion(const base::StopToken& stop) {
  auto answer = client_.GetRaw("/version", kPatienceForToken, stop);
  if (answer.ok() || absl::IsUnauthenticated(answer.status())) return answer;
  return absl::UnavailableError(absl::StrCat("the control plane ", client_.name(),
                                             " does not answer: ", answer.status().message()));
}

absl::Status Viewer::CheckCredentials(const base::StopToken& stop) {
  const absl::StatusOr<kube::HttpResponse> answer = AskVersion(stop);
  if (absl::IsUnauthenticated(answer.status())) {  // A file or a plugin has none to show.
    return absl::UnauthenticatedError(absl::StrCat(
        "there are no credentials for the control plane: ", answer.status().message()));
  }
  if (answer.ok() && answer->code == kUnauthorized) {
    const bool is_token = !owner_.empty() && config_.impersonate_user.empty();
    return absl::UnauthenticatedError(absl::StrCat("the control plane does not accept the ",
                                                   is_token ? "token" : "kubeconfig's credentials",
                                                   " (any more)"));
  }
  RETURN_IF_ERROR(answer.status());
  const int code = answer->code;
  const json::Value refusal = json::Parse(answer->body).value_or(json::Value());
  if (code == kForbidden && !config_.impersonate_user.empty() && RefusesToAct(refusal)) {
    return absl::PermissionDeniedError(
        absl::StrCat("karmada-lens serve may not act for you: ", refusal["message"].AsString()));
  }
  // Whoever may not ask for the version, or asks an API server that has none, is known to it. What
  // else answers, such as a load balancer without a server, has not looked at the credentials; that
  // matters where they are a viewer's.
  const bool has_none = code == kNotFound && refusal["kind"].AsString() == "Status";
  const bool is_local = owner_.empty();
  if (code / 100 == 2 || code == kForbidden || has_none || is_local) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the control plane ", client_.name(),
                   " does not say whether the credentials count: its answer has the code ", code));
}

absl::StatusOr<std::shared_ptr<const kube::Discovery>> Viewer::Served(const base::StopToken& stop) {
  {
    absl::MutexLock lock(&mu_);
    if (base::RealClock().SteadyNow() - served_at_ < kServedFor) return served_;
  }
  ASSIGN_OR_RETURN(std::shared_ptr<const kube::Discovery> served, mapper_.Discover(stop));
  RETURN_IF_ERROR(why::CheckIsControlPlane(*served, client_.name()));
  absl::MutexLock lock(&mu_);
  served_ = std::move(served);
  served_at_ = base::RealClock().SteadyNow();
  return served_;
}

kube::ConnectionConfig WithToken(const kube::ConnectionConfig& plane, const std::string& token) {
  kube::ConnectionConfig config;
  config.server = plane.server;
  config.ca_pem = plane.ca_pem;
  config.ca_file = plane.ca_file;
  config.ca_origin = plane.ca_origin;
  config.insecure_skip_tls_verify = plane.insecure_skip_tls_verify;
  config.tls_server_name = plane.tls_server_name;
  config.proxy_url = plane.proxy_url;
  config.proxy_headers = plane.proxy_headers;
  config.ignore_proxy_environment = plane.ignore_proxy_environment;
  config.token = token;
  return config;
}

kube::ConnectionConfig ForUser(const kube::ConnectionConfig& plane,
                               const kube::aggregation::UserInfo& user) {
  kube::ConnectionConfig config = plane;
  config.impersonate_user = user.name;
  config.impersonate_uid = user.uid;
  config.impersonate_groups.clear();
  for (const std::string& group : user.groups) {
    const bool is_added =
        group == kube::aggregation::kAuthenticated || group == kube::aggregation::kUnauthenticated;
    if (!is_added) config.impersonate_groups.push_back(group);
  }
  config.impersonate_extra.assign(user.extra.begin(), user.extra.end());
  return config;
}

std::string OwnerOf(const kube::aggregation::UserInfo& user) {
  return base::Sha256(json::Write(kube::aggregation::UserJson(user, "user")));
}

std::string OwnerOf(const std::string& token) { return base::Sha256(token); }

absl::StatusOr<ViewerPtr> Viewers::Find(const std::string& owner,
                                        kube::ConnectionConfig credentials,
                                        const base::StopToken& stop) {
  ViewerPtr viewer;
  {
    absl::MutexLock lock(&mu_);
    const auto found = entries_.find(owner);
    if (found != entries_.end()) viewer = found->second.viewer;
  }
  if (viewer == nullptr) {
    ASSIGN_OR_RETURN(viewer, Viewer::Create(std::move(credentials), owner));
  }
  const absl::Status counts = viewer->CheckCredentials(stop);
  absl::MutexLock lock(&mu_);
  if (absl::IsUnauthenticated(counts) || absl::IsPermissionDenied(counts)) entries_.erase(owner);
  RETURN_IF_ERROR(counts);
  const auto found = entries_.find(owner);
  if (found == entries_.end()) {
    RETURN_IF_ERROR(MakeRoom());
    entries_[owner] = {viewer, base::RealClock().SteadyNow()};
    return viewer;
  }
  found->second.last_asked = base::RealClock().SteadyNow();
  return found->second.viewer;
}

absl::Status Viewers::MakeRoom() {
  if (entries_.size() < kMostViewers) return absl::OkStatus();
  const auto oldest = std::min_element(
      entries_.begin(), entries_.end(),
      [](const auto& a, const auto& b) { return a.second.last_asked < b.second.last_asked; });
  if (base::RealClock().SteadyNow() - oldest->second.last_asked < kViewerIsBusy) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kMostViewers, " viewers look at present: try again in half a minute"));
  }
  entries_.erase(oldest);
  return absl::OkStatus();
}

void Viewers::Touch(const Viewer& viewer) {
  absl::MutexLock lock(&mu_);
  const auto found = entries_.find(viewer.owner());
  if (found != entries_.end()) found->second.last_asked = base::RealClock().SteadyNow();
}

void Viewers::ForgetAll() {
  std::map<std::string, Entry> all;  // Destroyed without the lock.
  absl::MutexLock lock(&mu_);
  all.swap(entries_);
}

void Viewers::ForgetIdle() {
  absl::MutexLock lock(&mu_);
  const base::SteadyTime since = base::RealClock().SteadyNow() - kViewerLeaves;
  for (auto it = entries_.begin(); it != entries_.end();) {
    it = it->second.last_asked < since ? entries_.erase(it) : std::next(it);
  }
}

size_t Viewers::size() const {
  absl::MutexLock lock(&mu_);
  return entries_.size();
}

}  // namespace lens::serve
