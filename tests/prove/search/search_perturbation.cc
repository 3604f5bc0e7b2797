#include "tests/prove/search/search_perturbation.h"

#include <signal.h>

#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace prove {
namespace {

using Kind = SearchPlan::Kind;
using sandbox::AnswerVerdict;
using sandbox::RequestVerdict;

// What follows the words of a name.
enum class Form { kMoment, kMemberMoment, kMemberSteps, kMemberStep, kMemberStepNumber };

struct Name {
  absl::string_view words;
  Kind kind;
  Form form;
};
constexpr Name kNames[] = {
    {"crash request ", Kind::kCrashRequest, Form::kMoment},
    {"crash answer ", Kind::kCrashAnswer, Form::kMoment},
    {"crash event ", Kind::kCrashEvent, Form::kMoment},
    {"cut after ", Kind::kCutAfter, Form::kMemberMoment},
    {"cut within ", Kind::kCutWithin, Form::kMemberMoment},
    {"merged ", Kind::kMerged, Form::kMemberSteps},
    {"late ", Kind::kLate, Form::kMemberStep},
    {"stale ", Kind::kStale, Form::kMemberStepNumber},
    {"reconnect ", Kind::kReconnect, Form::kMemberStepNumber},
    {"away ", Kind::kAway, Form::kMemberStepNumber},
    {"restored ", Kind::kRestored, Form::kMemberStepNumber},
    {"emptied ", Kind::kEmptied, Form::kMemberStepNumber},
};

// The words behind the first ones of a name, one by one.
class Words {
 public:
  explicit Words(absl::string_view text) : words_(absl::StrSplit(text, absl::ByAnyChar(" ."))) {}
  std::string Text() {
    if (at_ < words_.size()) return words_[at_++];
    wrong_ = true;
    return "";
  }
  int Number() {
    int number = 0;
    if (!absl::SimpleAtoi(Text(), &number) || number < 0) wrong_ = true;
    return number;
  }
  bool complete() const { return !wrong_ && at_ == words_.size(); }

 private:
  const std::vector<std::string> words_;
  size_t at_ = 0;
  bool wrong_ = false;
};

std::optional<SearchPlan> ReadPlan(absl::string_view name, const Name& known) {
  if (!absl::ConsumePrefix(&name, known.words)) return std::nullopt;
  SearchPlan plan{.kind = known.kind};
  Words words(name);
  if (known.form != Form::kMoment) plan.member = words.Text();
  plan.first_step = plan.last_step = words.Number();
  if (known.form == Form::kMemberSteps) plan.last_step = words.Number();
  if (known.form != Form::kMemberSteps && known.form != Form::kMemberStep) {
    plan.number = words.Number();
  }
  if (!words.complete()) return std::nullopt;
  return plan;
}

int EventsOf(const StepCounts& counts) {
  return std::accumulate(counts.events.begin(), counts.events.end(), 0,
                         [](int sum, const auto& one) { return sum + one.second; });
}

}  // namespace

absl::StatusOr<std::vector<SearchPlan>> ReadSearchPlans(const std::string& run) {
  std::vector<SearchPlan> plans;
  if (run == "reference") return plans;
  for (absl::string_view name : absl::StrSplit(run, " & ")) {
    std::optional<SearchPlan> plan;
    for (const Name& known : kNames) {
      if (!plan.has_value()) plan = ReadPlan(name, known);
    }
    const bool follows =
        plan.has_value() && (plans.empty() || plan->first_step > plans.back().last_step);
    if (!follows) return absl::InvalidArgumentError(absl::StrCat("not the name of a run: ", run));
    plans.push_back(*std::move(plan));
  }
  constexpr size_t kMost = 63;  // They are the bits of a number.
  if (plans.size() > kMost) return absl::InvalidArgumentError("too many perturbations");
  return plans;
}

