// A value that many threads read often and that is rarely replaced, such as the rules of a
// configuration.
//
//   Snapshot<Rules> rules;
//   rules.Set(std::make_shared<const Rules>(...));            // The writer, now and then.
//   if (const auto now = rules.Get(); now != nullptr) ...     // Any thread, for every request.
//
// A reader takes a lock only for its first Get after a change: each thread keeps the last pointer
// and its version, and compares versions. (std::atomic<std::shared_ptr> would do the same in one
// line, but GCC 12 builds it on a spin lock that ThreadSanitizer does not know.)
#ifndef BASE_SNAPSHOT_H_
#define BASE_SNAPSHOT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace base {

// Thread-safe. A thread keeps the last value that it got alive, even after the Snapshot is
// destroyed. T must therefore tolerate a late destruction on any thread.
template <class T>
class Snapshot {
 public:
  using Ptr = std::shared_ptr<const T>;

  // Until the first Set, Get() returns nullptr.
  Snapshot() = default;
  explicit Snapshot(Ptr value) : value_(std::move(value)) {}
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // Replaces the value for every Get() that begins after this returns.
  void Set(Ptr value) {
    absl::MutexLock lock(&mu_);
    value_.swap(value);  // The old value is destroyed after the lock is released.
    version_.fetch_add(1, std::memory_order_release);
  }

  Ptr Get() const {
    Seen& seen = SeenByThread()[id_ % kKept];
    const uint64_t version = version_.load(std::memory_order_acquire);
    return seen.id == id_ && seen.version == version ? seen.value : LookAgain(seen);
  }

 private:
  // The last value that a thread got from one Snapshot.
  struct Seen {
    uint64_t id = 0;  // Id of the Snapshot; no Snapshot has 0.
    uint64_t version = 0;
    Ptr value;
  };
  // How many Snapshots of one type a thread can keep. Two that share a slot only cost a lock each
  // time the thread changes between them.
  static constexpr size_t kKept = 8;

  static std::array<Seen, kKept>& SeenByThread() {
    thread_local std::array<Seen, kKept> seen;
    return seen;
  }

  // Ids are not reused, so that a Snapshot is not mistaken for an earlier one at its address.
  static uint64_t NextId() {
    static std::atomic<uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  Ptr LookAgain(Seen& seen) const {
    Seen now{id_, 0, nullptr};
    {
      absl::MutexLock lock(&mu_);
      now.version = version_.load(std::memory_order_relaxed);
      now.value = value_;
    }
    const Ptr value = now.value;
    // The previous value is destroyed last, because its destructor may use Snapshots in this slot.
    std::swap(seen, now);
    return value;
  }

  const uint64_t id_ = NextId();
  mutable absl::Mutex mu_;
  Ptr value_ ABSL_GUARDED_BY(mu_);
  std::atomic<uint64_t> version_{0};  // Changes only while mu_ is held.
};

}  // namespace base

#endif  // BASE_SNAPSHOT_H_
