// A run: the plane and the daemon start, then each step is done and settles, with what the plan
// does at its beginning and end; then a quiet time, in which nothing may be written, and a restart,
// after which nothing may be written either. What is compared is recorded on the way.
//
// A state that differs from the reference gets more time, up to a quarter of an hour, before it
// counts: a perturbation may cost back-offs, but not the result.

#include "tests/prove/runs.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "kube/meta/selector.h"
#include "sandbox/api_server.h"
#include "tests/prove/delivery_order.h"
#include "tests/prove/election.h"
#include "tests/prove/hook_faults.h"
#include "tests/prove/perturbation.h"

namespace prove {
namespace {

using Phase = Perturbation::Phase;

constexpr absl::Duration kQuietBetweenSteps = absl::Seconds(45);
constexpr absl::Duration kSlackInQuiet = absl::Seconds(20);
constexpr absl::Duration kLookAtEnd = absl::Seconds(60);
constexpr int kLooksAtEnd = 6;
// Five retries in a row at the longest back-off, 1,000 seconds, are over by then.
constexpr absl::Duration kPatience = absl::Minutes(90);
// What a kubelet does with a program that has ended with an error.
constexpr absl::Duration kRestartPause = absl::Seconds(10);
constexpr int kMostRestarts = 10;
constexpr absl::Duration kPause = absl::Seconds(1);          // Between late deliveries.
constexpr absl::Duration kLongestFault = absl::Minutes(10);  // Of a webhook.

// Returns the number behind "VmRSS:" or "Threads:".
int64_t ProcessFigure(pid_t pid, absl::string_view name) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  for (std::string line; std::getline(status, line);) {
    if (!absl::StartsWith(line, name)) continue;
    std::string digits;
    for (const char c : line) {
      if (absl::ascii_isdigit(static_cast<unsigned char>(c))) digits += c;
    }
    int64_t value = 0;
    return absl::SimpleAtoi(digits, &value) ? value : 0;
  }
  return 0;
}

std::set<std::string> Warnings(sandbox::Fleet& fleet) {
  std::set<std::string> found;
  const auto events =
      fleet.control_plane().backend().List({"", "v1", "events"}, "", kube::LabelSelector());
  if (!events.ok()) return found;
  for (const kube::ObjectPtr& event : *events) {
    if (event->Get({"type"}).AsString() != "Warning") continue;
    const json::Value& about = event->Get({"involvedObject"});
    const bool of_webhook = absl::StrContains(event->Get({"message"}).AsString(), "webhook");
    found.insert(absl::StrCat(about["kind"].AsString(), " ", about["name"].AsString(), " ",
                              event->Get({"reason"}).AsString(), of_webhook ? kOfWebhook : ""));
  }
  return found;
}

// An agent has those of a controller manager's flags that say what runs.
void AddFlag(const std::string& flag, StageOptions& stage) {
  if (!stage.beside.empty()) stage.beside.push_back(flag);
  const bool says_what_runs =
      absl::StartsWith(flag, "--feature-gates=") || absl::StartsWith(flag, "--controllers=");
  if (stage.beside.empty() || says_what_runs) stage.command.push_back(flag);
}

// A program that finds at its start that it cannot work may end, and is started again.
bool MayGiveUp(Plan::Kind kind) {
  return kind == Plan::Kind::kError || kind == Plan::Kind::kLateTimeout ||
         kind == Plan::Kind::kUnread;
}

// Where connections are cut, TLS is part of what has to cope with it. Other runs do without.
bool CutsConnections(const Plan& plan) {
  return plan.kind == Plan::Kind::kAnswerLost || plan.kind == Plan::Kind::kAnswerCut ||
         plan.kind == Plan::Kind::kUnread;
}

class Runner {
 public:
  Runner(const Workload& workload, std::vector<Plan> plans, const Record* reference)
      : workload_(workload),
        reference_(reference),
        perturbation_(std::make_shared<Perturbation>(std::move(plans))),
        last_step_(LastStep()) {}

