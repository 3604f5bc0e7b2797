// The functions that the library preloads (LD_PRELOAD): each pauses, calls the one that it hides,
// and pauses again. They are where threads lock, wait, send and receive; Abseil's mutexes lock and
// unlock without a system call as a rule, so their members are here as well.
//
// Nothing here may take a lock or allocate: these functions are called from within both. Children
// of the process inherit the library, so it must work in every program, also without Abseil.
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "absl/synchronization/mutex.h"
#include "tests/noise/pauses.h"

namespace noise {
namespace {

// The function that one of ours hides.
template <class Function>
class Hidden {
 public:
  constexpr explicit Hidden(const char* name) : name_(name) {}

  Function* get() {
    Function* found = found_.load(std::memory_order_acquire);
    if (found != nullptr) return found;
    found = reinterpret_cast<Function*>(Find());
    if (found == nullptr) {
      std::fprintf(stderr, "noise: there is no function %s\n", name_);
      std::abort();
    }
    found_.store(found, std::memory_order_release);
    return found;
  }

 private:
  // The C library has two versions of its condition variables; programs use the later one.
  void* Find() const {
    void* found = dlvsym(RTLD_NEXT, name_, "GLIBC_2.3.2");
    return found != nullptr ? found : dlsym(RTLD_NEXT, name_);
  }

  const char* const name_;
  std::atomic<Function*> found_{nullptr};
};

// Calls what `hidden` stands for, between two pauses.
template <class Result, class... Parameters, class... Arguments>
Result Disturbed(Hidden<Result(Parameters...)>& hidden, Arguments... arguments) {
  Pause();
  if constexpr (std::is_void_v<Result>) {
    hidden.get()(arguments...);
    Pause();
  } else {
    const Result result = hidden.get()(arguments...);
    Pause();
    return result;
  }
}

struct Start {
  void* (*routine)(void*);
  void* argument;
  uint32_t number;
};

void* RunThread(void* started) {
  const Start start = *static_cast<Start*>(started);
  std::free(started);
  BeginThread(start.number);
  Oversleep();
  return start.routine(start.argument);
}

}  // namespace
}  // namespace noise

using noise::Disturbed;
using noise::Hidden;

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                   void* argument) {
  static constinit Hidden<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> hidden(
      "pthread_create");
  auto* const start = static_cast<noise::Start*>(std::malloc(sizeof(noise::Start)));
  if (start == nullptr) return EAGAIN;
  *start = {routine, argument, noise::NextThread()};
  const int error = hidden.get()(thread, attributes, noise::RunThread, start);
  if (error != 0) std::free(start);
  noise::Oversleep();
  return error;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static constinit Hidden<int(pthread_mutex_t*)> hidden("pthread_mutex_lock");
  return Disturbed(hidden, mutex);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  static constinit Hidden<int(pthread_mutex_t*)> hidden("pthread_mutex_unlock");
  return Disturbed(hidden, mutex);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static constinit Hidden<int(pthread_cond_t*, pthread_mutex_t*)> hidden("pthread_cond_wait");
  return Disturbed(hidden, condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* deadline) {
  static constinit Hidden<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)> hidden(
      "pthread_cond_timedwait");
  return Disturbed(hidden, condition, mutex, deadline);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* deadline) {
  static constinit Hidden<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>
      hidden("pthread_cond_clockwait");
  return Disturbed(hidden, condition, mutex, clock, deadline);
}

int pthread_cond_signal(pthread_cond_t* condition) {
  static constinit Hidden<int(pthread_cond_t*)> hidden("pthread_cond_signal");
  return Disturbed(hidden, condition);
}

int pthread_cond_broadcast(pthread_cond_t* condition) {
  static constinit Hidden<int(pthread_cond_t*)> hidden("pthread_cond_broadcast");
  return Disturbed(hidden, condition);
}

