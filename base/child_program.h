// Starts programs: the only place where a process of ours makes another one.
//
//   ChildProgram start{.program = "aws", .arguments = {"eks", "get-token"}, .output = pipe_end};
//   ASSIGN_OR_RETURN(const pid_t pid, base::StartProgram(start));
//   ...                       // The caller reaps the process: waitpid(pid, ...).
#ifndef BASE_CHILD_PROGRAM_H_
#define BASE_CHILD_PROGRAM_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace base {

struct ChildProgram {
  std::string program;  // A path, or a name without a slash, which is searched in $PATH.
  std::vector<std::string> arguments;
  // Entries "NAME=value"; nullopt stands for the environment of this process.
  std::optional<std::vector<std::string>> environment;
  // The descriptors of its standard output and standard error; -1 stands for those of this process.
  int output = -1;
  int errors = -1;
  // Whether the kernel sends SIGTERM to the program when the thread that has started it ends, alone
  // or with the whole process.
  bool ends_with_thread = false;
};

// Returns the number of a process that runs the program, in a process group of its own (so that
// Ctrl-C does not reach it, and a signal to -pid reaches its children too), with an empty standard
// input, default signals of which none is blocked (the two of the C library stay as they are), and
// no other descriptors than the three standard ones. Returns when the program runs, or with what
// keeps it from running: kNotFound when there is no such program, kPermissionDenied when it may not
// be run; the message is the system's ("No such file or directory"). Thread-safe.
absl::StatusOr<pid_t> StartProgram(const ChildProgram& start);

// Waits for the end of a process that StartProgram has started, whatever signals are handled
// meanwhile, and returns its status as waitpid gives it. REQUIRES: called once for the process, by
// the program that has started it.
int AwaitEnd(pid_t pid);

}  // namespace base

#endif  // BASE_CHILD_PROGRAM_H_