  absl::Status Run(const RunOptions& options, TimeDriver& time) {
    const std::vector<Plan>& plans = perturbation_->plans();
    StageOptions stage{.command = options.command,
                       .beside = options.beside,
                       .directory = options.directory,
                       // A reference, which has none, sets the bound of memory.
                       .with_tls = options.with_tls || plans.empty() ||
                                   std::any_of(plans.begin(), plans.end(), CutsConnections)};
    if (workload_.has_webhook) {
      stage.hook = [this](const HookCall& call, const base::HttpResponse& right) {
        return hook_.OnCall(call, right);
      };
    }
    for (const std::string& flag : workload_.flags) AddFlag(flag, stage);
    ASSIGN_OR_RETURN(stage_, Stage::Start(std::move(stage), time));
    ASSIGN_OR_RETURN(std::vector<std::string> again, ReadOrder(options.order, plans));
    order_ = std::make_shared<DeliveryOrder>(perturbation_, std::move(again));
    stage_->fleet().control_plane().SetInterference(order_);
    for (const std::string& member : stage_->fleet().member_names()) {
      stage_->fleet().member(member)->SetInterference(order_);
    }
    user_.emplace(stage_->fleet());
    stage_->OnIdle([this] { return AtIdle(); });
    const absl::Status ended = DoAll();
    if (!ended.ok() && !impossible_) record_.failure = std::string(ended.message());
    Note();
    std::ofstream(options.directory + "/order") << absl::StrJoin(order_->Lines(), "\n") << "\n";
    return absl::OkStatus();
  }

  Record Take() { return std::move(record_); }

 private:
  absl::Status StartDaemon() {
    RETURN_IF_ERROR(stage_->StartDaemon());
    perturbation_->SetDaemon(stage_->daemon());
    return absl::OkStatus();
  }

  absl::Status AtIdle() {
    RETURN_IF_ERROR(RestartAfterCrash());
    while (order_->LetThrough(stage_->time().Now()) && stage_->time().AwaitIdle()) {
      RETURN_IF_ERROR(RestartAfterCrash());
    }
    return absl::OkStatus();
  }

  absl::Status RestartAfterCrash() {
    const bool crashed = perturbation_->TakeCrash();
    const bool gave_up = !crashed && stage_->DaemonDied() && MayGiveUp(plan().kind);
    if (!crashed && !gave_up) return absl::OkStatus();
    stage_->KillDaemon();
    if (gave_up) {
      perturbation_->SetDaemon(0);
      if (++record_.restarts > kMostRestarts) return absl::AbortedError("it ends again and again");
      stage_->time().RunFor(kRestartPause, [] { return false; });
    }
    return StartDaemon();
  }

  absl::Status DoAll() {
    RETURN_IF_ERROR(StartDaemon());
    RETURN_IF_ERROR(stage_->Settle(kQuietBetweenSteps));
    RETURN_IF_ERROR(NoteState());
    for (int i = 1; i <= last_step_ && !differs_; ++i) {
      RETURN_IF_ERROR(base::Annotate(DoStep(i), "step ", i));
    }
    return differs_ ? absl::OkStatus() : Close();
  }

  // What is as in the reference after a step goes on as there. One more step shows that the daemon,
  // which may be a new one, takes notice.
  int LastStep() const {
    const int all = static_cast<int>(workload_.steps.size());
    const std::vector<Plan>& plans = perturbation_->plans();
    const bool to_the_end = plans.empty() || plans.back().last_step == Plan::kWholeRun;
    return to_the_end ? all : std::min(all, plans.back().last_step + 1);
  }

  // What these plans do is done when their step has settled.
  static bool IsRead(Plan::Kind kind) {
    return kind == Plan::Kind::kStale || kind == Plan::Kind::kReconnect;
  }

  absl::Status DoStep(int number) {
    const Step& step = workload_.steps[number - 1];
    perturbation_->BeginStep(number);
    hook_.BeginStep(number);
    order_->BeginStep(number);
    if (number == plan().first_step && !IsRead(plan().kind)) perturbation_->HoldKinds(plan().kinds);
    for (const Action& action : step.actions) {
      const absl::Status performed = user_->Perform(action);
      // Nobody can change in a member what the daemon, which sees nothing, has not made there.
      impossible_ =
          absl::IsNotFound(performed) && number > plan().first_step && number <= plan().last_step;
      RETURN_IF_ERROR(performed);
      // Who joins again waits until the cluster has gone.
      if (action.kind == Action::Kind::kUnjoin) RETURN_IF_ERROR(stage_->Settle(kPause));
    }
    const absl::Duration wake = stage_->time().Now() + step.sleep * stage_->time().pace();
    while (stage_->time().Now() < wake) {
      RETURN_IF_ERROR(stage_->Settle(std::min(kQuietBetweenSteps, wake - stage_->time().Now())));
    }
    RETURN_IF_ERROR(stage_->Settle(kQuietBetweenSteps));
    if (plan().kind == Plan::Kind::kWebhook) RETURN_IF_ERROR(AwaitWebhook());
    if (number >= plan().first_step && number < plan().last_step) {
      record_.states.push_back({});  // What is held back cannot have had its effect yet.
      return absl::OkStatus();
    }
    const bool goes_on = IsRead(plan().kind) || !plan().kinds.empty();
    if (number == plan().last_step && goes_on) {
      RETURN_IF_ERROR(EndPerturbation());
      RETURN_IF_ERROR(stage_->Settle(kQuietBetweenSteps));
    }
    return NoteState();
  }

