// Steps follow one another: its changes are made by a thread of their own, time passes until they
// are made and what the plan does has ended, and then until all must have heard of everything. At
// such a moment each reader's notes get a mark, by which the oracle compares what he has with what
// there is. A karmada-search that was killed is started again at the next idle moment.

#include "tests/prove/search/search_runs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tests/prove/runs.h"
#include "tests/prove/search/member_changes.h"
#include "tests/prove/search/search_stage.h"

namespace prove {
namespace {

using Kind = SearchPlan::Kind;

// By then everybody has heard of everything: back-offs of watches and of members that were away
// are over.
constexpr absl::Duration kSettled = absl::Seconds(40);
constexpr absl::Duration kQuiet = absl::Seconds(70);
// Documents are compared a minute after a write was refused.
constexpr absl::Duration kPatience = absl::Minutes(5);
constexpr absl::Duration kLongest = absl::Minutes(10);
constexpr absl::Duration kBetween = absl::Seconds(1);
constexpr absl::Duration kPause = absl::Milliseconds(500), kLongPause = absl::Seconds(5);

class SearchRunner {
 public:
  SearchRunner(const SearchWorkload& workload, std::vector<SearchPlan> plans)
      : workload_(workload),
        perturbation_(std::make_shared<SearchPerturbation>(std::move(plans))) {}

  absl::Status Run(const SearchRunOptions& options, TimeDriver& time) {
    ASSIGN_OR_RETURN(stage_, SearchStage::Start({options.command, options.directory}, time));
    for (const std::string& member : Members()) {
      stage_->member(member).SetInterference(perturbation_);
    }
    const absl::Status ended = DoAll();
    if (!ended.ok()) record_.failure = std::string(ended.message());
    perturbation_->SetSearch(0);
    for (const auto& reader : stage_->readers()) {
      record_.answers += static_cast<int>(reader->Notes().size());
    }
    record_.violations = stage_->EndReaders();
    if (!record_.failure.empty()) {
      record_.violations.insert(record_.violations.begin(), "could not go on: " + record_.failure);
    }
    record_.counts = perturbation_->Counts();
    record_.perturbed = perturbation_->perturbed();
    for (const SearchStep& step : workload_.steps) {
      auto& of_step = record_.changes.emplace_back();
      for (const MemberChange& change : step) ++of_step[change.member];
    }
    return absl::OkStatus();
  }

  SearchRecord Take() { return std::move(record_); }

 private:
  std::vector<std::string> Members() const { return stage_->fleet().member_names(); }

  absl::Status DoAll() {
    RETURN_IF_ERROR(StartSearch());
    stage_->StartReaders();
    RETURN_IF_ERROR(Settle(kSettled));
    stage_->NoteSettled();
    for (int i = 1; i <= LastStep(); ++i) RETURN_IF_ERROR(base::Annotate(DoStep(i), "step ", i));
    for (const auto& reader : stage_->readers()) reader->SetPause(kLongPause);
    RETURN_IF_ERROR(Settle(kQuiet));
    stage_->NoteSettled();
    return Pass(kPatience, [&] { return stage_->WrongDocuments().empty(); });
  }

  // One more step than the last plan shows that a karmada-search goes on.
  int LastStep() const {
    const int all = static_cast<int>(workload_.steps.size());
    const auto& plans = perturbation_->plans();
    return plans.empty() ? all : std::min(all, plans.back().last_step + 1);
  }

  absl::Status StartSearch() {
    RETURN_IF_ERROR(stage_->StartSearch());
    perturbation_->SetSearch(stage_->search());
    return absl::OkStatus();
  }

  // Lets time pass, and starts karmada-search again when it was killed. `over` ends it.
  absl::Status Pass(absl::Duration duration, const std::function<bool()>& over = nullptr) {
    absl::Status status;
    stage_->time().RunFor(duration, [&] {
      if (perturbation_->TakeCrash()) {
        stage_->KillSearch();
        status.Update(StartSearch());
      } else if (stage_->SearchDied()) {
        status.Update(absl::AbortedError("karmada-search has ended by itself"));
      }
      return !status.ok() || (over != nullptr && over());
    });
    if (stage_->time().busy_without_end())
      return absl::InternalError("something works without end");
    return status;
  }

  absl::Status DoStep(int number) {
    perturbation_->BeginStep(number);
    const SearchPlan plan = perturbation_->plan();
    for (const auto& reader : stage_->readers()) reader->SetPause(kPause);
    if (number == plan.first_step) Begin(plan);
    {
      const MemberChanges changes(workload_.steps[number - 1], *stage_,
                                  [&](size_t made) { AfterChange(plan, made); });
      RETURN_IF_ERROR(Pass(kLongest, [&] { return changes.done(); }));
      RETURN_IF_ERROR(changes.status());
    }
    if (number == plan.last_step) RETURN_IF_ERROR(End(plan));
    for (const auto& reader : stage_->readers()) reader->SetPause(4 * kPause);
    RETURN_IF_ERROR(Settle(kSettled));
    if (number >= plan.last_step) stage_->NoteSettled();
    return absl::OkStatus();
  }

