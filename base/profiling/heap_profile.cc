#include "base/profiling/heap_profile.h"

#include <dlfcn.h>
#include <gperftools/malloc_extension.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace profiling {
namespace {

constexpr char kLibrary[] = "libtcmalloc.so.4";
constexpr char kPreload[] = "LD_PRELOAD";
// Set while the process is started again, which is tried once, whether it succeeds or not.
constexpr char kDone[] = "KARMADA_HEAP_PROFILES";
constexpr char kSamplePeriod[] = "TCMALLOC_SAMPLE_PARAMETER";
constexpr char kHalfMegabyte[] = "524288";
// The value of kDone when the sample period was not set before.
constexpr char kSetsPeriod[] = "sets-period";

// MallocExtension::instance(). It is looked up because the program is not linked with tcmalloc,
// which would take the allocator's place in every process.
constexpr char kInstanceSymbol[] = "_ZN15MallocExtension8instanceEv";

// Takes back what was set for this process: the programs that it starts, such as exec plugins,
// would run with tcmalloc, too. The library has read its variables by now.
void RestoreEnvironment() {
  const char* preloaded = std::getenv(kPreload);
  absl::string_view libraries = preloaded == nullptr ? "" : preloaded;
  if (absl::ConsumePrefix(&libraries, kLibrary)) {
    absl::ConsumePrefix(&libraries, ":");
    if (libraries.empty()) unsetenv(kPreload);
    if (!libraries.empty()) setenv(kPreload, std::string(libraries).c_str(), 1);
  }
  if (std::string(std::getenv(kDone)) == kSetsPeriod) unsetenv(kSamplePeriod);
  unsetenv(kDone);
}

}  // namespace

void EnableHeapProfiles(char** argv) {
  if (std::getenv(kDone) != nullptr) return RestoreEnvironment();
  // The loader would print an error for a library that is not there, in the middle of the log.
  if (dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL) == nullptr) return;
  const char* preloaded = std::getenv(kPreload);
  const std::string libraries =
      preloaded == nullptr ? kLibrary : absl::StrCat(kLibrary, ":", preloaded);
  setenv(kDone, std::getenv(kSamplePeriod) == nullptr ? kSetsPeriod : "1", 1);
  setenv(kPreload, libraries.c_str(), 1);
  setenv(kSamplePeriod, kHalfMegabyte, 0);
  execv("/proc/self/exe", argv);
  // It goes on without heap profiles if that failed.
  RestoreEnvironment();
}

absl::StatusOr<std::string> TakeHeapProfile() {
  const auto instance =
      reinterpret_cast<MallocExtension* (*)()>(dlsym(RTLD_DEFAULT, kInstanceSymbol));
  if (instance == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("the process runs without ", kLibrary, ", which is not in the library path"));
  }
  std::string profile;
  instance()->GetHeapSample(&profile);
  return profile;
}

}  // namespace profiling
