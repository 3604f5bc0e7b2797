// The set makes an informer at the first Get and starts it at once; Remove and Stop end informers,
// and an informer that is asked for after Stop is made in the stopped state. mu guards the table
// alone. Running informers are stopped without it, because they wait for handlers, which may use
// the set.
//
// All informers of sets that share InformerThreads run as tasks of the same three pools: one for
// the pages of lists, one for questions, and one for the starts of watches, so that neither waits
// for another. Each set has a lane of its own in each pool, which Stop ends after the informers.
// One task of the lane for lists, started with the first informer, runs again every five minutes
// and ages the deletions that all stores know.

#include "kube/cache/informer.h"

#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/cache/internal/failure_log.h"
#include "kube/cache/internal/reflector.h"
#include "kube/cache/internal/task_pool.h"

namespace kube {
namespace {

// The number of threads of a set that shares none with others.
constexpr int kOwnThreads = 4;
// A reader asks all members at the same moment and then waits for their answers. As many questions
// are under way as there are threads for them.
constexpr int kQuestionsPerThread = 4;
// Starting a watch takes no time to speak of.
constexpr int kWatchThreads = 2;
// This is longer than any write takes to be answered (see Store::AgeDeletions).
constexpr absl::Duration kDeletionAge = absl::Minutes(5);

}  // namespace

struct InformerSet::Impl {
  // What all sets on the same threads share.
  struct Shared {
    std::shared_ptr<InformerThreads> threads;
    internal::FailureLog& failures;
    internal::TaskPool& pool;
    internal::TaskPool& questions;
    internal::TaskPool& watches;
  };
  Impl(Client& client, const base::Clock& clock, const Shared& shared)
      : client(client),
        clock(clock),
        threads(shared.threads),
        failures(shared.failures),
        lanes{.lists = std::make_shared<internal::TaskPool::Lane>(shared.pool),
              .questions = std::make_shared<internal::TaskPool::Lane>(shared.questions),
              .watches = std::make_shared<internal::TaskPool::Lane>(shared.watches)} {}

  using ReflectorPtr = std::shared_ptr<internal::Reflector>;

  Client& client;
  const base::Clock& clock;
  const std::shared_ptr<InformerThreads> threads;
  internal::FailureLog& failures;
  const internal::Reflector::Lanes lanes;
  mutable absl::Mutex mu;
  InformerOptions default_options ABSL_GUARDED_BY(mu);
  std::map<Gvr, InformerOptions> options ABSL_GUARDED_BY(mu);
  std::map<Gvr, ReflectorPtr> informers ABSL_GUARDED_BY(mu);
  internal::Reflector::Memory memory ABSL_GUARDED_BY(mu);
  // An informer continues with the dictionary of the one that was there before, so that it can take
  // over its texts (InformerOptions::held).
  std::map<Gvr, std::weak_ptr<TextDictionary>> dictionaries ABSL_GUARDED_BY(mu);
  bool ageing ABSL_GUARDED_BY(mu) = false;
  bool stopped ABSL_GUARDED_BY(mu) = false;

  ReflectorPtr Create(const Resource& r) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    const auto own = options.find(r.gvr());
    const InformerOptions& chosen = own == options.end() ? default_options : own->second;
    auto informer = std::make_shared<internal::Reflector>(
        r, chosen,
        internal::Reflector::Environment{client, clock, lanes, failures, memory,
                                         chosen.keep_text ? DictionaryOf(r) : nullptr});
    if (stopped) {
      informer->Stop();
      return informer;
    }
    if (!std::exchange(ageing, true)) ScheduleAgeing();
    informer->Start();
    return informer;
  }

