// Writes the events of a merged watch into the answer of a client, as fast as the client takes
// them. Private to search/proxy/.
#ifndef SEARCH_PROXY_INTERNAL_WATCH_PUMP_H_
#define SEARCH_PROXY_INTERNAL_WATCH_PUMP_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "base/stop_token.h"
#include "kube/aggregation/work_pool.h"
#include "kube/server/watch_frames.h"
#include "search/cache/merged_watch.h"
#include "search/proxy/internal/event_texts.h"
#include "search/proxy/read_request.h"

namespace search {

// Returns the event ERROR with the Status of an error: 410 for kOutOfRange.
std::string WatchErrorLine(const absl::Status& status);

// One watch. It lives as long as the stream or the cache's watch has work for it. Thread-safe.
class WatchPump : public std::enable_shared_from_this<WatchPump> {
 public:
  // REQUIRES: the pool and the texts outlive the watch.
  WatchPump(const ReadRequest& read, kube::aggregation::WorkPool& pool, EventTexts& texts);

  // For MultiClusterCache::Watch.
  std::function<void()> OnReady();
  // Begins to write, until the watch or the connection ends, or a stop is requested.
  void Start(std::shared_ptr<MergedWatch> watch, std::shared_ptr<base::HttpStream> stream,
             const base::StopToken& stop);

 private:
  // Has Pump called on a thread of the pool, unless a call is running: that one goes on then.
  void Wake();
  void Run();
  // Writes what there is, while the client has room. Returns whether there may be more at once.
  bool Pump();
  // Appends the next events to `bytes`; returns whether there may be more at once.
  bool AppendBatch(std::string& bytes);
  void AppendEvent(const MergedEvent& event, std::string& out);
  void Finish();

  const kube::Gvk kind_;
  const bool is_plain_;                        // The events have the objects' own texts.
  const std::shared_ptr<const void> columns_;  // The same for all watches with these columns.
  kube::server::WatchEncoder encoder_;         // Of the run.
  kube::aggregation::WorkPool& pool_;
  EventTexts& texts_;
  bool ended_ = false;  // Nothing is written any more in this run.

  absl::Mutex mu_;
  enum class State { kIdle, kRunning, kAgain, kOver } state_ ABSL_GUARDED_BY(mu_) = State::kIdle;
  // Set by Start, before the state allows a run.
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<MergedWatch> watch_;
  std::shared_ptr<base::HttpStream> stream_;
  std::optional<base::StopCallback<std::function<void()>>> on_stop_;
};

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_WATCH_PUMP_H_
