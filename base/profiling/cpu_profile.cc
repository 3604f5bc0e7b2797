// gperftools' handler of SIGPROF waits for a spin lock while it walks the stack of its thread, for
// which libunwind asks the dynamic linker; and gperftools frees memory under that lock when a
// profile ends. A thread that is interrupted while it holds the linker's lock, or the allocator's,
// would wait for the spin lock for ever, because its owner waits for that thread. So a handler of
// ours stands before gperftools': it passes one signal on at a time, none while a profile begins or
// ends, and never waits. What is lost are the samples of threads that are interrupted meanwhile.

#include "base/profiling/cpu_profile.h"

#include <gperftools/profiler.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "absl/base/const_init.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "base/profiling/caught_remark.h"

namespace profiling {
namespace {

// A file in memory: the file system of the process may be read-only.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("cpu-profile", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (IsOpen()) close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;

  bool IsOpen() const { return descriptor_ >= 0; }
  // The path under which others in this process can open it.
  std::string path() const { return absl::StrCat("/proc/self/fd/", descriptor_); }
  std::string Read() const {
    std::string content(static_cast<size_t>(lseek(descriptor_, 0, SEEK_END)), '\0');
    size_t done = 0;
    while (done < content.size()) {
      const ssize_t n = pread(descriptor_, content.data() + done, content.size() - done,
                              static_cast<off_t>(done));
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    content.resize(done);
    return content;
  }

 private:
  const int descriptor_;
};

using Handler = void (*)(int, siginfo_t*, void*);

// True while a signal is with gperftools' handler, or none may get there.
std::atomic<bool> sampling_taken = false;
std::atomic<Handler> gperftools_handler = nullptr;

void TakeSample(int signal, siginfo_t* info, void* context) {
  const Handler handler = gperftools_handler;
  if (handler == nullptr || sampling_taken.exchange(true)) return;
  handler(signal, info, context);
  sampling_taken = false;
}

// Puts TakeSample before the handler that gperftools has installed when it was loaded. gperftools
// uses another signal only where its variables in the environment say so: nothing is done then.
bool PutBeforeGperftools() {
  struct sigaction action = {};
  if (sigaction(SIGPROF, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) == 0) {
    return false;
  }
  gperftools_handler = action.sa_sigaction;
  action.sa_sigaction = TakeSample;
  return sigaction(SIGPROF, &action, nullptr) == 0;
}

// While an object of this class exists, gperftools' handler does not run. REQUIRES: one object at a
// time.
class NoSamples {
 public:
  NoSamples() {
    static const bool kOnce = PutBeforeGperftools();
    static_cast<void>(kOnce);
    // The clock of the caller may stand still.
    while (sampling_taken.exchange(true)) base::RealClock().SleepFor(absl::Microseconds(100), {});
  }
  ~NoSamples() { sampling_taken = false; }
  NoSamples(const NoSamples&) = delete;
};

// gperftools has one profile for the process.
ABSL_CONST_INIT absl::Mutex profile_mutex(absl::kConstInit);

bool Start(const std::string& path) {
  const NoSamples no_samples;
  return ProfilerStart(path.c_str()) != 0;
}

void Stop() {
  std::string remark;
  {
    const NoSamples no_samples;
    const CaughtRemark caught;
    ProfilerStop();
    remark = caught.Text();
  }
  base::LogInfo("a CPU profile has been taken", {{"gperftools", remark}});
}

}  // namespace

absl::StatusOr<std::string> TakeCpuProfile(absl::Duration duration, const base::Clock& clock,
                                           const base::StopToken& stop) {
  if (!profile_mutex.TryLock()) {
    return absl::UnavailableError("another CPU profile is being taken");
  }
  absl::StatusOr<std::string> profile;
  const MemoryFile file;
  if (!file.IsOpen()) {
    profile = absl::UnavailableError(
        absl::StrCat("there is no file for the profile: ", std::strerror(errno)));
  } else if (!Start(file.path())) {
    profile = absl::UnavailableError(absl::StrCat("the profile cannot be begun in ", file.path()));
  } else {
    clock.SleepFor(duration, stop);
    Stop();
    profile = file.Read();
  }
  profile_mutex.Unlock();
  return profile;
}

}  // namespace profiling
