// Takes from this process what it needs to start a thread.
#ifndef TESTS_SUPPORT_NO_THREADS_H_
#define TESTS_SUPPORT_NO_THREADS_H_

#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <fstream>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"

namespace tests {

// While it exists, there is no room for the stack of one more thread.
class NoRoom {
 public:
  NoRoom() {
    REQUIRE(getrlimit(RLIMIT_AS, &before_) == 0);
    constexpr rlim_t kMuchLessThanAStack = 2 << 20;
    rlimit tight = before_;
    tight.rlim_cur = Mapped() + kMuchLessThanAStack;
    REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
  }
  ~NoRoom() { setrlimit(RLIMIT_AS, &before_); }

 private:
  static rlim_t Mapped() {
    std::ifstream file("/proc/self/statm");
    rlim_t pages = 0;
    file >> pages;
    return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  }
  rlimit before_{};
};

// Uses up the stacks that the C library keeps of threads that have ended.
class HeldThreads {
 public:
  HeldThreads() {
    for (int i = 0; i < 8; ++i) {
      threads_.emplace_back([this] { end_.WaitForNotification(); });
    }
  }
  ~HeldThreads() {
    end_.Notify();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  absl::Notification end_;
  std::vector<std::thread> threads_;
};

}  // namespace tests

#endif  // TESTS_SUPPORT_NO_THREADS_H_
