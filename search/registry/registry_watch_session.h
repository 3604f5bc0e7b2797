// One running watch of a client: turns events of the feed into lines of a chunked answer.
#ifndef SEARCH_REGISTRY_REGISTRY_WATCH_SESSION_H_
#define SEARCH_REGISTRY_REGISTRY_WATCH_SESSION_H_

#include <atomic>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/http_server.h"
#include "base/stop_token.h"
#include "kube/server/watch_frames.h"
#include "search/registry/feed.h"
#include "search/registry/list_request.h"
#include "search/registry/registry_answers.h"

namespace search {

// Thread-safe.
class RegistryWatchSession : public std::enable_shared_from_this<RegistryWatchSession> {
 public:
  struct Options {
    RegistrySelection selection;
    RegistryWatchRequest request;
    AnswerWish wish;
    base::SteadyTime deadline;
    base::StopToken stop;
  };
  RegistryWatchSession(RegistryFeed& feed, Options options);

  // Begins to send. If history does not reach back far enough, only an ERROR event with 410 is
  // sent. Call it once.
  void Start(std::shared_ptr<base::HttpStream> stream);
  // Ends the answer properly.
  void Finish();

  // Returns whether it has ended, or should end.
  bool IsOver(base::SteadyTime now) const {
    return closed_ || now >= options_.deadline || options_.stop.stop_requested();
  }

 private:
  void OnEvent(const FeedEvent& event);
  void Write(std::string line);
  void Detach();

  RegistryFeed& feed_;
  const Options options_;
  std::shared_ptr<base::HttpStream> stream_;
  std::atomic<int64_t> id_{0};
  std::atomic<bool> closed_{false};
  // Used only by the sink.
  bool initial_done_ = false;
  kube::server::WatchEncoder encoder_;
};

}  // namespace search

#endif  // SEARCH_REGISTRY_REGISTRY_WATCH_SESSION_H_
