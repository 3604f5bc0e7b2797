#include "profiling/heap_profile.h"

#include <dlfcn.h>
#include <gperftools/malloc_extension.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace profiling {
namespace {

constexpr char kLibrary[] = "libtcmalloc.so.4";
constexpr char kPreload[] = "LD_PRELOAD";
// Set in the process that was started anew: that is done once, whatever comes of it.
constexpr char kDone[] = "KARMADA_HEAP_PROFILES";
constexpr char kSamplePeriod[] = "TCMALLOC_SAMPLE_PARAMETER";
constexpr char kHalfMegabyte[] = "524288";

// MallocExtension::instance(). It is looked up because the program is not linked with tcmalloc,
// which would take the allocator's place in every process.
constexpr char kInstanceSymbol[] = "_ZN15MallocExtension8instanceEv";

}  // namespace

void EnableHeapProfiles(char** argv) {
  if (std::getenv(kDone) != nullptr) return;
  // The loader would print an error for a library that is not there, in the middle of the log.
  if (dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL) == nullptr) return;
  const char* preloaded = std::getenv(kPreload);
  const std::string libraries =
      preloaded == nullptr ? kLibrary : absl::StrCat(kLibrary, ":", preloaded);
  setenv(kDone, "1", 1);
  setenv(kPreload, libraries.c_str(), 1);
  setenv(kSamplePeriod, kHalfMegabyte, 0);
  execv("/proc/self/exe", argv);
  // It goes on without heap profiles if that failed.
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
