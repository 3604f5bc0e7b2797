// One watch over a Transport's stream.
#ifndef KUBE_CLIENT_INTERNAL_CLIENT_WATCH_H_
#define KUBE_CLIENT_INTERNAL_CLIENT_WATCH_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/client/client.h"
#include "kube/client/internal/caller.h"
#include "kube/client/internal/watch_decoder.h"
#include "kube/client/transport.h"
#include "kube/meta/names.h"

namespace kube {

// Destroying it ends the watch. REQUIRES: caller and handler outlive it.
class ClientWatch : public Watch {
 public:
  // `what` precedes the message of every error.
  ClientWatch(Caller& caller, Gvk gvk, std::string what, WatchHandler& handler);
  // Once.
  void Start(const HttpRequest& request);

 private:
  void OnHead(const HttpResponse& head);
  void OnData(absl::string_view bytes);
  void OnEnd(absl::Status status);
  absl::Status OnLine(absl::string_view line);
  void End(const absl::Status& status);

  Caller& caller_;
  const Gvk gvk_;
  const std::string what_;
  WatchHandler& handler_;
  HttpResponse error_answer_;  // Its code is 0 while the server does what was asked.
  WatchDecoder decoder_;
  bool ended_ = false;
  // Last, so that it is gone, and with it every callback, before what callbacks use.
  std::unique_ptr<HttpStream> stream_;
};

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_CLIENT_WATCH_H_
