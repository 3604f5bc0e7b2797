// A run on a pool is one PoolWork that never has an item: the tick is made where the pool asks for
// one, and the answer says when to ask again. A wake is a flag and a request to ask at once; it is
// taken before the tick, so that one that comes during the tick causes another. A stop loses a wake
// that has not been taken.

#include "kube/runtime/periodic.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/stop_flag.h"

namespace kube {

// One run. It destroys itself at its end.
class Periodic::OnPool : public PoolWork {
 public:
  OnPool(Periodic& runnable, const base::StopToken& stop, PooledRunnable::Ended ended)
      : runnable_(runnable), stop_(stop), ended_(std::move(ended)) {}

  // Has to be the last access: it may end at once.
  void Begin(const WorkerPool::MemberPtr& member) {
    next_ = runnable_.clock_.SteadyNow() + runnable_.Begin();
    on_stop_.emplace(stop_, WakeFn{member});
    {
      absl::MutexLock lock(&runnable_.mu_);
      runnable_.member_ = member;
    }
    {
      absl::MutexLock lock(&mu_);
      has_begun_ = true;
    }
    member->Wake();
  }

  std::string name() const override { return runnable_.name(); }

  // The pool lets one thread in.
  WorkQueue::Offer Take(const std::optional<Request>&) override {
    {
      absl::MutexLock lock(&mu_);
      if (!has_begun_) return {};
    }
    const bool woken = runnable_.TakeWake();
    if (!stop_.stop_requested() && (woken || runnable_.clock_.SteadyNow() >= next_)) {
      const absl::Duration pause = runnable_.Tick(stop_);
      next_ = runnable_.clock_.SteadyNow() + pause;
    }
    if (stop_.stop_requested() || runnable_.has_ended_) return {.is_over = true};
    return {.next = next_};
  }
  void Work(const WorkQueue::Taken&) override {}
  void GiveBack(const Request&) override {}

  void Ended() override {
    on_stop_.reset();
    {
      absl::MutexLock lock(&runnable_.mu_);
      runnable_.member_ = nullptr;
    }
    const PooledRunnable::Ended ended = std::move(ended_);
    const absl::Status result = runnable_.result_;
    delete this;
    ended(result);
  }

 private:
  struct WakeFn {
    WorkerPool::MemberPtr member;
    void operator()() const { member->Wake(); }
  };

  Periodic& runnable_;
  const base::StopToken stop_;
  PooledRunnable::Ended ended_;
  base::SteadyTime next_;
  absl::Mutex mu_;
  bool has_begun_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<base::StopCallback<WakeFn>> on_stop_;
};

void Periodic::RunOn(WorkerPool& pool, const base::StopToken& stop, Ended ended) {
  auto run = std::make_unique<OnPool>(*this, stop, ended);
  const auto member = pool.Join(*run, 1);
  if (member.ok()) {
    run.release()->Begin(*member);
  } else {
    ended(base::Annotate(member.status(), "starting ", name()));
  }
}

absl::Status Periodic::Run(const base::StopToken& stop) {
  const base::StopFlag stopped(mu_, stop);
  for (absl::Duration pause = Begin(); !has_ended_; pause = Tick(stop)) {
    absl::MutexLock lock(&mu_);
    const auto ready = [&]()
                           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return woken_ || stopped.IsSet(); };
    clock_.AwaitUntil(mu_, absl::Condition(&ready), clock_.SteadyNow() + pause);
    if (stopped.IsSet()) break;
    woken_ = false;
  }
  return result_;
}

void Periodic::Wake() {
  WorkerPool::MemberPtr member;
  {
    absl::MutexLock lock(&mu_);
    woken_ = true;
    member = member_;
  }
  if (member != nullptr) member->Wake();
}

bool Periodic::TakeWake() {
  absl::MutexLock lock(&mu_);
  return std::exchange(woken_, false);
}

void Periodic::EndWith(absl::Status result) {
  result_ = std::move(result);
  has_ended_ = true;
}

}  // namespace kube
