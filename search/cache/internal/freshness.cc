// "Now" is the version that the member's API server had after the request came. It is learnt from
// all members at the same time (Informer::AskState), and a cache that has reached it, by events
// or bookmarks, shows everything until then. A resource that changes often gets there by itself
// within kGrace; one that is quiet is asked to catch up (Informer::CatchUp). Why this proves that
// the cache is complete is in docs/decisions.md, "Consistent reads".
//
// Who reads one object needs no more than this: the server has said which version the object has,
// or that it is not there, and the cache shows that or will by the event that is on its way.
//
// Nobody waits for what cannot come: a version that the member's server itself has not reached is
// refused as soon as the server has said so, and a cluster that was late counts as stale for some
// seconds (MemberCache::MayBeWaitedFor). So callers cannot hold threads by versions that they have
// invented, nor can a silent member, but for one reader now and then.

#include "search/cache/internal/freshness.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "search/cache/composite_version.h"

namespace search::internal {
namespace {

using ServerState = kube::Informer::ServerState;

// Events that are on their way arrive within this time.
constexpr absl::Duration kGrace = absl::Milliseconds(50);
// An answer to CatchUp that is lost with a watch is not waited for any longer.
constexpr absl::Duration kAskAgain = absl::Seconds(2);
// How often a reader asks one cache to catch up.
constexpr int kMaxUrges = 2;
// A deadline that is nearer than this says nothing about the cluster.
constexpr absl::Duration kFairChance = absl::Seconds(1);

// The answers of members, as they come. Shared with calls that come after the deadline, so it holds
// nothing that must not end on their threads.
class Answers {
 public:
  explicit Answers(size_t count)
      : states_(count, absl::UnknownError("not answered")), open_(count) {}

  void Set(size_t index, const absl::StatusOr<ServerState>& state) {
    absl::MutexLock lock(&mu_);
    states_[index] = state;
    answered_.push_back(index);
  }
  // Returns the index of the next answer, in the order in which they come; nullopt if none comes
  // until then, and when there are no more.
  std::optional<size_t> Next(const base::Clock& clock, base::SteadyTime until) {
    const auto answered = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !answered_.empty(); };
    absl::MutexLock lock(&mu_);
    if (open_ == 0 || !clock.AwaitUntil(mu_, absl::Condition(&answered), until)) {
      return std::nullopt;
    }
    const size_t index = answered_.front();
    answered_.pop_front();
    --open_;
    return index;
  }
  // REQUIRES: Next has returned the index.
  absl::StatusOr<ServerState> Get(size_t index) const {
    absl::MutexLock lock(&mu_);
    return states_[index];
  }

 private:
  mutable absl::Mutex mu_;
  std::vector<absl::StatusOr<ServerState>> states_ ABSL_GUARDED_BY(mu_);
  std::deque<size_t> answered_ ABSL_GUARDED_BY(mu_);
  size_t open_ ABSL_GUARDED_BY(mu_);  // So many have not been returned.
};

// What a reader wants of one cache.
struct Question {
  MemberCachePtr member;
  kube::ObjectKey about;  // Without a name: everything.
  int64_t enough;         // The version that is enough, -1 for that of this moment.
  int64_t before;         // What the cache had reached when the server was asked.

  // Returns whether the cache shows, as the server does, that the object is not there.
  bool ShowsNothing() const {
    return member->cache()->HasSynced() && member->cache()->Find(about) == nullptr;
  }
};

// Returns the version to wait for when the server is in this state. kDataLoss: the server went back
// to an earlier one, so what the cache shows may be of a history that has ended.
absl::StatusOr<int64_t> TargetOf(const absl::StatusOr<ServerState>& state,
                                 const Question& question) {
  if (!state.ok()) return state.status();
  const int64_t version = state->version;
  if (question.enough < 0 && version < question.before) {
    return absl::DataLossError(
        absl::StrCat("the cluster went back from version ", question.before, " to ", version));
  }
  if (question.enough < 0) {
    if (state->object > 0) return state->object;
    return state->object == 0 && question.ShowsNothing() ? 0 : version;
  }
  if (question.enough <= version) return question.enough;
  return absl::OutOfRangeError(
      absl::StrCat("the cluster has reached version ", version, " and not ", question.enough));
}

class Waiting {
 public:
  Waiting(const base::Clock& clock, base::SteadyTime deadline)
      : clock_(clock), deadline_(deadline), fair_(clock.SteadyNow() + kFairChance <= deadline) {}

  // Waits for the first lists of clusters that have just joined.
  void AwaitFirstLists(const std::vector<MemberCachePtr>& caches) const {
    for (const MemberCachePtr& member : caches) {
      if (IsBeingListed(*member)) member->cache()->AwaitSynced(deadline_);
    }
  }

  // Returns the caches that can be waited for. Of one whose first list is under way the member is
  // asked as of the others, so that a list which does not come takes nobody else's time.
  std::vector<MemberCachePtr> Usable(const std::vector<MemberCachePtr>& caches) {
    std::vector<MemberCachePtr> usable;
    for (const MemberCachePtr& member : caches) {
      const absl::Status error = member->error();
      if (IsBeingListed(*member)) {
        usable.push_back(member);
      } else if (!member->cache()->HasSynced()) {
        continue;  // List and Watch report it.
      } else if (error.ok()) {
        usable.push_back(member);
      } else {
        // The error may be that of an earlier connection: the new one is quiet.
        member->cache()->CatchUp();
        Report(*member, ReasonForCallers(error));
      }
    }
    return usable;
  }

