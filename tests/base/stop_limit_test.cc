#include "base/stop_limit.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace {

constexpr char kHangs[] = "A process that hangs";

}  // namespace

// What the next case starts as a process of its own.
TEST_CASE(kHangs, "[.]") {
  base::EndProcessAfter(absl::Milliseconds(50), 7);
  for (;;) pause();
}

TEST_CASE("A process whose end hangs is ended, with its exit code") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    execl("/proc/self/exe", "base_test", kHangs, nullptr);
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}
