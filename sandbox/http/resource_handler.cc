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
namespace {

constexpr absl::Duration kMinWatch =
    absl::Minutes(30);  // For watches without timeoutSeconds; at most twice that.

// Returns the query parameters that every write takes.
absl::StatusOr<WriteContext> ContextOf(const ResourceCall& call,
                                       std::vector<std::string>& warnings) {
  WriteContext context;
  context.user = call.user.name;
  context.warnings = &warnings;
  FieldErrors errors;
  const absl::string_view dry_run = call.request.Query("dryRun");
  if (!dry_run.empty() && dry_run != "All") errors.NotSupported("dryRun", dry_run, {"All"});
  context.dry_run = dry_run == "All";
  const absl::string_view validation = call.request.Query("fieldValidation");
  context.validation = validation == "Strict"   ? FieldValidation::kStrict
                       : validation == "Ignore" ? FieldValidation::kIgnore
                                                : FieldValidation::kWarn;
  RETURN_IF_ERROR(errors.ToStatus({"meta.k8s.io", "CreateOptions"}, ""));
  return context;
}

// Checks that path and body name the same object.
absl::Status MatchPath(const ResourceCall& call, kube::Object& object) {
  const kube::ObjectKey& key = call.info.key;
  if (call.resource->resource.namespaced) {
    if (object.ns().empty()) object.Set({"metadata", "namespace"}, key.ns);
    if (object.ns() != key.ns) {
      return BadRequest(
          "the namespace of the provided object does not match the namespace sent on the request");
    }
  }
  if (key.name.empty()) return absl::OkStatus();
  if (object.name().empty()) object.Set({"metadata", "name"}, key.name);
  if (object.name() != key.name) {
    return BadRequest(absl::StrCat("the name of the object (", object.name(),
                                   ") does not match the name on the URL (", key.name, ")"));
  }
  return absl::OkStatus();
}

absl::StatusOr<PatchRequest> PatchOf(const ResourceCall& call) {
  using Type = PatchRequest::Type;
  struct Format {
    absl::string_view content_type;
    Type type;
  };
  constexpr Format kFormats[] = {{"application/json-patch+json", Type::kJson},
                                 {"application/merge-patch+json", Type::kMerge},
                                 {"application/strategic-merge-patch+json", Type::kStrategic},
                                 {"application/apply-patch+yaml", Type::kApply}};
  const std::string header(call.request.Header("content-type"));
  const std::string type = header.substr(0, header.find(';'));
  const auto* format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                    [&type](const Format& f) { return f.content_type == type; });
  if (format == std::end(kFormats)) {
    return UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, "
        "application/strategic-merge-patch+json, application/apply-patch+yaml");
  }
  PatchRequest patch;
  patch.type = format->type;
  patch.subresource = call.info.subresource;
  patch.field_manager = std::string(call.request.Query("fieldManager"));
  patch.force = QueryFlag(call.request, "force");
  ASSIGN_OR_RETURN(patch.patch, BodyOf(call.request));
  return patch;
}

// Returns the DeleteOptions from body and query.
absl::StatusOr<DeleteRequest> DeletionOf(const ResourceCall& call) {
  json::Value options = json::Value::Object();
  if (!call.request.body.empty()) {
    ASSIGN_OR_RETURN(options, BodyOf(call.request));
  }
  DeleteRequest out;
  out.propagation = options["propagationPolicy"].ToString();
  if (out.propagation.empty())
    out.propagation = std::string(call.request.Query("propagationPolicy"));
  if (options["orphanDependents"].is_bool()) {
    out.propagation = options["orphanDependents"].AsBool() ? "Orphan" : "Background";
  }
  const std::string& policy = out.propagation;
  if (!policy.empty() && policy != "Background" && policy != "Foreground" && policy != "Orphan") {
    FieldErrors errors;
    errors.NotSupported("propagationPolicy", policy, {"Background", "Foreground", "Orphan"});
    return errors.ToStatus({"meta.k8s.io", "DeleteOptions"}, "");
  }
  out.uid = options["preconditions"]["uid"].ToString();
  out.resource_version = options["preconditions"]["resourceVersion"].ToString();
  out.dry_run = !options["dryRun"].empty() || call.request.Query("dryRun") == "All";
  return out;
}

