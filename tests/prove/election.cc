// A run: all contenders start and one of them leads; then each step of the workload is done and
// settles. What the plan does begins with a write, in the middle of some step; before that step
// counts as settled, it has to be over and somebody has to lead again. A write that is overtaken
// arrives when the step after that one has settled. In the end all processes are killed, and one
// without an election must find nothing to do.

#include "tests/prove/election.h"

#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "sandbox/api_server.h"
#include "tests/prove/election_plan.h"
#include "tests/prove/election_watch.h"

namespace prove {
namespace {

using Phase = Perturbation::Phase;
using Fault = ElectionPlan::Fault;

constexpr absl::Duration kQuietBetweenSteps = absl::Seconds(45), kQuietAtEnd = absl::Seconds(60);
constexpr absl::Duration kPatience = absl::Minutes(15), kPause = absl::Seconds(1);
constexpr absl::Duration kRestartPause = absl::Seconds(10);
// What starts again and again does not come to rest by itself.
constexpr int kMostStarts = 100;
constexpr char kElection[] = "--leader-elect=true";  // The last one of its kind counts.

class Runner {
 public:
  Runner(const Workload& workload, ElectionPlan plan, const Record* reference)
      : workload_(workload), plan_(std::move(plan)), reference_(reference) {}

  absl::Status Run(const RunOptions& options, TimeDriver& time) {
    // While a fault lasts nothing changes, but leaders go by their clocks.
    StageOptions stage{.command = options.command,
                       .directory = options.directory,
                       .longest_slack = absl::Milliseconds(20)};
    if (workload_.has_webhook) {
      stage.hook = [](const HookCall&, const base::HttpResponse&) { return HookVerdict(); };
    }
    stage.command.insert(stage.command.end(), workload_.flags.begin(), workload_.flags.end());
    ASSIGN_OR_RETURN(stage_, Stage::Start(std::move(stage), time));
    sandbox::Fleet& fleet = stage_->fleet();
    watch_ = std::make_shared<ElectionWatch>(plan_, options.directory, fleet, time);
    fleet.control_plane().SetInterference(watch_);
    for (const std::string& member : fleet.member_names()) {
      fleet.member(member)->SetInterference(watch_);
    }
    user_.emplace(fleet);
    stage_->OnIdle([this] { return StartAgain(); });
    const absl::Status ended = DoAll();
    if (!ended.ok()) record_.failure = std::string(ended.message());
    watch_->End();
    KillAll();
    stage_->KillDaemon();
    Note();
    return absl::OkStatus();
  }

  Record Take() { return std::move(record_); }

 private:
  absl::Status Start(int slot) {
    if (++starts_ > kMostStarts) return absl::AbortedError("processes end again and again");
    const std::string address = watch_->Enter(slot);
    ASSIGN_OR_RETURN(
        const pid_t process,
        stage_->StartProcess(
            {.flags = {kElection}, .address = address, .log = absl::StrCat(address, ".log")}));
    processes_[slot] = process;
    watch_->SetProcess(slot, process);
    return absl::OkStatus();
  }

  // As a kubelet does when the program has ended, which waits a while.
  absl::Status StartAgain() {
    for (size_t slot = 0; slot < processes_.size(); ++slot) {
      if (processes_[slot] == 0) {
        if (stage_->time().Now() >= start_at_[slot]) RETURN_IF_ERROR(Start(static_cast<int>(slot)));
        continue;
      }
      if (!Stage::HasEnded(processes_[slot])) continue;
      const int status = stage_->EndProcess(processes_[slot]);
      processes_[slot] = 0;
      start_at_[slot] = stage_->time().Now() + kRestartPause;
      if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
        record_.broken.push_back(absl::StrCat("a process was ended by signal ", WTERMSIG(status)));
      }
    }
    return absl::OkStatus();
  }

  void KillAll() {
    start_at_.assign(processes_.size(), absl::InfiniteDuration());
    for (pid_t& process : processes_) {
      if (process != 0) stage_->EndProcess(process);
      process = 0;
    }
  }

  absl::Status DoAll() {
    processes_.resize(plan_.contenders);
    start_at_.assign(plan_.contenders, absl::ZeroDuration());
    for (int slot = 0; slot < plan_.contenders; ++slot) RETURN_IF_ERROR(Start(slot));
    RETURN_IF_ERROR(stage_->Settle(kQuietBetweenSteps));
    RETURN_IF_ERROR(NoteState());
    for (size_t i = 0; i < workload_.steps.size(); ++i) {
      RETURN_IF_ERROR(base::Annotate(DoStep(i), "step ", i + 1));
    }
    return Close();
  }

