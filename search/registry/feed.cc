// The feed's thread lists, watches from the revision of the list, and lists again once a period.
// The periodic list does three things: its revision becomes a bookmark, it brings differences that
// the watch should have delivered (a server that is cut off from its cluster keeps a watch open and
// silent), and it finds out that the storage does not answer. Each event at or below the revision
// of the last list is known already and dropped.
//
// Changes are queued, under the lock, in the order in which subscribers get them, each for one
// subscriber, and delivered without it (base/ordered_delivery.h).

#include "search/registry/feed.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "base/json_size.h"
#include "base/log.h"
#include "base/ordered_delivery.h"
#include "base/status.h"
#include "base/stop_flag.h"

namespace search {
namespace {

constexpr int kMaxPauseFactor = 16;
// Registries may have megabytes each, and 1,000 changes of them are kept.
constexpr size_t kMaxHistoryBytes = 16 << 20;

// Returns what is counted of a change that is kept; the state before was that of another one.
size_t BytesOf(const FeedEvent& event) { return json::MemoryOf(event.object->root()); }

// An event, and the subscriber that it is for.
struct Delivery {
  int64_t to = 0;
  FeedEvent event;
};

}  // namespace

struct RegistryFeed::Impl : RegistryWatchHandler {
  Impl(RegistryStore& store, const base::Clock& clock, Options options)
      : store_(store), clock_(clock), options_(options) {}

  // Of the watch.
  void OnEvent(const RegistryEvent& event) override {
    {
      absl::MutexLock lock(&mu_);
      if (event.type == RegistryEvent::Type::kBookmark) {
        QueueBookmark(event.revision);
      } else if (event.revision > revision_) {
        const bool deleted = event.type == RegistryEvent::Type::kDeleted;
        Apply(event.object, deleted, event.revision);
      }
    }
    Deliver();
  }
  void OnEnd(absl::Status status) override {
    absl::MutexLock lock(&mu_);
    watch_ended_ = true;
    watch_end_ = std::move(status);
  }

  absl::Status NotSynced() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return absl::UnavailableError(
        absl::StrCat("ResourceRegistries have not been read yet: ", error_.message()));
  }
  void Run(const base::StopToken& stop);
  // Lists; returns whether the list had anything that the feed had not.
  absl::StatusOr<bool> Relist(const base::StopToken& stop);
  // Watches until the watch ends or is found to be stuck, or until stopped.
  absl::Status Follow(const base::StopToken& stop);