absl::Duration WatchTimeout(const base::HttpRequest& request) {
  int64_t seconds = 0;
  if (absl::SimpleAtoi(request.Query("timeoutSeconds"), &seconds) && seconds > 0) {
    return absl::Seconds(seconds);
  }
  return base::Jitter(kMinWatch, 1.0);
}

// Returns where a watch starts, by resourceVersion and sendInitialEvents.
absl::StatusOr<Store::WatchStart> WatchStartOf(const ResourceCall& call, int64_t current) {
  Store::WatchStart start;
  start.table = call.resource->table();
  start.ns = call.info.key.ns;
  const absl::string_view text = call.request.Query("resourceVersion");
  int64_t version = 0;
  if (!text.empty() && (!absl::SimpleAtoi(text, &version) || version < 0)) {
    return BadRequest(absl::StrCat("invalid resource version \"", text, "\""));
  }
  const absl::string_view send_initial = call.request.Query("sendInitialEvents");
  if (send_initial == "true" && call.request.Query("resourceVersionMatch") != "NotOlderThan") {
    FieldErrors errors;
    errors.Forbidden("resourceVersionMatch",
                     "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    return errors.ToStatus({"meta.k8s.io", "ListOptions"}, "");
  }
  start.initial = send_initial == "true" || (version == 0 && send_initial != "false");
  start.since = version == 0 ? current : version;
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
  RETURN_IF_ERROR(backend_.GetOf(*call.resource, call.info.key, "").status());
  return refused;
}

absl::StatusOr<base::HttpResponse> ResourceHandler::Get(const ResourceCall& call) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr object,
                   backend_.GetOf(*call.resource, call.info.key, call.info.subresource));
  return ObjectAnswer(call, 200, object);
}

absl::StatusOr<base::HttpResponse> ResourceHandler::List(const ResourceCall& call) {
  ASSIGN_OR_RETURN(const Selection selection, Selection::Of(call.request, call.info.key));
  ASSIGN_OR_RETURN(const ListPage page,
                   ListPageOf(backend_.store(), *call.resource, selection, call.request));
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
  ASSIGN_OR_RETURN(const DeleteRequest request, DeletionOf(call));
  if (!call.info.subresource.empty()) {
    return MethodNotAllowed("the server does not allow this method on the requested resource");
  }
  WriteContext context;
  context.user = call.user.name;
  context.dry_run = request.dry_run;
  ASSIGN_OR_RETURN(const kube::ObjectPtr before, backend_.GetOf(*call.resource, call.info.key, ""));
  ASSIGN_OR_RETURN(const kube::ObjectPtr left,
                   backend_.DeleteOf(*call.resource, call.info.key, request, context));
  if (left == nullptr) return DeletedAnswer(call, *before);
  return ObjectAnswer(call, request.propagation == "Foreground" ? 202 : 200, left);
}

absl::StatusOr<base::HttpResponse> ResourceHandler::DeleteCollection(const ResourceCall& call) {
  ASSIGN_OR_RETURN(const DeleteRequest request, DeletionOf(call));
  ASSIGN_OR_RETURN(const Selection selection, Selection::Of(call.request, call.info.key));
  ASSIGN_OR_RETURN(const ListPage page,
                   ListPageOf(backend_.store(), *call.resource, selection, call.request));
  WriteContext context;
  context.user = call.user.name;
  context.dry_run = request.dry_run;
  for (const kube::ObjectPtr& object : page.objects) {
    const auto deleted = backend_.DeleteOf(*call.resource, object->key(), request, context);
    if (!deleted.ok() && !absl::IsNotFound(deleted.status())) return deleted.status();
  }
  return ListAnswer(call, page);
}

absl::StatusOr<ResourceHandler::OpenWatch> ResourceHandler::Open(const ResourceCall& call) {
  WatchOptions options;
  ASSIGN_OR_RETURN(options.selection, Selection::Of(call.request, call.info.key));
  ASSIGN_OR_RETURN(const Store::WatchStart start, WatchStartOf(call, backend_.store().version()));
  options.form = call.form;
  options.include = IncludeOf(call.request);
  options.bookmarks = QueryFlag(call.request, "allowWatchBookmarks");
  options.mark_initial_end = options.bookmarks && call.request.Query("sendInitialEvents") == "true";
  return OpenWatch{
      std::make_shared<WatchSession>(backend_.store(), encoded_, call.resource, std::move(options)),
      start, WatchTimeout(call.request)};
}

}  // namespace sandbox
