#include "kube/http/internal/event_loop.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "base/tls.h"
#include "kube/http/internal/connection.h"
#include "kube/http/internal/resolver.h"
#include "kube/http/internal/wake_poll.h"
#include "tests/kube/http/raw_server.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/eventually.h"
#include "tests/support/no_threads.h"

namespace kube {
namespace {

// Opens a connection as a stream does.
class Dialler : public Reactor::Source, public std::enable_shared_from_this<Dialler> {
 public:
  explicit Dialler(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
  void OnReady(Reactor& reactor) override { Advance(reactor); }
  void OnTimer(Reactor& reactor) override { Advance(reactor); }
  void Advance(Reactor& reactor) {
    const absl::StatusOr<bool> established = connection_->Establish();
    if (established.ok() && !*established) {
      result_ = reactor.Watch(shared_from_this(), connection_->interest());
      if (result_.ok()) return;
    } else {
      result_ = established.status();
    }
    reactor.Remove(this);
    done_.Notify();
  }
  // Returns an error when nothing has happened within a minute.
  absl::Status Await() {
    if (done_.WaitForNotificationWithTimeout(absl::Minutes(1))) return result_;
    return absl::DeadlineExceededError("nothing came of it");
  }

 private:
  std::unique_ptr<Connection> connection_;
  absl::Status result_;
  absl::Notification done_;
};

// Returns a port of 127.0.0.1 on which no server listens.
int UnusedPort() {
  return tests::RawServer([](int) {}).port();
}

class Waiter : public Reactor::Source {
 public:
  void OnReady(Reactor&) override {}
  void OnTimer(Reactor&) override {}
};

// Waits until nothing that earlier tests have let go of uses the loop any more: what they close
// ends on threads of its own.
void AwaitNoOwner() {
  REQUIRE(tests::Eventually([] { return EventLoop::Shared().use_count() == 1; }));
}

}  // namespace

TEST_CASE("A loop that goes does what was posted and does not wait for its timers") {
  AwaitNoOwner();
  const absl::Time start = absl::Now();
  for (int i = 0; i < 200; ++i) {
    std::atomic<int> done = 0;
    {
      const std::shared_ptr<EventLoop> loop = EventLoop::Shared();
      loop->Post([&](Reactor& reactor) {
        reactor.SetTimer(std::make_shared<Waiter>(), SteadyNow() + absl::Hours(1));
        ++done;
      });
      loop->Post([&](Reactor&) { ++done; });
    }
    REQUIRE(done == 2);
  }
  CHECK(absl::Now() - start < absl::Minutes(5));
}

namespace {

// Returns how many loops hold descriptors now.
int OpenLoops() {
  int loops = 0;
  for (const auto& descriptor : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // Another thread may be closing it.
    loops += std::filesystem::read_symlink(descriptor, gone) == "anon_inode:[eventpoll]";
  }
  return loops;
}

// Lets the loop's own thread destroy its last owner, and waits until it has.
void LetGoOnOwnThread() {
  auto* held = new std::shared_ptr<EventLoop>(EventLoop::Shared());
  absl::Notification posted;
  absl::Notification gone;
  (*held)->Post([&](Reactor&) {
    posted.WaitForNotification();
    delete held;
    gone.Notify();
  });
  posted.Notify();
  gone.WaitForNotification();
}

}  // namespace

TEST_CASE("The last owner of a loop may be something that the loop's own thread lets go") {
  AwaitNoOwner();
  const int before = OpenLoops();
  for (int i = 0; i < 50; ++i) LetGoOnOwnThread();
  CHECK(tests::Eventually([&] { return OpenLoops() <= before; }));
}

namespace {

// True once the loop of the child process, which the next test case is, has done all its work.
std::atomic<bool> all_done = false;

}  // namespace

// Run by the next test, in a process of its own. The process ends while the loop is busy with
// OpenSSL, as it is during a handshake, and is its own last owner.
TEST_CASE("child: ends while its loop is busy", "[.]") {
  // Runs after what is registered later, the wait for the loop's thread among it.
  std::atexit([] {
    if (!all_done) _exit(3);
  });
  absl::Notification begun;
  std::shared_ptr<EventLoop> loop = EventLoop::Shared();
  loop->Post([&begun, loop](Reactor&) {
    begun.Notify();
    for (int i = 0; i < 100; ++i) {
      if (!tls::CertificateAuthority::Create("a name").ok()) std::abort();
    }
    all_done = true;
  });
  begun.WaitForNotification();
}

TEST_CASE("A process that ends waits for a loop that is its own last owner") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      absl::StrCat("TEST_LOG= exec '", self, "' 'child: ends while its loop is busy' >/dev/null");
  for (int i = 0; i < 5; ++i) CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("The third address is reached after one that refuses late and one that fails at once") {
  const tests::RawServer server([](int fd) { tests::RawServer::AwaitEnd(fd); });
  const Addresses addresses = {*NumericAddress("127.0.0.1", UnusedPort()),
                               *NumericAddress("255.255.255.255", 1),  // There is no route to it.
                               *NumericAddress("127.0.0.1", server.port())};
  auto route = std::make_shared<Route>();
  route->server.host = "three.example";
  const auto dialler = std::make_shared<Dialler>(std::make_unique<Connection>(route, addresses));
  const std::shared_ptr<EventLoop> loop = EventLoop::Shared();
  loop->Post([dialler](Reactor& reactor) { dialler->Advance(reactor); });
  CHECK(dialler->Await() == absl::OkStatus());
  loop->Post([dialler](Reactor& reactor) { reactor.Remove(dialler.get()); });
}

TEST_CASE("A socket that cannot be waited for is an error") {
  absl::Status watched;
  {
    const std::shared_ptr<EventLoop> loop = EventLoop::Shared();
    loop->Post([&](Reactor& reactor) {
      const auto waiter = std::make_shared<Waiter>();
      watched = reactor.Watch(waiter, {.fd = -1, .events = POLLIN});
      reactor.Remove(waiter.get());
    });
  }
  CHECK(absl::IsUnavailable(watched));
  CHECK(absl::StrContains(watched.message(), "descriptor"));
}

TEST_CASE("A process without file descriptors for the loop ends, and says why") {
  int output[2];
  REQUIRE(pipe(output) == 0);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);  // Not for the test framework to report.
    dup2(output[1], STDERR_FILENO);
    const rlimit none = {.rlim_cur = 3, .rlim_max = 3};  // Standard input, output and error.
    setrlimit(RLIMIT_NOFILE, &none);
    EventLoop::Shared();
    _exit(0);
  }
  close(output[1]);
  std::string said;
  char block[4096];
  for (ssize_t got = 0; (got = read(output[0], block, sizeof block)) > 0;) said.append(block, got);
  close(output[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK_THAT(said, Catch::Contains("file descriptors") && Catch::Contains("Too many open files"));
}

TEST_CASE("A wait that no stop could end fails at once") {
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none = {.rlim_cur = 3, .rlim_max = before.rlim_max};
  absl::Status without, with;
  // A thread of its own, which has waited for nothing before.
  std::thread([&] {
    setrlimit(RLIMIT_NOFILE, &none);
    const auto wait = [] {
      return WakePoll({}).Await(-1, POLLIN, base::SteadyTime::InfiniteFuture(), SteadyNow());
    };
    without = wait();
    setrlimit(RLIMIT_NOFILE, &before);
    with = wait();
  }).join();
  CHECK(absl::IsUnavailable(without));
  CHECK(absl::StrContains(without.message(), "no file descriptor for waiting"));
  CHECK(absl::IsDeadlineExceeded(with));
}

TEST_CASE("There is one loop for all") { CHECK(EventLoop::Shared() == EventLoop::Shared()); }

// Sanitizers map far more than the limit allows.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

void PostWithoutThreads(const std::shared_ptr<EventLoop>& loop) {
  const tests::HeldThreads held;
  rlimit tight{};
  getrlimit(RLIMIT_AS, &tight);
  tight.rlim_cur = 1 << 20;
  setrlimit(RLIMIT_AS, &tight);
  loop->Post([](Reactor&) {});
  _exit(0);
}

}  // namespace

// Run by the next test, each in a process of its own.
TEST_CASE("child: has no thread for watches", "[.]") { PostWithoutThreads(EventLoop::Shared()); }
TEST_CASE("child: has no thread for requests", "[.]") { PostWithoutThreads(EventLoop::Prompt()); }

TEST_CASE("A process that has no thread for a loop says what the loop is for") {
  const bool prompt = GENERATE(false, true);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = absl::StrCat("TEST_LOG= exec '", self, "' 'child: has no thread for ",
                                           prompt ? "requests" : "watches", "' >/dev/null");
  tests::CapturedStderr log;
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  CHECK_THAT(log.Text(), Catch::Contains(prompt ? "forwarded requests" : "the watches of servers"));
}

#endif

}  // namespace kube
