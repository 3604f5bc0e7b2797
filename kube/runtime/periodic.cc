#include "kube/runtime/periodic.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "kube/runtime/worker_pool.h"

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
    if (!stop_.stop_requested() && runnable_.clock_.SteadyNow() >= next_) {
      const absl::Duration pause = runnable_.Tick(stop_);
      next_ = runnable_.clock_.SteadyNow() + pause;
    }
    if (stop_.stop_requested()) return {.is_over = true};
    return {.next = next_};
  }
  void Work(const WorkQueue::Taken&) override {}
  void GiveBack(const Request&) override {}

  void Ended() override {
    on_stop_.reset();
    const PooledRunnable::Ended ended = std::move(ended_);
    delete this;
    ended(absl::OkStatus());
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
  for (absl::Duration pause = Begin(); clock_.SleepFor(pause, stop); pause = Tick(stop)) {
  }
  return absl::OkStatus();
}

}  // namespace kube