  // Returns what those of the caches have to be asked that may not show enough.
  std::vector<Question> Questions(const std::vector<MemberCachePtr>& caches,
                                  const Freshness& freshness) {
    const CompositeVersion wanted = CompositeVersion::Parse(freshness.resource_version);
    std::vector<Question> questions;
    for (const MemberCachePtr& member : caches) {
      const int64_t reached = member->cache()->progress().version;
      const int64_t enough = freshness.need == Freshness::kNow
                                 ? -1
                                 : std::max<int64_t>(wanted.Number(member->cluster()), 0);
      if (enough >= 0 && reached >= enough) continue;
      if (member->MayBeWaitedFor()) {
        questions.push_back({member, freshness.object, enough, reached});
      } else {
        Report(*member, "the cluster did not answer in time a moment ago");
      }
    }
    return questions;
  }

  // Each member goes its own way: its cache has its time from the moment of its own answer on,
  // however long others take.
  void AwaitAll(const std::vector<Question>& questions, Answers& answers) {
    std::vector<bool> answered(questions.size());
    std::vector<Lagging> behind;
    for (;;) {
      Lagging* const next = NextToUrge(behind);
      const base::SteadyTime until = next == nullptr ? deadline_ : next->due;
      const std::optional<size_t> index = answers.Next(clock_, until);
      if (index.has_value()) {
        answered[*index] = true;
        Take(questions[*index], TargetOf(answers.Get(*index), questions[*index]), behind);
      } else if (next != nullptr) {
        Urge(*next);
      } else {
        break;
      }
    }
    for (size_t i = 0; i < questions.size(); ++i) {
      if (answered[i]) continue;
      Report(*questions[i].member, "the cluster has not answered in time");
      NoteAnswer(*questions[i].member, false, fair_);
    }
    for (const Lagging& member : behind) AwaitCaughtUp(member);
  }

  std::vector<MissingCluster> TakeBehind() { return std::move(behind_); }

 private:
  // A cache that may not have reached what its member has.
  struct Lagging {
    const Question* question;
    int64_t target;
    bool fair;             // If it misses the deadline, it is late.
    base::SteadyTime due;  // When it is asked to catch up (again), unless it has caught up by then.
    int urged = 0;

    bool Await(base::SteadyTime until) const {
      if (question->member->cache()->AwaitVersion(target, until)) return true;
      // The deletion that was on its way has arrived.
      return !question->about.name.empty() && question->enough < 0 && question->ShowsNothing();
    }
  };

  void Take(const Question& question, const absl::StatusOr<int64_t>& target,
            std::vector<Lagging>& behind) {
    MemberCache& member = *question.member;
    if (!target.ok()) {
      Report(member, ReasonForCallers(target.status()));
      NoteAnswer(member, !absl::IsDeadlineExceeded(target.status()), fair_);
      if (absl::IsDataLoss(target.status())) member.cache()->CatchUp();
      return;
    }
    const base::SteadyTime now = clock_.SteadyNow();
    behind.push_back(
        {&question, *target, now + kFairChance <= deadline_, std::min(deadline_, now + kGrace)});
  }

  static Lagging* NextToUrge(std::vector<Lagging>& behind) {
    Lagging* next = nullptr;
    for (Lagging& member : behind) {
      if (member.urged == kMaxUrges) continue;
      if (next == nullptr || member.due < next->due) next = &member;
    }
    return next;
  }

  void Urge(Lagging& behind) const {
    if (behind.Await(behind.due)) {
      behind.urged = kMaxUrges;
      return;
    }
    behind.question->member->cache()->CatchUp();
    ++behind.urged;
    behind.due = std::min(deadline_, clock_.SteadyNow() + kAskAgain);
  }

  void AwaitCaughtUp(const Lagging& behind) {
    MemberCache& member = *behind.question->member;
    const bool reached = behind.Await(deadline_);
    NoteAnswer(member, reached, behind.fair);
    if (reached) return;
    Report(member, absl::StrCat("its cache has reached version ",
                                member.cache()->progress().version, " and not ", behind.target));
  }

  static void NoteAnswer(MemberCache& member, bool in_time, bool fair) {
    if (in_time) {
      member.NoteInTime();
    } else if (fair && member.cache()->HasSynced()) {
      member.NoteLate();
    }
  }

  bool IsBeingListed(const MemberCache& member) const {
    return !member.cache()->HasSynced() && member.error().ok() && member.IsYoung();
  }

  void Report(const MemberCache& member, absl::string_view reason) {
    if (!member.cache()->HasSynced()) return;  // List and Watch report it.
    behind_.push_back({member.cluster(), std::string(reason), true});
  }

  const base::Clock& clock_;
  const base::SteadyTime deadline_;
  const bool fair_;  // A cluster that does not answer until the deadline is late.
  std::vector<MissingCluster> behind_;
};

}  // namespace

std::vector<MissingCluster> AwaitFreshCaches(const std::vector<MemberCachePtr>& caches,
                                             const Freshness& freshness, const base::Clock& clock,
                                             base::SteadyTime deadline) {
  Waiting waiting(clock, deadline);
  if (freshness.need == Freshness::kAny) waiting.AwaitFirstLists(caches);
  const std::vector<MemberCachePtr> usable = waiting.Usable(caches);
  if (freshness.need == Freshness::kAny) return {};
  const std::vector<Question> questions = waiting.Questions(usable, freshness);
  const auto answers = std::make_shared<Answers>(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    questions[i].member->cache()->AskState(
        freshness.object,
        [answers, i](const absl::StatusOr<ServerState>& state) { answers->Set(i, state); });
  }
  waiting.AwaitAll(questions, *answers);
  return waiting.TakeBehind();
}

}  // namespace search::internal
