#include "base/profiling/cpu_profile.h"

#include <gperftools/profiler.h>
#include <sys/mman.h>
#include <unistd.h>

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

// gperftools has one profile for the process.
ABSL_CONST_INIT absl::Mutex profile_mutex(absl::kConstInit);

void Stop() {
  std::string remark;
  {
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
  } else if (ProfilerStart(file.path().c_str()) == 0) {
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
