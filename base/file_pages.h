// Pages of programs and libraries that stay in memory after they have been used once.
#ifndef BASE_FILE_PAGES_H_
#define BASE_FILE_PAGES_H_

#include <cstddef>

namespace base {

// Gives back the pages of this process that only repeat what the files of the program and of its
// libraries hold (code and constants), and returns how many bytes of address space these files take
// there. Most of them are used at the start alone. Those that are used again are read from the
// kernel's cache at once, or from the file, as after any lack of memory. Breakpoints that a
// debugger has set are lost. Takes less than a millisecond. Thread-safe.
size_t DropFilePages();

}  // namespace base

#endif  // BASE_FILE_PAGES_H_
