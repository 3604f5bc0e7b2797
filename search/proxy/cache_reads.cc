// A read takes these steps. Its user's rights are asked for, if they are to be (WithReadRights);
// its parameters are read; it is given to a thread, one of waiting_ if the caches may not be new
// enough, or one of reading_; there it waits up to `patience` for the caches (Await), reads them,
// and sends the answer with a warning for each cluster that is missing or stale. A sorted list
// changes to a thread of sorting_ after the wait. A watch is handed to a WatchPump, which lives on
// the threads of pool_.
//
// The order of the questions matters. Which clusters have not begun (unread_) is asked before the
// caches are read: a cluster that is read in between is then warned of without need, while in the
// other order its objects could be missing without a warning. Whether the resource is still
// registered (StillServed) is asked after the caches were read, since caches that leave the scope
// are emptied at any moment. References of lists and watches to objects are counted (sent_) and
// given back when the last byte was sent, because they keep objects in memory that the caches may
// have dropped.
//
// No state survives a request except these counts and the texts of events that several watches
// share. A client whose connection breaks continues at the version that it has seen.

#include "search/proxy/cache_reads.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status.h"
#include "kube/server/api_errors.h"
#include "search/cache/composite_version.h"
#include "search/proxy/internal/completeness.h"
#include "search/proxy/internal/read_answers.h"
#include "search/proxy/internal/read_rights.h"
#include "search/proxy/internal/watch_pump.h"

