// A request passes twice: OnRequest chooses, by the plan, the one that is to be struck, counts
// writes and finds the gate and the lag of reads; OnExecuted strikes what was chosen to be struck
// after its execution, and notes what has come of writes. A crash is a SIGKILL at that very moment,
// from the server's thread; whoever drives the run starts the daemon again.

#include "tests/prove/perturbation.h"

#include <signal.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/status.h"
#include "tests/prove/hook_faults.h"
#include "tests/prove/stage.h"

namespace prove {
namespace {

using sandbox::AnswerVerdict;
using sandbox::RequestFacts;
using sandbox::RequestVerdict;

constexpr char kAll[] = "all";
constexpr char kControlPlane[] = "karmada-apiserver";

bool IsHost(const RequestFacts& request) { return request.server == kControlPlane; }

std::string ResourceOf(const RequestFacts& request) {
  const kube::Gvr& gvr = request.info.gvr;
  return gvr.group.empty() ? gvr.resource : absl::StrCat(gvr.resource, ".", gvr.group);
}

std::string KindOf(const RequestFacts& request) {
  return absl::StrCat(IsHost(request) ? "host/" : "member/", ResourceOf(request));
}

bool IsAnswer(Plan::Kind kind) {
  return kind == Plan::Kind::kAnswerLost || kind == Plan::Kind::kAnswerCut;
}
bool IsCrash(Plan::Kind kind) {
  return kind == Plan::Kind::kCrashBefore || kind == Plan::Kind::kCrashAfter ||
         kind == Plan::Kind::kCrashTwice;
}
bool IsOfClass(Plan::Kind kind) {
  return kind == Plan::Kind::kError || kind == Plan::Kind::kLateTimeout ||
         kind == Plan::Kind::kUnread;
}

struct Form {
  absl::string_view words;  // The first words of the name.
  Plan::Kind kind;
};
constexpr Form kForms[] = {
    {"reference", Plan::Kind::kReference},
    {"crash before", Plan::Kind::kCrashBefore},
    {"crash after", Plan::Kind::kCrashAfter},
    {"crash twice", Plan::Kind::kCrashTwice},
    {"answer lost", Plan::Kind::kAnswerLost},
    {"answer cut", Plan::Kind::kAnswerCut},
    {"error", Plan::Kind::kError},
    {"late timeout", Plan::Kind::kLateTimeout},
    {"unread", Plan::Kind::kUnread},
    {"stale", Plan::Kind::kStale},
    {"reconnect", Plan::Kind::kReconnect},
    {"merged", Plan::Kind::kMerged},
    {"late", Plan::Kind::kLate},
    {"order", Plan::Kind::kOrder},
    {"webhook", Plan::Kind::kWebhook},
};

// Reads the words behind the form, one by one.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {}
  std::string Text() {
    if (words_.empty()) complete_ = false;
    if (!complete_) return "";
    const std::string first = words_.front();
    words_.erase(words_.begin());
    return first;
  }
  int Number() { return Read(Text()); }
  // "STEP.NUMBER" of a write, or its number in the whole run.
  void Write(Plan& plan) {
    const std::vector<std::string> parts = absl::StrSplit(Text(), '.');
    if (parts.size() > 1) plan.first_step = plan.last_step = Read(parts[0]);
    plan.write = Read(parts.back());
    if (parts.size() > 2) complete_ = false;
  }
  // A step, if there is one before the class.
  void Step(Plan& plan) {
    int step = 0;
    if (words_.empty() || !absl::SimpleAtoi(words_.front(), &step)) return;
    plan.first_step = plan.last_step = Number();
  }
  std::string Fault() {
    std::string fault = Text();
    if (!IsHookFault(fault)) complete_ = false;
    return fault;
  }
  std::string Rest() {
    const std::string rest = absl::StrJoin(words_, " ");
    words_.clear();
    return rest;
  }
  bool complete() const { return complete_ && words_.empty(); }

 private:
  int Read(const std::string& text) {
    int number = 0;
    if (!absl::SimpleAtoi(text, &number) || number < 0) complete_ = false;
    return number;
  }

