// A program that a test starts and ends.
#ifndef TESTS_SUPPORT_CHILD_PROCESS_H_
#define TESTS_SUPPORT_CHILD_PROCESS_H_

#include <string>
#include <vector>

namespace tests {

// It is killed when nobody stopped it. Not thread-safe.
class ChildProcess {
 public:
  // Starts words[0] with the rest as its arguments; what it says on standard error is appended to
  // the file `log`. Fails the test when it cannot be started.
  ChildProcess(std::vector<std::string> words, const std::string& log);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;

  // Returns whether it ended although nobody stopped it.
  bool HasEnded() const;
  // SIGTERM, then waits for its end; the wait status. REQUIRES: called once.
  int Stop();

 private:
  int pid_ = 0;  // 0 once stopped.
};

}  // namespace tests

#endif  // TESTS_SUPPORT_CHILD_PROCESS_H_