// Abseil's threads wait and wake one another by SYS_futex. No system call has more arguments.
long syscall(long number, ...) {
  static constinit Hidden<long(long, long, long, long, long, long, long)> hidden("syscall");
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  if (number != SYS_futex) return hidden.get()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  return Disturbed(hidden, number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int nanosleep(const timespec* span, timespec* left) {
  static constinit Hidden<int(const timespec*, timespec*)> hidden("nanosleep");
  const int result = hidden.get()(span, left);
  noise::Oversleep();
  return result;
}

int poll(pollfd* descriptors, nfds_t count, int timeout) {
  static constinit Hidden<int(pollfd*, nfds_t, int)> hidden("poll");
  return Disturbed(hidden, descriptors, count, timeout);
}

int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  static constinit Hidden<int(int, epoll_event*, int, int)> hidden("epoll_wait");
  return Disturbed(hidden, epoll, events, most, timeout);
}

int accept(int socket, sockaddr* address, socklen_t* size) {
  static constinit Hidden<int(int, sockaddr*, socklen_t*)> hidden("accept");
  return Disturbed(hidden, socket, address, size);
}

int connect(int socket, const sockaddr* address, socklen_t size) {
  static constinit Hidden<int(int, const sockaddr*, socklen_t)> hidden("connect");
  return Disturbed(hidden, socket, address, size);
}

ssize_t recv(int socket, void* data, size_t size, int flags) {
  static constinit Hidden<ssize_t(int, void*, size_t, int)> hidden("recv");
  return Disturbed(hidden, socket, data, size, flags);
}

ssize_t recvmsg(int socket, msghdr* message, int flags) {
  static constinit Hidden<ssize_t(int, msghdr*, int)> hidden("recvmsg");
  return Disturbed(hidden, socket, message, flags);
}

ssize_t send(int socket, const void* data, size_t size, int flags) {
  static constinit Hidden<ssize_t(int, const void*, size_t, int)> hidden("send");
  return Disturbed(hidden, socket, data, size, flags);
}

ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  static constinit Hidden<ssize_t(int, const msghdr*, int)> hidden("sendmsg");
  return Disturbed(hidden, socket, message, flags);
}

int shutdown(int socket, int how) {
  static constinit Hidden<int(int, int)> hidden("shutdown");
  return Disturbed(hidden, socket, how);
}

int close(int descriptor) {
  static constinit Hidden<int(int)> hidden("close");
  return Disturbed(hidden, descriptor);
}

ssize_t read(int descriptor, void* data, size_t size) {
  static constinit Hidden<ssize_t(int, void*, size_t)> hidden("read");
  return Disturbed(hidden, descriptor, data, size);
}

ssize_t readv(int descriptor, const iovec* parts, int count) {
  static constinit Hidden<ssize_t(int, const iovec*, int)> hidden("readv");
  return Disturbed(hidden, descriptor, parts, count);
}

ssize_t write(int descriptor, const void* data, size_t size) {
  static constinit Hidden<ssize_t(int, const void*, size_t)> hidden("write");
  return Disturbed(hidden, descriptor, data, size);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  static constinit Hidden<ssize_t(int, const iovec*, int)> hidden("writev");
  return Disturbed(hidden, descriptor, parts, count);
}

}  // extern "C"

// The names by which these are found are those of Debian's Abseil.
namespace absl {

void Mutex::Lock() {
  static constinit Hidden<void(Mutex*)> hidden("_ZN4absl7debian35Mutex4LockEv");
  Disturbed(hidden, this);
}

void Mutex::Unlock() {
  static constinit Hidden<void(Mutex*)> hidden("_ZN4absl7debian35Mutex6UnlockEv");
  Disturbed(hidden, this);
}

void Mutex::ReaderLock() {
  static constinit Hidden<void(Mutex*)> hidden("_ZN4absl7debian35Mutex10ReaderLockEv");
  Disturbed(hidden, this);
}

void Mutex::ReaderUnlock() {
  static constinit Hidden<void(Mutex*)> hidden("_ZN4absl7debian35Mutex12ReaderUnlockEv");
  Disturbed(hidden, this);
}

}  // namespace absl
