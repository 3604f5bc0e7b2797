#include "base/internal/json_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/string_view.h"
#include "base/internal/json_nodes.h"

namespace json {
namespace {

// Larger containers are hardly ever equal, and comparing them takes long.
constexpr size_t kMostElements = 32;
// The hash of a container selects a set; within the set it may be in any slot.
constexpr size_t kSlotsOfSet = 4;
constexpr size_t kSets = 8192;
// Neighbouring sets share a lock.
constexpr size_t kLocks = 64;

uint64_t Fold(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

template <class T>
uint64_t WordAt(const T* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

}  // namespace

// Compares values by their bytes: equal values have equal bytes, except long strings (see Value).
class NodePool {
 public:
  static NodePool& Get() {
    static NodePool& pool = *new NodePool;  // Never destroyed: threads may outlive main.
    return pool;
  }

  // `Elements` is ArrayElements or ObjectElements.
  template <class Elements>
  Value Find(absl::Span<Member> elements) {
    uint64_t hash = elements.size();
    for (const Member& element : elements) hash = Elements::Hash(hash, element);
    hash ^= hash >> 29;
    const size_t set = hash % kSets;
    Value dropped;  // Declared before `lock`, so that it is freed after the unlock.
    const TryLock lock(locks_[set * kLocks / kSets]);
    if (!lock.held()) return Elements::Build(elements);
    const absl::Span<Slot> slots = absl::MakeSpan(*slots_).subspan(set * kSlotsOfSet, kSlotsOfSet);
    for (const Slot& slot : slots) {
      if (slot.hash == hash && Elements::AreOf(slot.value, elements)) return slot.value;
    }
    Slot& free = SlotFor(hash, slots);
    Value made = Elements::Build(elements);
    free.hash = hash;
    dropped = std::exchange(free.value, made);
    return made;
  }

  struct ArrayElements {
    static uint64_t Hash(uint64_t hash, const Member& element) { return Add(hash, element.value); }
    static bool AreOf(const Value& array, absl::Span<const Member> elements) {
      const absl::Span<const Value> items = array.items();
      return std::equal(items.begin(), items.end(), elements.begin(), elements.end(),
                        [](const Value& a, const Member& b) { return Same(a, b.value); });
    }
    static Value Build(absl::Span<Member> elements) { return Builder::ArrayOf(elements); }
  };
  struct ObjectElements {
    static uint64_t Hash(uint64_t hash, const Member& element) {
      return Add(Add(hash, element.value), element.name_);
    }
    static bool AreOf(const Value& object, absl::Span<const Member> elements) {
      const absl::Span<const Member> own = object.members();
      return std::equal(own.begin(), own.end(), elements.begin(), elements.end(),
                        [](const Member& a, const Member& b) {
                          return Same(a.value, b.value) && Same(a.name_, b.name_);
                        });
    }
    static Value Build(absl::Span<Member> elements) { return Builder::SortedObject(elements); }
  };

 private:
  struct Slot {
    uint64_t hash = 0;
    Value value;
  };
  // Returns the slot for a container that is not in the table: one that is free or whose container
  // only the table uses. If all are in use any slot may be taken, which only costs memory. This is
  // not checked while an equal container is looked for, because it reads the nodes, which are
  // rarely in the processor's cache.
  static Slot& SlotFor(uint64_t hash, absl::Span<Slot> slots) {
    for (Slot& slot : slots) {
      if (slot.value.is_null() || IsUnused(slot.value)) return slot;
    }
    return slots[(hash >> 60) % slots.size()];
  }
  // Does not wait: a thread that finds the lock taken does without the table this time.
  class TryLock {
   public:
    explicit TryLock(std::atomic_flag& flag)
        : flag_(flag), held_(!flag.test_and_set(std::memory_order_acquire)) {}
    ~TryLock() {
      if (held_) flag_.clear(std::memory_order_release);
    }
    TryLock(const TryLock&) = delete;
    bool held() const { return held_; }

   private:
    std::atomic_flag& flag_;
    const bool held_;
  };

  static uint64_t Add(uint64_t hash, const Value& value) {
    constexpr uint64_t kFirst = 0x9E3779B97F4A7C15u;
    constexpr uint64_t kSecond = 0xD6E8FEB86659FD93u;
    uint64_t first, last;
    if (value.tag_ == Value::kTagString) {  // The ends of long strings suffice.
      const absl::string_view text = value.AsString();
      first = WordAt(text.data()) + text.size();
      last = WordAt(text.data() + text.size() - sizeof(last));
    } else {
      const auto* bytes = reinterpret_cast<const char*>(&value);
      first = WordAt(bytes);
      last = WordAt(bytes + sizeof(first));
    }
    return hash * kFirst + Fold(first ^ kFirst, last ^ kSecond);
  }

  static bool Same(const Value& a, const Value& b) {
    if (std::memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), sizeof(a)) == 0) {
      return true;
    }
    return a.tag_ == Value::kTagString && b.tag_ == Value::kTagString &&
           a.AsString() == b.AsString();
  }
  // Returns whether only the table refers to the container.
  static bool IsUnused(const Value& value) {
    if (value.is_array()) return value.u_.word.array->refs.load(std::memory_order_acquire) == 1;
    return value.is_object() && value.u_.word.object->refs.load(std::memory_order_acquire) == 1;
  }

  std::array<std::atomic_flag, kLocks> locks_ = {};
  std::unique_ptr<std::array<Slot, kSets* kSlotsOfSet>> slots_ =
      std::make_unique<std::array<Slot, kSets * kSlotsOfSet>>();
};

Value PooledArray(absl::Span<Member> elements) {
  if (elements.empty() || elements.size() > kMostElements) return Builder::ArrayOf(elements);
  return NodePool::Get().Find<NodePool::ArrayElements>(elements);
}

Value PooledObject(absl::Span<Member> elements) {
  if (elements.empty() || elements.size() > kMostElements) return Builder::SortedObject(elements);
  return NodePool::Get().Find<NodePool::ObjectElements>(elements);
}

}  // namespace json
