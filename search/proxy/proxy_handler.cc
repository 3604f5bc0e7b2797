// Each request is a value that travels through the steps of the README: Handle takes the inner
// request out and routes it; Read and PassOn (ToMember, ToControlPlane) are the ways. None of them
// waits: what has to be asked (rights, servers) calls back, and holds the request meanwhile.

#include "search/proxy/proxy_handler.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "base/status.h"
#include "kube/aggregation/request_length.h"
#include "kube/server/api_errors.h"
#include "kube/server/negotiation.h"
#include "search/proxy/internal/cluster_selector.h"
#include "search/proxy/internal/control_plane_watches.h"
#include "search/proxy/internal/forwarded_headers.h"
#include "search/proxy/internal/identity_memory.h"
#include "search/proxy/internal/inner_request.h"
#include "search/proxy/internal/owner.h"
#include "search/proxy/internal/read_rights.h"
#include "search/proxy/internal/routing.h"
#include "search/proxy/internal/warned_responder.h"
#include "search/proxy/internal/write_body.h"
#include "search/proxy/read_request.h"

namespace search {
namespace {

using kube::aggregation::ApiRequest;
using kube::aggregation::UserInfo;
using ResponderPtr = std::shared_ptr<base::HttpResponder>;

// The name of the control plane among the servers whose refusals are remembered; no cluster has it.
constexpr char kControlPlane[] = "";

// What is read from a body of this size costs a thread of the network some milliseconds.
constexpr size_t kLongBody = 64 << 10;

// One request on its way to a server.
struct Passage {
  ForwardedRequest request;  // Without the caller's identity.
  UserInfo user;
  std::string server;
  std::shared_ptr<Forwarder> forwarder;
  ResponderPtr responder;
};

// Where a request is passed on to.
struct Way {
  Route route = Route::kControlPlane;
  std::shared_ptr<const ControlPlaneWatches::Entry> watch;  // Of a watch.
  ResponderPtr responder;
};

// Returns the request for a server, but for the identity.
ForwardedRequest Forwarded(InnerRequest inner, std::string outer_target,
                           absl::Duration head_timeout) {
  ForwardedRequest out;
  const auto length = kube::aggregation::LengthOfForwarded(inner.info);
  // A patient list may be sent for as long as it takes; only its head has the deadline.
  if (length != kube::aggregation::RequestLength::kLongRunning) out.head_timeout = head_timeout;
  out.of_application = inner.info.subresource == "proxy" || inner.info.verb == "proxy";
  out.target = std::exchange(inner.request.target, std::move(outer_target));
  out.request = std::move(inner.request);
  RemoveIdentity(out.request);
  return out;
}

// Returns whether the request changes objects of the control plane. Reviews are created, but ask.
bool ChangesObjects(const kube::server::RequestInfo& info) {
  const absl::string_view verb = info.verb;
  const bool writes = verb == "create" || verb == "update" || verb == "patch" || verb == "delete" ||
                      verb == "deletecollection";
  return info.is_resource && writes && info.gvr.group != "authorization.k8s.io" &&
         info.gvr.group != "authentication.k8s.io";
}

void Refuse(const absl::Status& why, base::HttpResponder& responder) {
  responder.Send(kube::server::ErrorAnswer(why));
}

// Answers that no member has an object, and names those that may have it all the same.
void RefuseUnknown(const absl::Status& not_found, const std::vector<MissingCluster>& unread,
                   base::HttpResponder& responder) {
  kube::server::ApiError error = kube::server::ErrorOf(not_found);
  error.message += UnreadText(unread);
  base::HttpResponse response = kube::server::ErrorAnswer(kube::server::ToStatus(error));
  AddWarnings(unread, response);
  responder.Send(std::move(response));
}

}  // namespace

struct ProxyHandler::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(Parts p) : parts(std::move(p)), identities(parts.clock) {}

  void Handle(ApiRequest request, const ResponderPtr& responder);
  absl::StatusOr<Route> RouteFor(const InnerRequest& inner) const;
  bool IsUnknown(const std::string& cluster) const;
  absl::Status Dispatch(ApiRequest& request, InnerRequest inner, const ResponderPtr& responder);
  void Read(ApiRequest& outer, InnerRequest inner, const ResponderPtr& responder);
  // Passes the request on to the owner of its object if the user may get the object.
  absl::Status SearchAsReader(ApiRequest& request, InnerRequest inner,
                              const ResponderPtr& responder);
  absl::Status PassOn(ApiRequest& request, InnerRequest inner, Way way);
  // Nothing when the refusal has been sent.
  absl::StatusOr<std::optional<Passage>> ToMember(std::string target, InnerRequest inner,
                                                  const ResponderPtr& responder);
  Passage ToControlPlane(std::string target, InnerRequest inner);
  void Send(const std::shared_ptr<const Passage>& passage, Identity identity);

