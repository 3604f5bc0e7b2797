// Handlers of the informer only collect changes (pending). OnProgress makes a step of them: the net
// change of each object is put into the table and the history in the order of versions, all under
// one lock, and observers are called without it.
//
// Which versions the events of a step have: see internal/cache_step.h.
//
// A progress below the last one means that the server went back, and so does an object that has
// become what it was at an earlier version. The history then cannot be continued by anybody: it is
// reset, so that watchers end with kOutOfRange and list again. So do those that come with a version
// that was seen before and that the server has not reached again.
//
// Attach replaces the informer: its first list has everything, so what the table has and the list
// has not is deleted in the step that the list ends (replacing). An object that both have in the
// same version is taken from the list without an event: otherwise the table would keep a second
// copy of everything that the new informer's store holds.

#include "kube/cache/watch_cache.h"

#include <algorithm>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/status.h"
#include "kube/cache/internal/cache_step.h"
#include "kube/cache/internal/event_history.h"
#include "kube/cache/internal/ordered_objects.h"

namespace kube {
namespace {

using internal::EventHistory;
using internal::KeyView;
using internal::OrderedObjects;

using Event = WatchCache::Event;
using Objects = std::vector<ObjectPtr>;

}  // namespace

struct WatchCache::Impl {
  Impl(const base::Clock& clock, Options options)
      : clock(clock),
        options(std::move(options)),
        history(this->options.history, this->options.history_bytes) {}

  using Observers = std::vector<std::weak_ptr<Observer>>;

  const base::Clock& clock;
  const Options options;

  mutable absl::Mutex attach_mu;  // Held while informers are exchanged, never in a handler.
  std::shared_ptr<Informer> informer ABSL_GUARDED_BY(attach_mu);
  int64_t handler ABSL_GUARDED_BY(attach_mu) = 0;

  mutable absl::Mutex mu;
  std::shared_ptr<Informer> source ABSL_GUARDED_BY(mu);  // The same, for readers.
  OrderedObjects objects ABSL_GUARDED_BY(mu);
  EventHistory history ABSL_GUARDED_BY(mu);
  Progress progress ABSL_GUARDED_BY(mu);
  int64_t highest ABSL_GUARDED_BY(mu) = -1;  // Higher than the progress when the server went back.
  mutable std::weak_ptr<const Objects> all ABSL_GUARDED_BY(mu);  // At the present version.
  bool closed ABSL_GUARDED_BY(mu) = false;

  // There may be many observers, and each event passes through all of them, so readers do not wait
  // for that. It is locked without mu.
  mutable absl::Mutex observers_mu;
  Observers observers ABSL_GUARDED_BY(observers_mu);

  // Only handlers use these, one at a time.
  internal::PendingChanges pending;
  bool replacing = true;  // True until the first list of a new informer has ended.

  void Note(const ObjectPtr& object, bool deleted) {
    // What is not pending at the end of a first list is gone. A list that does not fit into the
    // memory takes all back, and must not stay here.
    if (deleted && replacing) {
      pending.erase(object->key());
      return;
    }
    internal::PendingChange& change = pending[object->key()];
    change.last = object;
    change.deleted = deleted;
  }

