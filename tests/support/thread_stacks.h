// How many stacks of threads the process holds, also of threads that have ended.
#ifndef TESTS_SUPPORT_THREAD_STACKS_H_
#define TESTS_SUPPORT_THREAD_STACKS_H_

#include <pthread.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

namespace tests {

// The C library keeps at most this number of stacks for later threads (40 MB, of 8 MB each).
inline constexpr int kCachedStacks = 5;

// Counts the mappings that have the default size of a stack.
inline int ThreadStacks() {
  pthread_attr_t attributes;
  size_t size = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  int stacks = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    char* rest = nullptr;
    const uint64_t begin = std::strtoull(line.c_str(), &rest, 16);
    const uint64_t end = std::strtoull(rest + 1, nullptr, 16);
    if (end - begin == size) ++stacks;
  }
  return stacks;
}

}  // namespace tests

#endif  // TESTS_SUPPORT_THREAD_STACKS_H_
