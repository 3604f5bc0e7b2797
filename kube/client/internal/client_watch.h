// One watch over a Transport's stream.
#ifndef KUBE_CLIENT_INTERNAL_CLIENT_WATCH_H_
#define KUBE_CLIENT_INTERNAL_CLIENT_WATCH_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/json_fields.h"
#include "kube/client/client.h"
#include "kube/client/internal/caller.h"
#include "kube/client/internal/watch_decoder.h"
#include "kube/http/transport.h"
#include "kube/meta/names.h"

namespace kube {

// Destroying it ends the watch. REQUIRES: `caller` and `handler` outlive it.
class ClientWatch : public Watch {
 public:
  struct Subject {
    Gvk gvk;
    std::string what;                 // Precedes the message of every error.
    std::vector<std::string> fields;  // As in WatchOptions.
  };
  ClientWatch(Caller& caller, const Subject& subject, WatchHandler& handler);
  // Call it once. The server is expected to end its answer after `longest`; one that continues for
  // twice that time is left.
  void Start(const HttpRequest& request, absl::Duration longest);

 private:
  void OnHead(const HttpResponse& head);
  void OnData(absl::string_view bytes);
  void OnEnd(absl::Status status);
  // Returns an error when the event that is coming in has been doing so for too long.
  absl::Status CheckUnfinishedLine();
  absl::Status OnLine(absl::string_view line);
  void OnErrorData(absl::string_view bytes);
  void End(const absl::Status& status);
  void EndWithAnswer();

  Caller& caller_;
  const Gvk gvk_;
  const std::string what_;
  const std::optional<json::Fields> wanted_;
  WatchHandler& handler_;
  HttpResponse error_answer_;  // Its code is 0 unless the server answered with an error.
  base::SteadyTime end_at_ = base::SteadyTime::InfiniteFuture();
  WatchDecoder decoder_;
  // How many lines came before the one that is not complete, and when it was seen to have begun.
  int64_t lines_before_ = -1;
  base::SteadyTime line_began_;
  bool ended_ = false;
  // Declared last, so that it, and with it every callback, ends before the members that callbacks
  // use.
  std::unique_ptr<HttpStream> stream_;
};

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_CLIENT_WATCH_H_