  std::shared_ptr<Informer> Source() const ABSL_LOCKS_EXCLUDED(mu) {
    absl::ReaderMutexLock lock(&mu);
    return source;
  }
  void OnProgress(int64_t version);
  void Apply(const std::vector<Event>& events, bool keep) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Takes objects out that the server has not deleted.
  void TakeOut(const Objects& gone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Shares with the informer's store the pending objects that are equal to those of the table.
  void ShareEqualObjects() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void Announce(const std::vector<Event>& events, bool synced) ABSL_LOCKS_EXCLUDED(mu);
  void CallObservers() ABSL_LOCKS_EXCLUDED(mu, observers_mu);
  void DropGoneObservers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(observers_mu) {
    const auto gone = [](const auto& observer) { return observer.expired(); };
    observers.erase(std::remove_if(observers.begin(), observers.end(), gone), observers.end());
  }

  absl::Status CheckReached(int64_t version) const ABSL_SHARED_LOCKS_REQUIRED(mu);
  Snapshot ReadAll() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  absl::StatusOr<OrderedObjects::Page> ReadPast(const OrderedObjects::Selection& selection,
                                                int64_t version) const
      ABSL_SHARED_LOCKS_REQUIRED(mu);
};

void WatchCache::Impl::OnProgress(int64_t version) {
  std::vector<Event> events;
  bool synced = false;
  {
    absl::MutexLock lock(&mu);
    if (closed) return;
    const bool first = progress.version < 0;
    synced = std::exchange(replacing, false);
    const bool went_back =
        version < progress.version ||
        (!synced && internal::ShowsEarlierState(objects, pending, progress.version));
    if (synced) {
      // try_emplace leaves what the list has delivered: only the rest counts as deleted.
      for (const ObjectPtr& object : objects.All()) {
        pending.try_emplace(object->key(), internal::PendingChange{object, true});
      }
    }
    events = internal::StepEvents(objects, pending, {progress.version, version});
    Apply(events, !first && !went_back);
    if (synced) ShareEqualObjects();
    if (first || went_back) history.Reset(version);
    progress = {version, clock.SteadyNow()};
    highest = std::max(highest, version);
    history.Trim(progress.at);
  }
  pending.clear();
  Announce(events, synced);
}

void WatchCache::Impl::Apply(const std::vector<Event>& events, bool keep) {
  if (!events.empty()) all.reset();
  for (const Event& event : events) {
    if (event.after == nullptr) {
      objects.Erase(KeyView(event.before));
    } else {
      objects.Put(event.after);
    }
    if (keep) history.Add(event, clock.SteadyNow());
  }
}

void WatchCache::Impl::TakeOut(const Objects& gone) {
  std::vector<Event> events;
  for (const ObjectPtr& object : gone) {
    events.push_back({.before = object,
                      .version = progress.version,
                      .resume_version = progress.version,
                      .belated = true,
                      .by_close = true});
  }
  Apply(events, true);
}

void WatchCache::Impl::ShareEqualObjects() {
  for (const auto& [key, change] : pending) {
    const ObjectPtr held = change.deleted ? nullptr : objects.Find(KeyView(change.last));
    if (held == nullptr || held == change.last) continue;
    all.reset();  // Readers share the former objects as long as they have them.
    objects.Put(change.last);
  }
}

void WatchCache::Impl::Announce(const std::vector<Event>& events, bool synced) {
  if (options.on_event) {
    for (const Event& event : events) options.on_event(event);
  }
  if (synced && options.on_synced) options.on_synced();
  if (synced || !events.empty()) CallObservers();
}

void WatchCache::Impl::CallObservers() {
  Observers called;
  {
    absl::MutexLock lock(&observers_mu);
    DropGoneObservers();
    called = observers;
  }
  for (const auto& weak : called) {
    if (const std::shared_ptr<Observer> observer = weak.lock()) observer->OnChange();
  }
}

WatchCache::Snapshot WatchCache::Impl::ReadAll() const {
  std::shared_ptr<const Objects> shared = all.lock();
  if (shared == nullptr) shared = std::make_shared<const Objects>(objects.All());
  // It is kept weakly: once no reader holds the list, its memory is free.
  all = shared;
  return {std::move(shared), progress.version, 0, history.end()};
}

// Undoes the events since the version: the state then of an object that has changed is the `before`
// of its first event since.
absl::StatusOr<OrderedObjects::Page> WatchCache::Impl::ReadPast(
    const OrderedObjects::Selection& selection, int64_t version) const {
  RETURN_IF_ERROR(CheckReached(version));
  OrderedObjects::Former former;
  const KeyView from(selection.from);
  RETURN_IF_ERROR(history.Since(version, [&](const Event& event) {
    const KeyView key(internal::StateOf(event));
    if (internal::CompareKeys(key, from) < 0) return;
    former.try_emplace(key, event.before);
  }));
  return objects.ReadFormer(selection, former);
}

absl::Status WatchCache::Impl::CheckReached(int64_t version) const {
  if (version <= progress.version) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat("resource version ", version, " has not been reached: ", progress.version));
}

WatchCache::WatchCache(const base::Clock& clock, Options options)
    : impl_(std::make_unique<Impl>(clock, std::move(options))) {}

WatchCache::~WatchCache() { Detach(); }

void WatchCache::Attach(std::shared_ptr<Informer> informer) {
  Detach();
  Impl* impl = impl_.get();
  absl::MutexLock lock(&impl->attach_mu);
  {
    absl::MutexLock source_lock(&impl->mu);
    if (impl->closed) return;
    impl->source = informer;
  }
  impl->pending.clear();
  impl->replacing = true;
  EventHandler handler;
  handler.on_add = [impl](const ObjectPtr& object, bool) { impl->Note(object, false); };
  handler.on_update = [impl](const ObjectPtr&, const ObjectPtr& after) {
    impl->Note(after, false);
  };
  handler.on_delete = [impl](const ObjectPtr& last) { impl->Note(last, true); };
  handler.on_progress = [impl](int64_t version) { impl->OnProgress(version); };
  impl->handler = informer->AddHandler(std::move(handler));
  impl->informer = std::move(informer);
}

void WatchCache::Detach() {
  absl::MutexLock lock(&impl_->attach_mu);
  if (impl_->informer == nullptr) return;
  impl_->informer->RemoveHandler(impl_->handler);
  impl_->informer = nullptr;
  absl::MutexLock source_lock(&impl_->mu);
  impl_->source = nullptr;
}

void WatchCache::KeepOnly(const std::set<std::string>& namespaces) {
  Detach();
  {
    absl::MutexLock lock(&impl_->mu);
    Objects outside;
    for (ObjectPtr& object : impl_->objects.All()) {
      if (!namespaces.contains(std::string(object->ns()))) outside.push_back(std::move(object));
    }
    impl_->TakeOut(outside);
    impl_->history.Narrow(impl_->progress.version);
  }
  impl_->CallObservers();
}

int WatchCache::NarrowingsAt(int64_t version) const {
  absl::ReaderMutexLock lock(&impl_->mu);
  return impl_->history.NarrowingsAt(version);
}

void WatchCache::Close() {
  Detach();
  {
    absl::MutexLock lock(&impl_->mu);
    if (std::exchange(impl_->closed, true)) return;
    // These are for watchers that follow now; nobody can find a closed cache to continue.
    impl_->TakeOut(impl_->objects.All());
  }
  impl_->CallObservers();
}

bool WatchCache::HasSynced() const { return progress().version >= 0; }

bool WatchCache::closed() const {
  absl::ReaderMutexLock lock(&impl_->mu);
  return impl_->closed;
}

Progress WatchCache::progress() const {
  absl::ReaderMutexLock lock(&impl_->mu);
  return impl_->progress;
}

absl::Status WatchCache::last_error() const {
  const std::shared_ptr<Informer> source = impl_->Source();
  return source == nullptr ? absl::UnavailableError("not connected") : source->last_error();
}

void WatchCache::CatchUp() {
  if (const std::shared_ptr<Informer> source = impl_->Source()) source->CatchUp();
}

void WatchCache::AskState(const ObjectKey& about, Informer::StateFn done) {
  const std::shared_ptr<Informer> source = impl_->Source();
  if (source == nullptr) return done(absl::UnavailableError("not connected"));
  source->AskState(about, std::move(done));
}

bool WatchCache::AwaitVersion(int64_t version, base::SteadyTime deadline) const {
  const auto reached = [&]() ABSL_SHARED_LOCKS_REQUIRED(impl_->mu) {
    return impl_->progress.version >= version || impl_->closed;
  };
  absl::MutexLock lock(&impl_->mu);
  impl_->clock.AwaitUntil(impl_->mu, absl::Condition(&reached), deadline);
  return impl_->progress.version >= version;
}

bool WatchCache::AwaitSynced(base::SteadyTime deadline) const { return AwaitVersion(0, deadline); }

size_t WatchCache::size() const {
  absl::ReaderMutexLock lock(&impl_->mu);
  return impl_->objects.size();
}

size_t WatchCache::history_bytes() const {
  absl::ReaderMutexLock lock(&impl_->mu);
  return impl_->history.bytes();
}

ObjectPtr WatchCache::Find(const ObjectKey& key) const {
  absl::ReaderMutexLock lock(&impl_->mu);
  return impl_->objects.Find(KeyView(key));
}

absl::StatusOr<WatchCache::Snapshot> WatchCache::Read(const Range& range) const {
  const bool everything = range.ns.empty() && range.from == ObjectKey() && range.limit == 0;
  if (everything && range.version < 0) {
    absl::MutexLock lock(&impl_->mu);
    return impl_->ReadAll();
  }
  const OrderedObjects::Selection selection{range.ns, range.from, range.limit};
  Snapshot snapshot;
  absl::ReaderMutexLock lock(&impl_->mu);
  const bool past = range.version >= 0 && range.version != impl_->progress.version;
  absl::StatusOr<OrderedObjects::Page> page =
      past ? impl_->ReadPast(selection, range.version) : impl_->objects.Read(selection);
  if (!page.ok()) return page.status();
  snapshot.objects = std::make_shared<const Objects>(std::move(page->objects));
  snapshot.version = past ? range.version : impl_->progress.version;
  snapshot.remaining = page->remaining;
  snapshot.position = impl_->history.end();
  return snapshot;
}

absl::StatusOr<WatchCache::Count> WatchCache::CountAt(absl::string_view ns, int64_t version) const {
  absl::ReaderMutexLock lock(&impl_->mu);
  auto count = static_cast<int64_t>(impl_->objects.size(ns));
  // The present needs no history, which a narrowing has ended.
  if (version < 0 || version == impl_->progress.version) {
    return Count{static_cast<size_t>(count), impl_->progress.version};
  }
  RETURN_IF_ERROR(impl_->CheckReached(version));
  RETURN_IF_ERROR(impl_->history.Since(version, [&](const Event& event) {
    if (!ns.empty() && internal::StateOf(event)->ns() != ns) return;
    count += static_cast<int64_t>(event.before != nullptr);
    count -= static_cast<int64_t>(event.after != nullptr);
  }));
  return Count{static_cast<size_t>(count), version};
}

absl::StatusOr<uint64_t> WatchCache::PositionAfter(int64_t version, int narrowings) const {
  absl::ReaderMutexLock lock(&impl_->mu);
  // A watcher would skip everything until the server has reached this version again.
  if (version > impl_->progress.version && version <= impl_->highest) {
    return absl::OutOfRangeError(
        absl::StrCat("resource version ", version,
                     " is of a state that the server has abandoned: ", impl_->progress.version));
  }
  return impl_->history.PositionAfter(version, narrowings);
}

absl::Status WatchCache::ReadEvents(uint64_t& position, size_t limit, std::vector<Event>& events,
                                    int64_t& complete) const {
  absl::ReaderMutexLock lock(&impl_->mu);
  const absl::Status read = impl_->history.Read(position, limit, events);
  if (!read.ok()) return read;
  if (position == impl_->history.end()) complete = impl_->progress.version;
  return absl::OkStatus();
}

void WatchCache::AddObserver(const std::weak_ptr<Observer>& observer) {
  absl::MutexLock lock(&impl_->observers_mu);
  // Here too, because a resource that never changes has watches that come and go.
  impl_->DropGoneObservers();
  impl_->observers.push_back(observer);
}

}  // namespace kube