  std::shared_ptr<TextDictionary> DictionaryOf(const Resource& r)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    std::weak_ptr<TextDictionary>& known = dictionaries[r.gvr()];
    std::shared_ptr<TextDictionary> dictionary = known.lock();
    if (dictionary == nullptr || dictionary->budget() != memory.budget.get()) {
      dictionary = std::make_shared<TextDictionary>(memory.budget);
      known = dictionary;
    }
    return dictionary;
  }

  void ScheduleAgeing() {
    lanes.lists->RunAt(clock.SteadyNow() + kDeletionAge, [this] {
      for (const ReflectorPtr& informer : Snapshot()) informer->AgeDeletions();
      ScheduleAgeing();
    });
  }

  std::vector<ReflectorPtr> Snapshot() const {
    std::vector<ReflectorPtr> all;
    absl::MutexLock lock(&mu);
    all.reserve(informers.size());
    for (const auto& [gvr, informer] : informers) all.push_back(informer);
    return all;
  }
};

InformerThreads::InformerThreads(const base::Clock& clock, int max_threads)
    : failures_(std::make_unique<internal::FailureLog>()),
      pool_(std::make_unique<internal::TaskPool>(clock, max_threads)),
      questions_(std::make_unique<internal::TaskPool>(clock, max_threads * kQuestionsPerThread)),
      watches_(std::make_unique<internal::TaskPool>(clock, kWatchThreads)) {}

InformerThreads::~InformerThreads() = default;

InformerSet::InformerSet(Client& client, const base::Clock& clock,
                         std::shared_ptr<InformerThreads> threads) {
  if (threads == nullptr) threads = std::make_shared<InformerThreads>(clock, kOwnThreads);
  const Impl::Shared shared{threads, *threads->failures_, *threads->pool_, *threads->questions_,
                            *threads->watches_};
  impl_ = std::make_unique<Impl>(client, clock, shared);
}

InformerSet::~InformerSet() { Stop(); }

void InformerSet::SetDefaultOptions(const Resource& r, InformerOptions options) {
  absl::MutexLock lock(&impl_->mu);
  impl_->options[r.gvr()] = std::move(options);
}

void InformerSet::SetDefaultOptions(InformerOptions options) {
  absl::MutexLock lock(&impl_->mu);
  impl_->default_options = std::move(options);
}

std::shared_ptr<Informer> InformerSet::Get(const Resource& r) {
  absl::MutexLock lock(&impl_->mu);
  auto& informer = impl_->informers[r.gvr()];
  if (informer == nullptr) informer = impl_->Create(r);
  return informer;
}

std::shared_ptr<Informer> InformerSet::Find(const Resource& r) const {
  absl::MutexLock lock(&impl_->mu);
  const auto it = impl_->informers.find(r.gvr());
  return it == impl_->informers.end() ? nullptr : it->second;
}

void InformerSet::Remove(const Resource& r) {
  Impl::ReflectorPtr informer;
  {
    absl::MutexLock lock(&impl_->mu);
    const auto it = impl_->informers.find(r.gvr());
    if (it == impl_->informers.end()) return;
    informer = std::move(it->second);
    impl_->informers.erase(it);
  }
  informer->Stop();
}

std::vector<std::shared_ptr<Informer>> InformerSet::All() const {
  const std::vector<Impl::ReflectorPtr> all = impl_->Snapshot();
  return {all.begin(), all.end()};
}

void InformerSet::Resync() const {
  for (const Impl::ReflectorPtr& informer : impl_->Snapshot()) informer->Resync();
}

void InformerSet::SetBudget(std::shared_ptr<base::ByteBudget> budget,
                            std::function<void()> on_exceeded, double share) {
  absl::MutexLock lock(&impl_->mu);
  impl_->memory = {std::move(budget), std::move(on_exceeded), share};
}

void InformerSet::Stop() {
  {
    absl::MutexLock lock(&impl_->mu);
    impl_->stopped = true;
  }
  for (const Impl::ReflectorPtr& informer : impl_->Snapshot()) informer->Stop();
  for (const auto& lane : {impl_->lanes.lists, impl_->lanes.questions, impl_->lanes.watches}) {
    lane->Stop();
  }
}

}  // namespace kube