  std::vector<std::string> words_;
  bool complete_ = true;
};

void ReadArguments(Words& words, Plan& plan) {
  switch (plan.kind) {
    case Plan::Kind::kReference:
      break;
    case Plan::Kind::kCrashTwice:
      words.Write(plan);
      plan.second_write = words.Number();
      break;
    case Plan::Kind::kCrashBefore:
    case Plan::Kind::kCrashAfter:
    case Plan::Kind::kAnswerLost:
    case Plan::Kind::kAnswerCut:
      words.Write(plan);
      break;
    case Plan::Kind::kError:
      plan.code = words.Number();
      [[fallthrough]];
    case Plan::Kind::kLateTimeout:
    case Plan::Kind::kUnread:
      plan.times = words.Number();
      words.Step(plan);
      plan.request_class = words.Rest();
      break;
    case Plan::Kind::kStale:
    case Plan::Kind::kReconnect:
      plan.server = words.Text();
      plan.first_step = plan.last_step = words.Number();
      plan.revisions = words.Number();
      break;
    case Plan::Kind::kMerged:
      plan.kinds = {words.Text()};
      plan.first_step = words.Number();
      plan.last_step = words.Number();
      break;
    case Plan::Kind::kLate:
      plan.kinds = {words.Text()};
      plan.first_step = plan.last_step = words.Number();
      break;
    case Plan::Kind::kOrder:
      plan.kinds = {words.Text()};
      plan.kinds.push_back(words.Text());
      plan.first_step = plan.last_step = words.Number();
      break;
    case Plan::Kind::kWebhook:
      plan.fault = words.Fault();
      plan.times = words.Number();
      words.Write(plan);
      plan.request_class = words.Rest();
      break;
  }
}

}  // namespace

absl::StatusOr<Plan> ReadPlan(const std::string& name) {
  const std::vector<std::string> words = absl::StrSplit(name, ' ');
  for (const Form& form : kForms) {
    const std::vector<std::string> first = absl::StrSplit(form.words, ' ');
    if (words.size() < first.size() || !std::equal(first.begin(), first.end(), words.begin())) {
      continue;
    }
    Plan plan{.kind = form.kind};
    Words rest({words.begin() + static_cast<std::ptrdiff_t>(first.size()), words.end()});
    ReadArguments(rest, plan);
    if (rest.complete()) return plan;
  }
  return absl::InvalidArgumentError(absl::StrCat("not the name of a run: ", name));
}

absl::StatusOr<std::vector<Plan>> ReadPlans(const std::string& run) {
  std::vector<Plan> plans;
  const std::vector<std::string> names = absl::StrSplit(run, " & ");
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(Plan plan, ReadPlan(name));
    if (plan.kind == Plan::Kind::kReference) continue;
    const bool follows = plans.empty() || (plans.back().last_step != Plan::kWholeRun &&
                                           plan.first_step > plans.back().last_step);
    if (!follows) return absl::InvalidArgumentError(absl::StrCat("not one after another: ", run));
    plans.push_back(std::move(plan));
  }
  constexpr size_t kMost = 63;  // They are the bits of a number.
  if (plans.size() > kMost) return absl::InvalidArgumentError("too many perturbations");
  return plans;
}

std::string RequestClass(const RequestFacts& request) {
  std::string text = absl::StrCat(IsHost(request) ? "host " : "member ", request.Verb(), " ");
  if (!request.info.is_resource) return absl::StrCat(text, request.http->path);
  absl::StrAppend(&text, ResourceOf(request));
  if (!request.info.subresource.empty()) absl::StrAppend(&text, "/", request.info.subresource);
  return text;
}

bool IsFromBeside(const RequestFacts& request) {
  return absl::StartsWith(request.http->remote_address, absl::StrCat(kBesideAddress, ":"));
}

bool Counts(const RequestFacts& request) {
  const std::string& resource = request.info.gvr.resource;
  return request.IsWrite() && resource != "leases" && resource != "events";
}

Perturbation::Perturbation(std::vector<Plan> plans) : plans_(std::move(plans)) { BeginStep(0); }

const Plan& Perturbation::plan() const {
  static const Plan& kNone = *new Plan;
  const size_t current = current_;
  return current < plans_.size() ? plans_[current] : kNone;
}

