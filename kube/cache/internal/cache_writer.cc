// The queue holds changes, and actions of our own that must happen between changes: the replay for
// a new handler, whose snapshot is taken under the same lock that determines its place in the
// queue, the objects of a resync, and the end of the first list, which counts only once its
// handlers have run. An object that another of the same name has replaced is reported as a deletion
// and an addition.
//
// A list is applied object by object. EndList deletes what the list did not contain, except what is
// newer than the list, which has come in the meantime. When the server went back to an earlier
// state, versions say nothing, and everything that was not listed is removed.
//
// A list may run beside the watch, or fail half-way. Until the watch has reached the version of the
// list, or the list has ended, the store is a mixture of two states, and no progress is reported
// (mixed_until_). Events that come after the end of a list although it has shown them are left out
// (listed_): an object may have come and gone before the list, which has no trace of it.
//
// The thread that dispatches may be a worker whose write was answered; it goes on until the queue
// is empty, and its key stays held meanwhile. Nobody relieves it. Changes come from the thread of
// all watches above all, which must not wait for a handler, because a handler may close a watch and
// wait for that thread; and a pool would let the handlers wait for the lane of a slow server.
//
// Stop drops the changes that have not been reported.

#include "kube/cache/internal/cache_writer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/hash/hash.h"
#include "base/stop_flag.h"
#include "kube/cache/internal/version_number.h"
#include "kube/cache/read_scope.h"

namespace kube::internal {
namespace {

bool WantsResyncs(const EventHandler& handler) { return static_cast<bool>(handler.on_resync); }

}  // namespace

int64_t CacheWriter::AddHandler(EventHandler handler) {
  int64_t id;
  {
    absl::MutexLock lock(&mu_);
    if (stopped_) return 0;  // Of no handler.
    if (handler.on_progress) reports_progress_ = true;
    id = delivery_.Add(std::move(handler));
    // Changes queued before this one are in the snapshot, later ones follow the replay.
    delivery_.Queue({.action = [this, id, contents = Contents{store_.List(), ReportedProgress()}] {
      Replay(id, contents);
    }});
  }
  Dispatch();
  if (delivery_.DeliversHere()) return id;
  absl::MutexLock lock(&mu_);
  const auto replayed = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return last_replayed_ >= id || stopped_;
  };
  mu_.Await(absl::Condition(&replayed));
  return id;
}

void CacheWriter::RemoveHandler(int64_t id) { delivery_.Remove(id); }

void CacheWriter::Resync() {
  {
    absl::MutexLock lock(&mu_);
    if (stopped_ || delivery_.Joined(WantsResyncs).empty()) return;
    delivery_.Queue({.action = [this, objects = store_.List()] { CallOnResync(objects); }});
  }
  Dispatch();
}

void CacheWriter::CallOnResync(const std::vector<ObjectPtr>& objects) {
  for (const int64_t id : delivery_.Joined(WantsResyncs)) {
    // A handler that is removed meanwhile gets no more of the objects.
    for (const ObjectPtr& object : objects) {
      const auto call = [&](const EventHandler& handler) { handler.on_resync(object); };
      if (!delivery_.Call(id, call)) break;
    }
  }
}

void CacheWriter::Apply(ObjectPtr object, const Progress& reached) {
  {
    absl::MutexLock lock(&mu_);
    ObjectPtr before;
    if (stopped_) return;
    if (!WasListed(reached) && store_.Put(object, &before)) {
      Note(std::move(before), std::move(object), false);
    }
    NoteProgress(reached);
  }
  Dispatch();
}

void CacheWriter::Reach(const Progress& reached) {
  {
    absl::MutexLock lock(&mu_);
    if (stopped_) return;
    NoteProgress(reached);
  }
  Dispatch();
}

void CacheWriter::NoteProgress(const Progress& reached) {
  if (reached.version < 0) return;
  progress_ = {std::max(reached.version, progress_.version), reached.at};
  const int64_t reported = ReportedProgress();
  if (reports_progress_ && reported >= 0) delivery_.Queue({.reached = reported});
}

Progress CacheWriter::progress() const {
  absl::MutexLock lock(&mu_);
  return progress_;
}

void CacheWriter::Note(ObjectPtr before, ObjectPtr after, bool initial) {
  if (before != nullptr && before->uid() != after->uid()) {
    delivery_.Queue({.before = std::move(before)});
    before = nullptr;
  }
  delivery_.Queue({.before = std::move(before), .after = std::move(after), .initial = initial});
}

void CacheWriter::Delete(ObjectPtr last, const Progress& reached) {
  {
    absl::MutexLock lock(&mu_);
    if (stopped_) return;
    if (!WasListed(reached) && store_.Remove(last->key(), last.get()) != nullptr) {
      delivery_.Queue({.before = std::move(last)});
    }
    NoteProgress(reached);
  }
  Dispatch();
}

void CacheWriter::DeleteForGood(const ObjectKey& key, absl::string_view uid) {
  {
    absl::MutexLock lock(&mu_);
    const ObjectPtr held = stopped_ ? nullptr : store_.Find(key);
    if (held == nullptr || (!uid.empty() && held->uid() != uid)) return;
    delivery_.Queue({.before = store_.Remove(key, nullptr)});
  }
  Dispatch();
}

