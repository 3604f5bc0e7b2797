// Collects what this process writes to standard error, which is where the log goes in tests.
#ifndef TESTS_SUPPORT_CAPTURED_STDERR_H_
#define TESTS_SUPPORT_CAPTURED_STDERR_H_

#include <unistd.h>

#include <cstdio>
#include <string>

#include <catch2/catch.hpp>

namespace tests {

// While it exists, standard error is a file. One at a time.
class CapturedStderr {
 public:
  CapturedStderr() : file_(std::tmpfile()), saved_(dup(STDERR_FILENO)) {
    REQUIRE(file_ != nullptr);
    REQUIRE(dup2(fileno(file_), STDERR_FILENO) >= 0);
  }
  ~CapturedStderr() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    std::fclose(file_);
  }
  CapturedStderr(const CapturedStderr&) = delete;

  // Returns what was written so far. Thread-safe.
  std::string Text() const {
    std::string text;
    char block[4096];
    ssize_t got = 0;
    while ((got = pread(fileno(file_), block, sizeof block, static_cast<off_t>(text.size()))) > 0) {
      text.append(block, static_cast<size_t>(got));
    }
    return text;
  }

 private:
  std::FILE* const file_;
  const int saved_;
};

}  // namespace tests

#endif  // TESTS_SUPPORT_CAPTURED_STDERR_H_
