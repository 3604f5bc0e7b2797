#include "base/internal/process_stats.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/files.h"

namespace base::internal {
namespace {

double ToNumber(absl::string_view text) {
  double number = 0;
  return absl::SimpleAtod(text, &number) ? number : 0;
}

// Returns the machine's boot time in seconds since the epoch.
double BootTime() {
  static const double kBootTime = [] {
    const std::string stat = ReadFile("/proc/stat").value_or("");
    for (absl::string_view line : absl::StrSplit(stat, '\n')) {
      if (absl::StartsWith(line, "btime ")) return ToNumber(line.substr(6));
    }
    return 0.0;
  }();
  return kBootTime;
}

double CountOpenFds() {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  double count = 0;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(directory);
  return count - 1;  // Without the descriptor of this directory.
}

double MaxFds() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<double>::infinity();
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

std::optional<ProcessStats> ReadProcessStats() {
  const std::string stat = ReadFile("/proc/self/stat").value_or("");
  // The second field is the program's name in parentheses, which may contain anything.
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(stat).substr(name_end + 2), ' ');
  // Fields have the numbers of proc(5); the first one in `fields` is number 3.
  constexpr size_t kUserTime = 14 - 3, kSystemTime = 15 - 3, kStartTime = 22 - 3, kVirtual = 23 - 3,
                   kResident = 24 - 3;
  if (fields.size() <= kResident) return std::nullopt;
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  ProcessStats stats;
  stats.cpu_seconds =
      (ToNumber(fields[kUserTime]) + ToNumber(fields[kSystemTime])) / ticks_per_second;
  stats.start_time_seconds = BootTime() + ToNumber(fields[kStartTime]) / ticks_per_second;
  stats.virtual_bytes = ToNumber(fields[kVirtual]);
  stats.resident_bytes = ToNumber(fields[kResident]) * static_cast<double>(sysconf(_SC_PAGESIZE));
  stats.open_fds = CountOpenFds();
  stats.max_fds = MaxFds();
  return stats;
}

}  // namespace base::internal
