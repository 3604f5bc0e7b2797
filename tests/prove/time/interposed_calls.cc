// A library that is preloaded (LD_PRELOAD) into the processes of a run with simulated time: clocks
// show the time of `shared_time.h`, and what waits for a time waits for that one. The program does
// not notice, and needs no change.
//
// How it works. A timerfd is an eventfd here, whose time is an alarm in the shared table. A wait
// with a limit (poll, epoll_wait, a sleep) has no limit, but also waits for an eventfd of its
// thread, which has an alarm. A condition variable that is waited for with a limit has an alarm
// with which it is notified. One thread of each process, the waker, sleeps until the time was
// moved, and then fires the alarms that are due.
//
// A connection begins at the address that the environment gives the process, if it does.
//
// What is not simulated: waits with a limit by system calls that bypass the C library, as Abseil's
// own are (the code of this project has none: base/clock.h), and semaphores. CPU clocks are real.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/base/internal/sysinfo.h"
#include "absl/time/clock.h"
#include "tests/prove/time/shared_time.h"

namespace prove {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kGivesWay = 200'000;

[[noreturn]] void Die(const char* what) {
  std::fprintf(stderr, "simulated time: %s: %s\n", what, std::strerror(errno));
  std::abort();
}

// The function of the C library that one of ours hides.
template <class Function>
Function* Hidden(const char* name) {
  // The C library has two versions of its condition variables; programs use the later one.
  void* found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) Die(name);
  return reinterpret_cast<Function*>(found);
}

int64_t Nanoseconds(const timespec& t) { return t.tv_sec * kSecond + t.tv_nsec; }
timespec Timespec(int64_t nanoseconds) {
  return {.tv_sec = nanoseconds / kSecond, .tv_nsec = nanoseconds % kSecond};
}

bool IsWall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }
bool IsSteady(clockid_t clock) {
  return clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME || clock == CLOCK_MONOTONIC_RAW ||
         clock == CLOCK_MONOTONIC_COARSE;
}

// Returns the shared memory; nullptr where time is real.
SharedTime* Map() {
  const char* path = std::getenv(kSharedTimeVariable);
  if (path == nullptr) return nullptr;
  const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC));
  if (fd < 0) Die(path);
  void* memory = mmap(nullptr, sizeof(SharedTime), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (memory == MAP_FAILED) Die(path);
  return static_cast<SharedTime*>(memory);
}

SharedTime* Shared() {
  static SharedTime* const shared = Map();
  return shared;
}

int64_t Now() {
  return Shared()->now.fetch_add(kReadingTakes, std::memory_order_relaxed) + kReadingTakes;
}

// Returns the entry of this process, which the driver may have made when it started the process.
ProcessAlarms* EnterProcess() {
  const auto pid = static_cast<int32_t>(getpid());
  for (ProcessAlarms& process : Shared()->processes) {
    if (process.pid == pid) return &process;
  }
  for (ProcessAlarms& process : Shared()->processes) {
    int32_t nobody = 0;
    if (process.pid.compare_exchange_strong(nobody, pid)) return &process;
  }
  Die("too many processes");
}

ProcessAlarms& Mine() {
  static ProcessAlarms* const mine = EnterProcess();
  return *mine;
}

// Each process may have a wall clock of its own.
int64_t WallAtBeginning() { return kWallAtBeginning + Mine().wall_offset.load(); }

int64_t OnScale(clockid_t clock, int64_t now) {
  return IsWall(clock) ? now - kBeginning + WallAtBeginning() : now;
}
int64_t OffScale(clockid_t clock, int64_t time) {
  return IsWall(clock) ? time - WallAtBeginning() + kBeginning : time;
}

// From its first moment on, the process is watched: the driver must not take one that has just been
// started, and has no alarm yet, for one that waits.
__attribute__((constructor)) void Begin() {
  if (Shared() == nullptr) return;
  Mine();
  // Nobody moves the time any more when the driver has gone.
  if (Shared()->driver != getpid()) prctl(PR_SET_PDEATHSIG, SIGKILL);
}

// The alarms of this process. Thread-safe.
class Alarms {
 public:
  static Alarms& Get() {
    static auto* const alarms = new Alarms;  // Never destroyed: threads outlive main().
    return *alarms;
  }