size_t SearchPerturbation::PlanOfStep() const {
  for (size_t i = 0; i < plans_.size(); ++i) {
    if (plans_[i].first_step <= step_ && step_ <= plans_[i].last_step) return i;
  }
  return plans_.size();
}

SearchPlan SearchPerturbation::PlanLocked() const {
  const size_t at = PlanOfStep();
  return at < plans_.size() ? plans_[at] : SearchPlan();
}

SearchPlan SearchPerturbation::plan() const {
  absl::MutexLock lock(&mu_);
  return PlanLocked();
}

bool SearchPerturbation::perturbed() const {
  absl::MutexLock lock(&mu_);
  return struck_ == (uint64_t{1} << plans_.size()) - 1;
}

void SearchPerturbation::NoteStroke() {
  absl::MutexLock lock(&mu_);
  const size_t at = PlanOfStep();
  if (at < plans_.size()) struck_ |= uint64_t{1} << at;
}

void SearchPerturbation::BeginStep(int step) {
  absl::MutexLock lock(&mu_);
  step_ = step;
}

std::map<int, StepCounts> SearchPerturbation::Counts() const {
  absl::MutexLock lock(&mu_);
  return counts_;
}

std::shared_ptr<sandbox::WatchGate> SearchPerturbation::Gate(const std::string& member) {
  absl::MutexLock lock(&mu_);
  auto& gate = gates_[member];
  if (gate == nullptr) gate = std::make_shared<sandbox::WatchGate>();
  return gate;
}

void SearchPerturbation::SetLag(const std::string& member, std::shared_ptr<sandbox::Lag> lag) {
  absl::MutexLock lock(&mu_);
  lags_[member] = std::move(lag);
}

bool SearchPerturbation::Strikes(Kind kind, int number) {
  const size_t at = PlanOfStep();
  if (at == plans_.size() || plans_[at].kind != kind || plans_[at].number != number) return false;
  const uint64_t bit = uint64_t{1} << at;
  if ((struck_ & bit) != 0) return false;
  struck_ |= bit;
  return true;
}

void SearchPerturbation::Crash() {
  const pid_t process = search_.exchange(0);
  if (process == 0) return;
  kill(process, SIGKILL);
  crashed_ = true;
}

RequestVerdict SearchPerturbation::OnRequest(const sandbox::RequestPtr& request) {
  const bool watches = request->info.verb == "watch";
  auto gate = watches ? Gate(request->server) : nullptr;
  absl::MutexLock lock(&mu_);
  const auto lag = lags_.find(request->server);
  if (Strikes(Kind::kCrashRequest, ++counts_[step_].requests)) {
    Crash();
    return RequestVerdict::Close();
  }
  return RequestVerdict::Read(lag == lags_.end() ? nullptr : lag->second, std::move(gate));
}

AnswerVerdict SearchPerturbation::OnExecuted(const sandbox::RequestPtr& request,
                                             const sandbox::Outcome& /*outcome*/) {
  if (request->info.verb == "watch") return {};
  absl::MutexLock lock(&mu_);
  if (!Strikes(Kind::kCrashAnswer, ++counts_[step_].answers)) return {};
  Crash();
  return AnswerVerdict::Close();
}

void SearchPerturbation::OnDelivery(const sandbox::Delivery& delivery) {
  if (delivery.object == nullptr) return;
  const std::string& server = delivery.watch->server;
  const auto gate = Gate(server);
  bool cut = false;
  {
    absl::MutexLock lock(&mu_);
    StepCounts& counts = counts_[step_];
    const int number = ++counts.events[server];
    if (Strikes(Kind::kCrashEvent, EventsOf(counts))) Crash();
    const bool is_about = PlanLocked().IsAbout(server);
    if (is_about && Strikes(Kind::kCutWithin, number)) gate->CutWithinNext();
    cut = is_about && Strikes(Kind::kCutAfter, number);
  }
  if (cut) gate->Cut();
}

}  // namespace prove