  const Parts parts;
  IdentityMemory identities;
  const std::shared_ptr<ControlPlaneWatches> watches = std::make_shared<ControlPlaneWatches>();
};

void ProxyHandler::Impl::Handle(ApiRequest request, const ResponderPtr& responder) {
  std::string target = request.http.target;
  absl::StatusOr<InnerRequest> inner = InnerRequestOf(std::move(request.http));
  if (!inner.ok()) return Refuse(inner.status(), *responder);
  request.http = {};
  request.http.target = std::move(target);
  const absl::Status refused = Dispatch(request, *std::move(inner), responder);
  if (!refused.ok()) Refuse(refused, *responder);
}

bool ProxyHandler::Impl::IsUnknown(const std::string& cluster) const {
  const absl::Status status = parts.members.For(cluster).status();
  return !status.ok() && kube::server::ErrorOf(status).code == 404;
}

absl::StatusOr<Route> ProxyHandler::Impl::RouteFor(const InnerRequest& inner) const {
  if (!inner.info.is_resource) return RouteOf(inner, false);
  ASSIGN_OR_RETURN(const bool registered, parts.is_registered(inner.info, inner.cluster));
  if (!registered && !inner.cluster.empty() && IsUnknown(inner.cluster)) {
    return kube::server::BadRequest(absl::StrCat(
        "cluster ", inner.cluster, " was chosen, but there is no Cluster of this name"));
  }
  // Who names a cluster in the path may have rights to this one only, and learns of no other.
  const bool names_others = !registered && !inner.cluster.empty() && !inner.cluster_in_path;
  return RouteOf(
      inner, registered,
      names_others ? parts.cache.ClustersOf(inner.info.gvr) : std::vector<std::string>());
}

absl::Status ProxyHandler::Impl::Dispatch(ApiRequest& request, InnerRequest inner,
                                          const ResponderPtr& responder) {
  // Whoever is not named would be taken for this program itself.
  if (request.user.name.empty()) return kube::server::InternalError("the request has no user");
  std::shared_ptr<const ControlPlaneWatches::Entry> watch;
  if (inner.info.verb == "watch") watch = watches->Add(inner.info, request.stop);
  ASSIGN_OR_RETURN(const Route route, RouteFor(inner));
  if (route == Route::kCache) {
    Read(request, std::move(inner), responder);
    return absl::OkStatus();
  }
  if (route == Route::kMember && inner.cluster.empty() && parts.read_authorizer != nullptr) {
    return SearchAsReader(request, std::move(inner), responder);
  }
  return PassOn(request, std::move(inner), {route, std::move(watch), responder});
}

absl::Status ProxyHandler::Impl::SearchAsReader(ApiRequest& request, InnerRequest inner,
                                                const ResponderPtr& responder) {
  ApiRequest question;
  question.user = request.user;
  question.info = inner.info;
  question.info.verb = "get";
  question.info.subresource.clear();
  ASSIGN_OR_RETURN(question.info.key, ObjectOf(inner.info));
  const auto held = std::make_shared<ApiRequest>(std::move(request));
  const auto asked = std::make_shared<InnerRequest>(std::move(inner));
  WithReadRights(parts.read_authorizer, std::move(question), responder,
                 [self = shared_from_this(), held, asked, responder](const ReadRequestPtr&) {
                   const absl::Status refused =
                       self->PassOn(*held, std::move(*asked), {Route::kMember, nullptr, responder});
                   if (!refused.ok()) Refuse(refused, *responder);
                 });
  return absl::OkStatus();
}

absl::Status ProxyHandler::Impl::PassOn(ApiRequest& request, InnerRequest inner, Way way) {
  Passage passage;
  if (way.route == Route::kMember) {
    ASSIGN_OR_RETURN(auto to_member,
                     ToMember(std::move(request.http.target), std::move(inner), way.responder));
    if (!to_member) return absl::OkStatus();
    passage = *std::move(to_member);
  } else {
    ResponderPtr responder = std::move(way.responder);
    if (ChangesObjects(inner.info)) {
      responder = WarnedOfControlPlane(std::move(responder),
                                       {inner.info.gvr.group, inner.info.gvr.resource});
    }
    passage = ToControlPlane(std::move(request.http.target), std::move(inner));
    passage.responder = std::move(responder);
  }
  passage.user = std::move(request.user);
  RETURN_IF_ERROR(CheckForwardable(passage.user));
  passage.request.stop = way.watch == nullptr ? std::move(request.stop) : way.watch->stop();
  passage.request.held = std::move(way.watch);
  const Identity identity = identities.For(passage.server, passage.user);
  Send(std::make_shared<const Passage>(std::move(passage)), identity);
  return absl::OkStatus();
}

