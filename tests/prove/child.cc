#include "tests/prove/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/prove/time/shared_time.h"

extern char** environ;

namespace prove {
namespace {

// As posix_spawn wants them.
std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

absl::StatusOr<pid_t> StartChild(ChildOptions options, TimeDriver& time) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  if (!options.address.empty()) {
    variables.push_back(absl::StrCat(kAddressVariable, "=", options.address));
  }
  std::vector<char*> argv = Pointers(options.words), envp = Pointers(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, options.log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t process = 0;
  const int failed = posix_spawn(&process, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return absl::InternalError(absl::StrCat("cannot start ", options.words[0]));
  time.Watch(process);
  return process;
}

int EndChild(pid_t process, TimeDriver& time) {
  int status = 0;
  kill(process, SIGKILL);
  waitpid(process, &status, 0);
  time.Forget(process);
  return status;
}

bool HasEnded(pid_t process) {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid != 0;
}

}  // namespace prove
