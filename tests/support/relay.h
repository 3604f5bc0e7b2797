// A port on IPv6's loopback address that forwards to one on IPv4's: another way to the same server,
// which a test may slow down and cut.
#ifndef TESTS_SUPPORT_RELAY_H_
#define TESTS_SUPPORT_RELAY_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tests {

// Copies bytes both ways, with two threads for each connection. All end with the object.
// Thread-safe.
class Relay {
 public:
  // Fails the test when there is no port to be had.
  explicit Relay(int to);
  ~Relay();
  Relay(const Relay&) = delete;

  int port() const { return port_; }
  // Returns how many connections have been made so far.
  int connections() const { return connections_; }
  // From now on each piece of what is sent, either way, takes so long.
  void SetDelay(absl::Duration delay) { delay_nanos_ = absl::ToInt64Nanoseconds(delay); }
  // Ends all connections, and each new one as soon as it is made, until that is taken back.
  void SetCut(bool cut);

 private:
  // The sockets of one connection.
  struct Pair {
    int from, to;
  };
  void Accept();
  int Connect() const;
  void Copy(int from, int to) const;

  const int to_;
  const int listener_;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::atomic<int64_t> delay_nanos_{0};
  absl::Mutex mu_;
  bool cut_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Pair> open_ ABSL_GUARDED_BY(mu_);  // Closed at the end, so that no number is reused.
  std::vector<std::thread> copiers_;  // Of the acceptor thread, and of the destructor after it.
  std::thread acceptor_;
};

}  // namespace tests

#endif  // TESTS_SUPPORT_RELAY_H_
