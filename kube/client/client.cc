// Each request is one call of the Caller, which paces and repeats it; only ForEachPage, of which
// ListAll is made, makes several.
// It asks for everything at once unless the options limit a page. An answer that is too large is
// asked for again in pages of half the size, down to single objects. When the server has forgotten
// the version of a list half-way, the list starts from the beginning, once; a second time is an
// error. A watch is not paced: the server ends it after a time that is chosen at random, and 180 s
// without any data count as broken.

#include "kube/client/client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/status.h"
#include "kube/client/internal/caller.h"
#include "kube/client/internal/client_watch.h"
#include "kube/client/internal/payload.h"
#include "kube/client/list_budget.h"
#include "kube/client/list_pages.h"
#include "kube/client/url.h"

namespace kube {
namespace {

// kube-apiservers send a bookmark about every minute. A watch that is silent for three is broken,
// or its server sends no bookmarks; then resuming costs nothing.
constexpr absl::Duration kWatchSilence = absl::Seconds(180);

// All servers since 1.15 answer so; where one does not, the whole object has the metadata too.
constexpr absl::string_view kMetadataOnly =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

// The most that probes are answered with; servers send some hundred bytes.
constexpr size_t kProbeBytes = 64 << 10;

// The size of pages when a list without a limit of its own has to be cut into them.
constexpr int64_t kPageSize = 500;

const char* ContentTypeOf(PatchType type) {
  switch (type) {
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kStrategic:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";
  }
  return "";
}

// Returns "patch Work karmada-es-m1/web (status)".
std::string Describe(absl::string_view verb, const Resource& r, const ObjectKey& key,
                     absl::string_view subresource = "") {
  std::string what = absl::StrCat(verb, " ", r.gvk.kind, " ", key.ToString());
  if (!subresource.empty()) absl::StrAppend(&what, " (", subresource, ")");
  return what;
}

// Returns "list deployments.apps in default".
std::string Describe(absl::string_view verb, const Resource& r, absl::string_view ns) {
  std::string what = absl::StrCat(verb, " ", r.plural);
  if (!r.gvk.group.empty()) absl::StrAppend(&what, ".", r.gvk.group);
  if (r.namespaced && !ns.empty()) absl::StrAppend(&what, " in ", ns);
  return what;
}

std::string WriteQuery(const WriteOptions& options) {
  Query query;
  query.Add("dryRun", options.dry_run ? "All" : "")
      .Add("fieldManager", options.field_manager)
      .Add("force", options.force ? "true" : "");
  return query.text();
}

json::Value DeleteBody(const DeleteOptions& options) {
  json::Value body = json::Value::Object({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}});
  if (!options.propagation.empty()) body.Set("propagationPolicy", options.propagation);
  if (!options.uid.empty()) body.Set({"preconditions", "uid"}, options.uid);
  if (!options.resource_version.empty()) {
    body.Set({"preconditions", "resourceVersion"}, options.resource_version);
  }
  return body;
}

absl::StatusOr<std::string> ListPath(const Resource& r, absl::string_view ns,
                                     const ListOptions& options) {
  Query query;
  query.Add("labelSelector", options.label_selector)
      .Add("fieldSelector", options.field_selector)
      .Add("limit", options.limit > 0 ? absl::StrCat(options.limit) : "")
      .Add("continue", options.continue_token)
      // A continue token implies its version.
      .Add("resourceVersion", options.continue_token.empty() ? options.resource_version : "");
  ASSIGN_OR_RETURN(const std::string path, CollectionPath(r, ns));
  return absl::StrCat(path, query.text());
}

}  // namespace

struct Client::Impl {
  Caller caller;

  // Makes a call whose answer is one object, and returns the object.
  absl::StatusOr<Object> Call(HttpRequest request, const Resource& r, const std::string& what,
                              const base::StopToken& stop) {
    ASSIGN_OR_RETURN(const HttpResponse answer,
                     caller.Call(std::move(request), what, Caller::Answers::kErrors, stop));
    auto object = ParseObject(answer.body, r.gvk);
    if (!object.ok()) return base::Annotate(object.status(), what);
    return object;
  }

  // Sends the request as Call does, does not read the answer, and returns an empty object.
  absl::StatusOr<Object> CallUnread(HttpRequest request, const std::string& what,
                                    const base::StopToken& stop) {
    RETURN_IF_ERROR(caller.Call(std::move(request), what, Caller::Answers::kErrors, stop).status());
    return Object();
  }
};

Client::Client(std::shared_ptr<Transport> transport, ClientOptions options,
               const base::Clock& clock, metrics::Registry* registry)
    : impl_(new Impl{Caller(std::move(transport), options, clock, registry)}) {}

