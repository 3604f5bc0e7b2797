// One function for each verb. Each reads the parameters first, then the body, and only then asks
// the backend, so that a request that is refused has changed nothing; admission, validation and the
// order of writes are the backend's (sandbox/write/write_path.cc). Every write takes its manager
// from fieldManager, or else from the user agent, as an API server does. The handler itself keeps
// only encoded_, the bytes of the last change, which all watches share.
//
// deletecollection is not atomic, here as in Kubernetes: when a deletion fails, the objects before
// it are deleted, and the answer is the error.

#include "sandbox/http/resource_handler.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/random.h"
#include "base/status.h"
#include "sandbox/http/access_reviews.h"
#include "sandbox/http/resource_answers.h"
#include "sandbox/http/unsimulated.h"

namespace sandbox {

using kube::server::BodyOf;
using kube::server::ListOptions;

namespace {

constexpr absl::Duration kMinWatch =
    absl::Minutes(30);  // For watches without timeoutSeconds; at most twice that.

// Returns where the versions of what the call stores are noted, or null.
std::vector<int64_t>* StoredOf(const ResourceCall& call) {
  return call.outcome == nullptr ? nullptr : &call.outcome->stored;
}

WriteContext DeletionContext(const ResourceCall& call, const DeleteRequest& request) {
  WriteContext context;
  context.user = call.user.name;
  context.dry_run = request.dry_run;
  context.stored = StoredOf(call);
  return context;
}

// Returns the query parameters that every write takes.
absl::StatusOr<WriteContext> ContextOf(const ResourceCall& call,
                                       std::vector<std::string>& warnings) {
  ASSIGN_OR_RETURN(const kube::server::WriteParameters given,
                   kube::server::ReadWriteParameters(call.request));
  WriteContext context;
  context.user = call.user.name;
  context.manager = std::string(call.request.Query("fieldManager"));
  if (context.manager.empty()) {
    context.manager = kube::server::ManagerOfUserAgent(call.request.Header("user-agent"));
  }
  context.warnings = &warnings;
  context.dry_run = given.dry_run;
  context.validation = given.validation;
  context.stored = StoredOf(call);
  return context;
}

// Checks that path and body name the same object.
absl::Status MatchPath(const ResourceCall& call, kube::Object& object) {
  return kube::server::MatchPath(call.resource->resource.namespaced, call.info.key, object);
}

absl::StatusOr<PatchRequest> PatchOf(const ResourceCall& call) {
  ASSIGN_OR_RETURN(PatchRequest patch, kube::server::ReadPatch(call.request));
  patch.subresource = call.info.subresource;
  return patch;
}

absl::Duration WatchTimeout(const ListOptions& options) {
  const absl::Duration wanted = options.timeout.value_or(absl::ZeroDuration());
  return wanted > absl::ZeroDuration() ? wanted : base::Jitter(kMinWatch, 1.0);
}

absl::StatusOr<int64_t> WatchVersionOf(const ListOptions& options) {
  const std::string& text = options.resource_version;
  int64_t version = 0;
  if (!text.empty() && (!absl::SimpleAtoi(text, &version) || version < 0)) {
    return BadRequest(absl::StrCat("invalid resource version \"", text, "\""));
  }
  return version;
}

// Returns where a watch starts, by resourceVersion and sendInitialEvents; 504 when it would start
// with a state that the view of the call has not reached.
absl::StatusOr<Store::WatchStart> WatchStartOf(const ResourceCall& call, const ListOptions& options,
                                               int64_t version, int64_t current) {
  Store::WatchStart start;
  start.table = call.resource->table();
  start.ns = call.info.key.ns;
  const bool is_late = call.view.as_of > 0;
  if (is_late) current = std::min(current, call.view.as_of);
  start.initial = options.send_initial_events.value_or(false);
  // Without a version (or with 0) the watch begins at the present state. Existing objects are sent
  // only for sendInitialEvents.
  start.since = version == 0 ? current : version;
  if (!is_late || !start.initial) return start;
  if (version > current) return FutureVersion(version, current);
  start.as_of = current;
  // Without a version the client is promised the present state by the end of the initial events.
  start.mark_present = options.resource_version.empty() && !call.view.all;
  return start;
}

}  // namespace

absl::StatusOr<base::HttpResponse> ResourceHandler::Handle(const ResourceCall& call) {
  const std::string& verb = call.info.verb;
  if (call.resource->review) {
    if (verb != "create")
      return MethodNotAllowed("the server does not allow this method on the requested resource");
    return AnswerReview(call);
  }
  RETURN_IF_ERROR(CheckSimulated(call));
  if (verb == "get") return Get(call);
  if (verb == "list") return List(call);
  if (verb == "create") return Create(call);
  if (verb == "update") return Update(call);
  if (verb == "patch") return Patch(call);
  if (verb == "delete") return Delete(call);
  if (verb == "deletecollection") return DeleteCollection(call);
  return MethodNotAllowed("the server does not allow this method on the requested resource");
}

absl::Status ResourceHandler::CheckSimulated(const ResourceCall& call) {
  const absl::Status refused =
      RefuseUnsimulated(call.info.gvr, call.info.subresource, call.info.key.name);
  if (refused.ok()) return absl::OkStatus();
  // Whoever asks about a pod that does not exist is to learn that, and not what is not simulated.
  RETURN_IF_ERROR(backend_.GetOf(*call.resource, call.info.key, "").status());
  return refused;
}

absl::StatusOr<base::HttpResponse> ResourceHandler::Get(const ResourceCall& call) {
  const bool is_log = call.info.subresource == "log" && call.info.gvr.resource == "pods" &&
                      call.info.gvr.group.empty();
  if (is_log) {
    ASSIGN_OR_RETURN(const kube::ObjectPtr pod, backend_.GetOf(*call.resource, call.info.key, ""));
    base::HttpResponse response;
    response.code = 200;
    response.content_type = "text/plain";
    ASSIGN_OR_RETURN(response.body, SimulatedLog(*pod, call.request.Query("container")));
    return response;
  }
  ASSIGN_OR_RETURN(const int64_t as_of, call.view.OfGet(call.request.Query("resourceVersion")));
  ASSIGN_OR_RETURN(const kube::ObjectPtr object,
                   backend_.GetAt(*call.resource, call.info.key, call.info.subresource, as_of));
  return ObjectAnswer(call, 200, object);
}

absl::StatusOr<base::HttpResponse> ResourceHandler::List(const ResourceCall& call) {
  ASSIGN_OR_RETURN(const ListOptions options, ListOptions::Read(call.request));
  ASSIGN_OR_RETURN(const Selection selection,
                   Selection::Of(options, *call.resource, call.info.key));
  ASSIGN_OR_RETURN(const ListPage page,
                   ListPageOf(backend_.store(), *call.resource, selection, options, call.view));
  return ListAnswer(call, page);
}

absl::StatusOr<base::HttpResponse> ResourceHandler::Create(const ResourceCall& call) {
  const bool scoped = call.resource->resource.namespaced && !call.info.key.ns.empty();
  if (!call.info.key.name.empty() || (call.resource->resource.namespaced && !scoped)) {
    return MethodNotAllowed("the server does not allow this method on the requested resource");
  }
  std::vector<std::string> warnings;
  ASSIGN_OR_RETURN(const WriteContext context, ContextOf(call, warnings));
  ASSIGN_OR_RETURN(json::Value body, BodyOf(call.request));
  kube::Object object(std::move(body));
  RETURN_IF_ERROR(MatchPath(call, object));
  ASSIGN_OR_RETURN(const kube::ObjectPtr created,
                   backend_.CreateOf(*call.resource, std::move(object), context));
  return ObjectAnswer(call, 201, created, warnings);
}

absl::StatusOr<base::HttpResponse> ResourceHandler::Update(const ResourceCall& call) {
  std::vector<std::string> warnings;
  ASSIGN_OR_RETURN(const WriteContext context, ContextOf(call, warnings));
  ASSIGN_OR_RETURN(json::Value body, BodyOf(call.request));
  kube::Object object(std::move(body));
  RETURN_IF_ERROR(MatchPath(call, object));
  ASSIGN_OR_RETURN(
      const ServerBackend::Written written,
      backend_.UpdateOf(*call.resource, {call.info.key, call.info.subresource}, object, context));
  return ObjectAnswer(call, written.created ? 201 : 200, written.object, warnings);
}

absl::StatusOr<base::HttpResponse> ResourceHandler::Patch(const ResourceCall& call) {
  std::vector<std::string> warnings;
  ASSIGN_OR_RETURN(const WriteContext context, ContextOf(call, warnings));
  ASSIGN_OR_RETURN(const PatchRequest patch, PatchOf(call));
  ASSIGN_OR_RETURN(const ServerBackend::Written written,
                   backend_.PatchOf(*call.resource, call.info.key, patch, context));
  return ObjectAnswer(call, written.created ? 201 : 200, written.object, warnings);
}

absl::StatusOr<base::HttpResponse> ResourceHandler::Delete(const ResourceCall& call) {
  ASSIGN_OR_RETURN(const DeleteRequest request, kube::server::ReadDelete(call.request));
  if (!call.info.subresource.empty()) {
    return MethodNotAllowed("the server does not allow this method on the requested resource");
  }
  const WriteContext context = DeletionContext(call, request);
  ASSIGN_OR_RETURN(const kube::ObjectPtr before, backend_.GetOf(*call.resource, call.info.key, ""));
  ASSIGN_OR_RETURN(const kube::ObjectPtr left,
                   backend_.DeleteOf(*call.resource, call.info.key, request, context));
  // The object is gone at once; otherwise its finalizers hold it, and the answer shows it.
  if (left == nullptr) return DeletedAnswer(call, *before);
  return ObjectAnswer(call, request.propagation == "Foreground" ? 202 : 200, left);
}

absl::StatusOr<base::HttpResponse> ResourceHandler::DeleteCollection(const ResourceCall& call) {
  ASSIGN_OR_RETURN(const DeleteRequest request, kube::server::ReadDelete(call.request));
  ASSIGN_OR_RETURN(const ListOptions options, ListOptions::Read(call.request));
  ASSIGN_OR_RETURN(const Selection selection,
                   Selection::Of(options, *call.resource, call.info.key));
  ASSIGN_OR_RETURN(const ListPage page,
                   ListPageOf(backend_.store(), *call.resource, selection, options));
  const WriteContext context = DeletionContext(call, request);
  for (const kube::ObjectPtr& object : page.objects) {
    const auto deleted = backend_.DeleteOf(*call.resource, object->key(), request, context);
    // Another client may have deleted it since the list.
    if (!deleted.ok() && !absl::IsNotFound(deleted.status())) return deleted.status();
  }
  return ListAnswer(call, page);
}

absl::StatusOr<ResourceHandler::OpenWatch> ResourceHandler::Open(const ResourceCall& call) {
  ASSIGN_OR_RETURN(const ListOptions list, ListOptions::Read(call.request, {.watch = true}));
  WatchOptions options;
  ASSIGN_OR_RETURN(options.selection, Selection::Of(list, *call.resource, call.info.key));
  ASSIGN_OR_RETURN(const int64_t version, WatchVersionOf(list));
  auto start = WatchStartOf(call, list, version, backend_.store().version());
  options.form = call.form;
  options.include = call.include;
  options.bookmarks = list.allow_watch_bookmarks;
  options.mark_initial_end = options.bookmarks && list.send_initial_events.value_or(false);
  return OpenWatch{
      std::make_shared<WatchSession>(backend_.store(), encoded_, call.resource, std::move(options)),
      std::move(start), WatchTimeout(list)};
}

}  // namespace sandbox
