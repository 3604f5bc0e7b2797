#include "base/threads.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/notification.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/eventually.h"
#include "tests/support/no_threads.h"

namespace base {
namespace {

using tests::Eventually;
using tests::HeldThreads;
using tests::NoRoom;

TEST_CASE("detached threads run, and their end is awaited") {
  std::atomic<int> ended = 0;
  {
    DetachedThreads threads("a test");
    for (int i = 0; i < 20; ++i) CHECK(threads.Start(false, [&] { ++ended; }));
  }
  CHECK(ended == 20);
}

TEST_CASE("the end of threads that others start is awaited, too") {
  std::atomic<bool> second_ended = false;
  DetachedThreads threads("a test");
  threads.Start(false, [&] { threads.Start(false, [&] { second_ended = true; }); });
  threads.AwaitEnd();
  CHECK(second_ended);
}

// Destroyed as its thread ends, after all that the thread runs.
struct OfThread {
  ~OfThread() {
    if (awaited == nullptr) return;
    *too_late = awaited->WaitForNotificationWithTimeout(absl::Milliseconds(100));
    *is_destroyed = true;
  }
  absl::Notification* awaited = nullptr;
  std::atomic<bool>* too_late = nullptr;
  std::atomic<bool>* is_destroyed = nullptr;
};

TEST_CASE("the end is awaited of what threads destroy last, too") {
  absl::Notification awaited;
  std::atomic<bool> too_late = false;
  std::atomic<bool> is_destroyed = false;
  DetachedThreads threads("a test");
  threads.Start(false, [&] {
    thread_local OfThread object;
    object = {&awaited, &too_late, &is_destroyed};
  });
  threads.AwaitEnd();
  const bool was_destroyed = is_destroyed;
  awaited.Notify();
  CHECK(Eventually([&] { return is_destroyed.load(); }));
  CHECK(was_destroyed);
  CHECK_FALSE(too_late);
}

// A value that libraries may bind to a thread, and may set again once as it ends.
struct OfLibrary {
  static void Destroy(void* value) {
    auto* object = static_cast<OfLibrary*>(value);
    if (!std::exchange(object->passed, true)) {
      pthread_setspecific(object->key, object);
    } else {
      *object->is_destroyed = true;
    }
  }
  pthread_key_t key{};
  std::atomic<bool>* is_destroyed;
  bool passed = false;
};

TEST_CASE("the end is awaited of what libraries destroy, too") {
  DetachedThreads first("a test");
  first.Start(false, [] {});  // The key for ends exists, so that of the library comes after it.
  first.AwaitEnd();
  std::atomic<bool> is_destroyed = false;
  OfLibrary object{.is_destroyed = &is_destroyed};
  REQUIRE(pthread_key_create(&object.key, &OfLibrary::Destroy) == 0);
  DetachedThreads threads("a test");
  threads.Start(false, [&] { pthread_setspecific(object.key, &object); });
  threads.AwaitEnd();
  CHECK(is_destroyed);
  pthread_key_delete(object.key);
}

TEST_CASE("the end of threads is awaited for a time") {
  absl::Notification end;
  DetachedThreads threads("a test");
  threads.Start(false, [&] { end.WaitForNotification(); });
  CHECK_FALSE(threads.AwaitEndFor(absl::Milliseconds(1)));
  end.Notify();
  CHECK(threads.AwaitEndFor(absl::InfiniteDuration()));
}

// Sanitizers map far more than the limit allows.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

TEST_CASE("a thread that cannot be started is an error that names the limits") {
  const HeldThreads held;
  const NoRoom no_room;
  const absl::StatusOr<std::thread> thread = TryStartThread([] {});
  REQUIRE(absl::IsResourceExhausted(thread.status()));
  CHECK(absl::StartsWith(thread.status().message(),
                         "the system has no thread left: Resource temporarily unavailable; limits "
                         "of processes and threads: "));
}

TEST_CASE("where other threads do the work, one that is missing is passed over with a warning") {
  const HeldThreads held;
  tests::CapturedStderr log;
  DetachedThreads threads("a test");
  bool ran = false;
  bool started = true;
  {
    const NoRoom no_room;
    started = threads.Start(/*others=*/true, [&] { ran = true; });
    started |= threads.Start(/*others=*/true, [&] { ran = true; });
  }
  threads.AwaitEnd();
  CHECK_FALSE(started);
  CHECK_FALSE(ran);
  const std::string text = log.Text();
  CHECK(absl::StrContains(text, "a thread is missing, and others do its work"));
  CHECK(absl::StrContains(text, "a test"));
  CHECK(text.find("is missing") == text.rfind("is missing"));
}

TEST_CASE("where no other thread can do the work, the process ends with one line") {
  tests::CapturedStderr log;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    rlimit tight{};
    getrlimit(RLIMIT_AS, &tight);
    tight.rlim_cur = 1 << 20;
    std::vector<std::thread> held;
    absl::Notification never;
    for (int i = 0; i < 8; ++i) held.emplace_back([&] { never.WaitForNotification(); });
    setrlimit(RLIMIT_AS, &tight);
    StartThread("a test of threads", [] {}).join();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  const std::string text = log.Text();
  CHECK(absl::StrContains(text, "ends: a thread that cannot be done without is missing"));
  CHECK(absl::StrContains(text, "a test of threads"));
  CHECK(absl::StrContains(text, "the system has no thread left"));
}

#endif

}  // namespace
}  // namespace base