Client::~Client() = default;

const std::string& Client::name() const { return impl_->caller.options().name; }

absl::StatusOr<Object> Client::Get(const Resource& r, const ObjectKey& key,
                                   const base::StopToken& stop) {
  const std::string what = Describe("get", r, key);
  auto path = ObjectPath(r, key, "");
  if (!path.ok()) return base::Annotate(path.status(), what);
  return impl_->Call({.method = "GET", .path = *std::move(path)}, r, what, stop);
}

absl::StatusOr<json::Value> Client::GetManagedFields(const Resource& r, const ObjectKey& key,
                                                     const base::StopToken& stop) {
  const std::string what = Describe("get", r, key);
  auto path = ObjectPath(r, key, "");
  if (!path.ok()) return base::Annotate(path.status(), what);
  ASSIGN_OR_RETURN(
      const HttpResponse answer,
      impl_->caller.Call(
          {.method = "GET", .path = *std::move(path), .accept = std::string(kMetadataOnly)}, what,
          Caller::Answers::kErrors, stop));
  auto root = json::Parse(answer.body);
  if (!root.ok()) return base::Annotate(root.status(), what);
  return (*root).Get({"metadata", "managedFields"});
}

absl::StatusOr<ListPage> Client::List(const Resource& r, absl::string_view ns,
                                      const ListOptions& options, const base::StopToken& stop) {
  const std::string what = Describe("list", r, ns);
  auto path = ListPath(r, ns, options);
  if (!path.ok()) return base::Annotate(path.status(), what);
  ASSIGN_OR_RETURN(const HttpResponse answer,
                   impl_->caller.Call({.method = "GET", .path = *std::move(path)}, what,
                                      Caller::Answers::kErrors, stop, options.paced));
  auto page = ParseList(answer.body, r.gvk, options.fields);
  if (!page.ok()) return base::Annotate(page.status(), what);
  return page;
}

absl::Status ForEachPage(Client& client, const Resource& r, absl::string_view ns,
                         ListOptions options, const base::StopToken& stop, TakePage take) {
  ListBudget budget(client.clock());
  bool begins = true;
  for (bool started_over = false;;) {
    auto page = client.List(r, ns, options, stop);
    const bool half_way = !options.continue_token.empty();
    if (absl::IsOutOfRange(page.status()) && half_way && !started_over) {
      started_over = begins = true;
      options.continue_token.clear();
      budget = ListBudget(client.clock());
      continue;
    }
    // The same page is asked for again: the token stays as it is.
    if (absl::IsResourceExhausted(page.status()) && options.limit != 1) {
      options.limit = std::max<int64_t>(1, (options.limit > 0 ? options.limit : kPageSize) / 2);
      continue;
    }
    RETURN_IF_ERROR(page.status());
    RETURN_IF_ERROR(
        base::Annotate(budget.Spend(*page), Describe("list", r, ns), " of ", client.name()));
    options.continue_token = page->continue_token;
    take(*std::move(page), begins);
    begins = false;
    if (options.continue_token.empty()) return absl::OkStatus();
  }
}

absl::StatusOr<ListPage> Client::ListAll(const Resource& r, absl::string_view ns,
                                         ListOptions options, const base::StopToken& stop) {
  ListPage all;
  RETURN_IF_ERROR(
      ForEachPage(*this, r, ns, std::move(options), stop, [&](ListPage page, bool begins) {
        if (begins) {  // Most lists have one page, which is taken over as a whole.
          all = std::move(page);
          return;
        }
        for (Object& item : page.items) all.items.push_back(std::move(item));
        all.resource_version = std::move(page.resource_version);
        all.continue_token = std::move(page.continue_token);
      }));
  return all;
}

absl::StatusOr<Object> Client::Create(const Resource& r, const Object& object,
                                      const WriteOptions& options, const base::StopToken& stop) {
  const std::string what = Describe("create", r, object.key(), options.subresource);
  if (r.namespaced && object.ns().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": the namespace is empty"));
  }
  const auto path = options.subresource.empty() ? CollectionPath(r, object.ns())
                                                : ObjectPath(r, object.key(), options.subresource);
  if (!path.ok()) return base::Annotate(path.status(), what);
  HttpRequest request{.method = "POST",
                      .path = absl::StrCat(*path, WriteQuery(options)),
                      .content_type = "application/json",
                      .body = json::Write(object.root())};
  if (!options.wants_answer) return impl_->CallUnread(std::move(request), what, stop);
  return impl_->Call(std::move(request), r, what, stop);
}

