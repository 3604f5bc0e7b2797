// Each container has a number: how many bytes had been put into the table before it. A container is
// put there after all that it consists of. So a sweep that goes from the last one to the first one,
// and frees what only the table refers to, also frees the parts of what it has freed.
//
// A sweep also counts what is in use, and makes the table larger when that is more than half of it
// or when sets have often been full, and smaller when it is less than an eighth. Meanwhile other
// threads do without the table.

#include "base/internal/json_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/internal/json_nodes.h"
#include "base/json_size.h"

namespace json {
namespace {

// Larger containers are hardly ever equal, and comparing them takes long.
constexpr size_t kMostElements = 32;
// The hash of a container selects a set; within the set it may be in any slot.
constexpr size_t kSlotsOfSet = 4;
// What is in use takes more than the slots for it, so these are a bound of the table alone: 96 MB.
constexpr size_t kFewestSets = 2048;
constexpr size_t kMostSets = size_t{1} << 20;
// A set has the same lock however many sets there are: that of its hash's last bits.
constexpr size_t kLocks = 64;
static_assert(kFewestSets % kLocks == 0);
// A sweep of 32,768 full slots takes 3 ms of CPU time, reading so much from text a hundred.
constexpr int64_t kBytesBetweenSweeps = 8 << 20;
constexpr int64_t kBytesForEachSlot = 64;

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
  Pooled FindOrBuild(absl::Span<Member> elements, size_t bytes) {
    bool sweep_is_due = false;
    Pooled found = Find<Elements>(elements, bytes + sizeof(Sequence<Member>), sweep_is_due);
    if (sweep_is_due) Sweep();
    return found;
  }

