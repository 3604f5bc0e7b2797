// A port on IPv6's loopback address that forwards to one on IPv4's.
#ifndef TESTS_BEHAVIOUR_RELAY_H_
#define TESTS_BEHAVIOUR_RELAY_H_

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace tests {

// Copies bytes both ways, with two threads for each connection. All end with the object.
class Relay {
 public:
  explicit Relay(int to) : to_(to), listener_(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    REQUIRE(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(listener_, SOMAXCONN) == 0);
    socklen_t size = sizeof address;
    REQUIRE(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin6_port);
    acceptor_ = std::thread([this] { Accept(); });
  }
  ~Relay() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
    for (std::thread& copier : copiers_) copier.join();
    for (const int fd : open_) close(fd);
    close(listener_);
  }
  Relay(const Relay&) = delete;

  int port() const { return port_; }
  // Returns how many connections have been made so far.
  int connections() const { return connections_; }

 private:
  void Accept() {
    for (;;) {
      const int from = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (from < 0) return;
      const int to = Connect();
      open_.insert(open_.end(), {from, to});
      ++connections_;
      copiers_.emplace_back(Copy, from, to);
      copiers_.emplace_back(Copy, to, from);
    }
  }
  int Connect() const {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(to_));
    // A failure shows as an end of the stream.
    connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
    return fd;
  }
  static void Copy(int from, int to) {
    char buffer[16384];
    for (ssize_t n = 0; (n = read(from, buffer, sizeof buffer)) > 0;) {
      for (ssize_t done = 0; done < n;) {
        const ssize_t sent = send(to, buffer + done, n - done, MSG_NOSIGNAL);
        if (sent <= 0) break;
        done += sent;
      }
    }
    shutdown(to, SHUT_WR);
  }

  const int to_;
  const int listener_;
  int port_ = 0;
  std::atomic<int> connections_{0};
  // Used by the acceptor thread, and by the destructor after that thread has ended.
  std::vector<int> open_;
  std::vector<std::thread> copiers_;
  std::thread acceptor_;
};

}  // namespace tests

#endif  // TESTS_BEHAVIOUR_RELAY_H_