absl::StatusOr<Object> Client::Patch(const Resource& r, const ObjectKey& key, PatchType type,
                                     const json::Value& patch, const WriteOptions& options,
                                     const base::StopToken& stop) {
  const std::string what = Describe("patch", r, key, options.subresource);
  auto path = ObjectPath(r, key, options.subresource);
  if (!path.ok()) return base::Annotate(path.status(), what);
  if (type == PatchType::kApply && options.field_manager.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": apply needs a field manager"));
  }
  HttpRequest request{.method = "PATCH",
                      .path = absl::StrCat(*path, WriteQuery(options)),
                      .content_type = ContentTypeOf(type),
                      .body = json::Write(patch)};
  if (!options.wants_answer) return impl_->CallUnread(std::move(request), what, stop);
  return impl_->Call(std::move(request), r, what, stop);
}

// A PUT carries the object's resourceVersion, so it meets a conflict rather than undo another
// write.
absl::StatusOr<Object> Client::Replace(const Resource& r, const Object& object,
                                       const WriteOptions& options, const base::StopToken& stop) {
  const std::string what = Describe("replace", r, object.key(), options.subresource);
  auto path = ObjectPath(r, object.key(), options.subresource);
  if (!path.ok()) return base::Annotate(path.status(), what);
  return impl_->Call({.method = "PUT",
                      .path = absl::StrCat(*path, WriteQuery(options)),
                      .content_type = "application/json",
                      .body = json::Write(object.root())},
                     r, what, stop);
}

absl::StatusOr<Object> Client::Delete(const Resource& r, const ObjectKey& key,
                                      const DeleteOptions& options, const base::StopToken& stop) {
  const std::string what = Describe("delete", r, key);
  auto path = ObjectPath(r, key, "");
  if (!path.ok()) return base::Annotate(path.status(), what);
  ASSIGN_OR_RETURN(Object answer, impl_->Call({.method = "DELETE",
                                               .path = *std::move(path),
                                               .content_type = "application/json",
                                               .body = json::Write(DeleteBody(options))},
                                              r, what, stop));
  // If the object is gone at once, the server answers with a Status or with its last state.
  const bool lingers = answer.kind() != "Status" && answer.IsDeleting();
  return lingers ? answer : Object();
}

std::unique_ptr<Watch> Client::StartWatch(const Resource& r, absl::string_view ns,
                                          const WatchOptions& options, WatchHandler& handler) {
  // Watches that began at the same time must not all end at the same time.
  const absl::Duration longest = base::Jitter(options.server_timeout, options.jitter);
  Query query;
  query.Add("watch", "true")
      .Add("allowWatchBookmarks", "true")
      .Add("timeoutSeconds", absl::StrCat(absl::ToInt64Seconds(longest)))
      .Add("labelSelector", options.label_selector)
      .Add("fieldSelector", options.field_selector)
      .Add("resourceVersion", options.resource_version);
  // Nobody watches without having listed, which has failed for a namespace that cannot be one.
  const std::string path = CollectionPath(r, ns).value_or("/");
  HttpRequest request{.method = "GET", .path = absl::StrCat(path, query.text())};
  request.timeout = kWatchSilence;
  request.user_agent = impl_->caller.options().user_agent;
  auto watch = std::make_unique<ClientWatch>(
      impl_->caller, ClientWatch::Subject{r.gvk, Describe("watch", r, ns), options.fields},
      handler);
  watch->Start(request, longest);
  return watch;
}

absl::StatusOr<HttpResponse> Client::GetRaw(const std::string& path, const base::StopToken& stop) {
  return GetRaw(HttpRequest{.path = path}, stop);
}

absl::StatusOr<HttpResponse> Client::GetRaw(const std::string& path, absl::Duration timeout,
                                            const base::StopToken& stop) {
  return impl_->caller.Call({.method = "GET",
                             .path = path,
                             .accept = "application/json",
                             .timeout = timeout,
                             .max_answer_bytes = kProbeBytes},
                            absl::StrCat("get ", path), Caller::Answers::kOnce, stop);
}

absl::StatusOr<HttpResponse> Client::GetRaw(const HttpRequest& request,
                                            const base::StopToken& stop) {
  return impl_->caller.Call({.method = "GET",
                             .path = request.path,
                             .accept = request.accept,
                             .if_none_match = request.if_none_match,
                             .timeout = request.timeout,
                             .max_answer_bytes = request.max_answer_bytes},
                            absl::StrCat("get ", request.path), Caller::Answers::kRaw, stop);
}

const base::Clock& Client::clock() const { return impl_->caller.clock(); }

bool IsAddress(const Resource& r, const ObjectKey& key) { return ObjectPath(r, key, "").ok(); }

}  // namespace kube
