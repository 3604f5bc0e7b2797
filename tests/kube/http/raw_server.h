// A TCP server on 127.0.0.1 that runs a function for each connection.
#ifndef TESTS_KUBE_HTTP_RAW_SERVER_H_
#define TESTS_KUBE_HTTP_RAW_SERVER_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tests {

class RawServer {
 public:
  // `serve` has the connection until it returns; then it is closed, and the next one is accepted.
  explicit RawServer(std::function<void(int fd)> serve) : serve_(std::move(serve)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 8);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~RawServer() {
    shutdown(listener_, SHUT_RDWR);
    if (const int fd = current_; fd >= 0) shutdown(fd, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  RawServer(const RawServer&) = delete;

  int port() const { return port_; }
  int connections() const { return connections_; }

  // Reads up to the empty line at the end of a head; returns "" when the peer is gone.
  static std::string ReadHead(int fd) {
    std::string head;
    char c = 0;
    while (!absl::EndsWith(head, "\r\n\r\n")) {
      if (read(fd, &c, 1) != 1) return "";
      head.push_back(c);
    }
    return head;
  }
  static std::string ReadBytes(int fd, size_t count) {
    std::string bytes;
    char c = 0;
    while (bytes.size() < count && read(fd, &c, 1) == 1) bytes.push_back(c);
    return bytes;
  }
  static bool WriteAll(int fd, absl::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(sent);
    }
    return true;
  }
  // Reads until the peer closes its side.
  static void AwaitEnd(int fd) {
    char block[4096];
    while (read(fd, block, sizeof block) > 0) {
    }
  }
  static int Connect(int port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
    close(fd);
    return -1;
  }
  // Forwards bytes in both directions until one side ends.
  static void Relay(int a, int b) {
    while (Pass(a, b)) {
    }
  }

 private:
  void Run() {
    while (true) {
      const int fd = accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      ++connections_;
      current_ = fd;
      serve_(fd);
      current_ = -1;
      close(fd);
    }
  }

  static bool Pass(int a, int b) {
    pollfd fds[] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
    if (poll(fds, 2, -1) <= 0) return false;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].revents == 0) continue;
      char block[4096];
      const ssize_t got = read(fds[i].fd, block, sizeof block);
      if (got <= 0 || !WriteAll(fds[1 - i].fd, absl::string_view(block, got))) return false;
    }
    return true;
  }

  const std::function<void(int)> serve_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> current_ = -1;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

}  // namespace tests

#endif  // TESTS_KUBE_HTTP_RAW_SERVER_H_
