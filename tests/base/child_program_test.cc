#include "base/child_program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <string>
#include <thread>

namespace {

using base::ChildProgram;
using base::StartProgram;

// The end of a pipe from which a program's output is read.
struct Output {
  Output() { REQUIRE(pipe(ends) == 0); }
  ~Output() { close(ends[0]); }
  // Returns what was written until the last writer closed its end.
  std::string Read() {
    close(ends[1]);
    std::string text;
    char block[256];
    for (ssize_t got; (got = read(ends[0], block, sizeof block)) > 0;) text.append(block, got);
    return text;
  }
  int ends[2];
};

// Returns what a shell writes that runs these commands, and how it ended.
struct Ran {
  std::string output;
  int status = 0;
};
Ran RunShell(const std::string& commands, ChildProgram start = {}) {
  Output output;
  start.program = "sh";
  start.arguments = {"-c", commands};
  start.output = output.ends[1];
  const absl::StatusOr<pid_t> pid = StartProgram(start);
  REQUIRE(pid.ok());
  Ran ran{output.Read(), 0};
  CHECK(waitpid(*pid, &ran.status, 0) == *pid);
  return ran;
}

}  // namespace

TEST_CASE("a program found in PATH runs with its arguments and writes to the given output") {
  const Ran ran = RunShell("echo here; exit 3");
  CHECK(ran.output == "here\n");
  CHECK(WEXITSTATUS(ran.status) == 3);
}

TEST_CASE("a program gets the given environment, or that of this process") {
  CHECK(RunShell("echo $COLOUR", {.environment = {{"COLOUR=red"}}}).output == "red\n");
  CHECK(RunShell("test -n \"$PATH\" && echo yes").output == "yes\n");
}

TEST_CASE("a program has an empty input and no descriptor of this process but the standard ones") {
  const int open_here = dup(STDIN_FILENO);
  CHECK(RunShell("cat; ls /proc/self/fd | wc -l").output == "4\n");  // With that of the folder.
  close(open_here);
}

TEST_CASE("a program has default signals, of which none is blocked") {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto old = signal(SIGPIPE, SIG_IGN);
  const std::string status = RunShell("grep -E 'Sig(Blk|Ign)' /proc/self/status").output;
  unsigned long long blocked_there = 1, ignored_there = 1;
  REQUIRE(std::sscanf(status.c_str(), "SigBlk: %llx SigIgn: %llx", &blocked_there,
                      &ignored_there) == 2);
  CHECK(blocked_there == 0);
  // The signals 32 and 33 belong to the C library, which lets nobody change them. What is started
  // by its posix_spawn, as by make, ignores them.
  constexpr unsigned long long kOfLibrary = 0x180000000;
  CHECK((ignored_there & ~kOfLibrary) == 0);
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, &before, &now);
  CHECK(sigismember(&now, SIGTERM) == 1);  // Here it is still blocked.
  CHECK(signal(SIGPIPE, old) == SIG_IGN);
}

TEST_CASE("a program has a process group of its own") {
  const absl::StatusOr<pid_t> pid = StartProgram({.program = "/bin/sleep", .arguments = {"1000"}});
  REQUIRE(pid.ok());
  CHECK(getpgid(*pid) == *pid);
  kill(-*pid, SIGKILL);
  CHECK(waitpid(*pid, nullptr, 0) == *pid);
}

TEST_CASE("what keeps a program from running is an error") {
  for (const char* program : {"/nonexistent/program", "program-that-nobody-has"}) {
    const absl::StatusOr<pid_t> pid = StartProgram({.program = program});
    CHECK(absl::IsNotFound(pid.status()));
    CHECK(pid.status().message() == "No such file or directory");
  }
  CHECK(absl::IsPermissionDenied(StartProgram({.program = "/etc/passwd"}).status()));
  CHECK(absl::IsPermissionDenied(StartProgram({.program = "/"}).status()));
  CHECK(waitpid(-1, nullptr, WNOHANG) < 0);  // Nothing is left to be reaped.
}

TEST_CASE("a program may end with the thread that has started it") {
  absl::StatusOr<pid_t> pid = absl::UnknownError("not started");
  std::thread([&] {
    pid = StartProgram({.program = "/bin/sleep", .arguments = {"1000"}, .ends_with_thread = true});
  }).join();
  REQUIRE(pid.ok());
  int status = 0;
  CHECK(waitpid(*pid, &status, 0) == *pid);
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("signals that are handled do not end the wait for a program") {
  struct sigaction handled = {}, before = {};
  handled.sa_handler = [](int) {};  // Without SA_RESTART.
  REQUIRE(sigaction(SIGUSR1, &handled, &before) == 0);
  const pthread_t waiting = pthread_self();
  const absl::StatusOr<pid_t> pid =
      StartProgram({.program = "sh", .arguments = {"-c", "sleep 0.3; exit 3"}});
  REQUIRE(pid.ok());
  std::jthread sender([waiting](const std::stop_token& stop) {
    while (!stop.stop_requested()) pthread_kill(waiting, SIGUSR1);
  });
  const int status = base::AwaitEnd(*pid);
  sender.request_stop();
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
}