  absl::Status EndPerturbation() {
    if (IsRead(plan().kind)) return ReadStale();
    for (const std::string& kind : plan().kinds) {
      for (const auto& gate : perturbation_->Gates(kind)) {
        if (plan().kind == Plan::Kind::kMerged) gate->Expire();
        if (plan().kind == Plan::Kind::kOrder) gate->Open();
        if (plan().kind == Plan::Kind::kLate) RETURN_IF_ERROR(ReleaseOneByOne(*gate));
      }
      if (plan().kind == Plan::Kind::kOrder) RETURN_IF_ERROR(stage_->Settle(kPause));
    }
    perturbation_->OpenKinds();
    return absl::OkStatus();
  }

  // A webhook that fails may take longer than it is quiet.
  absl::Status AwaitWebhook() {
    absl::Status looked;
    stage_->time().RunFor(kLongestFault, [&] {
      looked = AtIdle();
      return !looked.ok() || (!hook_.IsUnderWay() && !stage_->hook()->IsAway());
    });
    RETURN_IF_ERROR(looked);
    hook_.End();
    return stage_->Settle(kQuietBetweenSteps);
  }

  absl::Status ReleaseOneByOne(sandbox::WatchGate& gate) {
    while (gate.Release(1) > 0) {
      stage_->time().RunFor(kPause, [] { return false; });
      RETURN_IF_ERROR(RestartAfterCrash());
    }
    return absl::OkStatus();
  }

  std::vector<std::string> LaggingServers() const {
    if (plan().server != "all") return {plan().server};
    std::vector<std::string> servers = stage_->fleet().member_names();
    servers.push_back("host");
    return servers;
  }

  // The daemon starts, or connects, again and sees an older state; then the server catches up.
  absl::Status ReadStale() {
    std::vector<std::shared_ptr<sandbox::Lag>> lags;
    for (const std::string& server : LaggingServers()) {
      const int64_t version = stage_->VersionOf(server) - plan().revisions;
      lags.push_back(std::make_shared<sandbox::Lag>(std::max<int64_t>(version, 1)));
      perturbation_->SetLag(server, lags.back());
    }
    if (plan().kind == Plan::Kind::kStale) {
      stage_->KillDaemon();
      RETURN_IF_ERROR(StartDaemon());
    } else {
      for (const auto& gate : perturbation_->Gates("all")) gate->Expire();
    }
    RETURN_IF_ERROR(stage_->Settle(kQuietBetweenSteps));
    for (const auto& lag : lags) lag->End();
    return absl::OkStatus();
  }

  // Gives a state that differs from the reference more time.
  absl::Status NoteState() {
    SettledState state = ReadSettledState(stage_->fleet());
    const size_t at = record_.states.size();
    const absl::Duration began = stage_->time().Now();
    while (reference_ != nullptr && at < reference_->states.size() &&
           state != reference_->states[at] && stage_->time().Now() - began < kPatience) {
      RETURN_IF_ERROR(stage_->Settle(absl::Minutes(5)));
      state = ReadSettledState(stage_->fleet());
    }
    differs_ =
        reference_ != nullptr && at < reference_->states.size() && state != reference_->states[at];
    if (differs_) record_.stopped_after = static_cast<int>(at);
    record_.states.push_back(std::move(state));
    record_.versions.push_back(stage_->VersionOf("host"));
    return absl::OkStatus();
  }

  absl::Status Close() {
    // What has settled is waited for with little exactness: each jump of the time costs.
    RETURN_IF_ERROR(stage_->Settle(workload_.quiet, kSlackInQuiet));
    const bool whole = last_step_ == static_cast<int>(workload_.steps.size());
    if (whole) record_.unmet = user_->Missing(workload_.end);
    order_->End();
    perturbation_->SetPhase(Phase::kQuiet);
    // Alarms of many loops may go off together, and a thread that is not needed stays for seconds.
    record_.threads = std::numeric_limits<int>::max();
    for (int look = 0; look < kLooksAtEnd; ++look) {
      stage_->time().RunFor(kLookAtEnd / kLooksAtEnd, [] { return false; });
      record_.threads =
          std::min(record_.threads, static_cast<int>(ProcessFigure(stage_->daemon(), "Threads:")));
    }
    record_.rss_kb = ProcessFigure(stage_->daemon(), "VmRSS:");
    perturbation_->SetPhase(Phase::kRestart);
    stage_->KillDaemon();
    RETURN_IF_ERROR(StartDaemon());
    return stage_->Settle(kQuietBetweenSteps);
  }