  // Returns a number for Set and Drop: an alarm that writes to an eventfd, or that notifies a
  // condition variable.
  int Take(int fd, pthread_cond_t* cond) {
    pthread_mutex_lock(&mu_);
    int free = 0;
    while (free < static_cast<int>(kMostAlarms) && what_[free].taken) ++free;
    if (free == static_cast<int>(kMostAlarms)) Die("too many alarms");
    what_[free] = {true, fd, cond};
    pthread_mutex_unlock(&mu_);
    return free;
  }

  void Drop(int alarm) {
    pthread_mutex_lock(&mu_);
    mine_->at[alarm] = kNever;
    what_[alarm].taken = false;
    pthread_mutex_unlock(&mu_);
  }

  // Fires at once when the time has come.
  void Set(int alarm, int64_t at) {
    pthread_mutex_lock(&mu_);
    const int fd = what_[alarm].fd;
    // What has been fired and not been read belongs to the time that was set before.
    pollfd fired = {fd, POLLIN, 0};
    uint64_t ignored = 0;
    const timespec at_once = {};
    if (fd >= 0 && syscall(SYS_ppoll, &fired, 1, &at_once, nullptr, 0) == 1) {
      static_cast<void>(!syscall(SYS_read, fd, &ignored, sizeof ignored));
    }
    mine_->at[alarm] = at;
    if (at <= Shared()->now.load()) Fire(alarm);
    pthread_mutex_unlock(&mu_);
  }

 private:
  struct What {
    bool taken = false;
    int fd = -1;
    pthread_cond_t* cond = nullptr;
  };

  Alarms() : mine_(&Mine()) {
    // The program's own threads decide who gets signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t waker;
    const auto run = [](void* self) -> void* { static_cast<Alarms*>(self)->RunWaker(); };
    if (pthread_create(&waker, nullptr, run, this) != 0) Die("thread");
    pthread_detach(waker);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  [[noreturn]] void RunWaker() {
    for (;;) {
      const uint32_t seen = Shared()->moves.load();
      const int64_t now = Shared()->now.load();
      pthread_mutex_lock(&mu_);
      for (int i = 0; i < static_cast<int>(kMostAlarms); ++i) {
        if (what_[i].taken && mine_->at[i].load() <= now) Fire(i);
      }
      pthread_mutex_unlock(&mu_);
      syscall(SYS_futex, &Shared()->moves, FUTEX_WAIT, seen, nullptr, nullptr, 0);
    }
  }

  // REQUIRES: mu_ is held. A condition variable may be notified before its thread waits, so its
  // alarm stays, and the next move notifies it again.
  void Fire(int alarm) {
    const uint64_t once = 1;
    if (what_[alarm].cond != nullptr) {
      pthread_cond_broadcast(what_[alarm].cond);
      return;
    }
    mine_->at[alarm] = kNever;
    static_cast<void>(!syscall(SYS_write, what_[alarm].fd, &once, sizeof once));
  }

  ProcessAlarms* const mine_;
  pthread_mutex_t mu_ = PTHREAD_MUTEX_INITIALIZER;
  std::array<What, kMostAlarms> what_;  // Guarded by mu_.
};

// The alarm with which a thread ends its waits.
class ThreadAlarm {
 public:
  ThreadAlarm() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0) Die("eventfd");
    alarm_ = Alarms::Get().Take(fd_, nullptr);
  }
  ~ThreadAlarm() {
    Alarms::Get().Drop(alarm_);
    syscall(SYS_close, fd_);
  }
  static ThreadAlarm& Get() {
    thread_local ThreadAlarm alarm;
    return alarm;
  }
  int fd() const { return fd_; }
  void Set(int64_t at) { Alarms::Get().Set(alarm_, at); }

 private:
  const int fd_;
  int alarm_ = 0;
};

