// A library that a test preloads into a program (LD_PRELOAD): CLOCK_REALTIME then differs from the
// machine's clock by the nanoseconds that the file named by CLOCK_SHIFT_FILE holds at that moment,
// as a number of eight bytes. The steady clock stays as it is, as it does when the clock of a
// machine is set.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr int64_t kSecond = 1'000'000'000;

// Returns the shift, which other processes may change; nullptr when there is no file.
const std::atomic<int64_t>* MapShift() {
  const char* path = std::getenv("CLOCK_SHIFT_FILE");
  const int fd = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* memory = mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<const std::atomic<int64_t>*>(memory);
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) {
  static const std::atomic<int64_t>* const shift = MapShift();
  const int result = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  if (result != 0 || clock != CLOCK_REALTIME || shift == nullptr) return result;
  const int64_t shifted = now->tv_sec * kSecond + now->tv_nsec + shift->load();
  now->tv_sec = shifted / kSecond;
  now->tv_nsec = shifted % kSecond;
  return 0;
}
