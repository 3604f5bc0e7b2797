// The present ResourceRegistries in memory, and a recent history of their changes: what watches of
// the API, the scope and reads with resourceVersion=0 are served from.
//
// The feed holds one watch of the storage, however many clients there are. It is never ahead of the
// storage; after a break it lists again and delivers the differences.
#ifndef SEARCH_REGISTRY_FEED_H_
#define SEARCH_REGISTRY_FEED_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "search/registry/store.h"

namespace search {

// One change, as subscribers get it.
struct FeedEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark } type = Type::kAdded;
  // For kDeleted the last state, with the revision of the deletion; null for kBookmark.
  kube::ObjectPtr object;
  kube::ObjectPtr previous;  // The state before; null for kAdded and kBookmark.
  // For kBookmark: everything up to this revision has been delivered.
  int64_t revision = 0;
};

// Thread-safe.
class RegistryFeed {
 public:
  struct Options {
    // How many changes are kept for watches that resume.
    size_t history = 1000;
    // How often the storage's revision is asked for, which becomes a bookmark.
    absl::Duration bookmark_period = absl::Minutes(1);
    // The pause after a failed list or watch; doubles up to sixteen times of it.
    absl::Duration retry_pause = absl::Seconds(1);
  };
  // Called one call at a time, with no lock of the feed held, on the thread that delivers; it must
  // not block. A subscriber gets nothing more once Unsubscribe has returned, except when that was
  // called in its own sink.
  using Sink = std::function<void(const FeedEvent& event)>;

  // REQUIRES: `store` and `clock` outlive the feed.
  RegistryFeed(RegistryStore& store, const base::Clock& clock, Options options);
  ~RegistryFeed();

  // Keeps the feed true to the storage until stopped. Blocks.
  void Run(const base::StopToken& stop);

  struct Snapshot {
    std::vector<kube::ObjectPtr> objects;  // Sorted by name.
    int64_t revision = 0;
  };
  // kUnavailable before the first list; the message has the reason.
  absl::StatusOr<Snapshot> Current() const;
  // kNotFound, or kUnavailable before the first list.
  absl::StatusOr<kube::ObjectPtr> Find(absl::string_view name) const;
  bool HasSynced() const;
  // Returns why the last list or watch failed; OK while the feed follows the storage.
  absl::Status last_error() const;

  struct Start {
    // True: the present objects come first, as kAdded, followed by a bookmark.
    bool initial = true;
    // Otherwise the changes after this revision. A revision that the feed has not seen yet is
    // waited for.
    int64_t since = 0;
  };
  // kOutOfRange when history does not reach back to `since`; kUnavailable before the first list.
  // Returns the id for Unsubscribe.
  absl::StatusOr<int64_t> Subscribe(const Start& start, Sink sink);
  void Unsubscribe(int64_t id);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace search

#endif  // SEARCH_REGISTRY_FEED_H_
