// A program that a test starts and ends.
#ifndef TESTS_SUPPORT_CHILD_PROCESS_H_
#define TESTS_SUPPORT_CHILD_PROCESS_H_

#include <string>
#include <vector>

namespace tests {

// The destructor kills a program that was not stopped. Not thread-safe.
class ChildProcess {
 public:
  // Starts words[0] with the rest as its arguments; its standard error is appended to the file
  // `log`. Fails the test when the program cannot be started.
  ChildProcess(std::vector<std::string> words, const std::string& log);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;

  // Returns whether the program has ended without Stop().
  bool HasEnded() const;
  // Has the program stand still, as one whose machine is suspended, or go on.
  void Pause();
  void Resume();
  // Sends SIGTERM, waits for the end and returns the wait status. REQUIRES: is called once.
  int Stop();

 private:
  int pid_ = 0;  // 0 after Stop().
};

}  // namespace tests

#endif  // TESTS_SUPPORT_CHILD_PROCESS_H_
