// A request is judged when it arrives, and noted for the record; then what the plan does to its
// sender is done to it. The write at which the plan begins is counted among those of all
// processes. What has a duration is ended by a thread of its own, because its time is simulated.
// Holds and gates are used without mu_, as they require.

#include "tests/prove/election_watch.h"

#include <signal.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/status.h"
#include "base/threads.h"
#include "sandbox/api_server.h"

namespace prove {
namespace {

using sandbox::AnswerVerdict;
using sandbox::RequestVerdict;
using Fault = ElectionPlan::Fault;
using Who = ElectionPlan::Who;

constexpr char kControlPlane[] = "karmada-apiserver";
constexpr char kAddresses[] = "127.0.1.";
constexpr char kLeaseName[] = "karmada-controller-manager", kLeaseNamespace[] = "karmada-system";

// The flags' defaults, and what docs/operations.md promises.
constexpr absl::Duration kLeaseDuration = absl::Seconds(15), kRetryPeriod = absl::Seconds(2);
constexpr absl::Duration kLongestWithoutLeader = absl::Seconds(20), kLongestCall = absl::Seconds(5);
constexpr absl::Duration kMoment = absl::Milliseconds(100);

kube::Gvr Leases() { return {"coordination.k8s.io", "v1", "leases"}; }

bool IsHost(const sandbox::RequestFacts& request) { return request.server == kControlPlane; }

bool WritesLease(const sandbox::RequestFacts& request) {
  return IsHost(request) && request.IsWrite() && request.info.gvr.resource == "leases";
}

// Returns the holder that the request wants; "" when it is about another lease, or gives it back.
// nullopt for what is no such request.
std::optional<std::string> WantedHolder(const sandbox::RequestFacts& request) {
  if (!WritesLease(request)) return std::nullopt;
  const auto body = request.Body();
  if (!body.ok() || (*body)["metadata"]["name"].AsString() != kLeaseName) return std::nullopt;
  return (*body)["spec"]["holderIdentity"].ToString();
}

std::string Seconds(absl::Duration d) {
  return absl::FormatDuration(absl::Trunc(d, absl::Milliseconds(1)));
}

bool IsSilence(Fault fault) { return fault == Fault::kSilent || fault == Fault::kLost; }

}  // namespace

ElectionWatch::ElectionWatch(ElectionPlan plan, std::string logs, sandbox::Fleet& fleet,
                             TimeDriver& time)
    : plan_(std::move(plan)), logs_(std::move(logs)), fleet_(fleet), time_(time), record_() {}

ElectionWatch::~ElectionWatch() {
  stop_.request_stop();
  if (timer_.joinable()) timer_.join();
  End();
}

std::string ElectionWatch::Enter(int slot) {
  absl::MutexLock lock(&mu_);
  contenders_.push_back(std::make_unique<Contender>());
  contenders_.back()->slot = slot;
  if (IsSilence(plan_.fault) && cut_off_.contains(slot)) contenders_.back()->gate->Hold();
  return absl::StrCat(kAddresses, contenders_.size());
}

void ElectionWatch::SetProcess(int slot, pid_t process) {
  absl::MutexLock lock(&mu_);
  Present(slot)->process = process;
}

bool ElectionWatch::begun() const {
  absl::MutexLock lock(&mu_);
  return begun_;
}

bool ElectionWatch::over() const {
  absl::MutexLock lock(&mu_);
  return over_;
}

std::vector<std::string> ElectionWatch::broken() const {
  absl::MutexLock lock(&mu_);
  return broken_;
}

ElectionWatch::Contender* ElectionWatch::Sender(const Facts& request) {
  absl::string_view address = request.http->remote_address;
  int number = 0;
  if (!absl::ConsumePrefix(&address, kAddresses) ||
      !absl::SimpleAtoi(address.substr(0, address.find(':')), &number) || number < 1 ||
      number > static_cast<int>(contenders_.size())) {
    return nullptr;
  }
  return contenders_[number - 1].get();
}

ElectionWatch::Contender* ElectionWatch::Present(int slot) {
  Contender* last = nullptr;
  for (const auto& contender : contenders_) {
    if (contender->slot == slot) last = contender.get();
  }
  return last;
}

std::string ElectionWatch::NameOf(const std::string& identity) const {
  if (identity.empty()) return "nobody";
  for (size_t i = 0; i < contenders_.size(); ++i) {
    if (contenders_[i]->identity == identity) {
      return absl::StrCat("process ", i + 1, " (of ", contenders_[i]->slot + 1, ")");
    }
  }
  return identity;
}

bool ElectionWatch::Judge(const Facts& request, const Contender& sender) {
  if (!Counts(request)) return false;
  const absl::Duration now = time_.Now();
  const std::string what = absl::StrCat(NameOf(sender.identity), " sends ", RequestClass(request),
                                        " ", request.info.key.ns, "/", request.info.key.name);
  const bool holds = !sender.identity.empty() && holder_ == sender.identity;
  const bool may_not_know = now - edited_ <= kRetryPeriod + kMoment;
  if (!holds && !may_not_know) {
    broken_.push_back(absl::StrCat("two writers: ", what, " while ", NameOf(holder_),
                                   " holds the lease, renewed ", Seconds(now - renewed_), " ago"));
  } else if (holds && now - renewed_ > kLeaseDuration) {
    broken_.push_back(absl::StrCat("a writer without a lease: ", what, ", and has renewed it ",
                                   Seconds(now - renewed_), " ago"));
  }
  if (begun_ || ++writes_ != plan_.write) return false;
  return begun_ = true;
}

std::set<int> ElectionWatch::Slots(const Contender& leader) const {
  std::set<int> slots;
  const bool one = plan_.fault == Fault::kHeld || plan_.fault == Fault::kOvertaken;
  for (int slot = 0; slot < plan_.contenders; ++slot) {
    const bool leads = slot == leader.slot;
    if (one ? leads : plan_.who == Who::kAll || (plan_.who == Who::kLeader) == leads) {
      slots.insert(slot);
    }
  }
  return slots;
}

RequestVerdict ElectionWatch::OnRequest(const sandbox::RequestPtr& request) {
  static_cast<void>(record_.OnRequest(request));
  bool begins = false;
  int slot = 0;
  {
    absl::MutexLock lock(&mu_);
    Contender* sender = Sender(*request);
    if (sender == nullptr) return {};
    slot = sender->slot;
    const auto holder = WantedHolder(*request);
    if (holder.has_value() && !holder->empty()) sender->identity = *holder;
    begins = Judge(*request, *sender);
  }
  return begins ? Begin(*request, slot) : Pass(*request);
}

RequestVerdict ElectionWatch::Begin(const Facts& request, int leader_slot) {
  std::set<int> slots;
  std::vector<pid_t> processes(plan_.contenders);
  {
    absl::MutexLock lock(&mu_);
    slots = Slots(*Present(leader_slot));
    for (int i = 0; i < plan_.contenders; ++i) processes[i] = Present(i)->process;
  }
  RequestVerdict verdict;
  switch (plan_.fault) {
    case Fault::kRefused:
    case Fault::kSilent:
    case Fault::kLost:
      CutOff(slots);
      verdict = Pass(request);
      break;
    case Fault::kStopped: {
      absl::MutexLock lock(&mu_);
      for (const int slot : slots) time_.Stop(processes[slot]);
      stopped_ = slots;
      break;
    }
    case Fault::kKilled:
      kill(processes[leader_slot], SIGKILL);
      verdict = RequestVerdict::Close();
      break;
    case Fault::kHeld:
    case Fault::kOvertaken: {
      CutOff(slots);
      absl::MutexLock lock(&mu_);
      last_write_ = std::make_shared<sandbox::Hold>();
      verdict = RequestVerdict::Wait(last_write_);
      break;
    }
    case Fault::kLease:
      EditLease();
      break;
    case Fault::kClocks:
      for (int i = 0; i < plan_.contenders; ++i) {
        time_.SetWallOffset(processes[i],
                            i == leader_slot ? plan_.leader_clock : plan_.other_clocks);
      }
      break;
  }
  timer_ = base::StartThread("a fault", [this] {
    CutWatches();
    if (plan_.fault == Fault::kOvertaken) return;
    base::RealClock().SleepFor(plan_.duration, stop_.get_token());
    End();
  });
  return verdict;
}

void ElectionWatch::CutOff(const std::set<int>& slots) {
  absl::MutexLock lock(&mu_);
  cut_off_ = slots;
}

// Connections of a network that refuses are closed; of one that is silent they stay. Not on the
// thread of a request, which holds what gates wait for.
void ElectionWatch::CutWatches() {
  std::vector<std::shared_ptr<sandbox::WatchGate>> gates;
  {
    absl::MutexLock lock(&mu_);
    for (const int slot : cut_off_) gates.push_back(Present(slot)->gate);
  }
  for (const auto& gate : gates) {
    if (IsSilence(plan_.fault)) {
      gate->Hold();
    } else {
      gate->Cut();
    }
  }
}

RequestVerdict ElectionWatch::Pass(const Facts& request) {
  if (!IsHost(request)) return {};
  absl::MutexLock lock(&mu_);
  const Contender* sender = Sender(request);
  if (sender == nullptr) return {};
  RequestVerdict verdict;
  if (cut_off_.contains(sender->slot)) {
    if (!IsSilence(plan_.fault)) return RequestVerdict::Close();
    holds_.push_back(std::make_shared<sandbox::Hold>());
    verdict = RequestVerdict::Wait(holds_.back());
  }
  if (request.info.verb == "watch") verdict.gate = sender->gate;
  return verdict;
}

AnswerVerdict ElectionWatch::OnExecuted(const sandbox::RequestPtr& request,
                                        const sandbox::Outcome& outcome) {
  static_cast<void>(record_.OnExecuted(request, outcome));
  absl::MutexLock lock(&mu_);
  const Contender* sender = Sender(*request);
  if (sender == nullptr || !IsHost(*request)) return {};
  const auto holder = WantedHolder(*request);
  if (holder.has_value() && outcome.code < 300) NoteLease(*holder);
  if (!cut_off_.contains(sender->slot)) return {};
  if (!IsSilence(plan_.fault)) return AnswerVerdict::Close();
  holds_.push_back(std::make_shared<sandbox::Hold>());
  return AnswerVerdict::Wait(holds_.back());
}

void ElectionWatch::NoteLease(const std::string& holder) {
  const absl::Duration now = time_.Now();
  const absl::Duration since = std::max({renewed_, edited_, reachable_});
  const absl::Duration most =
      kLongestWithoutLeader + (IsSilence(plan_.fault) ? kLongestCall : absl::ZeroDuration());
  if (renewed_ > -absl::InfiniteDuration() && now - since > most) {
    broken_.push_back(
        absl::StrCat("no leader for ", Seconds(now - since), ", then ", NameOf(holder)));
  }
  holder_ = holder;
  renewed_ = now;
}

void ElectionWatch::End() {
  std::vector<HoldPtr> holds;
  std::vector<std::shared_ptr<sandbox::WatchGate>> gates;
  HoldPtr last_write;
  {
    absl::MutexLock lock(&mu_);
    if (!begun_ || over_) return;
    over_ = true;
    const bool all_stand_bys =
        plan_.who != Who::kLeader && (!cut_off_.empty() || !stopped_.empty());
    if (all_stand_bys) reachable_ = time_.Now();
    for (const int slot : stopped_) time_.Continue(Present(slot)->process);
    for (const int slot : cut_off_) gates.push_back(Present(slot)->gate);
    cut_off_.clear();
    stopped_.clear();
    holds.swap(holds_);
    last_write.swap(last_write_);
  }
  for (const HoldPtr& hold : holds) {
    if (plan_.fault == Fault::kSilent) {
      hold->Release();
    } else {
      hold->Drop();
    }
  }
  for (const auto& gate : gates) {
    if (plan_.fault == Fault::kLost) gate->Cut();
    gate->Open();
  }
  if (last_write != nullptr) last_write->Release();
}

std::string ElectionWatch::StandBy() {
  for (size_t i = 0; i < contenders_.size(); ++i) {
    Contender& contender = *contenders_[i];
    if (Present(contender.slot) != &contender || contender.identity == holder_) continue;
    const auto log = base::ReadFile(absl::StrCat(logs_, "/", kAddresses, i + 1, ".log"));
    if (!log.ok()) continue;
    const std::string before = "identity=";
    const size_t at = log->find(before);
    if (at == std::string::npos) continue;
    const size_t begin = at + before.size();
    contender.identity = log->substr(begin, log->find_first_of(" \n", begin) - begin);
    return contender.identity;
  }
  broken_.push_back("there is no stand-by");
  return holder_;
}

void ElectionWatch::EditLease() {
  const kube::ObjectKey key{kLeaseNamespace, kLeaseName};
  sandbox::Backend& backend = fleet_.control_plane().backend();
  json::Value spec = json::Value::Object();
  absl::MutexLock lock(&mu_);
  edited_ = time_.Now();
  const std::string& edit = plan_.edit;
  if (edit == "deleted") {
    holder_ = "";
    base::IgnoreError(backend.Delete(Leases(), key, {}).status(), "the run says what follows");
    return;
  }
  if (edit == "stranger") holder_ = "stranger";
  if (edit == "free") holder_ = "";
  if (edit == "stand-by") holder_ = StandBy();
  spec.Set("holderIdentity", holder_.empty() ? json::Value() : json::Value(holder_));
  if (edit == "past") spec.Set("renewTime", "2001-01-01T00:00:00.000000Z");
  if (edit == "future") spec.Set("renewTime", "2101-01-01T00:00:00.000000Z");
  if (edit == "short") spec.Set("leaseDurationSeconds", 1);
  if (edit == "long") spec.Set("leaseDurationSeconds", 30);
  const auto patched = backend.Patch(
      Leases(), key, {.patch = json::Value::Object({{"spec", spec}}), .field_manager = "user"});
  if (!patched.ok()) broken_.push_back(absl::StrCat("the lease: ", patched.status().message()));
}

void ElectionWatch::CheckLeader() {
  absl::MutexLock lock(&mu_);
  const absl::Duration since = time_.Now() - renewed_;
  const bool present = std::any_of(contenders_.begin(), contenders_.end(), [&](const auto& one) {
    return one->identity == holder_ && Present(one->slot) == one.get();
  });
  if (present && since <= kRetryPeriod + kMoment) return;
  broken_.push_back(absl::StrCat("no leader in the end: ", NameOf(holder_), " has renewed ",
                                 Seconds(since), " ago"));
}

}  // namespace prove
