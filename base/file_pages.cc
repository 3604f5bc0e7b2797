#include "base/file_pages.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace base {
namespace {

// Called for the program and each library. What may be written to holds what no file has.
int DropOne(dl_phdr_info* library, size_t, void* bytes) {
  const uintptr_t page = sysconf(_SC_PAGESIZE);
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const uintptr_t at = library->dlpi_addr + segment.p_vaddr;
    const uintptr_t begin = at / page * page;
    const uintptr_t end = (at + segment.p_memsz + page - 1) / page * page;
    // Refused for what the kernel has mapped itself and for what is locked into memory.
    if (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) == 0) {
      *static_cast<size_t*>(bytes) += end - begin;
    }
  }
  return 0;
}

}  // namespace

size_t DropFilePages() {
  size_t bytes = 0;
  dl_iterate_phdr(&DropOne, &bytes);
  return bytes;
}

}  // namespace base
