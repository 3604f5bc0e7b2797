// The test runner's main, compiled once for all test binaries.
//
// With the environment variable TEST_LOG set to a path, as ctest sets it, standard error goes to
// that file, which begins with the name of the test case that is running. What a case wrote is
// shown if the case fails, or if a sanitizer has reported something meanwhile, which fails the
// program only at its end; else it is dropped. When a process is killed the file stays.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

void Write(int descriptor, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t wrote = write(descriptor, text.data() + at, text.size() - at);
    if (wrote <= 0) return;
    at += static_cast<size_t>(wrote);
  }
}

class LogOfFailures : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testRunStarting(const Catch::TestRunInfo&) override {
    const char* path = std::getenv("TEST_LOG");
    if (path == nullptr) return;
    log_ = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    if (log_ < 0) return;
    shown_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    dup2(log_, STDERR_FILENO);
  }

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    TestEventListenerBase::testCaseStarting(info);
    if (shown_ < 0 || ftruncate(log_, 0) != 0) return;
    Write(log_, "test case: " + info.name + "\n");
  }

  // Also called for a signal that ends the process. tests/run_ctest.py looks for the last line.
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    TestEventListenerBase::testCaseEnded(stats);
    if (shown_ < 0) return;
    const bool failed = stats.totals.assertions.failed > 0;
    const std::string log = ReadLog();
    if (!failed && log.find("Sanitizer: ") == std::string::npos) return;
    Write(shown_, log);
    if (failed) Write(shown_, "failed test case: " + stats.testInfo.name + "\n");
  }

  void testRunEnded(const Catch::TestRunStats& stats) override {
    TestEventListenerBase::testRunEnded(stats);
    if (shown_ < 0) return;
    dup2(shown_, STDERR_FILENO);
    close(shown_);
    close(log_);
    shown_ = -1;
  }

 private:
  std::string ReadLog() const {
    std::string log;
    char block[4096];
    for (ssize_t got;
         (got = pread(log_, block, sizeof block, static_cast<off_t>(log.size()))) > 0;) {
      log.append(block, static_cast<size_t>(got));
    }
    return log;
  }

  int log_ = -1;
  int shown_ = -1;  // What standard error was; -1 when the log is not kept.
};
CATCH_REGISTER_LISTENER(LogOfFailures)

}  // namespace