namespace search {
namespace {

using kube::server::AnswerForm;

// A watch waits here only while it has something to write.
constexpr size_t kMaxWaitingWatches = 100'000;
// Reads that need not wait are bound by the processor only.
constexpr int kReadingThreads = 16;
constexpr size_t kMaxWaitingReads = 1000;
// A sorted list of a large fleet takes a second of a processor. One stays for the others.
constexpr int kSortingThreads = 2;
constexpr size_t kMaxWaitingSorts = 100;

// A list or watch refers to its objects until it has sent them. Of fleets where these are more than
// so large a part of what all may refer to, sixteen may be sent.
constexpr int64_t kListsOfAnySize = 16;
// The texts of a thousand events or more: equal watches write an event within moments.
constexpr size_t kMaxTexts = 4 << 20;

kube::server::GroupName NameOf(const kube::Resource& resource) {
  return {resource.gvk.group, resource.plural};
}

absl::Status NobodyWaits() {
  return kube::server::ServiceUnavailable("the client has gone, or has waited for too long",
                                          absl::Seconds(1));
}

// Returns the API error for an error of the cache.
absl::Status ApiErrorOf(const absl::Status& status) {
  if (absl::IsCancelled(status)) return NobodyWaits();
  if (absl::IsOutOfRange(status)) return kube::server::Expired(status.message());
  if (absl::IsDeadlineExceeded(status)) return kube::server::FutureVersion(status.message());
  if (absl::IsInvalidArgument(status) && !kube::server::IsApiError(status)) {
    return kube::server::BadRequest(status.message());
  }
  return status;
}

// Returns the composite version that the caches have to have reached: that of the first page, if
// this is a further one, because another replica may have sent it.
std::string VersionFor(const kube::server::ListOptions& options) {
  if (options.continue_token.empty()) return options.resource_version;
  return VersionOfPage(options.continue_token);
}

// Returns whether a read waits for the caches. A watch that goes on at a version waits for what
// comes after it by itself.
bool NeedsCaches(absl::string_view verb, const kube::server::ListOptions& options) {
  return verb != "watch" || options.send_initial_events.value_or(false);
}

Freshness::Need NeedOf(absl::string_view verb, const kube::server::ListOptions& options) {
  if (!NeedsCaches(verb, options)) return Freshness::kAny;
  const CompositeVersion version = CompositeVersion::Parse(VersionFor(options));
  if (version.any()) return Freshness::kAny;
  if (!version.empty()) return Freshness::kNotOlderThan;
  return options.continue_token.empty() ? Freshness::kNow : Freshness::kAny;
}

void SendDocument(const ReadRequest& read, const json::Value& document,
                  const std::vector<MissingCluster>& missing, base::HttpResponder& responder) {
  base::HttpResponse response = kube::server::AnswerOf(200, document, read.form);
  AddWarnings(missing, response);
  responder.Send(std::move(response));
}

// Returns whether the version comes from a server that answered before the resource was registered.
// A client that continued there would keep that server's objects, since nothing deletes them.
bool IsOfAnotherServer(const std::string& version) {
  return !version.empty() && CompositeVersion::Parse(version).empty();
}

// As an API server answers: an event, not a refusal of the request.
void SendWatchError(const ReadRequest& read, const std::vector<MissingCluster>& missing,
                    const absl::Status& status, base::HttpResponder& responder) {
  const auto stream = responder.StartStream(Head(read, missing));
  stream->Write(WatchErrorLine(status));
  stream->Close();
}

}  // namespace

CacheReads::CacheReads(Options options)
    : options_(std::move(options)),
      unread_(options_.cache, options_.clusters, options_.is_ready),
      sent_(options_.max_sent_bytes),
      refused_lists_(options_.registry, "long-lists",
                     "Lists that are being sent, and watches that begin, refer to as many objects "
                     "as they may, or to as many as one user's may; pages (limit), a namespace, or "
                     "a resourceVersion to continue at need fewer."),
      refused_sorted_(options_.registry, "sorted-lists",
                      "As many sorted lists wait for a thread as may; one user gets half of these "
                      "places at most."),
      refused_waiting_(options_.registry, "waiting-reads",
                       "As many reads that may have to wait for a member are waiting as may; one "
                       "user gets half of these places at most. Reads with resourceVersion=0 need "
                       "not wait."),
      refused_reading_(options_.registry, "cached-reads",
                       "As many reads of the cache wait for a thread as may; one user gets half of "
                       "these places at most."),
      texts_(kMaxTexts, options_.clock),
      pool_("search-answers", options_.watch_threads, kMaxWaitingWatches),
      sorting_("sorted-reads", kSortingThreads, kMaxWaitingSorts),
      waiting_("waiting-reads", options_.waiting_threads, options_.max_waiting),
      reading_("cached-reads", kReadingThreads, kMaxWaitingReads) {}

Holders CacheReads::HoldersOf(const kube::Gvr& gvr, const kube::ObjectKey& key) {
  return unread_.HoldersOf(gvr, key);
}

void CacheReads::Answer(kube::aggregation::ApiRequest request, const ReadTerms& terms,
                        std::shared_ptr<base::HttpResponder> responder) {
  WithReadRights(options_.authorizer, std::move(request), responder,
                 [this, terms, responder](const ReadRequestPtr& permitted) {
                   const absl::Status refused = Begin(*permitted, terms, responder);
                   if (!refused.ok()) responder->Send(kube::server::ErrorAnswer(refused));
                 });
}

absl::Status CacheReads::Begin(const kube::aggregation::ApiRequest& request, const ReadTerms& terms,
                               const ResponderPtr& responder) {
  const std::optional<kube::Resource> resource = options_.resource(request.info.gvr);
  // The registry was deleted after the request had been routed.
  if (!resource) return kube::server::NoSuchResource();
  auto reading = std::make_shared<Reading>();
  ASSIGN_OR_RETURN(reading->read,
                   ReadRequest::Read(request, *resource, terms.cluster,
                                     options_.kinds == nullptr ? no_kinds_ : *options_.kinds));
  reading->verb = request.info.verb;
  reading->owner = kube::aggregation::ShareOwner(request.user);
  reading->need = NeedOf(reading->verb, reading->read.options);
  reading->version = VersionFor(reading->read.options);
  reading->complete = terms.complete;
  reading->stop = request.stop;
  reading->responder = responder;
  const bool may_wait = MayWait(*reading);
  RunRead(may_wait ? waiting_ : reading_, may_wait ? refused_waiting_ : refused_reading_,
          reading->owner, responder, [this, reading] { return ApiErrorOf(Execute(reading)); });
  return absl::OkStatus();
}

bool CacheReads::MayWait(const Reading& reading) const {
  if (reading.need == Freshness::kNow) return true;
  const kube::Gvr gvr = reading.read.resource.gvr();
  const CompositeVersion wanted = CompositeVersion::Parse(reading.version);
  for (const std::string& cluster : options_.clusters(gvr)) {
    const auto cache = options_.cache.Find(cluster, gvr);
    // A cache that has no version has not been listed yet; that is worth a wait for any read.
    const int64_t least = reading.need == Freshness::kAny ? 0 : wanted.Number(cluster);
    if (cache == nullptr || cache->progress().version < std::max<int64_t>(least, 0)) return true;
  }
  return false;
}

absl::Status CacheReads::Execute(const std::shared_ptr<const Reading>& reading) {
  if (reading->stop.stop_requested()) return NobodyWaits();
  if (reading->verb == "get") return Get(*reading);
  if (reading->verb == "watch") return Watch(*reading);
  return List(reading);
}

bool CacheReads::MayLack(const std::vector<MissingCluster>& missing, const Reading& reading) {
  // Whoever takes any version takes an old one, too.
  const bool any = reading.read.options.resource_version == "0";
  const bool lacks = std::any_of(missing.begin(), missing.end(),
                                 [any](const MissingCluster& m) { return !m.stale || !any; });
  if (!reading.complete || !lacks) return true;
  reading.responder->Send(IncompleteAnswer(missing));
  return false;
}

absl::StatusOr<std::vector<MissingCluster>> CacheReads::Await(const Reading& reading) {
  const ReadRequest& read = reading.read;
  if (!NeedsCaches(reading.verb, read.options)) return std::vector<MissingCluster>();
  const kube::Gvr gvr = read.resource.gvr();
  // Nobody waits for the answer to a client that has gone.
  const bool wanted = !reading.stop.stop_requested();
  const base::SteadyTime now = options_.clock.SteadyNow();
  std::vector<MissingCluster> missing =
      options_.cache.AwaitFresh({.gvr = gvr,
                                 .need = reading.need,
                                 .resource_version = reading.version,
                                 .cluster = read.cluster,
                                 .object = reading.verb == "get" ? read.key : kube::ObjectKey()},
                                wanted ? now + options_.patience : now);
  // A client that named a version must not get an older state, not even with a warning: it would
  // take what it has seen already for deleted.
  if (reading.need != Freshness::kNotOlderThan) return missing;
  // Clients that are told so (504, "Too large resource version") ask again without a version.
  const CompositeVersion least = CompositeVersion::Parse(reading.version);
  for (const MissingCluster& m : missing) {
    const auto cache = options_.cache.Find(m.cluster, gvr);
    if (!m.stale || cache == nullptr) continue;
    const int64_t reached = cache->progress().version;
    if (reached >= least.Number(m.cluster)) continue;
    return kube::server::FutureVersion(least.Number(m.cluster), reached);
  }
  return missing;
}

absl::Status CacheReads::StillServed(const Reading& reading) const {
  const kube::Resource& resource = reading.read.resource;
  if (options_.resource(resource.gvr()).has_value()) return absl::OkStatus();
  return kube::server::ServiceUnavailable(
      absl::StrCat(NameOf(resource).ToString(),
                   " have left the caches of the members: no ResourceRegistry names them any more"),
      absl::Seconds(1));
}

absl::Status CacheReads::Get(const Reading& reading) {
  const ReadRequest& read = reading.read;
  base::HttpResponder& responder = *reading.responder;
  ASSIGN_OR_RETURN(std::vector<MissingCluster> missing, Await(reading));
  const GetRequest get{.gvr = read.resource.gvr(), .key = read.key, .cluster = read.cluster};
  // Asked before the get, for the reason given above.
  if (reading.complete) missing = Joined(unread_.NotBegun(get.gvr, get.cluster), missing);
  absl::StatusOr<CachedObject> found = options_.cache.Get(get);
  if (absl::IsNotFound(found.status())) {
    // Looked for once more: a cluster that was unread the first time may have been read since.
    std::vector<MissingCluster> unread = unread_.All(get.gvr, get.cluster);
    found = options_.cache.Get(get);
    if (absl::IsNotFound(found.status())) return NothingFound(reading, std::move(unread), missing);
  }
  if (absl::IsAborted(found.status())) {
    return kube::server::Conflict(NameOf(read.resource), read.key.name, found.status().message());
  }
  RETURN_IF_ERROR(found.status());
  missing = Joined(std::move(missing), unread_.Judged(found->missing));
  if (!MayLack(missing, reading)) return absl::OkStatus();
  if (IsText(read.form)) {
    base::HttpResponse response = Head(read, missing);
    found->AppendTo(response.body);
    response.body += "\n";
    responder.Send(std::move(response));
    return absl::OkStatus();
  }
  const kube::ObjectPtr object = DecodedObject(*found->object, found->cluster, found->version);
  json::Value document = object->root();
  if (read.form.kind == AnswerForm::Kind::kTable) {
    document = kube::server::TableOf(
        *read.printer, {object}, json::Value::Object({{"resourceVersion", found->version}}),
        {.include = read.include, .with_columns = true, .version = read.form.version});
  } else if (read.form.kind == AnswerForm::Kind::kPartial) {
    document = kube::server::PartialMetadataOf(*object, read.form.version);
  }
  SendDocument(read, document, missing, responder);
  return absl::OkStatus();
}

// A cluster that cannot be read is missing from this answer as it is from lists: the 404 names it.
absl::Status CacheReads::NothingFound(const Reading& reading, std::vector<MissingCluster> unread,
                                      const std::vector<MissingCluster>& behind) {
  RETURN_IF_ERROR(StillServed(reading));
  const ReadRequest& read = reading.read;
  const kube::Gvr gvr = read.resource.gvr();
  const std::vector<std::string> scope = options_.clusters(gvr);
  const auto asked = static_cast<size_t>(
      std::count_if(scope.begin(), scope.end(),
                    [&read](const std::string& cluster) { return read.cluster.Selects(cluster); }));
  const bool is_open = MayExist(unread, asked);
  const std::vector<MissingCluster> missing = Joined(std::move(unread), behind);
  if (!MayLack(missing, reading)) return absl::OkStatus();
  const kube::server::GroupName name = NameOf(read.resource);
  if (is_open) {
    return LackError(absl::StrCat("it is not known whether ", name.ToString(), " \"", read.key.name,
                                  "\" exists", UnreadText(missing)),
                     missing);
  }
  kube::server::ApiError error = kube::server::ErrorOf(kube::server::NotFound(name, read.key.name));
  error.message += UnreadText(missing);
  base::HttpResponse response = kube::server::ErrorAnswer(kube::server::ToStatus(error));
  AddWarnings(missing, response);
  reading.responder->Send(std::move(response));
  return absl::OkStatus();
}

absl::Status CacheReads::List(const std::shared_ptr<const Reading>& reading) {
  ASSIGN_OR_RETURN(std::vector<MissingCluster> missing, Await(*reading));
  if (reading->read.sort.empty()) return SendList(*reading, std::move(missing));
  RunRead(sorting_, refused_sorted_, reading->owner, reading->responder,
          [this, reading, missing = std::move(missing)] {
            return ApiErrorOf(SendList(*reading, missing));
          });
  return absl::OkStatus();
}

absl::Status CacheReads::SendList(const Reading& reading, std::vector<MissingCluster> missing) {
  const ReadRequest& read = reading.read;
  base::HttpResponder& responder = *reading.responder;
  const kube::server::ListOptions& options = read.options;
  const ListRequest list{
      .gvr = read.resource.gvr(),
      .ns = read.key.ns,
      .cluster = read.cluster,
      .filter = read.filter,
      .limit = static_cast<size_t>(std::max<int64_t>(options.limit, 0)),
      .continue_token = options.continue_token,
      .resource_version = options.resource_version,
      .exact = options.resource_version_match == kube::server::ListOptions::Match::kExact,
      .stop = reading.stop};
  missing = Joined(unread_.NotBegun(list.gvr, list.cluster), missing);
  ASSIGN_OR_RETURN(ListAnswer answer, read.sort.empty()
                                          ? options_.cache.List(list)
                                          : ListSorted(options_.cache, list, read.sort));
  RETURN_IF_ERROR(StillServed(reading));
  missing = Joined(std::move(missing), unread_.Judged(answer.missing));
  if (!MayLack(missing, reading)) return absl::OkStatus();
  ASSIGN_OR_RETURN(answer.held, TakeShare(reading, answer.size()));
  SendAnswer(read, std::move(answer), missing, pool_, responder);
  return absl::OkStatus();
}

absl::StatusOr<base::FairShare::Taken> CacheReads::TakeShare(const Reading& reading,
                                                             size_t objects) {
  base::FairShare::Taken share = ShareOfWatch(reading)(objects);
  if (share != nullptr) return share;
  return refused_lists_.Refuse();
}

std::function<std::shared_ptr<const void>(size_t objects)> CacheReads::ShareOfWatch(
    const Reading& reading) {
  struct Held {
    int64_t bytes = 0;
    std::vector<base::FairShare::Taken> shares;
  };
  // The counts of one list or watch are kept by what it holds: the first call makes `held`, later
  // calls add to it as long as something still refers to it, and the last reference gives all back.
  // Beyond `most` a list or watch takes nothing more, so that any fleet can be listed.
  const int64_t most = options_.max_sent_bytes / kListsOfAnySize;
  return [sent = sent_, owner = reading.owner, most,
          last = std::weak_ptr<Held>()](size_t objects) mutable -> std::shared_ptr<const void> {
    std::shared_ptr<Held> held = last.lock();
    if (held == nullptr) last = held = std::make_shared<Held>();
    const auto bytes = static_cast<int64_t>(objects * sizeof(kube::ObjectPtr));
    const int64_t more = std::min(held->bytes + bytes, most) - std::min(held->bytes, most);
    if (more > 0) {
      base::FairShare::Taken share = sent.Take(owner, more);
      if (share == nullptr) return nullptr;
      held->shares.push_back(std::move(share));
    }
    held->bytes += bytes;
    return held;
  };
}

absl::Status CacheReads::Watch(const Reading& reading) {
  const ReadRequest& read = reading.read;
  base::HttpResponder& responder = *reading.responder;
  const kube::server::ListOptions& options = read.options;
  const bool initial = options.send_initial_events.value_or(false);
  ASSIGN_OR_RETURN(std::vector<MissingCluster> missing, Await(reading));
  missing = Joined(std::move(missing), unread_.All(read.resource.gvr(), read.cluster));
  if (!MayLack(missing, reading)) return absl::OkStatus();
  const absl::Duration timeout =
      // Between one and two times the minimum, so that watches which began together do not end
      // together.
      options.timeout.value_or(base::Jitter(options_.min_watch_timeout, 1));
  if (!initial && IsOfAnotherServer(options.resource_version)) {
    const auto gone =
        absl::OutOfRangeError("too old resource version: it is not one of this cache");
    SendWatchError(read, missing, gone, responder);
    return absl::OkStatus();
  }
  const auto pump = std::make_shared<WatchPump>(read, pool_, texts_);
  auto watch = options_.cache.Watch({.gvr = read.resource.gvr(),
                                     .ns = read.key.ns,
                                     .cluster = read.cluster,
                                     .filter = read.filter,
                                     .resource_version = options.resource_version,
                                     .initial_events = initial,
                                     .bookmarks = options.allow_watch_bookmarks,
                                     .hold = ShareOfWatch(reading),
                                     .timeout = timeout},
                                    pump->OnReady());
  RETURN_IF_ERROR(StillServed(reading));
  if (absl::IsOutOfRange(watch.status())) {
    SendWatchError(read, missing, watch.status(), responder);
    return absl::OkStatus();
  }
  if (absl::IsResourceExhausted(watch.status())) return refused_lists_.Refuse();
  RETURN_IF_ERROR(watch.status());
  pump->Start(*std::move(watch), responder.StartStream(Head(read, missing)), reading.stop);
  return absl::OkStatus();
}

}  // namespace search
