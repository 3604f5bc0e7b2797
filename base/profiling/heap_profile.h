// Heap profiles of this process: which call paths have allocated the memory that is in use.
//
// glibc's allocator cannot say that, and tcmalloc takes more memory, so a process that is to be
// profiled is started again with tcmalloc: call EnableHeapProfiles at the beginning of main.
#ifndef BASE_PROFILING_HEAP_PROFILE_H_
#define BASE_PROFILING_HEAP_PROFILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace profiling {

// Executes this program once more, with the same arguments and with tcmalloc preloaded, and does
// not return if that succeeds. Does nothing in the process that has been started so, and without
// tcmalloc in the library path TakeHeapProfile reports that. The environment is as it was before in
// either process, so that programs which this one starts run as ever. REQUIRES: no thread has been
// started;
// what the process has opened and does not inherit is lost.
void EnableHeapProfiles(char** argv);

// Returns the samples of the memory in use (one in half a megabyte that was allocated) in
// gperftools' format, with the map of the loaded libraries behind them. kUnimplemented when the
// process runs without tcmalloc. Thread-safe.
absl::StatusOr<std::string> TakeHeapProfile();

}  // namespace profiling

#endif  // BASE_PROFILING_HEAP_PROFILE_H_
