// Each owner has a queue of its own, and turns_ lists the owners for whom work waits, each once: a
// free thread takes the first owner who may run something, does one piece of his work, and puts him
// at the end of the list if more is waiting. So an owner with much work delays the others by one
// piece at most, and has at most half of the threads. Threads are started when there is more work
// than idle threads, up to the limit, and stay until Stop.
//
// mu_ guards everything; work runs, and is destroyed, without it. Stop drops what has not begun.

#include "kube/aggregation/work_pool.h"

#include <cxxabi.h>
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include "base/log.h"
#include "base/threads.h"

namespace kube::aggregation {

WorkPool::WorkPool(std::string name, int max_threads, size_t max_waiting)
    : name_(std::move(name)),
      max_threads_(static_cast<size_t>(max_threads)),
      max_waiting_(max_waiting) {}

WorkPool::~WorkPool() { Stop(); }

bool WorkPool::MayRun(const std::string& owner, const Owned& owned) const {
  return !base::HasShare(owner) || owned.running < std::max<size_t>(max_threads_ / 2, 1);
}

bool WorkPool::HasWork() const {
  return std::any_of(turns_.begin(), turns_.end(), [this](const std::string& owner) {
    mu_.AssertReaderHeld();
    return MayRun(owner, owned_.at(owner));
  });
}

bool WorkPool::Run(const std::string& owner, std::function<void()> work) {
  absl::MutexLock lock(&mu_);
  // What an idle thread is about to take does not wait.
  const auto own = owned_.find(owner);
  const size_t own_waiting = own == owned_.end() ? 0 : own->second.waiting.size();
  const size_t room = max_waiting_ + idle_;
  if (stopped_ || waiting_ >= room) return false;
  const bool is_share =
      !base::HasShare(owner) ||
      base::Shares::Allows(static_cast<int64_t>(own_waiting), static_cast<int64_t>(waiting_), 1,
                           static_cast<int64_t>(room));
  if (!is_share) return false;
  Owned& owned = owned_[owner];
  owned.waiting.push_back(std::move(work));
  ++waiting_;
  // An owner whose queue was not empty is in the list already.
  if (owned.waiting.size() == 1) turns_.push_back(owner);
  if (waiting_ <= idle_ || threads_.size() >= max_threads_ || StartThread()) return true;
  // The threads that run will take it in time. If there are none, it would wait for ever.
  if (!threads_.empty()) return true;
  owned_.clear();
  turns_.clear();
  waiting_ = 0;
  return false;
}

bool WorkPool::StartThread() {
  absl::StatusOr<std::thread> thread = base::TryStartThread([this] { Loop(); });
  if (thread.ok()) {
    threads_.push_back(*std::move(thread));
    return true;
  }
  base::LogError("no further thread can be started", {{"pool", name_}, {"error", thread.status()}});
  return false;
}

void WorkPool::Stop() {
  std::vector<std::thread> threads;
  // Destroyed after the lock is released, because it may own anything.
  absl::flat_hash_map<std::string, Owned> dropped;
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
    dropped.swap(owned_);
    turns_.clear();
    waiting_ = 0;
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

std::string WorkPool::NextOwner() {
  auto turn = turns_.begin();
  // Owners that have their share of threads keep their place in the list.
  while (!MayRun(*turn, owned_.at(*turn))) ++turn;
  std::string owner = std::move(*turn);
  turns_.erase(turn);
  return owner;
}

void WorkPool::Loop() {
  pthread_setname_np(pthread_self(), name_.c_str());
  const auto has_news = [this]()
                            ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopped_ || HasWork(); };
  std::string owner;
  for (;;) {
    std::function<void()> work;
    {
      absl::MutexLock lock(&mu_);
      ++idle_;
      mu_.Await(absl::Condition(&has_news));
      --idle_;
      if (stopped_) return;
      owner = NextOwner();
      Owned& owned = owned_.at(owner);
      work = std::move(owned.waiting.front());
      owned.waiting.pop_front();
      --waiting_;
      ++owned.running;
      if (!owned.waiting.empty()) turns_.push_back(owner);
    }
    RunGuarded(work);
    // What the work holds is released before the lock is taken and the thread waits.
    work = nullptr;
    absl::MutexLock lock(&mu_);
    const auto owned = owned_.find(owner);
    if (owned == owned_.end()) continue;  // The pool has stopped.
    if (--owned->second.running == 0 && owned->second.waiting.empty()) owned_.erase(owned);
  }
}

void WorkPool::RunGuarded(const std::function<void()>& work) const {
  const auto log = [this](const char* error) {
    base::LogError("an exception ended a piece of work", {{"pool", name_}, {"error", error}});
  };
  try {
    work();
  } catch (const abi::__forced_unwind&) {
    throw;  // The thread ends.
  } catch (const std::exception& e) {
    log(e.what());
  } catch (...) {
    log("exception of an unknown type");
  }
}

}  // namespace kube::aggregation
