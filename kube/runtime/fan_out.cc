// A call of Run is open while other threads may join it. Whoever works on it, its caller first,
// takes the next index that nobody has taken until there is none left. So a call needs no other
// thread: when all are busy, the caller runs every part itself, and calls never wait for one
// another. At the end the caller closes the call and waits for the threads that are still in a part
// of it.
//
// mu_ guards the list of open calls, their counts of threads, and the threads themselves; it is not
// held while a part runs. Each part writes its result into a place of its own, which the caller
// reads after the last thread has left under mu_.

#include "kube/runtime/fan_out.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <vector>

#include "base/status.h"
#include "kube/cache/read_scope.h"

namespace kube {
namespace {

constexpr absl::Duration kIdleThreadEnds = absl::Seconds(10);

}  // namespace

struct FanOut::Call {
  const Part& part;
  std::vector<absl::Status> results;
  std::vector<std::exception_ptr> exceptions;
  ReadScope* const scope = ReadScope::Current();
  std::atomic<size_t> next = 0;
  std::atomic<bool> cancelled = false;
  // Guarded by the FanOut's mutex.
  size_t places = 0;   // For so many more threads.
  size_t working = 0;  // Other threads that work on it.

  Call(size_t count, const Part& p) : part(p), results(count), exceptions(count) {}

  void Work() {
    for (size_t i = next++; i < results.size() && !cancelled; i = next++) {
      try {
        results[i] = part(i);
      } catch (...) {
        exceptions[i] = std::current_exception();
      }
      if (absl::IsCancelled(results[i])) cancelled = true;
    }
  }

  absl::Status Result() const {
    // It is thrown in the caller's thread, as if the caller had run all parts itself.
    for (const std::exception_ptr& exception : exceptions) {
      if (exception != nullptr) std::rethrow_exception(exception);
    }
    base::ErrorList errors;
    for (const absl::Status& result : results) {
      if (absl::IsCancelled(result)) return result;
      errors.Add(result);
    }
    return errors.Join();
  }
};

FanOut::FanOut(const base::Clock& clock, int max_threads, size_t parts_per_thread)
    : clock_(clock), max_threads_(max_threads), parts_per_thread_(parts_per_thread) {}

FanOut::~FanOut() {
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
  }
  running_.AwaitEnd();
}

absl::Status FanOut::Run(size_t count, const Part& part) {
  Call call(count, part);
  // The caller takes one part at least.
  const size_t threads =
      count == 0 ? 0 : std::min({max_threads_, count / parts_per_thread_, count - 1});
  if (threads > 0) Open(call, threads);
  call.Work();
  if (threads > 0) Close(call);
  return call.Result();
}

void FanOut::Open(Call& call, size_t threads) {
  absl::MutexLock lock(&mu_);
  call.places = threads;
  open_.push_back(&call);
  for (size_t ready = idle_; ready < threads && threads_ < max_threads_; ++ready) {
    if (!StartThread()) break;
  }
}

bool FanOut::StartThread() {
  if (!running_.Start(/*others=*/true, [this] { Loop(); })) return false;
  ++threads_;
  return true;
}

void FanOut::Close(Call& call) {
  absl::MutexLock lock(&mu_);
  open_.remove(&call);
  const auto left = [&] { return call.working == 0; };
  mu_.Await(absl::Condition(&left));
}

FanOut::Call* FanOut::Joinable() const {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [](const Call* call) { return call->places > 0; });
  return found == open_.end() ? nullptr : *found;
}

void FanOut::Loop() {
  const auto needed = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return stopped_ || Joinable() != nullptr;
  };
  absl::MutexLock lock(&mu_);
  for (;;) {
    ++idle_;
    clock_.AwaitUntil(mu_, absl::Condition(&needed), clock_.SteadyNow() + kIdleThreadEnds);
    --idle_;
    Call* const call = Joinable();
    if (call == nullptr) break;
    // The call stays open for others, and cannot end while `working` counts this thread.
    --call->places;
    ++call->working;
    mu_.Unlock();
    {
      const ReadScope::Join join(call->scope);
      call->Work();
    }
    mu_.Lock();
    --call->working;
  }
  --threads_;
}

}  // namespace kube