  void Note() {
    perturbation_->SetDaemon(0);
    record_.writes = perturbation_->Writes(Phase::kWorkload);
    const std::vector<std::string> errors = perturbation_->Failures(Phase::kWorkload);
    record_.errors.insert(errors.begin(), errors.end());
    record_.late_writes = perturbation_->Writes(Phase::kQuiet);
    record_.late_errors = perturbation_->Failures(Phase::kQuiet);
    record_.writes_at_restart = perturbation_->Writes(Phase::kRestart);
    record_.classes = perturbation_->Classes();
    for (int step = 0; step <= static_cast<int>(workload_.steps.size()); ++step) {
      record_.delivered.push_back(perturbation_->DeliveredKinds(step));
      record_.writes_of_step.push_back(perturbation_->WritesOfStep(step));
      record_.classes_of_step.push_back(perturbation_->ClassesOfStep(step));
      record_.calls_of_step.push_back(hook_.CallsOfStep(step));
    }
    record_.late_calls = hook_.Calls(Phase::kQuiet);
    record_.warnings = Warnings(stage_->fleet());
    record_.order_missed = order_->Missed();
    record_.order_unknown = order_->Unknown();
    record_.perturbed = perturbation_->perturbed() && !impossible_;
    stage_->OnIdle(nullptr);
  }

  const Plan& plan() const { return perturbation_->plan(); }

  const Workload& workload_;
  const Record* const reference_;
  const std::shared_ptr<Perturbation> perturbation_;
  HookFaults hook_{perturbation_};
  std::shared_ptr<DeliveryOrder> order_;
  const int last_step_;
  bool impossible_ = false;  // The run could not be made.
  bool differs_ = false;     // From the reference; what follows from it says no more.
  std::unique_ptr<Stage> stage_;
  std::optional<User> user_;
  Record record_;
};

json::Value Strings(const std::vector<std::string>& texts) { return json::Value::Strings(texts); }
json::Value Strings(const std::set<std::string>& texts) {
  return Strings(std::vector<std::string>(texts.begin(), texts.end()));
}

}  // namespace

double CpuSeconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    getrusage(who, &usage);
    for (const timeval& t : {usage.ru_utime, usage.ru_stime}) {
      seconds += static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    }
  }
  return seconds;
}

double RealSeconds() {
  timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

int ThreadsOf(pid_t pid) { return static_cast<int>(ProcessFigure(pid, "Threads:")); }

json::Value Record::ToJson() const {
  json::Value versions = json::Value::Array();
  for (const int64_t version : this->versions) versions.Append(version);
  const auto by_step = [](const auto& steps) {
    json::Value list = json::Value::Array();
    for (const auto& texts : steps) list.Append(Strings(texts));
    return list;
  };
  return json::Value::Object({{"writes", Strings(writes)},
                              {"classes", Strings(classes)},
                              {"delivered", by_step(delivered)},
                              {"writesOfStep", by_step(writes_of_step)},
                              {"classesOfStep", by_step(classes_of_step)},
                              {"callsOfStep", by_step(calls_of_step)},
                              {"versions", versions},
                              {"lateWrites", Strings(late_writes)},
                              {"writesAtRestart", Strings(writes_at_restart)},
                              {"warnings", Strings(warnings)},
                              {"threads", threads},
                              {"restarts", restarts},
                              {"orderMissed", Strings(order_missed)},
                              {"orderUnknown", Strings(order_unknown)},
                              {"rssKb", rss_kb},
                              {"perturbed", perturbed},
                              {"stoppedAfter", stopped_after},
                              {"failure", failure},
                              {"simulatedSeconds", simulated_seconds},
                              {"jumps", jumps},
                              {"realSeconds", real_seconds},
                              {"cpuSeconds", cpu_seconds}});
}

absl::StatusOr<Record> Run(const Workload& workload, const std::string& name,
                           const Record* reference, const RunOptions& options, TimeDriver& time) {
  const double began = RealSeconds(), cpu = CpuSeconds();
  const absl::Duration simulated = time.Now();
  const int64_t jumps = time.jumps();
  Record record;
  if (IsElection(name)) {
    ASSIGN_OR_RETURN(record, RunElection(workload, name, reference, options, time));
  } else {
    ASSIGN_OR_RETURN(std::vector<Plan> plans, ReadPlans(name));
    Runner runner(workload, std::move(plans), reference);
    RETURN_IF_ERROR(runner.Run(options, time));
    record = runner.Take();
  }
  record.simulated_seconds = absl::ToDoubleSeconds(time.Now() - simulated);
  record.jumps = time.jumps() - jumps;
  record.real_seconds = RealSeconds() - began;
  record.cpu_seconds = CpuSeconds() - cpu;
  return record;
}

}  // namespace prove