  // Lets so much time pass after the last crash.
  absl::Status Settle(absl::Duration quiet) {
    int starts = 0;
    do {
      starts = stage_->process();
      RETURN_IF_ERROR(Pass(quiet));
    } while (starts != stage_->process());
    return absl::OkStatus();
  }

  std::vector<std::string> MembersOf(const SearchPlan& plan) const {
    std::vector<std::string> members;
    for (const std::string& member : Members()) {
      if (plan.IsAbout(member)) members.push_back(member);
    }
    return members;
  }

  void Begin(const SearchPlan& plan) {
    for (const std::string& member : MembersOf(plan)) {
      if (plan.kind == Kind::kMerged || plan.kind == Kind::kLate) {
        perturbation_->Gate(member)->Hold();
        perturbation_->NoteStroke();
      }
      if (plan.kind == Kind::kRestored) stage_->Backup(member);
    }
  }

  // On the thread of the changes.
  void AfterChange(const SearchPlan& plan, size_t made) {
    if (static_cast<int64_t>(made) != plan.number) return;
    for (const std::string& member : MembersOf(plan)) {
      sandbox::Faults& faults = stage_->member(member).faults();
      switch (plan.kind) {
        case Kind::kAway:
          faults.SetPartitioned(true);
          break;
        case Kind::kRestored:
          stage_->Restore(member);
          break;
        case Kind::kEmptied:
          faults.ExpireHistory();
          faults.DropWatches();
          break;
        default:
          return;
      }
      perturbation_->NoteStroke();
    }
  }

  absl::Status End(const SearchPlan& plan) {
    for (const std::string& member : MembersOf(plan)) {
      const auto gate = perturbation_->Gate(member);
      if (plan.kind == Kind::kMerged) gate->Expire();
      if (plan.kind == Kind::kLate) {
        while (gate->Release(1) > 0) RETURN_IF_ERROR(Pass(kBetween));
      }
      gate->Open();
      if (plan.kind == Kind::kAway) stage_->member(member).faults().SetPartitioned(false);
    }
    const bool reads = plan.kind == Kind::kStale || plan.kind == Kind::kReconnect;
    return reads ? ReadOld(plan) : absl::OkStatus();
  }

  // What karmada-search reads from caches of the servers is old for a while.
  absl::Status ReadOld(const SearchPlan& plan) {
    std::vector<std::shared_ptr<sandbox::Lag>> lags;
    for (const std::string& member : MembersOf(plan)) {
      const int64_t version = stage_->member(member).version() - plan.number;
      lags.push_back(std::make_shared<sandbox::Lag>(std::max<int64_t>(version, 1)));
      perturbation_->SetLag(member, lags.back());
    }
    perturbation_->NoteStroke();
    if (plan.kind == Kind::kStale) {
      stage_->KillSearch();
      RETURN_IF_ERROR(StartSearch());
    } else {
      for (const std::string& member : MembersOf(plan)) perturbation_->Gate(member)->Cut();
    }
    RETURN_IF_ERROR(Pass(kSettled));
    for (const auto& lag : lags) lag->End();
    for (const std::string& member : MembersOf(plan)) perturbation_->SetLag(member, nullptr);
    return absl::OkStatus();
  }

  const SearchWorkload& workload_;
  const std::shared_ptr<SearchPerturbation> perturbation_;
  std::unique_ptr<SearchStage> stage_;
  SearchRecord record_;
};

json::Value ByMember(const std::map<std::string, int>& numbers) {
  json::Value object = json::Value::Object();
  for (const auto& [member, number] : numbers) object.Set(member, number);
  return object;
}

}  // namespace

json::Value SearchRecord::ToJson() const {
  json::Value steps = json::Value::Array();
  for (size_t step = 0; step <= changes.size(); ++step) {
    const auto found = counts.find(static_cast<int>(step));
    const StepCounts of_step = found == counts.end() ? StepCounts() : found->second;
    steps.Append(json::Value::Object(
        {{"requests", of_step.requests},
         {"answers", of_step.answers},
         {"events", ByMember(of_step.events)},
         {"changes", step == 0 ? json::Value::Object() : ByMember(changes[step - 1])}}));
  }
  return json::Value::Object({{"steps", std::move(steps)},
                              {"notes", answers},
                              {"perturbed", perturbed},
                              {"stoppedAfter", -1},
                              {"failure", failure},
                              {"simulatedSeconds", simulated_seconds},
                              {"realSeconds", real_seconds},
                              {"cpuSeconds", cpu_seconds}});
}

absl::StatusOr<SearchRecord> RunSearch(const SearchWorkload& workload, const std::string& name,
                                       const SearchRunOptions& options, TimeDriver& time) {
  ASSIGN_OR_RETURN(std::vector<SearchPlan> plans, ReadSearchPlans(name));
  const double began = RealSeconds(), cpu = CpuSeconds();
  const absl::Duration simulated = time.Now();
  SearchRunner runner(workload, std::move(plans));
  RETURN_IF_ERROR(runner.Run(options, time));
  SearchRecord record = runner.Take();
  record.simulated_seconds = absl::ToDoubleSeconds(time.Now() - simulated);
  record.real_seconds = RealSeconds() - began;
  record.cpu_seconds = CpuSeconds() - cpu;
  return record;
}

}  // namespace prove
