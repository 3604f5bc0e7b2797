#include "base/profiling/heap_profile.h"

#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

namespace profiling {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "(none)" : value;
}

// What EnableHeapProfiles does in the process that was started again.
TEST_CASE("programs that the profiled process starts run without its allocator") {
  setenv("KARMADA_HEAP_PROFILES", "sets-period", 1);
  setenv("TCMALLOC_SAMPLE_PARAMETER", "524288", 1);
  SECTION("nothing else was preloaded") {
    setenv("LD_PRELOAD", "libtcmalloc.so.4", 1);
    EnableHeapProfiles(nullptr);
    CHECK(Variable("LD_PRELOAD") == "(none)");
    CHECK(Variable("TCMALLOC_SAMPLE_PARAMETER") == "(none)");
  }
  SECTION("something was, and the user had chosen a period") {
    setenv("KARMADA_HEAP_PROFILES", "1", 1);
    setenv("LD_PRELOAD", "libtcmalloc.so.4:/lib/a.so:/lib/b.so", 1);
    EnableHeapProfiles(nullptr);
    CHECK(Variable("LD_PRELOAD") == "/lib/a.so:/lib/b.so");
    CHECK(Variable("TCMALLOC_SAMPLE_PARAMETER") == "524288");
  }
  CHECK(Variable("KARMADA_HEAP_PROFILES") == "(none)");
  for (const char* name : {"LD_PRELOAD", "TCMALLOC_SAMPLE_PARAMETER"}) unsetenv(name);
}

}  // namespace
}  // namespace profiling