  // Frees what only the table refers to. What another thread is looking at stays.
  void Sweep() {
    const TryLock sweeping(sweeping_);
    if (!sweeping.held()) return;
    swept_at_ = taken_.load();
    struct Place {
      uint32_t number, slot;
    };
    std::vector<Place> places;
    // Only a sweep replaces the slots.
    for (uint32_t i = 0; i < slots_.size(); ++i) {
      const TryLock lock(LockOf(i / kSlotsOfSet));
      const Slot& slot = slots_[i];
      if (lock.held() && !slot.value.is_null()) places.push_back({slot.number, i});
    }
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.number > b.number; });
    size_t in_use = places.size();
    for (const Place& place : places) {
      Value dropped;  // Declared before `lock`, so that it is freed after the unlock.
      const TryLock lock(LockOf(place.slot / kSlotsOfSet));
      Slot& slot = slots_[place.slot];
      if (!lock.held() || !IsUnused(slot.value)) continue;
      dropped = std::exchange(slot.value, Value());
      --in_use;
    }
    const size_t sets = slots_.size() / kSlotsOfSet;
    const bool is_tight = in_use > slots_.size() / 2 || lost_.exchange(0) > may_lose_;
    if (is_tight && sets < kMostSets) Resize(sets * 2);
    if (in_use < slots_.size() / 8 && sets > kFewestSets) Resize(sets / 2);
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
    uint32_t hash = 0;  // Its last bits are the number of the set.
    uint32_t number = 0;
    Value value;
  };
  std::atomic_flag& LockOf(size_t set_or_hash) { return locks_[set_or_hash % kLocks]; }
  // The slots in which a container of this hash may be. REQUIRES: its lock is held.
  absl::Span<Slot> SlotsOf(uint32_t hash) {
    const size_t sets = slots_.size() / kSlotsOfSet;
    return absl::MakeSpan(slots_).subspan(hash % sets * kSlotsOfSet, kSlotsOfSet);
  }
  void Resize(size_t sets) {
    std::vector<Slot> before(sets * kSlotsOfSet);
    std::vector<Value> dropped;  // What has no room is freed after the unlock.
    for (std::atomic_flag& lock : locks_) {
      while (lock.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    before.swap(slots_);
    for (Slot& slot : before) {
      if (slot.value.is_null()) continue;
      const absl::Span<Slot> slots = SlotsOf(slot.hash);
      const auto free = std::find_if(slots.begin(), slots.end(),
                                     [](const Slot& other) { return other.value.is_null(); });
      if (free != slots.end()) {
        *free = std::move(slot);
      } else {
        dropped.push_back(std::move(slot.value));
      }
    }
    per_sweep_ =
        std::max(kBytesBetweenSweeps, static_cast<int64_t>(slots_.size()) * kBytesForEachSlot);
    may_lose_ = sets < kMostSets ? slots_.size() / 16 : std::numeric_limits<size_t>::max();
    for (std::atomic_flag& lock : locks_) lock.clear(std::memory_order_release);
  }
  template <class Elements>
  Pooled Find(absl::Span<Member> elements, size_t bytes, bool& sweep_is_due) {
    uint64_t mixed = elements.size();
    for (const Member& element : elements) mixed = Elements::Hash(mixed, element);
    mixed ^= mixed >> 29;
    const auto hash = static_cast<uint32_t>(mixed);
    Value dropped;  // Declared before `lock`, so that it is freed after the unlock.
    const TryLock lock(LockOf(hash));
    if (!lock.held()) return {.value = Elements::Build(elements)};
    const absl::Span<Slot> slots = SlotsOf(hash);
    for (const Slot& slot : slots) {
      if (slot.hash == hash && Elements::AreOf(slot.value, elements)) return {slot.value, true};
    }
    Slot& free = SlotFor(hash, slots);
    Value made = Elements::Build(elements);
    free.hash = hash;
    const uint64_t taken = taken_.fetch_add(bytes, std::memory_order_relaxed);
    free.number = static_cast<uint32_t>(taken / sizeof(Sequence<Member>));
    dropped = std::exchange(free.value, made);
    if (!dropped.is_null() && !IsUnused(dropped)) lost_.fetch_add(1, std::memory_order_relaxed);
    // Less than zero if another thread has swept since the line before last.
    const auto since = static_cast<int64_t>(taken - swept_at_.load(std::memory_order_relaxed));
    sweep_is_due = since > per_sweep_ || lost_.load(std::memory_order_relaxed) > may_lose_;
    return {std::move(made), true};
  }
  // Returns the slot for a container that is not in the table: one that is free or whose container
  // only the table uses. If all are in use any slot may be taken, which only costs memory (and is
  // counted, so that the table is made larger if it occurs often). This is
  // not checked while an equal container is looked for, because it reads the nodes, which are
  // rarely in the processor's cache.
  static Slot& SlotFor(uint32_t hash, absl::Span<Slot> slots) {
    for (Slot& slot : slots) {
      if (slot.value.is_null() || IsUnused(slot.value)) return slot;
    }
    return slots[(hash >> 28) % slots.size()];
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
  // Replaced with all locks held; these two with it.
  std::vector<Slot> slots_{kFewestSets * kSlotsOfSet};
  int64_t per_sweep_ = kBytesBetweenSweeps;
  size_t may_lose_ = kFewestSets * kSlotsOfSet / 16;
  std::atomic<size_t> lost_ = 0;     // Containers in use that others have displaced since a sweep.
  std::atomic<uint64_t> taken_ = 0;  // Bytes of all that has been put into the table so far.
  std::atomic<uint64_t> swept_at_ = 0;  // What it was at the beginning of the last sweep.
  std::atomic_flag sweeping_ = ATOMIC_FLAG_INIT;
};

Pooled PooledArray(absl::Span<Member> elements, size_t bytes) {
  if (elements.empty() || elements.size() > kMostElements) return {Builder::ArrayOf(elements)};
  return NodePool::Get().FindOrBuild<NodePool::ArrayElements>(elements, bytes);
}

Pooled PooledObject(absl::Span<Member> elements, size_t bytes) {
  // One for all, so that what contains empty objects can be equal.
  static const Value& empty = *new Value(Value::Object());
  if (elements.empty()) return {empty, true};
  if (elements.size() > kMostElements) return {Builder::SortedObject(elements)};
  return NodePool::Get().FindOrBuild<NodePool::ObjectElements>(elements, bytes);
}

void ForgetUnused() { NodePool::Get().Sweep(); }

}  // namespace json
