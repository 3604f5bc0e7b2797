// The shared parts behind json::Value. Private to base/json*.cc.
#ifndef BASE_INTERNAL_JSON_NODES_H_
#define BASE_INTERNAL_JSON_NODES_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"

namespace json {

struct Value::StringNode {
  std::atomic<uint32_t> refs{1};
  uint32_t size = 0;
  // The bytes follow the node in the same allocation.
  char* chars() { return reinterpret_cast<char*>(this + 1); }
  absl::string_view view() { return {chars(), size}; }

  static StringNode* New(absl::string_view text);
  static void Delete(StringNode* node);
};

// The items of an array (T is Value) or the members of an object (T is Member); they follow their
// count in the same allocation. Elements are relocated by copying their bytes, which is correct for
// a Value.
template <class T>
class alignas(void*) Sequence {
 public:
  std::atomic<uint32_t> refs{1};

  static Sequence* New(size_t capacity) {
    static_assert(alignof(T) <= alignof(Sequence), "elements lie right behind their count");
    if (capacity > std::numeric_limits<uint32_t>::max()) throw std::length_error("json: too long");
    void* memory = ::operator new(sizeof(Sequence) + capacity * sizeof(T));
    auto* made = new (memory) Sequence;
    made->capacity_ = static_cast<uint32_t>(capacity);
    return made;
  }
  static Sequence* CopyOf(Sequence& other, size_t capacity) {
    Sequence* copy = New(capacity);
    for (const T& element : other.elements()) copy->PushBack(element);
    return copy;
  }
  static void Delete(Sequence* sequence) {
    for (T& element : absl::MakeSpan(sequence->data(), sequence->size_)) element.~T();
    ::operator delete(sequence);
  }

  T* data() { return reinterpret_cast<T*>(this + 1); }
  T& operator[](size_t i) { return data()[i]; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  absl::Span<T> elements() { return {data(), size_}; }

  // REQUIRES: size() < capacity().
  void PushBack(T element) { new (data() + size_++) T(std::move(element)); }
  void Insert(size_t at, T element) {
    Move(at, at + 1, size_ - at);
    new (data() + at) T(std::move(element));
    ++size_;
  }
  void Erase(size_t at) {
    data()[at].~T();
    --size_;
    Move(at + 1, at, size_ - at);
  }
  // Moves all elements to a new sequence with room for `capacity`, and frees the old one.
  static Sequence* Grow(Sequence* from, size_t capacity) {
    Sequence* grown = New(capacity);
    std::memcpy(static_cast<void*>(grown->data()), from->data(), from->size_ * sizeof(T));
    grown->size_ = from->size_;
    ::operator delete(from);
    return grown;
  }

 private:
  Sequence() = default;
  void Move(size_t from, size_t to, size_t count) {
    std::memmove(static_cast<void*>(data() + to), data() + from, count * sizeof(T));
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
};

// Builds containers at once, without a copy-on-write check for each element. Elements are moved
// from.
class Builder {
 public:
  static Value Array(absl::Span<Value> items);
  // Builds an array of the elements' values; their names are ignored.
  static Value ArrayOf(absl::Span<Member> elements);
  static Value Object(absl::Span<Member> members);
  // REQUIRES: the members are sorted by name, and names are unique.
  static Value SortedObject(absl::Span<Member> members);
  // Sorts in place and removes duplicates: of equal names the last one is kept. Returns the number
  // of members that remain, which are at the front.
  static size_t Sort(absl::Span<Member> members);

 private:
  static Value Of(Sequence<Value>* items);
};

}  // namespace json

#endif  // BASE_INTERNAL_JSON_NODES_H_