bool Perturbation::perturbed() const { return struck_ == (uint64_t{1} << plans_.size()) - 1; }

void Perturbation::BeginStep(int step) {
  absl::MutexLock lock(&mu_);
  step_ = step;
  const bool is_whole = !plans_.empty() && plans_.front().first_step == Plan::kWholeRun;
  if (is_whole) return;  // It is the only one, and begins with the run.
  current_ = 0;
  while (current_ < plans_.size() && plans_[current_].last_step < step) ++current_;
  if (current_ < plans_.size() && plans_[current_].first_step > step) current_ = plans_.size();
  writes_begun_ = left_ = second_begins_ = 0;
}

void Perturbation::HoldKinds(const std::vector<std::string>& kinds) {
  {
    absl::MutexLock lock(&mu_);
    held_.insert(kinds.begin(), kinds.end());
  }
  for (const std::string& kind : kinds) {
    for (const GatePtr& gate : Gates(kind)) {
      gate->Hold();
      NoteStroke();
    }
  }
}

bool Perturbation::IsHeld(const std::string& kind) const {
  return held_.contains(kAll) || held_.contains(kind);
}

std::vector<std::shared_ptr<sandbox::WatchGate>> Perturbation::Gates(const std::string& wanted) {
  absl::MutexLock lock(&mu_);
  std::vector<GatePtr> found;
  for (const auto& [kind, gate] : gates_) {
    if (wanted == kAll || wanted == kind) found.push_back(gate);
  }
  return found;
}

void Perturbation::OpenKinds() {
  {
    absl::MutexLock lock(&mu_);
    held_.clear();
  }
  for (const GatePtr& gate : Gates(kAll)) gate->Open();
}

void Perturbation::SetLag(const std::string& server, std::shared_ptr<sandbox::Lag> lag) {
  absl::MutexLock lock(&mu_);
  if (lag != nullptr) NoteStroke();
  lags_[server] = std::move(lag);
}

std::vector<std::string> Perturbation::Writes(Phase phase) const {
  absl::MutexLock lock(&mu_);
  const auto found = writes_.find(phase);
  return found == writes_.end() ? std::vector<std::string>() : found->second;
}

std::vector<std::string> Perturbation::Failures(Phase phase) const {
  absl::MutexLock lock(&mu_);
  const auto found = failures_.find(phase);
  return found == failures_.end() ? std::vector<std::string>() : found->second;
}

std::set<std::string> Perturbation::Classes() const {
  absl::MutexLock lock(&mu_);
  return classes_;
}

std::set<std::string> Perturbation::DeliveredKinds(int step) const {
  absl::MutexLock lock(&mu_);
  const auto found = delivered_.find(step);
  return found == delivered_.end() ? std::set<std::string>() : found->second;
}

std::vector<std::string> Perturbation::WritesOfStep(int step) const {
  absl::MutexLock lock(&mu_);
  const auto found = writes_of_step_.find(step);
  return found == writes_of_step_.end() ? std::vector<std::string>() : found->second;
}

std::set<std::string> Perturbation::ClassesOfStep(int step) const {
  absl::MutexLock lock(&mu_);
  const auto found = classes_of_step_.find(step);
  return found == classes_of_step_.end() ? std::set<std::string>() : found->second;
}

void Perturbation::OnDelivery(const sandbox::Delivery& delivery) {
  if (delivery.object == nullptr || phase_ != Phase::kWorkload) return;
  if (IsFromBeside(*delivery.watch)) return;
  const std::string kind = KindOf(*delivery.watch);
  absl::MutexLock lock(&mu_);
  delivered_[step_].insert(kind);
}

void Perturbation::NoteWrite(const RequestFacts& request) {
  constexpr absl::Duration kPause = absl::Milliseconds(50);
  const absl::Time now = absl::Now();
  const bool paused = now - last_write_ > kPause;
  last_write_ = now;
  writes_of_step_[step_].push_back(absl::StrCat(RequestClass(request), paused ? kAfterPause : ""));
}

