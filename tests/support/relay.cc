#include "tests/support/relay.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/clock.h"

namespace tests {

Relay::Relay(int to) : to_(to), listener_(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
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

Relay::~Relay() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  SetCut(true);
  for (std::thread& copier : copiers_) copier.join();
  const absl::MutexLock lock(&mu_);
  for (const Pair& pair : open_) {
    close(pair.from);
    close(pair.to);
  }
  close(listener_);
}

void Relay::SetCut(bool cut) {
  const absl::MutexLock lock(&mu_);
  cut_ = cut;
  if (!cut) return;
  for (const Pair& pair : open_) {
    shutdown(pair.from, SHUT_RDWR);
    shutdown(pair.to, SHUT_RDWR);
  }
}

void Relay::Accept() {
  for (;;) {
    const int from = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (from < 0) return;
    {
      const absl::MutexLock lock(&mu_);
      if (cut_) {
        close(from);
        continue;
      }
    }
    const int to = Connect();
    ++connections_;
    {
      const absl::MutexLock lock(&mu_);
      open_.push_back({from, to});
      // It may have been cut meanwhile.
      if (cut_) shutdown(from, SHUT_RDWR);
    }
    copiers_.emplace_back([this, from, to] { Copy(from, to); });
    copiers_.emplace_back([this, from, to] { Copy(to, from); });
  }
}

int Relay::Connect() const {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(to_));
  // A failure shows as an end of the stream.
  connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  return fd;
}

void Relay::Copy(int from, int to) const {
  char buffer[16384];
  for (ssize_t n = 0; (n = read(from, buffer, sizeof buffer)) > 0;) {
    const absl::Duration delay = absl::Nanoseconds(delay_nanos_.load());
    if (delay > absl::ZeroDuration()) base::RealClock().SleepFor(delay, {});
    for (ssize_t done = 0; done < n;) {
      const ssize_t sent = send(to, buffer + done, n - done, MSG_NOSIGNAL);
      if (sent <= 0) break;
      done += sent;
    }
  }
  shutdown(to, SHUT_WR);
}

}  // namespace tests