  absl::Status DoStep(size_t i) {
    const bool begun_before = watch_->begun();
    for (const Action& action : workload_.steps[i].actions) {
      RETURN_IF_ERROR(user_->Perform(action));
      if (action.kind == Action::Kind::kUnjoin) RETURN_IF_ERROR(stage_->Settle(kPause));
    }
    const absl::Duration wake = stage_->time().Now() + workload_.steps[i].sleep;
    while (stage_->time().Now() < wake) {
      RETURN_IF_ERROR(stage_->Settle(std::min(kQuietBetweenSteps, wake - stage_->time().Now())));
    }
    RETURN_IF_ERROR(stage_->Settle(kQuietBetweenSteps));
    if (!watch_->begun() || watch_->over()) return NoteState();
    const bool last = i + 1 == workload_.steps.size();
    if (plan_.fault == Fault::kOvertaken && !begun_before && !last) {
      record_.states.push_back({});
      return absl::OkStatus();
    }
    if (plan_.fault == Fault::kOvertaken) watch_->End();
    if (!stage_->time().RunFor(absl::Minutes(5), [&] { return watch_->over(); })) {
      return absl::InternalError("what was done does not end");
    }
    // Somebody leads again then.
    stage_->time().RunFor(kQuietBetweenSteps, [this] {
      failed_ = StartAgain();
      return !failed_.ok();
    });
    RETURN_IF_ERROR(failed_);
    RETURN_IF_ERROR(stage_->Settle(kQuietBetweenSteps));
    return NoteState();
  }

  // Gives a state that differs from the reference more time.
  absl::Status NoteState() {
    SettledState state = ReadSettledState(stage_->fleet());
    const size_t at = record_.states.size();
    const absl::Duration began = stage_->time().Now();
    while (at < reference_->states.size() && state != reference_->states[at] &&
           stage_->time().Now() - began < kPatience) {
      RETURN_IF_ERROR(stage_->Settle(absl::Minutes(5)));
      state = ReadSettledState(stage_->fleet());
    }
    record_.states.push_back(std::move(state));
    record_.versions.push_back(stage_->VersionOf("host"));
    return absl::OkStatus();
  }

  absl::Status Close() {
    RETURN_IF_ERROR(stage_->Settle(kQuietAtEnd));
    record_.unmet = user_->Missing(workload_.end);
    watch_->record().SetPhase(Phase::kQuiet);
    stage_->time().RunFor(kQuietAtEnd, [] { return false; });
    watch_->CheckLeader();
    watch_->record().SetPhase(Phase::kRestart);
    KillAll();
    RETURN_IF_ERROR(stage_->StartDaemon());
    return stage_->Settle(kQuietAtEnd);
  }

  void Note() {
    Perturbation& record = watch_->record();
    record_.writes = record.Writes(Phase::kWorkload);
    record_.late_writes = record.Writes(Phase::kQuiet);
    record_.late_errors = record.Failures(Phase::kQuiet);
    record_.writes_at_restart = record.Writes(Phase::kRestart);
    record_.perturbed = watch_->begun();
    for (std::string& line : watch_->broken()) record_.broken.push_back(std::move(line));
    stage_->OnIdle(nullptr);
  }

  const Workload& workload_;
  const ElectionPlan plan_;
  const Record* const reference_;
  std::unique_ptr<Stage> stage_;
  std::shared_ptr<ElectionWatch> watch_;
  std::optional<User> user_;
  std::vector<pid_t> processes_;  // By slot; 0 for one that is not running.
  std::vector<absl::Duration> start_at_;
  int starts_ = 0;
  absl::Status failed_;
  Record record_;
};

}  // namespace

bool IsElection(const std::string& name) { return absl::StartsWith(name, "election "); }

absl::StatusOr<Record> RunElection(const Workload& workload, const std::string& name,
                                   const Record* reference, const RunOptions& options,
                                   TimeDriver& time) {
  ASSIGN_OR_RETURN(ElectionPlan plan, ReadElectionPlan(name));
  if (reference == nullptr) return absl::InvalidArgumentError("an election needs a reference");
  Runner runner(workload, std::move(plan), reference);
  RETURN_IF_ERROR(runner.Run(options, time));
  return runner.Take();
}

}  // namespace prove
