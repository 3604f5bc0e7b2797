// Live updates: server-sent events for those who look at the page.
#ifndef LENS_SERVE_STREAMS_H_
#define LENS_SERVE_STREAMS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/json.h"
#include "lens/serve/viewer.h"

namespace lens::serve {

// Thread-safe.
class Streams {
 public:
  using StreamPtr = std::shared_ptr<base::HttpStream>;
  // Returns the head of an answer that is a stream.
  static base::HttpResponse Head();
  // Begins the answer. kResourceExhausted when there are too many already, of the viewer or of all;
  // nothing is sent then.
  absl::StatusOr<StreamPtr> Open(const ViewerPtr& viewer, base::HttpResponder& responder);
  // Sends an event to one stream, or to all of the viewer.
  void Tell(const StreamPtr& stream, absl::string_view event, const json::Value& data);
  void Tell(const Viewer& viewer, absl::string_view event, const json::Value& data);
  // Ends the streams of the viewer, after an event.
  void End(const Viewer& viewer, absl::string_view event, const json::Value& data);
  // Ends those of all viewers that began so long ago, after an event.
  void EndOlderThan(absl::Duration age, absl::string_view event);
  void EndAll();
  // Sends something that says that the server is alive.
  void Beat();
  // Returns those who have a stream, each once.
  std::vector<ViewerPtr> Viewers() const;
  size_t size() const;

 private:
  struct Follower {
    ViewerPtr viewer;
    StreamPtr stream;
    base::SteadyTime since;
  };
  // Writes to the streams, and forgets those that have ended.
  void Write(const std::vector<StreamPtr>& streams, const std::string& text);
  void Forget(const base::HttpStream* stream);
  std::vector<StreamPtr> Of(const Viewer& viewer) const;

  mutable absl::Mutex mu_;
  std::vector<Follower> followers_ ABSL_GUARDED_BY(mu_);
};

}  // namespace lens::serve

#endif  // LENS_SERVE_STREAMS_H_
