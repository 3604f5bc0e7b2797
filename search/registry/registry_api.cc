// Reads ask the storage, so that they show what was written before them on whatever replica; a list
// with resourceVersion=0 is answered from the feed. There are few registries, so that a list reads
// all of them and cuts the page out.

#include "search/registry/registry_api.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resource_registry.h"
#include "base/status.h"
#include "kube/server/api_errors.h"
#include "kube/server/list_options.h"
#include "search/registry/list_request.h"
#include "search/registry/managed_fields.h"
#include "search/registry/registry_rules.h"
#include "search/registry/registry_watch_session.h"

namespace search {
namespace {

using kube::server::AnswerOf;
using kube::server::ErrorAnswer;
using kube::server::ListOptions;
using kube::server::RequestInfo;

constexpr absl::Duration kSessionRound = absl::Seconds(1);

absl::Status NoSuchMethod() {
  return kube::server::MethodNotAllowed(
      "the server does not allow this method on the requested resource");
}

absl::StatusOr<RegistryWrites::Context> ContextOf(const base::HttpRequest& request,
                                                  const RegistryApi::MirrorRight& may_mirror,
                                                  std::vector<std::string>& warnings) {
  ASSIGN_OR_RETURN(const kube::server::WriteParameters given,
                   kube::server::ReadWriteParameters(request));
  const std::string manager(request.Query("fieldManager"));
  return RegistryWrites::Context{
      given.dry_run, given.validation,
      manager.empty() ? kube::server::ManagerOfUserAgent(request.Header("user-agent")) : manager,
      may_mirror, &warnings};
}

base::HttpResponse Written(int code, const kube::ObjectPtr& object, const AnswerWish& wish,
                           const std::vector<std::string>& warnings) {
  base::HttpResponse response = AnswerOf(code, RegistryDocument(object, wish), wish.form);
  for (const std::string& warning : warnings) {
    response.headers.emplace_back("Warning", kube::server::WarningHeader(warning));
  }
  return response;
}

}  // namespace

struct RegistryApi::Page {
  std::vector<kube::ObjectPtr> objects;
  json::Value metadata;
};

RegistryApi::RegistryApi(const Parts& parts) : parts_(parts), writes_(parts.store, parts.clock) {}

RegistryApi::~RegistryApi() { EndWatches(/*all=*/true); }

bool RegistryApi::Serves(const RequestInfo& info) {
  return info.is_resource && info.gvr == api::ResourceRegistryResource().gvr() &&
         info.key.ns.empty() && (info.subresource.empty() || info.subresource == "status");
}

base::HttpResponse RegistryApi::Answer(const base::HttpRequest& request, const RequestInfo& info,
                                       const base::StopToken& stop, const MirrorRight& may_mirror) {
  const auto wish = AnswerWish::Of(request);
  if (!wish.ok()) return ErrorAnswer(wish.status());
  auto response = Handle({request, info, *wish, stop, may_mirror});
  return response.ok() ? *std::move(response) : ErrorAnswer(response.status());
}

absl::StatusOr<base::HttpResponse> RegistryApi::Handle(const Call& call) {
  const std::string& verb = call.info.verb;
  if (verb == "get") return Get(call);
  if (verb == "update") return Replace(call);
  if (verb == "patch") return Patch(call);
  if (!call.info.subresource.empty()) return NoSuchMethod();
  if (verb == "list") return List(call);
  if (verb == "create" && call.info.key.name.empty()) return Create(call);
  if (verb == "delete") return Delete(call);
  if (verb == "deletecollection") return DeleteCollection(call);
  return NoSuchMethod();
}

absl::StatusOr<base::HttpResponse> RegistryApi::Get(const Call& call) {
  const std::string& name = call.info.key.name;
  auto object = call.request.Query("resourceVersion") == "0" && parts_.feed.HasSynced()
                    ? parts_.feed.Find(name)
                    : parts_.store.Get(name, call.stop);
  if (!object.ok()) return ApiErrorOf(object.status(), name);
  return AnswerOf(200, RegistryDocument(*object, call.wish), call.wish.form);
}

absl::StatusOr<RegistryApi::Page> RegistryApi::PageOf(const Call& call) {
  ASSIGN_OR_RETURN(const ListOptions options, ListOptions::Read(call.request));
  ASSIGN_OR_RETURN(const RegistrySelection selection, RegistrySelection::Of(options, ""));
  ASSIGN_OR_RETURN(const RegistryListRequest wanted, RegistryListRequest::Of(options));
  std::vector<kube::ObjectPtr> all;
  int64_t revision = 0;
  if (wanted.from_memory && parts_.feed.HasSynced()) {
    ASSIGN_OR_RETURN(RegistryFeed::Snapshot snapshot, parts_.feed.Current());
    all = std::move(snapshot.objects);
    revision = snapshot.revision;
  } else {
    auto listing = parts_.store.List({0, wanted.after, wanted.revision}, call.stop);
    if (absl::IsOutOfRange(listing.status()) && wanted.continued) {
      return kube::server::Expired(
          "The provided continue parameter is too old to display a consistent list result. You "
          "must start a new list without the continue parameter.");
    }
    if (!listing.ok()) return ApiErrorOf(listing.status(), "");
    all = std::move(listing->objects);
    revision = listing->revision;
  }
  if (wanted.not_older_than > revision) {
    return kube::server::FutureVersion(wanted.not_older_than, revision);
  }
  Page page;
  page.metadata = json::Value::Object({{"resourceVersion", absl::StrCat(revision)}});
  size_t matching = 0;
  // All are read, because selectors do not work in etcd, and registries are few.
  for (const kube::ObjectPtr& object : all) {
    if (!selection.Matches(*object)) continue;
    const bool full = wanted.limit > 0 && page.objects.size() >= static_cast<size_t>(wanted.limit);
    if (!full) page.objects.push_back(object);
    ++matching;
  }
  const size_t left = matching - page.objects.size();
  if (left > 0) {
    page.metadata.Set("continue", RegistryContinueToken(revision, page.objects.back()->name()));
    // As everywhere in the API, lists with selectors do not say how many are left.
    if (selection.MatchesEverything()) {
      page.metadata.Set("remainingItemCount", static_cast<int64_t>(left));
    }
  }
  return page;
}

absl::StatusOr<base::HttpResponse> RegistryApi::List(const Call& call) {
  ASSIGN_OR_RETURN(const Page page, PageOf(call));
  return AnswerOf(200, RegistryListDocument(page.objects, page.metadata, call.wish),
                  call.wish.form);
}

absl::StatusOr<base::HttpResponse> RegistryApi::Create(const Call& call) {
  std::vector<std::string> warnings;
  ASSIGN_OR_RETURN(const RegistryWrites::Context context,
                   ContextOf(call.request, call.may_mirror, warnings));
  ASSIGN_OR_RETURN(json::Value body, kube::server::BodyOf(call.request));
  ASSIGN_OR_RETURN(const kube::ObjectPtr created,
                   writes_.Create(kube::Object(std::move(body)), context, call.stop));
  return Written(201, created, call.wish, warnings);
}

absl::StatusOr<base::HttpResponse> RegistryApi::Replace(const Call& call) {
  std::vector<std::string> warnings;
  ASSIGN_OR_RETURN(const RegistryWrites::Context context,
                   ContextOf(call.request, call.may_mirror, warnings));
  ASSIGN_OR_RETURN(json::Value body, kube::server::BodyOf(call.request));
  kube::Object object(std::move(body));
  RETURN_IF_ERROR(kube::server::MatchPath(/*namespaced=*/false, call.info.key, object));
  ASSIGN_OR_RETURN(
      const kube::ObjectPtr stored,
      writes_.Replace({call.info.key.name, call.info.subresource}, object, context, call.stop));
  return Written(200, stored, call.wish, warnings);
}

absl::StatusOr<base::HttpResponse> RegistryApi::Patch(const Call& call) {
  std::vector<std::string> warnings;
  ASSIGN_OR_RETURN(const RegistryWrites::Context context,
                   ContextOf(call.request, call.may_mirror, warnings));
  ASSIGN_OR_RETURN(const kube::server::PatchRequest patch, kube::server::ReadPatch(call.request));
  ASSIGN_OR_RETURN(
      const RegistryWrites::Patched patched,
      writes_.Patch({call.info.key.name, call.info.subresource}, patch, context, call.stop));
  return Written(patched.created ? 201 : 200, patched.object, call.wish, warnings);
}

absl::StatusOr<base::HttpResponse> RegistryApi::Delete(const Call& call) {
  ASSIGN_OR_RETURN(const kube::server::DeleteRequest request,
                   kube::server::ReadDelete(call.request));
  ASSIGN_OR_RETURN(const RegistryWrites::Deleted deleted,
                   writes_.Delete(call.info.key.name, request, call.stop));
  kube::server::AnswerForm plain = call.wish.form;
  plain.kind = kube::server::AnswerForm::Kind::kPlain;
  if (deleted.gone) return AnswerOf(200, DeletedDocument(*deleted.object), plain);
  return AnswerOf(request.propagation == "Foreground" ? 202 : 200, deleted.object->root(), plain);
}

absl::StatusOr<base::HttpResponse> RegistryApi::DeleteCollection(const Call& call) {
  ASSIGN_OR_RETURN(const kube::server::DeleteRequest request,
                   kube::server::ReadDelete(call.request));
  ASSIGN_OR_RETURN(const Page page, PageOf(call));
  for (const kube::ObjectPtr& object : page.objects) {
    const auto deleted = writes_.Delete(std::string(object->name()), request, call.stop);
    if (!deleted.ok() && !absl::IsNotFound(deleted.status())) return deleted.status();
  }
  return AnswerOf(200, RegistryListDocument(page.objects, page.metadata, call.wish),
                  call.wish.form);
}

absl::StatusOr<std::shared_ptr<RegistryWatchSession>> RegistryApi::Open(
    const base::HttpRequest& request, const RequestInfo& info, const base::StopToken& stop) {
  RegistryWatchSession::Options options;
  ASSIGN_OR_RETURN(options.wish, AnswerWish::Of(request, kube::server::Offer::kStream));
  ASSIGN_OR_RETURN(const ListOptions wanted, ListOptions::Read(request, {.watch = true}));
  ASSIGN_OR_RETURN(options.selection, RegistrySelection::Of(wanted, info.key.name));
  ASSIGN_OR_RETURN(options.request, RegistryWatchRequest::Of(wanted, parts_.min_watch_timeout));
  options.stop = stop;
  options.deadline = parts_.clock.SteadyNow() + options.request.timeout;
  const auto now = parts_.feed.Current();
  if (!now.ok()) return ApiErrorOf(now.status(), "");
  if (options.request.from_now) options.request.since = now->revision;
  return std::make_shared<RegistryWatchSession>(parts_.feed, std::move(options));
}

void RegistryApi::Watch(const base::HttpRequest& request, const RequestInfo& info,
                        const std::shared_ptr<base::HttpResponder>& responder,
                        const base::StopToken& stop) {
  auto session = Open(request, info, stop);
  if (!session.ok()) {
    responder->Send(ErrorAnswer(session.status()));
    return;
  }
  base::HttpResponse head;
  head.content_type = "application/json";
  (*session)->Start(responder->StartStream(std::move(head)));
  absl::MutexLock lock(&mu_);
  sessions_.push_back(*std::move(session));
}

void RegistryApi::EndWatches(bool all) {
  std::vector<std::shared_ptr<RegistryWatchSession>> over;
  {
    absl::MutexLock lock(&mu_);
    const base::SteadyTime now = parts_.clock.SteadyNow();
    const auto first_over = std::stable_partition(
        sessions_.begin(), sessions_.end(), [&](const auto& s) { return !all && !s->IsOver(now); });
    over.assign(first_over, sessions_.end());
    sessions_.erase(first_over, sessions_.end());
  }
  // Without mu_: the end writes to the stream.
  for (const auto& session : over) session->Finish();
}

void RegistryApi::Run(const base::StopToken& stop) {
  while (parts_.clock.SleepFor(kSessionRound, stop)) EndWatches(/*all=*/false);
  EndWatches(/*all=*/true);
}

}  // namespace search