void Perturbation::Crash() {
  const pid_t daemon = daemon_.exchange(0);
  if (daemon == 0) return;
  kill(daemon, SIGKILL);
  crashed_ = true;
}

bool Perturbation::Strikes(const RequestFacts& request) {
  if (phase_ != Phase::kWorkload) return false;
  const Plan& plan = this->plan();
  if (Counts(request)) {
    NoteWrite(request);
    ++writes_begun_;
  }
  if (IsOfClass(plan.kind)) {
    return RequestClass(request) == plan.request_class && left_++ < plan.times;
  }
  if (!Counts(request) || (!IsCrash(plan.kind) && !IsAnswer(plan.kind))) return false;
  if (writes_begun_ == plan.write) {
    second_begins_ = writes_begun_;
    return true;
  }
  return plan.kind == Plan::Kind::kCrashTwice && second_begins_ != 0 &&
         writes_begun_ == second_begins_ + plan.second_write;
}

RequestVerdict Perturbation::OnRequest(const sandbox::RequestPtr& request) {
  if (IsFromBeside(*request)) return {};
  const GatePtr gate = GateFor(*request);
  absl::MutexLock lock(&mu_);
  const std::string request_class = RequestClass(*request);
  classes_.insert(request_class);
  if (phase_ == Phase::kWorkload) classes_of_step_[step_].insert(request_class);
  if (!Strikes(*request)) return Reads(*request, gate);
  NoteStroke();
  const Plan& plan = this->plan();
  if (plan.kind == Plan::Kind::kCrashBefore) {
    Crash();
    return RequestVerdict::Close();
  }
  if (plan.kind == Plan::Kind::kError) {
    const bool wait = plan.code == 429;
    return RequestVerdict::Refuse(
        sandbox::InjectedError(plan.code, wait ? absl::Seconds(1) : absl::ZeroDuration()));
  }
  chosen_.emplace(request->server, request->number);
  return Reads(*request, gate);
}

std::shared_ptr<sandbox::WatchGate> Perturbation::GateFor(const RequestFacts& request) {
  if (request.info.verb != "watch") return nullptr;
  const std::string kind = KindOf(request);
  bool held = false;
  GatePtr gate;
  {
    absl::MutexLock lock(&mu_);
    GatePtr& slot = gates_[kind];
    if (slot != nullptr) return slot;
    gate = slot = std::make_shared<sandbox::WatchGate>();
    held = IsHeld(kind);
  }
  if (held) gate->Hold();
  return gate;
}

RequestVerdict Perturbation::Reads(const RequestFacts& request, const GatePtr& gate) {
  RequestVerdict verdict;
  verdict.gate = gate;
  for (const std::string& server :
       {IsHost(request) ? std::string("host") : request.server, std::string(kAll)}) {
    const auto lag = lags_.find(server);
    if (lag != lags_.end() && lag->second != nullptr) verdict.lag = lag->second;
  }
  return verdict;
}

AnswerVerdict Perturbation::OnExecuted(const sandbox::RequestPtr& request,
                                       const sandbox::Outcome& outcome) {
  if (IsFromBeside(*request)) return {};
  absl::MutexLock lock(&mu_);
  const std::string line =
      absl::StrCat(RequestClass(*request), " ", request->info.key.ns, "/",
                   request->info.key.name.empty() ? outcome.key.name : request->info.key.name, " ",
                   outcome.code, outcome.changed() ? "" : " nothing changed");
  if (Counts(*request)) writes_[phase_].push_back(line);
  if (outcome.code >= 400) failures_[phase_].push_back(line);
  if (chosen_.erase({request->server, request->number}) == 0) return {};
  switch (plan().kind) {
    case Plan::Kind::kCrashAfter:
    case Plan::Kind::kCrashTwice:
      Crash();
      return AnswerVerdict::Close();
    case Plan::Kind::kAnswerLost:
      return AnswerVerdict::Close();
    case Plan::Kind::kAnswerCut:
    case Plan::Kind::kUnread:
      return AnswerVerdict::Cut(40);
    case Plan::Kind::kLateTimeout:
      return AnswerVerdict::Replace(sandbox::InjectedError(504));
    default:
      return {};
  }
}

}  // namespace prove
