// How it is known that all wait: the CPU clocks of all processes stand still while this thread
// sleeps a moment, and the kernel says of every thread but this one that it sleeps. A thread that
// has got a byte, a lock or an alarm is runnable from the moment on that the other side has given
// it, so nothing is under way between two threads that both sleep. The check is not exact on a
// machine that is so busy that the kernel itself is late to deliver; time then jumps a little
// early, which is what a slow network looks like.
//
// This thread uses system calls for its own sleeps, since those of the C library are simulated.

#include "tests/prove/time/time_driver.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace prove {
namespace {

// Nanoseconds of a core: on a busy machine the work of a second may take a minute.
constexpr int64_t kLongestWork = 30'000'000'000;
// Between two readings of the CPU clocks; longer ones follow while somebody works, since whoever
// looks takes the time of those who work.
constexpr int64_t kGlance = 60'000, kLongestGlance = 1'000'000;
constexpr int64_t kLook = 50'000'000;  // In real time.

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "prove: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(2);
}

int64_t RealNanoseconds() {
  timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
}

void SleepReally(int64_t nanoseconds) {
  const timespec t = {.tv_sec = 0, .tv_nsec = nanoseconds};
  syscall(SYS_nanosleep, &t, nullptr);
}

// Nanoseconds that the process has used a core; 0 when it is gone.
int64_t CpuOf(int pid) {
  // As clock_getcpuclockid() makes them (linux/posix-timers.h).
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2);
  timespec t = {};
  if (syscall(SYS_clock_gettime, clock, &t) != 0) return 0;
  return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
}

int64_t CpuOfThisThread() {
  timespec t = {};
  syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
}

constexpr char kGone = 'X';

// The letter in an open /proc/.../stat.
char StateIn(int stat) {
  std::array<char, 128> text;
  const ssize_t count = pread(stat, text.data(), text.size() - 1, 0);
  if (count <= 0) return kGone;
  text[count] = '\0';
  const char* name_end = std::strrchr(text.data(), ')');
  return name_end == nullptr ? kGone : name_end[2];
}

// How many threads a process has, plus a constant.
int64_t LinksOf(int directory) {
  struct stat facts = {};
  return fstat(directory, &facts) == 0 ? static_cast<int64_t>(facts.st_nlink) : -1;
}

SharedTime& MapShared() {
  const char* path = std::getenv(kSharedTimeVariable);
  if (path == nullptr) Die("there is no simulated time: call TimeDriver::Begin()");
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) Die(path);
  void* memory = mmap(nullptr, sizeof(SharedTime), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) Die(path);
  return *static_cast<SharedTime*>(memory);
}

void ForgetAlarms(ProcessAlarms& process) {
  for (auto& at : process.at) at = kNever;
  process.wall_offset = 0;
  process.stopped = false;
}

// The threads of the kernel that deliver packets when a machine is too busy to do it at once, as
// their open /proc/.../stat.
std::vector<int> NetworkThreads() {
  std::vector<int> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    std::ifstream name(entry.path() / "comm");
    std::string text;
    if (!std::getline(name, text) || !absl::StartsWith(text, "ksoftirqd/")) continue;
    threads.push_back(open((entry.path() / "stat").c_str(), O_RDONLY | O_CLOEXEC));
  }
  return threads;
}

}  // namespace

void TimeDriver::Begin(char** argv) {
  if (std::getenv(kSharedTimeVariable) != nullptr) return;
  const int fd = memfd_create("simulated-time", 0);
  if (fd < 0 || ftruncate(fd, sizeof(SharedTime)) != 0) Die("memfd");
  void* memory = mmap(nullptr, sizeof(SharedTime), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) Die("memfd");
  auto* shared = new (memory) SharedTime;
  for (ProcessAlarms& process : shared->processes) ForgetAlarms(process);
  shared->driver = getpid();
  // The descriptor stays open in this process, under whose number children find it.
  setenv(kSharedTimeVariable, absl::StrCat("/proc/", getpid(), "/fd/", fd).c_str(), 1);
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string library = program.parent_path().parent_path() / "tests/libkm_simulated_time.so";
  if (!std::filesystem::exists(library)) Die(library);
  setenv("LD_PRELOAD", library.c_str(), 1);
  execv(program.c_str(), argv);
  Die(program);
}

TimeDriver::TimeDriver()
    : real_(std::getenv(kSharedTimeVariable) == nullptr),
      shared_(real_ ? *new SharedTime : MapShared()),
      network_threads_(NetworkThreads()) {}

TimeDriver::~TimeDriver() = default;

absl::Duration TimeDriver::Now() const {
  if (real_) return absl::Nanoseconds(RealNanoseconds()) * kPace;
  return absl::Nanoseconds(shared_.now.load() - kBeginning);
}

std::vector<int> TimeDriver::Processes() const {
  std::vector<int> pids;
  for (const ProcessAlarms& process : shared_.processes) {
    if (const int pid = process.pid.load(); pid > 0) pids.push_back(pid);
  }
  return pids;
}