CacheWriter::Listing CacheWriter::BeginList() const {
  Listing listing;
  listing.mark = store_.BeginList();
  listing.initial = !HasSynced();
  return listing;
}

void CacheWriter::HoldProgress() {
  absl::MutexLock lock(&mu_);
  mixed_until_ = std::numeric_limits<int64_t>::max();
}

void CacheWriter::NoteListed(const ObjectKey& key, Listing& listing) {
  listing.seen.insert(absl::HashOf(key));
}

void CacheWriter::ApplyListed(ObjectPtr object, Listing& listing) {
  NoteListed(object->key(), listing);
  {
    absl::MutexLock lock(&mu_);
    ObjectPtr before;
    const int64_t version = NumberOf(listing.version);
    if (stopped_) return;
    mixed_until_ = std::max({mixed_until_, version, listing.latest});
    if (!store_.PutListed(object, listing.mark, version, &before)) return;
    Note(std::move(before), std::move(object), listing.initial);
  }
  Dispatch();
}

size_t CacheWriter::EndList(const Listing& listing, base::SteadyTime now) {
  size_t removed = 0;
  const int64_t version = NumberOf(listing.version);
  const bool ordered = version >= 0 && !Store::WentBack(listing.mark, version);
  {
    absl::MutexLock lock(&mu_);
    if (stopped_) return 0;
    for (const ObjectPtr& held : store_.List()) {
      if (listing.seen.contains(absl::HashOf(held->key()))) continue;
      if (ordered && ResourceVersionOf(*held) > version) continue;
      Object gone = *held;
      // When the server went back, the held version is the higher one, and must be removed all the
      // same.
      gone.Set({"metadata", "resourceVersion"}, ordered ? listing.version : "");
      store_.Remove(held->key(), &gone);
      ++removed;
      delivery_.Queue({.before = held});
    }
    store_.EndList(listing.mark, version);
    // Progress decreases only with the server's.
    if (!ordered) progress_.version = -1;
    mixed_until_ = std::max(version, listing.latest);
    listed_ = version;
    NoteProgress({version, now});
  }
  Dispatch();
  return removed;
}

void CacheWriter::DropAll() {
  {
    absl::MutexLock lock(&mu_);
    if (stopped_) return;
    for (ObjectPtr& held : store_.List()) delivery_.Queue({.before = std::move(held)});
    store_.Clear();
    mixed_until_ = listed_;
  }
  Dispatch();
}

void CacheWriter::MarkSynced() {
  {
    absl::MutexLock lock(&mu_);
    if (synced_ || stopped_) return;
    delivery_.Queue({.action = [this] { Settle(&CacheWriter::synced_); }});
  }
  Dispatch();
}

void CacheWriter::Settle(bool CacheWriter::*flag) {
  std::vector<std::function<void()>> asked;
  {
    absl::MutexLock lock(&mu_);
    this->*flag = true;
    asked.swap(asked_);
  }
  for (const std::function<void()>& call : asked) call();
}

void CacheWriter::CallWhenSettled(std::function<void()> call) {
  {
    absl::MutexLock lock(&mu_);
    if (!synced_ && !stopped_) return asked_.push_back(std::move(call));
  }
  call();
}

bool CacheWriter::HasSynced() const {
  absl::MutexLock lock(&mu_);
  return synced_;
}

bool CacheWriter::AwaitSynced(const base::Clock& clock, base::SteadyTime deadline,
                              const base::StopToken& stop) const {
  const base::StopFlag cancelled(mu_, stop);
  absl::MutexLock lock(&mu_);
  const auto settled = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return synced_ || stopped_ || cancelled.IsSet();
  };
  clock.AwaitUntil(mu_, absl::Condition(&settled), deadline);
  return synced_;
}

void CacheWriter::Stop() {
  Settle(&CacheWriter::stopped_);
  delivery_.Stop();
}

void CacheWriter::Dispatch() {
  const ReadScope::Pause pause;
  delivery_.Deliver([this](const Change& change) {
    if (change.action) {
      change.action();
    } else {
      Notify(change);
    }
  });
}

void CacheWriter::Replay(int64_t id, const Contents& contents) {
  delivery_.Join(id);
  for (const ObjectPtr& object : contents.objects) {
    const bool is_there = delivery_.Call(id, [&](const EventHandler& handler) {
      if (handler.on_add) handler.on_add(object, true);
    });
    if (!is_there) break;
  }
  if (contents.reached >= 0) {
    delivery_.Call(id, [&](const EventHandler& handler) {
      if (handler.on_progress) handler.on_progress(contents.reached);
    });
  }
  absl::MutexLock lock(&mu_);
  last_replayed_ = id;
}

void CacheWriter::Notify(const Change& change) {
  delivery_.CallAll([&](const EventHandler& handler) {
    if (change.reached >= 0) {
      if (handler.on_progress) handler.on_progress(change.reached);
    } else if (change.before == nullptr) {
      if (handler.on_add) handler.on_add(change.after, change.initial);
    } else if (change.after == nullptr) {
      if (handler.on_delete) handler.on_delete(change.before);
    } else if (handler.on_update) {
      handler.on_update(change.before, change.after);
    }
  });
}

}  // namespace kube::internal
