#include "base/profiling/profile_server.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <thread>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/base/raw_client.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/no_threads.h"

// Has a name for the dynamic linker whatever is stripped.
extern "C" __attribute__((noinline, visibility("default"))) double BurnsTime(double x) {
  for (int i = 0; i < 100'000; ++i) x = std::sqrt(x + i);
  return x;
}

namespace profiling {
namespace {

struct Fixture {
  tests::FakeClock clock;
  std::unique_ptr<ProfileServer> server = *ProfileServer::Start("127.0.0.1:0", clock);
  tests::RawClient client{server->port()};

  // Uses CPU time while another thread asks for a profile of a second.
  tests::RawResponse Profile() {
    tests::RawResponse answer;
    std::atomic<bool> done = false;
    std::thread asker([&] {
      answer = tests::RawClient(server->port()).Get("/debug/pprof/profile?seconds=1");
      done = true;
    });
    // Nobody waits on the clock for a profile that is refused.
    CHECK(tests::Eventually([&] { return clock.waiters() >= 1 || done; }));
    const std::clock_t begin = std::clock();  // CPU time, of which samples are taken.
    // The client waits for a minute, in which a busy machine may give little CPU time.
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    double x = 1;
    while (std::clock() - begin < CLOCKS_PER_SEC / 5 && std::chrono::steady_clock::now() < latest) {
      x = BurnsTime(x);
    }
    clock.Advance(absl::Seconds(1));
    asker.join();
    CHECK(x > 0);
    return answer;
  }
};

// Every deadline has come.
class EndlessTime : public base::Clock {
 public:
  absl::Time Now() const override { return absl::UnixEpoch(); }
  base::SteadyTime SteadyNow() const override { return {}; }
  bool AwaitUntil(absl::Mutex& /*mu*/, const absl::Condition& condition,
                  base::SteadyTime /*deadline*/) const override {
    return condition.Eval();
  }
};

// Catches what is written to the descriptor of standard error.
class StandardError {
 public:
  StandardError() : before_(dup(STDERR_FILENO)), file_(memfd_create("stderr", MFD_CLOEXEC)) {
    dup2(file_, STDERR_FILENO);
  }
  ~StandardError() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    close(file_);
  }
  StandardError(const StandardError&) = delete;

  std::string Read() const {
    std::string text(static_cast<size_t>(lseek(file_, 0, SEEK_END)), '\0');
    REQUIRE(pread(file_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    return text;
  }

 private:
  const int before_, file_;
};

uint64_t Word(const std::string& profile, size_t i) {
  uint64_t word = 0;
  REQUIRE(profile.size() >= (i + 1) * sizeof word);
  std::memcpy(&word, profile.data() + i * sizeof word, sizeof word);
  return word;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a CPU profile has samples, and the libraries that they lie in") {
  const tests::RawResponse answer = Profile();
  REQUIRE(answer.code == 200);
  // The header of gperftools' format: 0, 3, version 0, the period in microseconds, 0.
  CHECK(Word(answer.body, 0) == 0);
  CHECK(Word(answer.body, 1) == 3);
  CHECK(Word(answer.body, 2) == 0);
  CHECK(Word(answer.body, 3) == 10'000);
  CHECK(Word(answer.body, 5) >= 1);  // The first sample was seen so many times.
  CHECK(absl::StrContains(answer.body, "base_profiling_test"));
  CHECK(Profile().code == 200);  // A further one can be taken.
}

TEST_CASE("whoever has a CPU profile may ask for the next one at once") {
  const EndlessTime clock;
  const auto server = ProfileServer::Start("127.0.0.1:0", clock);
  REQUIRE(server.ok());
  tests::RawClient client((*server)->port());
  for (int i = 0; i < 30; ++i) {
    REQUIRE(client.Get("/debug/pprof/profile?seconds=1").code == 200);
  }
}

TEST_CASE_METHOD(Fixture, "a CPU profile ends while threads hold the dynamic linker's lock") {
  std::atomic<bool> done = false;
  std::thread holder([&] {
    // It is called with that lock held, which walking a stack needs, too.
    const auto burn = [](dl_phdr_info*, size_t, void*) {
      double x = 1;
      for (int i = 0; i < 100; ++i) x = BurnsTime(x);
      return x > 0 ? 1 : 0;
    };
    while (!done) dl_iterate_phdr(burn, nullptr);
  });
  for (int i = 0; i < 3; ++i) CHECK(Profile().code == 200);
  done = true;
  holder.join();
}

TEST_CASE_METHOD(Fixture, "the end of a CPU profile is a line of the log, and no other is lost") {
  // Another thread writes to both, the stream and the descriptor, all the time.
  constexpr absl::string_view kByStream = "by the stream\n";
  constexpr absl::string_view kByDescriptor = "by the descriptor\n";
  int by_stream = 0, by_descriptor = 0;
  std::string said;
  {
    const StandardError captured;
    std::atomic<bool> done = false;
    std::thread writer([&] {
      while (!done) {
        by_stream +=
            std::fputs(kByStream.data(), __atomic_load_n(&stderr, __ATOMIC_ACQUIRE)) >= 0 ? 1 : 0;
        by_descriptor +=
            write(STDERR_FILENO, kByDescriptor.data(), kByDescriptor.size()) > 0 ? 1 : 0;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    });
    CHECK(Profile().code == 200);
    CHECK(Profile().code == 200);
    done = true;
    writer.join();
    said = captured.Read();
  }
  int found_by_stream = 0, found_by_descriptor = 0, ends = 0;
  for (const absl::string_view line : absl::StrSplit(said, '\n', absl::SkipEmpty())) {
    found_by_stream += absl::StrCat(line, "\n") == kByStream ? 1 : 0;
    found_by_descriptor += absl::StrCat(line, "\n") == kByDescriptor ? 1 : 0;
    CHECK_FALSE(absl::StartsWith(line, "PROFILE"));
    if (!absl::StrContains(line, "a CPU profile has been taken")) continue;
    ++ends;
    CHECK(absl::StrContains(line, "gperftools=\"interrupts/evictions/bytes = "));
  }
  CHECK(ends == 2);
  CHECK(by_stream > 0);
  CHECK(found_by_stream == by_stream);
  CHECK(found_by_descriptor == by_descriptor);
}

TEST_CASE_METHOD(Fixture,
                 "a second profile at the same time is refused, and the end cuts one off") {
  std::thread asker(
      [port = server->port()] { tests::RawClient(port).Get("/debug/pprof/profile?seconds=300"); });
  CHECK(tests::Eventually([&] { return clock.waiters() >= 1; }));
  CHECK(client.Get("/debug/pprof/profile?seconds=1").code == 503);
  CHECK(client.Get("/debug/pprof/").code == 200);
  server.reset();  // Time stands still.
  asker.join();
}

TEST_CASE_METHOD(Fixture, "lengths that cannot be asked for are refused") {
  for (const char* seconds : {"0", "-1", "301", "x", "1e3"}) {
    CAPTURE(seconds);
    const auto answer = client.Get(absl::StrCat("/debug/pprof/profile?seconds=", seconds));
    CHECK(answer.code == 400);
    CHECK(absl::StrContains(answer.body, "from 1 to 300"));
  }
}

TEST_CASE_METHOD(Fixture, "names of addresses are answered as pprof asks for them") {
  const std::string address =
      absl::StrCat("0x", absl::Hex(reinterpret_cast<uintptr_t>(&BurnsTime)));
  const std::string want = absl::StrCat("num_symbols: 1\n", address, " BurnsTime\n");
  CHECK(client.Get(absl::StrCat("/debug/pprof/symbol?", address, "+0x1")).body == want);
  client.Send(absl::StrCat("POST /debug/pprof/symbol HTTP/1.1\r\nHost: t\r\nContent-Length: ",
                           address.size(), "\r\n\r\n", address));
  CHECK(client.ReadResponse().body == want);
}

TEST_CASE_METHOD(Fixture, "the other pages") {
  CHECK(absl::StrContains(client.Get("/debug/pprof/").body, "heap"));
  CHECK(absl::StrContains(client.Get("/debug/pprof/cmdline").body, "base_profiling_test"));
  // This test runs with the system's allocator.
  const auto heap = client.Get("/debug/pprof/heap");
  CHECK(heap.code == 501);
  CHECK(absl::StrContains(heap.body, "libtcmalloc"));
  const auto goroutines = client.Get("/debug/pprof/goroutine");
  CHECK(goroutines.code == 404);
  CHECK(absl::StrContains(goroutines.body, "Go's runtime"));
  CHECK(client.Get("/metrics").code == 404);
}

// Sanitizers map far more than the limit allows.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

TEST_CASE_METHOD(Fixture, "a CPU profile for which there is no thread is refused") {
  {
    const tests::HeldThreads held;
    const tests::NoRoom no_room;
    const tests::RawResponse refused = client.Get("/debug/pprof/profile?seconds=1");
    CHECK(refused.code == 503);
    CHECK(absl::StrContains(refused.body, "the system has no thread left"));
    CHECK(absl::StrContains(refused.body, "limits of processes and threads"));
  }
  CHECK(Profile().code == 200);  // A later one can be taken.
}

#endif

TEST_CASE("an address in use is named") {
  tests::FakeClock clock;
  const auto first = ProfileServer::Start("127.0.0.1:0", clock);
  REQUIRE(first.ok());
  const std::string address = absl::StrCat("127.0.0.1:", (*first)->port());
  const auto second = ProfileServer::Start(address, clock);
  REQUIRE_FALSE(second.ok());
  CHECK(absl::StrContains(second.status().message(), address));
}

}  // namespace profiling
