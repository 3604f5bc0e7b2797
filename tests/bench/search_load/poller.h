// Waits for connections that have something to read.
#ifndef TESTS_BENCH_SEARCH_LOAD_POLLER_H_
#define TESTS_BENCH_SEARCH_LOAD_POLLER_H_

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <vector>

namespace load {

class Poller {
 public:
  Poller() : fd_(epoll_create1(EPOLL_CLOEXEC)) {}
  ~Poller() { close(fd_); }
  Poller(const Poller&) = delete;

  void Add(int fd, uint64_t id) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = id;
    epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event);
  }
  // Returns the ids of those that can be read; none when the time is over.
  std::vector<uint64_t> Wait(int timeout_ms) {
    std::array<epoll_event, 256> events;
    const int count = epoll_wait(fd_, events.data(), static_cast<int>(events.size()), timeout_ms);
    std::vector<uint64_t> ids;
    for (int i = 0; i < count; ++i) ids.push_back(events[i].data.u64);
    return ids;
  }

 private:
  const int fd_;
};

}  // namespace load

#endif  // TESTS_BENCH_SEARCH_LOAD_POLLER_H_
