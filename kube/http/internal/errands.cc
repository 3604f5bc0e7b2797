// Each subject has a queue of its own. A queue with waiting errands that runs none stands in the
// line of its rank; threads take from the lines in the order of the ranks. The time that an errand
// took decides the rank of its subject from then on: a name server that does not answer delays the
// names that it is asked for, and the others only once.

#include "kube/http/internal/errands.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace kube {
namespace {

// This is enough to keep the slow name servers of many members from stopping the lookups of the
// others.
constexpr int kMaxThreads = 32;
constexpr absl::Duration kIdleTime = absl::Seconds(5);
constexpr absl::Duration kLong = absl::Seconds(1);
// When there are more queues, idle ones are forgotten, and their subjects count as new.
constexpr size_t kMaxQueues = 10'000;

}  // namespace

Errands::~Errands() { AwaitNone(absl::InfiniteDuration()); }

void Errands::Run(const Subject& subject, std::function<void()> errand) {
  absl::MutexLock lock(&mu_);
  if (queues_.size() >= kMaxQueues) ForgetIdle();
  // An urgent errand does not wait for one of the same subject that is not urgent.
  Queue& queue = queues_[(subject.urgent ? "!" : "") + subject.name];
  if (subject.urgent) queue.rank = kUrgent;
  queue.waiting.push_back(std::move(errand));
  if (queue.running || queue.waiting.size() > 1) return;
  ready_[queue.rank].push_back(&queue);
  StartThread();
}

bool Errands::AwaitNone(absl::Duration patience) {
  const base::Clock& clock = base::RealClock();
  const base::SteadyTime deadline = clock.SteadyNow() + patience;
  const bool ended = AwaitNoWork(deadline) && crew_.AwaitEndFor(deadline - clock.SteadyNow());
  absl::MutexLock lock(&mu_);
  ending_ = false;
  return ended;
}

bool Errands::AwaitNoWork(base::SteadyTime deadline) {
  absl::MutexLock lock(&mu_);
  ending_ = true;  // Makes idle threads end at once.
  const auto none = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return threads_ == 0 &&
           std::all_of(ready_.begin(), ready_.end(), [](const auto& line) { return line.empty(); });
  };
  return base::RealClock().AwaitUntil(mu_, absl::Condition(&none), deadline);
}

bool Errands::MayRun(Rank rank) const {
  if (rank == kUrgent) return true;
  const int held = running_[kNew] + running_[kSlow];
  if (held + running_[kQuick] >= max_threads_) return false;
  return rank == kQuick || held < std::max(1, max_threads_ * 3 / 4);
}

Errands::Queue* Errands::Next() {
  for (int rank = kUrgent; rank < kRanks; ++rank) {
    if (!ready_[rank].empty() && MayRun(static_cast<Rank>(rank))) return ready_[rank].front();
  }
  return nullptr;
}

// Starts one thread at a time; a thread that finds work starts the next one if there is more.
void Errands::StartThread() {
  if (starting_ || idle_ > 0 || Next() == nullptr) return;
  // A thread that exists looks for the errand when it has done its own.
  if (!crew_.Start(/*others=*/threads_ > 0, [this] { Work(); })) return;
  starting_ = true;
  ++threads_;
}

void Errands::ForgetIdle() {
  for (auto it = queues_.begin(); it != queues_.end();) {
    const auto queue = it++;
    if (queue->second.idle()) queues_.erase(queue);
  }
}

void Errands::RunOne(Queue& queue) {
  const Rank rank = queue.rank;
  ready_[rank].pop_front();
  std::function<void()> errand = std::move(queue.waiting.front());
  queue.waiting.pop_front();
  queue.running = true;
  ++running_[rank];
  StartThread();
  const base::SteadyTime began = base::RealClock().SteadyNow();
  mu_.Unlock();
  errand();
  errand = nullptr;  // Destroyed without the lock, because its destructors may call this object.
  mu_.Lock();
  --running_[rank];
  queue.running = false;
  const bool slow = base::RealClock().SteadyNow() - began > kLong;
  if (rank != kUrgent) queue.rank = slow ? kSlow : kQuick;
  if (!queue.waiting.empty()) ready_[queue.rank].push_back(&queue);
}

void Errands::Work() {
  const base::Clock& clock = base::RealClock();
  absl::MutexLock lock(&mu_);
  starting_ = false;
  const auto due = [this]()
                       ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return ending_ || Next() != nullptr; };
  while (true) {
    ++idle_;
    clock.AwaitUntil(mu_, absl::Condition(&due), clock.SteadyNow() + kIdleTime);
    --idle_;
    Queue* const queue = Next();
    if (queue == nullptr) break;
    RunOne(*queue);
  }
  --threads_;
}

// Never destroyed, because a thread may be stuck in a name lookup when the process ends.
Errands& NameLookups() {
  static auto* const errands = new Errands(kMaxThreads);
  return *errands;
}

Errands& CredentialErrands() {
  static auto* const errands = new Errands(kMaxThreads);
  return *errands;
}

bool AwaitNoErrand(absl::Duration patience) {
  const base::SteadyTime deadline = base::RealClock().SteadyNow() + patience;
  const bool known = CredentialErrands().AwaitNone(patience);
  return NameLookups().AwaitNone(deadline - base::RealClock().SteadyNow()) && known;
}

}  // namespace kube
