// A watch has a source for each cluster: first its initial objects, if any, then the events of its
// cache from a position on. Take goes round the sources, beginning behind the one that filled the
// last batch, so that a busy cluster does not keep the others back.
//
// version_ is what a client that has seen everything so far may continue with. A cluster enters it
// with its first event, and has reached what its cache is complete to when its source is drained;
// bookmarks are sent only then. When the cache of a cluster is closed, its objects are delivered as
// deleted, and then the cluster leaves version_. A cluster that joins again before that is a
// successor: its source begins when the old one is drained. A source that begins with objects
// refers to all of them until they have been taken; as long as there is no room for that, it waits,
// and is tried again every time the watch is looked at (OnTime).

#include "search/cache/merged_watch.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "search/cache/list_answer.h"

namespace search {
namespace {

using kube::ObjectPtr;
using kube::WatchCache;
using Type = MergedEvent::Type;

constexpr absl::Duration kBookmarkPeriod = absl::Seconds(60);
// As API servers do, so that a client continues with a new version.
constexpr absl::Duration kBookmarkBeforeEnd = absl::Seconds(2);

base::SteadyTime NextBookmark(base::SteadyTime now, base::SteadyTime end) {
  const base::SteadyTime last = end - kBookmarkBeforeEnd;
  const base::SteadyTime next = now + kBookmarkPeriod;
  return now < last ? std::min(next, last) : next;
}

}  // namespace

void AppendObject(const MergedEvent& event, std::string& out) {
  kube::Encoded(*event.object)
      .AppendTo(out, {.annotation = OriginAnnotation(event.cluster), .version = event.version});
}

MergedWatch::MergedWatch(WatchRequest request, const base::Clock& clock,
                         std::function<void()> on_ready)
    : request_(std::move(request)),
      clock_(clock),
      end_(clock.SteadyNow() + request_.timeout),
      on_ready_(std::move(on_ready)),
      next_bookmark_(NextBookmark(clock.SteadyNow(), end_)),
      end_of_initial_is_due_(request_.initial_events) {}

absl::Status MergedWatch::Add(const std::string& cluster, const CachePtr& cache, bool joins) {
  // First, so that no event between the look at the cache and the registration is missed; an early
  // call finds a watch that has not begun, or nothing to take.
  cache->AddObserver(weak_from_this());
  const CompositeVersion from = CompositeVersion::Parse(request_.resource_version);
  absl::Status started;
  {
    absl::MutexLock lock(&mu_);
    Source source{.cache = cache};
    const bool again = joins || request_.initial_events || from.any();
    source.continue_after = again ? -1 : from.Number(cluster);
    source.narrowings = from.Narrowings(cluster);
    if (source.continue_after >= 0) {
      version_.Set(cluster, source.continue_after, source.narrowings);
    }
    if (joins && sources_.count(cluster) > 0) {
      // One that has not begun yet has reported nothing that would have to be deleted.
      successors_[cluster] = std::move(source);
    } else {
      if (cache->HasSynced()) {
        // The end of the initial events waits only for clusters that had been read when the watch
        // began.
        source.counts = !joins;
        started = Start(source);
        // Without room it is begun later, by TakeFrom; a new client gets the error instead.
        if (joins && source.waits) started = absl::OkStatus();
      }
      // The cluster's cache may have been replaced since the caller took this one.
      auto newer = sources_.extract(cluster);
      if (!newer.empty()) successors_.try_emplace(cluster, std::move(newer.mapped()));
      sources_[cluster] = std::move(source);
    }
  }
  if (joins) CallReady();
  return started;
}

void MergedWatch::Begin() {
  {
    absl::MutexLock lock(&mu_);
    began_ = true;
  }
  CallReady();
}

absl::Status MergedWatch::Start(Source& source) {
  // The client continues: the history answers, or the error that tells it to list again.
  if (source.continue_after >= 0) {
    source.waits = false;
    ASSIGN_OR_RETURN(source.position,
                     source.cache->PositionAfter(source.continue_after, source.narrowings));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const WatchCache::Snapshot snapshot, source.cache->Read({.ns = request_.ns}));
  if (request_.hold) {
    source.held = request_.hold(snapshot.objects->size());
    if (source.held == nullptr) return absl::ResourceExhaustedError("no room for the objects");
  }
  source.waits = false;
  std::vector<ObjectPtr> objects = *snapshot.objects;
  std::sort(objects.begin(), objects.end(), [](const ObjectPtr& a, const ObjectPtr& b) {
    return kube::ResourceVersionOf(*a) < kube::ResourceVersionOf(*b);
  });
  source.initial = std::make_shared<const std::vector<ObjectPtr>>(std::move(objects));
  source.version_of_initial = snapshot.version;
  source.position = snapshot.position;
  return absl::OkStatus();
}

void MergedWatch::Batch::Add(MergedEvent event) {
  if (event.object != nullptr) bytes += kube::Encoded(*event.object).text_bytes();
  events.push_back(std::move(event));
  --room;
}

bool MergedWatch::Take(size_t limit, Events& events) {
  absl::MutexLock lock(&mu_);
  ready_ = false;
  if (!began_) return true;
  waits_for_room_ = false;
  Batch batch{events, limit};
  // Twice round: from behind the last source to the end, and from the beginning to it.
  std::vector<std::string> round;
  for (auto it = sources_.upper_bound(last_cluster_); it != sources_.end(); ++it) {
    round.push_back(it->first);
  }
  for (auto it = sources_.begin(); it != sources_.upper_bound(last_cluster_); ++it) {
    round.push_back(it->first);
  }
  for (const std::string& cluster : round) {
    if (over_ || batch.IsFull()) break;
    last_cluster_ = cluster;
    bool again = true;
    while (again && !over_ && !batch.IsFull()) {
      const absl::StatusOr<bool> drained = TakeFrom(cluster, sources_[cluster], batch);
      if (!drained.ok()) {
        over_ = true;
        status_ = drained.status();
      }
      again = drained.ok() && *drained && sources_[cluster].cache->closed() && Leave(cluster);
    }
  }
  if (!over_ && !batch.IsFull()) AddBookmarks(batch);
  if (clock_.SteadyNow() >= end_) over_ = true;
  return !over_;
}

bool MergedWatch::Leave(const std::string& cluster) {
  // The cluster is not in what the client continues from; should it join again, the client gets all
  // its objects.
  version_.Set(cluster, "");
  sources_.erase(cluster);
  auto successor = successors_.extract(cluster);
  if (successor.empty()) return false;
  sources_[cluster] = std::move(successor.mapped());
  return true;
}

absl::StatusOr<bool> MergedWatch::TakeFrom(const std::string& cluster, Source& source,
                                           Batch& batch) {
  // Read before the events: what is written until it is closed is then taken too.
  const bool closed = source.cache->closed();
  if (source.waits) {
    if (!source.cache->HasSynced()) return closed;
    const absl::Status started = Start(source);
    if (source.waits && absl::IsResourceExhausted(started)) {
      waits_for_room_ = true;
      return closed;
    }
    RETURN_IF_ERROR(started);
  }
  if (source.initial != nullptr) {
    TakeInitial(cluster, source, batch);
    if (source.initial != nullptr) return false;
  }
  std::vector<WatchCache::Event> news;
  while (!batch.IsFull()) {
    news.clear();
    int64_t complete = -1;
    RETURN_IF_ERROR(source.cache->ReadEvents(source.position, 1, news, complete));
    for (const WatchCache::Event& event : news) {
      // A client may continue at a version that this process has not seen yet.
      if (event.IsSeenAt(source.continue_after)) continue;
      // A client that came from within a step stays where it was until the step is over.
      AddEvent(cluster, event, std::max(event.resume_version, source.continue_after), batch);
    }
    if (complete < 0) continue;
    if (complete > version_.Number(cluster)) version_.Set(cluster, complete);
    return closed;
  }
  return false;
}

void MergedWatch::TakeInitial(const std::string& cluster, Source& source, Batch& batch) {
  const std::vector<ObjectPtr>& objects = *source.initial;
  while (source.next_initial < objects.size() && !batch.IsFull()) {
    const ObjectPtr& object = objects[source.next_initial++];
    if (!Selects(object)) continue;
    version_.Set(cluster, kube::ResourceVersionOf(*object));
    batch.Add({Type::kAdded, cluster, object, version_.ToString()});
  }
  if (source.next_initial < objects.size()) return;
  version_.Set(cluster, source.version_of_initial);
  source.initial = nullptr;
  source.held = nullptr;
}

bool MergedWatch::Selects(const ObjectPtr& object) const {
  if (object == nullptr) return false;
  if (!request_.ns.empty() && object->ns() != request_.ns) return false;
  return request_.filter.empty() || request_.filter.Matches(kube::Encoded(*object));
}

void MergedWatch::AddEvent(const std::string& cluster, const WatchCache::Event& event,
                           int64_t resume_version, Batch& batch) {
  const bool before = Selects(event.before);
  const bool after = Selects(event.after);
  if (after) {
    // The version of the object itself, so that a write that carries it can be checked; it differs
    // from the event's for old objects that have come into the scope, and at the end of a step.
    version_.Set(cluster, kube::ResourceVersionOf(*event.after));
    batch.Add({before ? Type::kModified : Type::kAdded, cluster, event.after, version_.ToString()});
  } else if (before) {
    version_.Set(cluster, resume_version);
    batch.Add({Type::kDeleted, cluster, event.before, version_.ToString()});
  }
  version_.Set(cluster, resume_version);
}

void MergedWatch::AddBookmarks(Batch& batch) {
  if (!InitialEventsAreOver()) return;
  const base::SteadyTime now = clock_.SteadyNow();
  const bool end_of_initial = std::exchange(end_of_initial_is_due_, false);
  const bool periodic = now >= next_bookmark_;
  if (periodic) next_bookmark_ = NextBookmark(now, end_);
  if (!request_.bookmarks || (!end_of_initial && !periodic)) return;
  if (!end_of_initial && version_.empty()) return;
  MergedEvent bookmark;
  bookmark.version = version_.ToString();
  bookmark.initial_events_end = end_of_initial;
  batch.Add(std::move(bookmark));
}

bool MergedWatch::InitialEventsAreOver() const {
  return std::all_of(sources_.begin(), sources_.end(), [](const auto& entry) {
    const Source& source = entry.second;
    return !source.counts || (!source.waits && source.initial == nullptr);
  });
}

absl::Status MergedWatch::status() const {
  absl::MutexLock lock(&mu_);
  return status_;
}

void MergedWatch::Stop() {
  absl::MutexLock lock(&mu_);
  on_ready_ = nullptr;
  over_ = true;
}

void MergedWatch::OnChange() { CallReady(); }

void MergedWatch::OnTime() {
  const base::SteadyTime now = clock_.SteadyNow();
  {
    absl::MutexLock lock(&mu_);
    const bool bookmark = request_.bookmarks && now >= next_bookmark_;
    if (!bookmark && !waits_for_room_ && now < end_) return;
  }
  CallReady();
}

void MergedWatch::CallReady() {
  // Called without mu_, because it may run the reader on this thread, which takes the events.
  std::function<void()> on_ready;
  {
    absl::MutexLock lock(&mu_);
    if (over_ || ready_ || !began_) return;
    // Until the next Take, so that many events wake the reader once.
    ready_ = true;
    on_ready = on_ready_;
  }
  if (on_ready) on_ready();
}

}  // namespace search