void ProxyHandler::Impl::Read(ApiRequest& outer, InnerRequest inner,
                              const ResponderPtr& responder) {
  outer.http = std::move(inner.request);
  outer.info = inner.info;
  const ReadTerms terms{inner.cluster, inner.complete.value_or(parts.complete)};
  parts.cache.Answer(std::move(outer), terms, responder);
}

absl::StatusOr<std::optional<Passage>> ProxyHandler::Impl::ToMember(std::string target,
                                                                    InnerRequest inner,
                                                                    const ResponderPtr& responder) {
  RETURN_IF_ERROR(CheckNoClusterSelectors(inner.request));
  ASSIGN_OR_RETURN(const WriteBody body, WriteBody::Of(inner, parts.decode));
  ASSIGN_OR_RETURN(inner.info.key, ObjectOf(inner.info));
  OwnerHints hints;
  if (inner.cluster.empty()) hints.holders = parts.cache.HoldersOf(inner.info.gvr, inner.info.key);
  hints.origin = body.origin();
  hints.complete = inner.complete.value_or(parts.complete);
  const std::vector<MissingCluster> unread = hints.holders.unread;
  absl::StatusOr<std::string> owner = OwnerOf(inner, std::move(hints));
  if (!owner.ok() && kube::server::ErrorOf(owner.status()).code == 404) {
    RefuseUnknown(owner.status(), unread, *responder);
    return std::nullopt;
  }
  Passage passage;
  ASSIGN_OR_RETURN(passage.server, std::move(owner));
  ASSIGN_OR_RETURN(passage.forwarder, parts.members.For(passage.server));
  ASSIGN_OR_RETURN(inner.request.body, body.For(passage.server));
  passage.request = Forwarded(std::move(inner), std::move(target), parts.head_timeout);
  passage.responder = WarnedOfUnread(responder, unread);
  return passage;
}

Passage ProxyHandler::Impl::ToControlPlane(std::string target, InnerRequest inner) {
  Passage passage;
  passage.server = kControlPlane;
  passage.forwarder = parts.control_plane;
  passage.request = Forwarded(std::move(inner), std::move(target), parts.head_timeout);
  return passage;
}

void ProxyHandler::Impl::Send(const std::shared_ptr<const Passage>& passage, Identity identity) {
  ForwardedRequest request = passage->request;
  request.identity = ImpersonationHeaders(passage->user, identity);
  const bool may_shrink =
      identity == Identity::kWhole && (!passage->user.uid.empty() || !passage->user.extra.empty());
  // What an application answers says nothing about what the server permits.
  if (!may_shrink || request.of_application) {
    return passage->forwarder->Forward(std::move(request), passage->responder, nullptr);
  }
  passage->forwarder->Forward(std::move(request), passage->responder,
                              [self = shared_from_this(), passage](absl::string_view body) {
                                if (!RefusesWholeIdentity(body)) return false;
                                self->identities.NoteRefusal(passage->server, passage->user);
                                self->Send(passage, Identity::kNameAndGroups);
                                return true;
                              });
}

ProxyHandler::ProxyHandler(Parts parts) : impl_(std::make_shared<Impl>(std::move(parts))) {}

ProxyHandler::~ProxyHandler() = default;

bool ProxyHandler::Serves(absl::string_view path) { return IsProxyingPath(path); }

void ProxyHandler::OnRegistrationsChanged() {
  impl_->watches->EndThose([this](const kube::server::RequestInfo& info) {
    const absl::StatusOr<bool> registered = impl_->parts.is_registered(info, "");
    return registered.ok() && *registered;
  });
}

bool ProxyHandler::MayBlock(const ApiRequest& request) const {
  // YAML is read one text at a time.
  const bool is_yaml = absl::StrContains(request.http.Header("content-type"), "yaml");
  return is_yaml || request.http.body.size() > kLongBody;
}

void ProxyHandler::Handle(kube::aggregation::ApiRequest request,
                          std::shared_ptr<base::HttpResponder> responder) {
  impl_->Handle(std::move(request), responder);
}

}  // namespace search
