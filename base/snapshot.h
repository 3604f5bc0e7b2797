// A value that many threads read all the time and somebody replaces now and then, such as the rules
// of a configuration.
//
//   Snapshot<Rules> rules;
//   rules.Set(std::make_shared<const Rules>(...));            // The writer, now and then.
//   if (const auto now = rules.Get(); now != nullptr) ...     // Any thread, for every request.
//
// A reader takes a lock only for its first look after a change: each thread keeps the pointer it
// saw last together with the version it had, and compares versions. (std::atomic<std::shared_ptr>
// would do the same in one line, but GCC 12 builds it on a spin lock that ThreadSanitizer does not
// know.)
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

// Thread-safe. A thread that does not look again keeps what it saw last alive, also when the
// Snapshot has gone: nothing in T may mind being destroyed late, on any thread.
template <class T>
class Snapshot {
 public:
  using Ptr = std::shared_ptr<const T>;

  // Begins without a value: Get() gives nullptr.
  Snapshot() = default;
  explicit Snapshot(Ptr value) : value_(std::move(value)) {}
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // What every Get() that begins after this returns, until the next Set().
  void Set(Ptr value) {
    absl::MutexLock lock(&mu_);
    value_.swap(value);  // The old value dies after the lock is gone, if nobody else holds it.
    version_.fetch_add(1, std::memory_order_release);
  }

  Ptr Get() const {
    Seen& seen = SeenByThread()[id_ % kKept];
    const uint64_t version = version_.load(std::memory_order_acquire);
    return seen.id == id_ && seen.version == version ? seen.value : LookAgain(seen);
  }

 private:
  // What a thread saw of one Snapshot.
  struct Seen {
    uint64_t id = 0;  // Names the Snapshot; no Snapshot has 0.
    uint64_t version = 0;
    Ptr value;
  };
  // Snapshots of one type that a thread can remember. Two that share a place take the lock each
  // time they take turns; nothing worse.
  static constexpr size_t kKept = 8;

  static std::array<Seen, kKept>& SeenByThread() {
    thread_local std::array<Seen, kKept> seen;
    return seen;
  }

  // Never given twice, so that a Snapshot is not taken for an earlier one at its address.
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
    // What was seen before dies last: it may look at Snapshots itself, at one in this place, too.
    std::swap(seen, now);
    return value;
  }

  const uint64_t id_ = NextId();
  mutable absl::Mutex mu_;
  Ptr value_ ABSL_GUARDED_BY(mu_);
  std::atomic<uint64_t> version_{0};  // Changes while mu_ is held only.
};

}  // namespace base

#endif  // BASE_SNAPSHOT_H_