// As ppoll without a time, which ends with 0 when the simulated time has come.
int PollUntil(pollfd* fds, nfds_t count, int64_t at, const sigset_t* mask) {
  ThreadAlarm& alarm = ThreadAlarm::Get();
  constexpr nfds_t kMost = 256;
  std::array<pollfd, kMost + 1> all;
  if (count > kMost) Die("poll of too many descriptors");
  std::memcpy(all.data(), fds, count * sizeof(pollfd));
  all[count] = {alarm.fd(), POLLIN, 0};
  alarm.Set(at);
  const long ready = syscall(SYS_ppoll, all.data(), count + 1, nullptr, mask, _NSIG / 8);
  const int error = errno;
  alarm.Set(kNever);
  errno = error;
  if (ready < 0) return -1;
  for (nfds_t i = 0; i < count; ++i) fds[i].revents = all[i].revents;
  return static_cast<int>(ready) - (all[count].revents != 0 ? 1 : 0);
}

int SleepUntil(int64_t at) { return PollUntil(nullptr, 0, at, nullptr); }

int64_t After(int milliseconds) { return Now() + milliseconds * (kSecond / 1000); }

// Which descriptors are timers: the number of the alarm plus 1, and the clock.
constexpr int kMostDescriptors = 65536;
struct Timer {
  std::atomic<int> alarm{0};
  std::atomic<int> clock{0};
};
std::array<Timer, kMostDescriptors> timers;

Timer* TimerOf(int fd) {
  if (fd < 0 || fd >= kMostDescriptors || timers[fd].alarm == 0) return nullptr;
  return &timers[fd];
}

int WaitUntil(pthread_cond_t* cond, pthread_mutex_t* mutex, int64_t at) {
  static auto* const wait = Hidden<int(pthread_cond_t*, pthread_mutex_t*)>("pthread_cond_wait");
  if (Shared()->now.load() >= at) return ETIMEDOUT;
  const int alarm = Alarms::Get().Take(-1, cond);
  Alarms::Get().Set(alarm, at);
  const int result = wait(cond, mutex);
  Alarms::Get().Drop(alarm);
  return result == 0 && Shared()->now.load() >= at ? ETIMEDOUT : result;
}

}  // namespace
}  // namespace prove

extern "C" int clock_gettime(clockid_t clock, timespec* now);

// Abseil finds the frequency of the processor out by sleeping, while others spin for a lock.
namespace absl {
ABSL_NAMESPACE_BEGIN
namespace base_internal {
double NominalCPUFrequency() { return 1e9; }
}  // namespace base_internal

// Abseil asks the system for the time now and then, and counts cycles in between, for two real
// seconds at most: its wall clock would stay behind by all that is jumped over.
int64_t GetCurrentTimeNanos() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return prove::Nanoseconds(t);
}
ABSL_NAMESPACE_END
}  // namespace absl

using namespace prove;  // NOLINT: these are the C library's names, which belong to no namespace.

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) {
  if (Shared() == nullptr || !(IsWall(clock) || IsSteady(clock))) {
    return static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  }
  *now = Timespec(OnScale(clock, Now()));
  return 0;
}

int gettimeofday(timeval* __restrict now, void* __restrict) noexcept {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  *now = {.tv_sec = t.tv_sec, .tv_usec = t.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* now) noexcept {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  if (now != nullptr) *now = t.tv_sec;
  return t.tv_sec;
}

int timerfd_create(int clock, int flags) noexcept {
  if (Shared() == nullptr) return static_cast<int>(syscall(SYS_timerfd_create, clock, flags));
  static_assert(int{TFD_CLOEXEC} == int{EFD_CLOEXEC} && int{TFD_NONBLOCK} == int{EFD_NONBLOCK});
  const int fd = eventfd(0, flags);
  if (fd < 0) return fd;
  if (fd >= kMostDescriptors) Die("too many descriptors");
  timers[fd].clock = clock;
  timers[fd].alarm = Alarms::Get().Take(fd, nullptr) + 1;
  return fd;
}

int timerfd_settime(int fd, int flags, const itimerspec* wanted, itimerspec* before) noexcept {
  Timer* timer = Shared() == nullptr ? nullptr : TimerOf(fd);
  if (timer == nullptr) {
    return static_cast<int>(syscall(SYS_timerfd_settime, fd, flags, wanted, before));
  }
  if (before != nullptr) *before = {};
  if (Nanoseconds(wanted->it_interval) != 0) Die("periodic timers are not simulated");
  const int64_t value = Nanoseconds(wanted->it_value);
  int64_t at = kNever;
  if (value != 0)
    at = (flags & TFD_TIMER_ABSTIME) != 0 ? OffScale(timer->clock, value) : Now() + value;
  Alarms::Get().Set(timer->alarm - 1, at);
  return 0;
}

int close(int fd) {
  Timer* timer = Shared() == nullptr ? nullptr : TimerOf(fd);
  if (timer != nullptr) Alarms::Get().Drop(timer->alarm.exchange(0) - 1);
  return static_cast<int>(syscall(SYS_close, fd));
}

int poll(pollfd* fds, nfds_t count, int timeout) {
  if (Shared() != nullptr && timeout > 0) return PollUntil(fds, count, After(timeout), nullptr);
  const timespec at_once = {};
  return static_cast<int>(
      syscall(SYS_ppoll, fds, count, timeout == 0 ? &at_once : nullptr, nullptr, 0));
}

int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  if (Shared() != nullptr && timeout != nullptr && Nanoseconds(*timeout) > 0) {
    return PollUntil(fds, count, Now() + Nanoseconds(*timeout), mask);
  }
  return static_cast<int>(syscall(SYS_ppoll, fds, count, timeout, mask, _NSIG / 8));
}

