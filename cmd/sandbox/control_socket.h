// Lets `karmada-sandbox member ...` and `manager ...` steer a sandbox that runs in another process,
// and `status` ask it.
//
// The running sandbox listens on the Unix socket control.sock in its directory. A client sends one
// line and gets one line back: "ok" and a text for the user, or the error.
#ifndef CMD_SANDBOX_CONTROL_SOCKET_H_
#define CMD_SANDBOX_CONTROL_SOCKET_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/stop_token.h"

namespace cmd {

class ControlSocket {
 public:
  // Called on the socket's thread with each line; returns one line.
  using Handler = std::function<absl::StatusOr<std::string>(const std::string& request)>;

  // While it cannot accept, it tries again after pauses of `clock`. REQUIRES: nobody else listens
  // in that directory (see DirectoryLock); `clock` outlives the socket.
  static absl::StatusOr<std::unique_ptr<ControlSocket>> Listen(
      const std::string& directory, Handler handler, const base::Clock& clock = base::RealClock());
  // Stops listening and removes the socket.
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // Sends the line to the sandbox that runs in the directory and returns its handler's answer.
  // kNotFound when no sandbox runs there, kPermissionDenied when the directory or the sandbox is
  // another user's, the handler's error when it failed.
  static absl::StatusOr<std::string> Send(const std::string& directory, const std::string& request);

 private:
  ControlSocket(std::string path, Handler handler, const base::Clock& clock)
      : path_(std::move(path)), handler_(std::move(handler)), clock_(clock) {}

  absl::Status Open(const std::string& directory);
  void Serve();
  void Answer(int connection) const;

  const std::string path_;
  const Handler handler_;
  const base::Clock& clock_;
  int listener_ = -1;
  base::StopSource stop_;
  std::thread thread_;
};

}  // namespace cmd

#endif  // CMD_SANDBOX_CONTROL_SOCKET_H_
