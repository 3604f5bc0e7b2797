#include "base/memory_limit.h"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "tests/support/temp_directory.h"

namespace base {
namespace {

struct Host {
  tests::TempDirectory directory;

  void Write(const std::string& path, const std::string& content) {
    const std::string whole = directory.path() + path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    std::ofstream(whole) << content;
  }
  std::optional<MemoryUse> Read() { return ReadMemoryUse(directory.path()); }
};

}  // namespace

TEST_CASE("the limit of a cgroup of version 2 is read, in a container and on its host") {
  Host host;
  host.Write("/proc/self/cgroup", "0::/kubepods/pod1\n");
  // A host knows the group by its path, and a container sees it as the mount.
  const std::string folder = GENERATE("/sys/fs/cgroup", "/sys/fs/cgroup/kubepods/pod1");
  host.Write(folder + "/memory.max", "67108864\n");
  host.Write(folder + "/memory.current", "50000000\n");
  host.Write(folder + "/memory.stat", "anon 1000\ninactive_file 10000000\n");
  const auto use = host.Read();
  REQUIRE(use.has_value());
  CHECK(use->limit == 67108864);
  CHECK(use->working_set == 40000000);
}

TEST_CASE("the limit of a cgroup of version 1 is read") {
  Host host;
  host.Write("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n0::/\n");
  host.Write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000000\n");
  host.Write("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "400\n");
  host.Write("/sys/fs/cgroup/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 100\n");
  const auto use = host.Read();
  REQUIRE(use.has_value());
  CHECK(use->limit == 1000000);
  CHECK(use->working_set == 300);
}

TEST_CASE("a process without a limit, or without cgroups, has none") {
  Host host;
  CHECK_FALSE(host.Read().has_value());
  host.Write("/proc/self/cgroup", "0::/\n4:memory:/\n");
  CHECK_FALSE(host.Read().has_value());
  host.Write("/sys/fs/cgroup/memory.max", "max\n");
  host.Write("/sys/fs/cgroup/memory.current", "400\n");
  host.Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  host.Write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "400\n");
  CHECK_FALSE(host.Read().has_value());
}

}  // namespace base
