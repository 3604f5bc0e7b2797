// A process that takes part in the time of a run: it is started, and ended as a crash ends it.
#ifndef TESTS_PROVE_CHILD_H_
#define TESTS_PROVE_CHILD_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/prove/time/time_driver.h"

namespace prove {

struct ChildOptions {
  std::vector<std::string> words;  // The command line.
  std::string address;             // The loopback address that it connects from; "" for any.
  std::string log;                 // What it writes is added to this file.
};
// Time passes only while it waits, too.
absl::StatusOr<pid_t> StartChild(ChildOptions options, TimeDriver& time);
// Ends it at once, unless it has ended. Returns what waitpid() says.
int EndChild(pid_t process, TimeDriver& time);
bool HasEnded(pid_t process);

}  // namespace prove

#endif  // TESTS_PROVE_CHILD_H_