// Looking at a file that is open costs half of opening it, and there are a hundred threads to look
// at before each jump.
class TimeDriver::Threads {
 public:
  explicit Threads(int pid)
      : directory_(open(absl::StrCat("/proc/", pid, "/task").c_str(),
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  ~Threads() {
    Close();
    if (directory_ >= 0) close(directory_);
  }
  Threads(const Threads&) = delete;

  // Whether all but the calling thread wait, or are stopped where they may be.
  bool AllWait(bool may_be_stopped) {
    if (directory_ < 0) return true;
    const int64_t links = LinksOf(directory_);
    if (links != links_) {
      Open();
      links_ = links;
    }
    // Who has worked a moment ago is the first one that is looked at.
    for (size_t i = 0; i < stats_.size(); ++i) {
      const char state = StateIn(stats_[i]);
      if (state == kGone) links_ = kUnknown;  // There may be another one in its place.
      if (state == kGone || state == 'S' || state == 'Z') continue;
      if (state == 'T' && may_be_stopped) continue;
      std::swap(stats_[0], stats_[i]);
      return false;
    }
    return links_ == links;
  }

 private:
  static constexpr int64_t kUnknown = -2;

  void Open() {
    Close();
    DIR* threads = fdopendir(openat(directory_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (threads == nullptr) return;
    const std::string me = absl::StrCat(syscall(SYS_gettid));
    while (const dirent* entry = readdir(threads)) {
      if (entry->d_name[0] == '.' || me == entry->d_name) continue;
      const int stat =
          openat(directory_, absl::StrCat(entry->d_name, "/stat").c_str(), O_RDONLY | O_CLOEXEC);
      if (stat >= 0) stats_.push_back(stat);
    }
    closedir(threads);
  }
  void Close() {
    for (const int stat : stats_) close(stat);
    stats_.clear();
  }

  const int directory_;
  int64_t links_ = kUnknown;  // When stats_ was filled.
  std::vector<int> stats_;
};

bool TimeDriver::AllWait(int pid) {
  const ProcessAlarms* process = Find(pid);
  std::unique_ptr<Threads>& threads = threads_[pid];
  if (threads == nullptr) threads = std::make_unique<Threads>(pid);
  return threads->AllWait(process != nullptr && process->stopped);
}

bool TimeDriver::NetworkWaits() const {
  return std::all_of(network_threads_.begin(), network_threads_.end(),
                     [](int stat) { return StateIn(stat) != 'R'; });
}

bool TimeDriver::AwaitIdle() {
  if (real_) {
    SleepReally(kLook);
    return true;
  }
  int64_t at_first = 0;  // What the clocks have shown when this wait began.
  for (int64_t glance = kGlance;; glance = std::min(2 * glance, kLongestGlance)) {
    const std::vector<int> pids = Processes();
    const auto cpu = [&] {
      int64_t sum = -CpuOfThisThread();
      for (const int pid : pids) sum += CpuOf(pid);
      return sum;
    };
    const uint32_t move = shared_.moves.load();
    const int64_t before = cpu();
    if (at_first == 0) at_first = before;
    SleepReally(glance);
    // The two clocks of this process are read one after the other.
    constexpr int64_t kBetweenReadings = 5'000;
    const auto still = [&] { return cpu() - before < kBetweenReadings; };
    if (still() && std::all_of(pids.begin(), pids.end(), [&](int pid) { return AllWait(pid); }) &&
        NetworkWaits() && still() && move == shared_.moves.load()) {
      return true;
    }
    if (cpu() - at_first > kLongestWork) {
      busy_without_end_ = true;
      return false;
    }
  }
}

int64_t TimeDriver::NextJump() const {
  int64_t first = kNever;
  for (const ProcessAlarms& process : shared_.processes) {
    if (process.pid.load() <= 0 || process.stopped) continue;
    for (const auto& at : process.at) first = std::min(first, at.load());
  }
  return first == kNever ? kNever : first + slack_;
}

void TimeDriver::MoveTo(int64_t time) {
  int64_t now = shared_.now.load();
  while (now < time && !shared_.now.compare_exchange_weak(now, time)) {
  }
  ++shared_.moves;
  syscall(SYS_futex, &shared_.moves, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  ++jumps_;
}

bool TimeDriver::RunFor(absl::Duration duration, const std::function<bool()>& over) {
  if (real_) {
    const absl::Duration until = Now() + duration;
    while (AwaitIdle() && !over()) {
      if (Now() > until) return false;
    }
    return true;
  }
  const int64_t end = shared_.now.load() + absl::ToInt64Nanoseconds(duration);
  for (;;) {
    if (!AwaitIdle()) return false;
    if (over()) return true;
    const int64_t next = NextJump();
    if (next > end) {
      MoveTo(end);
      return AwaitIdle() && over();
    }
    MoveTo(next);
  }
}

ProcessAlarms* TimeDriver::Find(int pid) const {
  for (ProcessAlarms& process : shared_.processes) {
    if (process.pid.load() == pid) return &process;
  }
  return nullptr;
}

void TimeDriver::SetWallOffset(int pid, absl::Duration ahead) {
  if (ProcessAlarms* process = Find(pid)) process->wall_offset = absl::ToInt64Nanoseconds(ahead);
}

void TimeDriver::Stop(int pid) {
  ProcessAlarms* process = Find(pid);
  if (process == nullptr) return;
  process->stopped = true;
  kill(pid, SIGSTOP);
}

void TimeDriver::Continue(int pid) {
  ProcessAlarms* process = Find(pid);
  if (process == nullptr) return;
  process->stopped = false;
  kill(pid, SIGCONT);
}

void TimeDriver::Watch(int pid) {
  if (Find(pid) != nullptr) return;  // The process was faster.
  for (ProcessAlarms& process : shared_.processes) {
    int32_t nobody = 0;
    if (process.pid.compare_exchange_strong(nobody, pid)) return;
  }
  Die("too many processes");
}

void TimeDriver::Forget(int pid) {
  for (ProcessAlarms& process : shared_.processes) {
    if (process.pid.load() != pid) continue;
    ForgetAlarms(process);
    process.pid = 0;
    threads_.erase(pid);
  }
}

}  // namespace prove
