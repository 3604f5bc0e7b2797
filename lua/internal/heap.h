// The memory of one Lua state: small blocks come from slabs, and all blocks are freed at once.
//
// A state is never closed block by block: nothing in it has a destructor, so destroying the heap
// ends the state, at a cost that does not depend on what a script left behind.
#ifndef LUA_INTERNAL_HEAP_H_
#define LUA_INTERNAL_HEAP_H_

#include <array>
#include <cstddef>
#include <vector>

namespace lua::internal {

// REQUIRES: one thread at a time.
class Heap {
 public:
  Heap() = default;
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Does what a lua_Alloc does: allocates, resizes or (new_size 0) frees a block. Returns nullptr
  // when the machine has no more memory. `old_size` is the size that the block was requested with.
  void* Resize(void* block, size_t old_size, size_t new_size);

  size_t held() const { return held_; }            // Bytes in blocks.
  size_t peak() const { return peak_; }            // The maximum of held() since ResetPeak.
  size_t allocated() const { return allocated_; }  // Bytes requested since the beginning.
  size_t reserved() const { return reserved_; }    // Bytes taken from the machine.
  void ResetPeak() { peak_ = held_; }

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  struct alignas(16) Large {  // The header of a large block.
    Large* previous;
    Large* next;
  };
  static constexpr size_t kGrain = 16;
  static constexpr size_t kSmall = 1024;  // Blocks up to here come from slabs.
  static constexpr size_t kSlab = 32768;

  void* Take(size_t size);
  void* TakeFromSlab(size_t size_class);
  void* TakeLarge(size_t size);
  void Give(void* block, size_t size);
  void* ResizeLarge(void* block, size_t old_size, size_t new_size);
  void Link(Large* large);
  void Unlink(Large* large);
  void Count(size_t old_size, size_t new_size);

  std::array<FreeBlock*, kSmall / kGrain + 1> free_ = {};
  char* fresh_ = nullptr;  // The unused end of the newest slab.
  size_t fresh_size_ = 0;
  std::vector<void*> slabs_;
  Large large_ = {&large_, &large_};
  size_t held_ = 0;
  size_t peak_ = 0;
  size_t allocated_ = 0;
  size_t reserved_ = 0;
};

}  // namespace lua::internal

#endif  // LUA_INTERNAL_HEAP_H_