  void Apply(const kube::ObjectPtr& object, bool deleted, int64_t revision)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns whether the list had anything that the feed had not. `before` is the revision that the
  // feed had when the list was requested.
  bool ApplyListing(const RegistryStore::Listing& listing, int64_t before)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Record(FeedEvent event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void QueueBookmark(int64_t revision) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void QueueForAll(const FeedEvent& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void QueueFor(int64_t id, FeedEvent event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    delivery_.Queue({id, std::move(event)});
  }
  void Deliver() ABSL_LOCKS_EXCLUDED(mu_);

  RegistryStore& store_;
  const base::Clock& clock_;
  const Options options_;
  base::OrderedDelivery<Delivery, Sink> delivery_;
  std::vector<std::string> unreadable_;  // Of the last list; used by Run's thread only.

  mutable absl::Mutex mu_;
  bool synced_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status error_ ABSL_GUARDED_BY(mu_) = absl::UnavailableError("nothing has been read yet");
  std::map<std::string, kube::ObjectPtr> objects_ ABSL_GUARDED_BY(mu_);
  int64_t revision_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<FeedEvent> history_ ABSL_GUARDED_BY(mu_);
  int64_t history_start_ ABSL_GUARDED_BY(mu_) = 0;  // history_ has all changes after it.
  size_t history_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool watch_ended_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status watch_end_ ABSL_GUARDED_BY(mu_);
  // By subscriber, the revision up to which events are not for it.
  std::map<int64_t, int64_t> since_ ABSL_GUARDED_BY(mu_);
};

void RegistryFeed::Impl::Deliver() {
  delivery_.Deliver([this](const Delivery& next) {
    delivery_.Call(next.to, [&](const Sink& sink) { sink(next.event); });
  });
}

void RegistryFeed::Impl::QueueForAll(const FeedEvent& event) {
  for (const auto& [id, since] : since_) {
    if (event.revision > since) QueueFor(id, event);
  }
}

void RegistryFeed::Impl::QueueBookmark(int64_t revision) {
  revision_ = std::max(revision_, revision);
  QueueForAll({FeedEvent::Type::kBookmark, nullptr, nullptr, revision_});
}

void RegistryFeed::Impl::Record(FeedEvent event) {
  QueueForAll(event);
  history_bytes_ += BytesOf(event);
  history_.push_back(std::move(event));
  while (history_.size() > options_.history || history_bytes_ > kMaxHistoryBytes) {
    history_start_ = history_.front().revision;
    history_bytes_ -= BytesOf(history_.front());
    history_.pop_front();
  }
}

void RegistryFeed::Impl::Apply(const kube::ObjectPtr& object, bool deleted, int64_t revision) {
  revision_ = std::max(revision_, revision);
  const std::string name(object->name());
  const auto found = objects_.find(name);
  kube::ObjectPtr previous = found == objects_.end() ? nullptr : found->second;
  if (!deleted) {
    objects_[name] = object;
    Record({previous == nullptr ? FeedEvent::Type::kAdded : FeedEvent::Type::kModified, object,
            std::move(previous), revision});
  } else if (previous != nullptr) {
    objects_.erase(found);
    Record({FeedEvent::Type::kDeleted, object, std::move(previous), revision});
  }
}

bool RegistryFeed::Impl::ApplyListing(const RegistryStore::Listing& listing, int64_t before) {
  // The watch has brought something newer while the list was on its way.
  if (before <= listing.revision && listing.revision < revision_) return false;
  // The storage went back to a backup: what was known of its history is void.
  if (listing.revision < revision_) {
    history_.clear();
    history_bytes_ = 0;
    revision_ = listing.revision;
    history_start_ = listing.revision;
    for (auto& [id, since] : since_) since = 0;
  }
  if (!synced_) history_start_ = listing.revision;
  std::vector<kube::ObjectPtr> fresh;
  std::map<std::string, kube::ObjectPtr> gone = objects_;
  for (const kube::ObjectPtr& object : listing.objects) {
    const auto known = gone.find(std::string(object->name()));
    const bool same =
        known != gone.end() && known->second->resource_version() == object->resource_version();
    if (known != gone.end()) gone.erase(known);
    if (!same) fresh.push_back(object);
  }
  // In the order of their revisions, as the watch would have delivered them.
  std::sort(fresh.begin(), fresh.end(), [](const kube::ObjectPtr& a, const kube::ObjectPtr& b) {
    return kube::ResourceVersionOf(*a) < kube::ResourceVersionOf(*b);
  });
  for (const kube::ObjectPtr& object : fresh) {
    const int64_t own = kube::ResourceVersionOf(*object);
    Apply(object, false, own > revision_ ? own : listing.revision);
  }
  for (const auto& [name, last] : gone) {
    kube::Object final_state = *last;
    final_state.Set({"metadata", "resourceVersion"}, absl::StrCat(listing.revision));
    Apply(kube::Share(std::move(final_state)), true, listing.revision);
  }
  synced_ = true;
  QueueBookmark(listing.revision);
  return !fresh.empty() || !gone.empty();
}

absl::StatusOr<bool> RegistryFeed::Impl::Relist(const base::StopToken& stop) {
  int64_t before = 0;
  {
    absl::MutexLock lock(&mu_);
    before = revision_;
  }
  auto listing = store_.List({}, stop);
  bool changed = false;
  {
    absl::MutexLock lock(&mu_);
    error_ = listing.status();
    if (listing.ok()) changed = ApplyListing(*listing, before);
  }
  RETURN_IF_ERROR(listing.status());
  Deliver();
  if (listing->unreadable != std::exchange(unreadable_, listing->unreadable) &&
      !listing->unreadable.empty()) {
    base::LogWarning("stored values that are not a ResourceRegistry are left out",
                     {{"names", absl::StrJoin(listing->unreadable, ",")}});
  }
  return changed;
}

absl::Status RegistryFeed::Impl::Follow(const base::StopToken& stop) {
  int64_t from = 0;
  {
    absl::MutexLock lock(&mu_);
    watch_ended_ = false;
    from = revision_;
  }
  const std::unique_ptr<RegistryWatch> watch = store_.Watch(from, *this);
  while (true) {
    const base::StopFlag stopped(mu_, stop);
    {
      absl::MutexLock lock(&mu_);
      const auto due = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return stopped.IsSet() || watch_ended_;
      };
      clock_.AwaitUntil(mu_, absl::Condition(&due), clock_.SteadyNow() + options_.bookmark_period);
      if (stopped.IsSet()) return absl::CancelledError("stopped");
      if (watch_ended_) return watch_end_;
    }
    const auto changed = Relist(stop);
    // A watch that did not bring what the list has is not trusted any longer.
    if (changed.ok() && *changed) return absl::OkStatus();
  }
}

void RegistryFeed::Impl::Run(const base::StopToken& stop) {
  int failures = 0;
  while (!stop.stop_requested()) {
    // A list after each break costs little, and shows at once whether the storage answers.
    absl::Status status = Relist(stop).status();
    if (status.ok()) {
      const base::SteadyTime start = clock_.SteadyNow();
      status = Follow(stop);
      if (clock_.SteadyNow() - start >= options_.bookmark_period) failures = 0;
    }
    if (stop.stop_requested()) return;
    if (status.ok()) {
      failures = 0;
    } else {
      if (failures == 0) {
        base::LogWarning("the storage of ResourceRegistries fails", {{"error", status}});
      }
      const absl::MutexLock lock(&mu_);
      if (!absl::IsOutOfRange(status)) error_ = status;
    }
    const int factor = std::min(kMaxPauseFactor, 1 << std::min(failures++, 10));
    clock_.SleepFor(factor * options_.retry_pause, stop);
  }
}

RegistryFeed::RegistryFeed(RegistryStore& store, const base::Clock& clock, Options options)
    : impl_(std::make_unique<Impl>(store, clock, options)) {}
RegistryFeed::~RegistryFeed() = default;

void RegistryFeed::Run(const base::StopToken& stop) { impl_->Run(stop); }

absl::StatusOr<RegistryFeed::Snapshot> RegistryFeed::Current() const {
  absl::MutexLock lock(&impl_->mu_);
  if (!impl_->synced_) return impl_->NotSynced();
  Snapshot out;
  out.revision = impl_->revision_;
  for (const auto& [name, object] : impl_->objects_) out.objects.push_back(object);
  return out;
}

absl::StatusOr<kube::ObjectPtr> RegistryFeed::Find(absl::string_view name) const {
  absl::MutexLock lock(&impl_->mu_);
  if (!impl_->synced_) return impl_->NotSynced();
  const auto found = impl_->objects_.find(std::string(name));
  if (found == impl_->objects_.end()) {
    return absl::NotFoundError(absl::StrCat(name, " is not stored"));
  }
  return found->second;
}

bool RegistryFeed::HasSynced() const {
  absl::MutexLock lock(&impl_->mu_);
  return impl_->synced_;
}

absl::Status RegistryFeed::last_error() const {
  absl::MutexLock lock(&impl_->mu_);
  return impl_->error_;
}

absl::StatusOr<int64_t> RegistryFeed::Subscribe(const Start& start, Sink sink) {
  int64_t id = 0;
  {
    absl::MutexLock lock(&impl_->mu_);
    Impl& feed = *impl_;
    if (!feed.synced_) return feed.NotSynced();
    if (!start.initial && start.since < feed.history_start_) {
      return absl::OutOfRangeError(
          absl::StrCat("too old resource version: ", start.since, " (", feed.history_start_, ")"));
    }
    id = feed.delivery_.Add(std::move(sink));
    feed.since_[id] = start.initial ? 0 : start.since;
    if (start.initial) {
      for (const auto& [name, object] : feed.objects_) {
        feed.QueueFor(id, {FeedEvent::Type::kAdded, object, nullptr, feed.revision_});
      }
      feed.QueueFor(id, {FeedEvent::Type::kBookmark, nullptr, nullptr, feed.revision_});
    } else {
      for (const FeedEvent& event : feed.history_) {
        if (event.revision > start.since) feed.QueueFor(id, event);
      }
    }
  }
  impl_->Deliver();
  return id;
}

void RegistryFeed::Unsubscribe(int64_t id) {
  {
    absl::MutexLock lock(&impl_->mu_);
    impl_->since_.erase(id);
  }
  impl_->delivery_.Remove(id);
}

}  // namespace search
