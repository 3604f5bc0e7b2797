#include "cmd/controller-manager/stop_limit.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

TEST_CASE("A process whose end hangs is ended, with its exit code") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    cmd::EndProcessAfter(absl::Milliseconds(50), 7);
    for (;;) pause();
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}