int epoll_pwait(int epoll, epoll_event* events, int most, int timeout, const sigset_t* mask) {
  if (Shared() != nullptr && timeout > 0) {
    pollfd ready = {epoll, POLLIN, 0};
    if (const int count = PollUntil(&ready, 1, After(timeout), mask); count <= 0) return count;
    timeout = 0;
  }
  return static_cast<int>(syscall(SYS_epoll_pwait, epoll, events, most, timeout, mask, _NSIG / 8));
}

int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  return epoll_pwait(epoll, events, most, timeout, nullptr);
}

int connect(int fd, const sockaddr* to, socklen_t size) {
  static const char* const address = std::getenv(kAddressVariable);
  if (address != nullptr && to->sa_family == AF_INET) {
    sockaddr_in from = {};
    from.sin_family = AF_INET;
    inet_pton(AF_INET, address, &from.sin_addr);
    // Fails for a socket that has an address, which is then the right one.
    static_cast<void>(syscall(SYS_bind, fd, &from, sizeof from));
  }
  return static_cast<int>(syscall(SYS_connect, fd, to, size));
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* wanted, timespec* left) {
  if (Shared() == nullptr) {
    return syscall(SYS_clock_nanosleep, clock, flags, wanted, left) == 0 ? 0 : errno;
  }
  const int64_t value = Nanoseconds(*wanted);
  // A thread that gives way to the holder of a spin lock for a moment is at work.
  if ((flags & TIMER_ABSTIME) == 0 && value <= kGivesWay) {
    return syscall(SYS_clock_nanosleep, clock, flags, wanted, left) == 0 ? 0 : errno;
  }
  const int64_t at = (flags & TIMER_ABSTIME) != 0 ? OffScale(clock, value) : Now() + value;
  while (Shared()->now.load() < at) SleepUntil(at);
  return 0;
}

int nanosleep(const timespec* wanted, timespec* left) {
  const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, wanted, left);
  errno = error;
  return error == 0 ? 0 : -1;
}

int usleep(useconds_t microseconds) {
  const timespec wanted = Timespec(int64_t{microseconds} * 1000);
  return nanosleep(&wanted, nullptr);
}

unsigned int sleep(unsigned int seconds) {
  const timespec wanted = {.tv_sec = seconds, .tv_nsec = 0};
  nanosleep(&wanted, nullptr);
  return 0;
}

int pthread_cond_timedwait(pthread_cond_t* cond, pthread_mutex_t* mutex, const timespec* at) {
  static auto* const wait =
      Hidden<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)>("pthread_cond_timedwait");
  if (Shared() == nullptr) return wait(cond, mutex, at);
  // The clock of the variable's attributes is not known here; the two scales are far apart.
  const int64_t value = Nanoseconds(*at);
  const clockid_t clock = value > kWallAtBeginning / 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  return WaitUntil(cond, mutex, OffScale(clock, value));
}

int pthread_cond_clockwait(pthread_cond_t* cond, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* at) {
  static auto* const wait =
      Hidden<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>(
          "pthread_cond_clockwait");
  if (Shared() == nullptr) return wait(cond, mutex, clock, at);
  return WaitUntil(cond, mutex, OffScale(clock, Nanoseconds(*at)));
}

}  // extern "C"
