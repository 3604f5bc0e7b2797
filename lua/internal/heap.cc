// An allocator for one Lua state. Blocks of up to 1 KiB are cut from slabs and kept, once freed, in
// a list for each size (multiples of 16 bytes, kGrain), never returned to the machine before the
// heap ends; larger ones are from malloc and linked into a ring, so that the destructor finds them.
// Blocks have no headers in slabs: Lua passes the size of a block whenever it frees or resizes it.
// A failed allocation returns nullptr and leaves the old block as it is, which Lua turns into an
// error of the script. The bounds on memory are not enforced here but by the meter, which reads the
// counters.

#include "lua/internal/heap.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace lua::internal {

Heap::~Heap() {
  for (void* slab : slabs_) std::free(slab);
  while (large_.next != &large_) {
    Large* large = large_.next;
    Unlink(large);
    std::free(large);
  }
}

void* Heap::Resize(void* block, size_t old_size, size_t new_size) {
  // Lua passes the type of the new object instead of a size then.
  if (block == nullptr) old_size = 0;
  if (new_size == 0) {
    if (block != nullptr) Give(block, old_size);
    held_ -= old_size;
    return nullptr;
  }
  void* resized = block;
  if (block == nullptr) {
    resized = Take(new_size);
  } else if (old_size > kSmall && new_size > kSmall) {
    resized = ResizeLarge(block, old_size, new_size);
  } else if ((old_size + kGrain - 1) / kGrain != (new_size + kGrain - 1) / kGrain) {
    // The block gets another size class; within its own one it would stay where it is.
    resized = Take(new_size);
    if (resized != nullptr) {
      std::memcpy(resized, block, std::min(old_size, new_size));
      Give(block, old_size);
    }
  }
  if (resized != nullptr) Count(old_size, new_size);
  return resized;
}

void Heap::Count(size_t old_size, size_t new_size) {
  held_ += new_size - old_size;
  if (new_size > old_size) allocated_ += new_size - old_size;
  peak_ = std::max(peak_, held_);
}

void* Heap::Take(size_t size) {
  if (size > kSmall) return TakeLarge(size);
  const size_t size_class = (size + kGrain - 1) / kGrain;
  FreeBlock* block = free_[size_class];
  if (block == nullptr) return TakeFromSlab(size_class);
  free_[size_class] = block->next;
  return block;
}

void* Heap::TakeFromSlab(size_t size_class) {
  const size_t size = size_class * kGrain;
  if (fresh_size_ < size) {
    // The rest of the old slab is used for smaller blocks.
    if (fresh_size_ != 0) Give(fresh_, fresh_size_);
    fresh_size_ = 0;
    fresh_ = static_cast<char*>(std::malloc(kSlab));
    if (fresh_ == nullptr) return nullptr;
    slabs_.push_back(fresh_);
    fresh_size_ = kSlab;
    reserved_ += kSlab;
  }
  void* block = fresh_;
  fresh_ += size;
  fresh_size_ -= size;
  return block;
}

void* Heap::TakeLarge(size_t size) {
  auto* large = static_cast<Large*>(std::malloc(sizeof(Large) + size));
  if (large == nullptr) return nullptr;
  Link(large);
  reserved_ += size;
  return large + 1;
}

void Heap::Give(void* block, size_t size) {
  if (size > kSmall) {
    Large* large = static_cast<Large*>(block) - 1;
    Unlink(large);
    reserved_ -= size;
    std::free(large);
    return;
  }
  auto* given = static_cast<FreeBlock*>(block);
  FreeBlock*& list = free_[(size + kGrain - 1) / kGrain];
  given->next = list;
  list = given;
}

void* Heap::ResizeLarge(void* block, size_t old_size, size_t new_size) {
  Large* large = static_cast<Large*>(block) - 1;
  Unlink(large);
  // realloc may move the block, so it is taken out of the ring first.
  auto* resized = static_cast<Large*>(std::realloc(large, sizeof(Large) + new_size));
  if (resized == nullptr) {
    Link(large);
    return nullptr;
  }
  Link(resized);
  reserved_ += new_size - old_size;
  return resized + 1;
}

void Heap::Link(Large* large) {
  large->previous = &large_;
  large->next = large_.next;
  large->next->previous = large;
  large_.next = large;
}

void Heap::Unlink(Large* large) {
  large->previous->next = large->next;
  large->next->previous = large->previous;
}

}  // namespace lua::internal
