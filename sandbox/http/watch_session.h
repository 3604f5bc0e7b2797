// One running watch: turns changes of the store into lines of a chunked response.
#ifndef SANDBOX_HTTP_WATCH_SESSION_H_
#define SANDBOX_HTTP_WATCH_SESSION_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "kube/server/negotiation.h"
#include "kube/server/tables/table_output.h"
#include "kube/server/watch_frames.h"
#include "sandbox/http/held_watch.h"
#include "sandbox/storage/list_query.h"
#include "sandbox/storage/store.h"

namespace sandbox {

// The encoded form of the change that is being delivered, shared by all watches with the same form.
// Changes are delivered to all watches one after the other, so one entry suffices. Thread-safe.
class EncodedChange {
 public:
  using Make = std::function<std::string()>;
  // `object` identifies what is encoded, `form` how it is encoded.
  std::shared_ptr<const std::string> Get(const kube::ObjectPtr& object, const std::string& form,
                                         const Make& make);

 private:
  absl::Mutex mu_;
  kube::ObjectPtr object_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::shared_ptr<const std::string>> forms_ ABSL_GUARDED_BY(mu_);
};

struct WatchOptions {
  Selection selection;
  kube::server::AnswerForm form;
  kube::server::IncludeObject include =
      kube::server::IncludeObject::kMetadata;  // What rows of a table include.
  bool bookmarks = false;
  // sendInitialEvents: whether a bookmark follows the initial objects.
  bool mark_initial_end = false;
};

class WatchSession : public std::enable_shared_from_this<WatchSession> {
 public:
  WatchSession(Store& store, EncodedChange& encoded, ResourceInfoPtr info, WatchOptions options);

  // Has what is to be sent pass through a HeldWatch. Call it before Connect.
  void Interpose(HeldWatch::Parts parts);
  // Takes the stream of the answer. Call it once, before anything below.
  void Connect(std::shared_ptr<base::HttpStream> stream);
  // Begins to send. When history does not reach back far enough, only an ERROR event with 410 is
  // sent; when `start` is an error, that one. Call it once.
  void Start(const absl::StatusOr<Store::WatchStart>& start);
  // Ends the response properly.
  void Finish();
  // Cuts the connection.
  void Abort();
  // Waits until no line is being sent by who let it through, unless it is on this thread.
  void AwaitQuiet();

 private:
  void OnChange(const ChangePtr& change, int64_t version);
  void Send(WatchLine line);
  void Write(const WatchLine& line);
  // Sends the first half of it, and cuts the connection.
  void WriteHalf(const WatchLine& line);
  std::string TextOf(const WatchLine& line);
  // Sends an ERROR event and ends.
  void Fail(const absl::Status& status);
  void WriteLine(std::string line);
  void Detach();

  Store& store_;
  EncodedChange& encoded_;
  const ResourceInfoPtr info_;
  const WatchOptions options_;
  std::shared_ptr<HeldWatch> held_;  // Null without an interference.
  std::shared_ptr<base::HttpStream> stream_;
  std::atomic<int64_t> id_{0};
  std::atomic<bool> closed_{false};
  bool initial_done_ = false;  // Used only by the sink.
  // Used only by TextOf, which is called by one thread at a time.
  kube::server::WatchEncoder encoder_;
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_WATCH_SESSION_H_
