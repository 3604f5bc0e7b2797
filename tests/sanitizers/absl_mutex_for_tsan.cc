// Reports locks of Abseil's mutexes to ThreadSanitizer.
//
// Abseil reports its locks to the sanitizer only when it is itself built with it, and the
// distribution's library is not. These definitions replace the library's: they call the library's
// and report what they did. They are linked into every program of the preset `tsan`.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/synchronization/mutex.h"

namespace absl {
namespace {

constexpr unsigned kRead = __tsan_mutex_read_lock;
constexpr unsigned kTry = __tsan_mutex_try_lock;
constexpr unsigned kTryFailed = __tsan_mutex_try_lock_failed;

// Returns the library's definition of the member of Mutex whose mangled name ends with `name`; it
// takes `this` first.
template <class Function>
Function* Real(const char* name) {
  void* found = dlsym(RTLD_NEXT, (std::string("_ZN4absl7debian35Mutex") + name).c_str());
  if (found == nullptr) {
    std::fprintf(stderr, "absl_mutex_for_tsan: the library has no Mutex::%s\n", name);
    std::abort();
  }
  return reinterpret_cast<Function*>(found);
}

// Between the two reports the sanitizer ignores what the library does, also when a thread evaluates
// the condition of a waiting thread. The library's members call one another; only the outermost
// call is reported.
class Announcement {
 public:
  explicit Announcement(Mutex* mutex) : outermost_(depth++ == 0), mutex_(mutex) {}
  ~Announcement() { --depth; }

 protected:
  const bool outermost_;
  Mutex* const mutex_;

 private:
  static thread_local int depth;
};
thread_local int Announcement::depth = 0;

class Locking : public Announcement {
 public:
  explicit Locking(Mutex* mutex, unsigned flags = 0) : Announcement(mutex), flags_(flags) {
    if (outermost_) __tsan_mutex_pre_lock(mutex_, flags_);
  }
  void Failed() { flags_ |= kTryFailed; }
  ~Locking() {
    if (outermost_) __tsan_mutex_post_lock(mutex_, flags_, 0);
  }

 private:
  unsigned flags_;
};

class Unlocking : public Announcement {
 public:
  explicit Unlocking(Mutex* mutex, unsigned flags = 0) : Announcement(mutex), flags_(flags) {
    if (outermost_) __tsan_mutex_pre_unlock(mutex_, flags_);
  }
  ~Unlocking() {
    if (outermost_) __tsan_mutex_post_unlock(mutex_, flags_);
  }

 private:
  const unsigned flags_;
};

// Reports that the lock is released and taken again, as it is while waiting.
class Waiting : public Announcement {
 public:
  explicit Waiting(Mutex* mutex) : Announcement(mutex) {
    if (!outermost_) return;
    __tsan_mutex_pre_unlock(mutex_, 0);
    __tsan_mutex_post_unlock(mutex_, 0);
    __tsan_mutex_pre_lock(mutex_, 0);
  }
  ~Waiting() {
    if (outermost_) __tsan_mutex_post_lock(mutex_, 0, 0);
  }
};

}  // namespace

Mutex::~Mutex() {
  static auto* const real = Real<void(Mutex*)>("D1Ev");
  real(this);
  __tsan_mutex_destroy(this, 0);
}

void Mutex::Lock() {
  static auto* const real = Real<void(Mutex*)>("4LockEv");
  const Locking locking(this);
  real(this);
}

void Mutex::Unlock() {
  static auto* const real = Real<void(Mutex*)>("6UnlockEv");
  const Unlocking unlocking(this);
  real(this);
}

bool Mutex::TryLock() {
  static auto* const real = Real<bool(Mutex*)>("7TryLockEv");
  Locking locking(this, kTry);
  const bool locked = real(this);
  if (!locked) locking.Failed();
  return locked;
}

void Mutex::ReaderLock() {
  static auto* const real = Real<void(Mutex*)>("10ReaderLockEv");
  const Locking locking(this, kRead);
  real(this);
}

void Mutex::ReaderUnlock() {
  static auto* const real = Real<void(Mutex*)>("12ReaderUnlockEv");
  const Unlocking unlocking(this, kRead);
  real(this);
}

void Mutex::Await(const Condition& condition) {
  static auto* const real = Real<void(Mutex*, const Condition&)>("5AwaitERKNS0_9ConditionE");
  const Waiting waiting(this);
  real(this, condition);
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  static auto* const real = Real<bool(Mutex*, const Condition&, Duration)>(
      "16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE");
  const Waiting waiting(this);
  return real(this, condition, timeout);
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  static auto* const real =
      Real<bool(Mutex*, const Condition&, Time)>("17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE");
  const Waiting waiting(this);
  return real(this, condition, deadline);
}

void Mutex::LockWhen(const Condition& condition) {
  static auto* const real = Real<void(Mutex*, const Condition&)>("8LockWhenERKNS0_9ConditionE");
  const Locking locking(this);
  real(this, condition);
}

bool Mutex::LockWhenWithTimeout(const Condition& condition, Duration timeout) {
  static auto* const real = Real<bool(Mutex*, const Condition&, Duration)>(
      "19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE");
  const Locking locking(this);
  return real(this, condition, timeout);
}

bool Mutex::LockWhenWithDeadline(const Condition& condition, Time deadline) {
  static auto* const real = Real<bool(Mutex*, const Condition&, Time)>(
      "20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE");
  const Locking locking(this);
  return real(this, condition, deadline);
}

}  // namespace absl
