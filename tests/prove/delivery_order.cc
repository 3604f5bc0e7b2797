// Every watch has a gate of its own, which is held as long as something is done again, and a write
// that comes before its turn a Hold. Whoever drives the run calls LetThrough() when all wait: it
// looks at the first event of each gate and at the writes, and lets pass what has the first line
// that has not happened yet, or has none. So what the recording has one after the other comes at
// once, and what has a write between comes when the program has written. A perturbation counts
// writes when they pass, as it does without all that.
//
// Not repeated is what happens within the program between two of its threads, and how long a
// request took.

#include "tests/prove/delivery_order.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status.h"

namespace prove {
namespace {

// How long the next line is waited for: when nothing else waits, and before something else passes.
constexpr absl::Duration kPatience = absl::Seconds(30), kShortPatience = absl::Seconds(3);
constexpr int kMostOutOfTurn = 3;

std::string ResourceOf(const kube::Gvr& gvr) {
  return gvr.group.empty() ? gvr.resource : absl::StrCat(gvr.resource, ".", gvr.group);
}

std::string WatchOf(const sandbox::RequestFacts& watch) {
  std::string text = absl::StrCat(watch.server, " ", ResourceOf(watch.info.gvr));
  if (!watch.info.key.ns.empty()) absl::StrAppend(&text, "?namespace=", watch.info.key.ns);
  for (const char* selector : {"labelSelector", "fieldSelector"}) {
    const absl::string_view value = watch.http->Query(selector);
    if (!value.empty()) absl::StrAppend(&text, "?", selector, "=", value);
  }
  return text;
}

// Pods have names by chance.
absl::string_view NameOf(const sandbox::Delivery& delivery) {
  const absl::string_view name = delivery.object->name();
  return delivery.watch->info.gvr.resource == "pods" ? name.substr(0, name.rfind('-')) : name;
}

std::string WordsOf(const sandbox::Delivery& delivery) {
  return absl::StrCat("deliver ", WatchOf(*delivery.watch), " ", delivery.type, " ",
                      delivery.object->ns(), "/", NameOf(delivery));
}

// A name that the server deals out is not known yet.
std::string NameIn(const sandbox::RequestFacts& write) {
  if (!write.info.key.name.empty() || write.info.verb != "create") return write.info.key.name;
  const auto body = write.Body();
  return body.ok() ? body->Get({"metadata", "name"}).ToString() : "";
}

std::string WordsOf(const sandbox::RequestFacts& write) {
  const std::string part =
      write.info.subresource.empty() ? "" : absl::StrCat("/", write.info.subresource);
  return absl::StrCat("write ", write.server, " ", write.Verb(), " ", ResourceOf(write.info.gvr),
                      part, " ", write.info.key.ns, "/", NameIn(write));
}

int StepOf(const std::string& line) {
  int step = 0;
  static_cast<void>(absl::SimpleAtoi(line.substr(0, line.find(' ')), &step));
  return step;
}

// The event that a gate releases next; null when there are bookmarks alone.
const sandbox::Delivery* FirstOf(const std::vector<sandbox::Delivery>& held) {
  const sandbox::Delivery* first = nullptr;
  for (const sandbox::Delivery& delivery : held) {
    if (delivery.object == nullptr) continue;
    if (first == nullptr || delivery.version < first->version) first = &delivery;
  }
  return first;
}

// What follows time, and not what was delivered, is recorded, and waits for nothing.
bool FollowsTime(const std::string& line) {
  return absl::StrContains(line, " clusters.cluster.karmada.io/status ") ||
         (absl::StrContains(line, "deliver ") &&
          absl::StrContains(line, " clusters.cluster.karmada.io "));
}

bool DecidesOfDeliveries(const Plan& plan) { return !plan.kinds.empty() || !plan.server.empty(); }

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadOrder(const std::string& path,
                                                   const std::vector<Plan>& plans) {
  if (path.empty()) return std::vector<std::string>();
  if (std::any_of(plans.begin(), plans.end(), DecidesOfDeliveries)) {
    return absl::UnimplementedError("the run decides itself in what order events are delivered");
  }
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  return std::vector<std::string>(absl::StrSplit(text, '\n', absl::SkipEmpty()));
}

DeliveryOrder::DeliveryOrder(std::shared_ptr<Perturbation> run, std::vector<std::string> again)
    : run_(std::move(run)), again_(!again.empty()) {
  for (std::string& line : again) {
    if (FollowsTime(line)) continue;
    places_[line].push_back(expected_.size());
    expected_.push_back({std::move(line)});
  }
}

std::string DeliveryOrder::Line(const std::string& words) const {
  return absl::StrCat(step_, " ", words);
}

void DeliveryOrder::Note(const std::string& words) {
  if (!again_) return;
  const std::string line = Line(words);
  const auto places = places_.find(line);
  if (places == places_.end()) {
    if (!FollowsTime(line)) unknown_.push_back(line);
    return;
  }
  expected_[places->second.front()].over = true;
  places->second.pop_front();
  if (places->second.empty()) places_.erase(places);
  Advance();
}

// What a write has changed may be delivered before the server says that it has been executed.
void DeliveryOrder::Record(Recorded what) {
  const auto later = [&](const Recorded& other) {
    return what.version != 0 && other.server == what.server && other.version >= what.version;
  };
  lines_.insert(std::find_if(lines_.begin(), lines_.end(), later), std::move(what));
}

void DeliveryOrder::Advance() {
  while (next_ < expected_.size() && expected_[next_].over) ++next_;
}

void DeliveryOrder::GiveUp(size_t line) {
  Expected& expected = expected_[line];
  if (expected.over) return;
  expected.over = true;
  missed_.push_back(expected.line);
  const auto places = places_.find(expected.line);
  std::deque<size_t>& left = places->second;
  left.erase(std::find(left.begin(), left.end(), line));
  if (left.empty()) places_.erase(places);
}

void DeliveryOrder::BeginStep(int step) {
  absl::MutexLock lock(&mu_);
  step_ = step;
  looked_at_.reset();
  for (size_t i = next_; i < expected_.size() && StepOf(expected_[i].line) < step; ++i) GiveUp(i);
  Advance();
}

bool DeliveryOrder::MayPass(const std::string& words) const {
  const auto places = places_.find(Line(words));
  return places == places_.end() || places->second.front() == next_ ||
         places->second.front() == out_of_turn_;
}

bool DeliveryOrder::LetThrough(absl::Duration now) {
  std::vector<GatePtr> gates;
  {
    absl::MutexLock lock(&mu_);
    if (!again_) return false;
    for (const auto& [watch, gate] : gates_) gates.push_back(gate);
  }
  const std::vector<std::string> held = HeldWords(gates);
  {
    absl::MutexLock lock(&mu_);
    BePatient(held, now);
  }
  bool any = false;
  for (bool more = true; more; any = any || more) {
    more = LetEvents(gates);
    more = LetWrites() || more;
  }
  return any;
}

std::vector<std::string> DeliveryOrder::HeldWords(const std::vector<GatePtr>& gates) const {
  std::vector<std::string> words;
  for (const GatePtr& gate : gates) {
    const std::vector<sandbox::Delivery> held = gate->Held();
    if (const sandbox::Delivery* first = FirstOf(held)) words.push_back(WordsOf(*first));
  }
  absl::MutexLock lock(&mu_);
  for (const HeldWrite& write : writes_) words.push_back(WordsOf(*write.request));
  return words;
}

// The next line may be that of a thread which does something else first this time, and waits here.
void DeliveryOrder::BePatient(const std::vector<std::string>& held, absl::Duration now) {
  out_of_turn_.reset();
  if (next_ != looked_at_) {
    looked_at_ = next_;
    since_ = now;
    passed_ = 0;
  }
  if (next_ >= expected_.size() || StepOf(expected_[next_].line) != step_) return;
  if (now - since_ <= (held.empty() ? kPatience : kShortPatience)) return;
  if (held.empty() || passed_ == kMostOutOfTurn) {
    GiveUp(next_);
    return Advance();
  }
  for (const std::string& words : held) {
    const auto places = places_.find(Line(words));
    if (places == places_.end()) continue;
    out_of_turn_ = std::min(out_of_turn_.value_or(expected_.size()), places->second.front());
  }
  if (!out_of_turn_.has_value()) return;
  missed_.push_back(absl::StrCat("out of turn: ", expected_[*out_of_turn_].line));
  ++passed_;
  since_ = now;
}

bool DeliveryOrder::LetEvents(const std::vector<GatePtr>& gates) {
  bool any = false;
  for (const GatePtr& gate : gates) {
    const std::vector<sandbox::Delivery> held = gate->Held();
    if (held.empty()) continue;
    const sandbox::Delivery* first = FirstOf(held);
    if (first != nullptr) {
      absl::MutexLock lock(&mu_);
      if (!MayPass(WordsOf(*first))) continue;
    }
    if (first == nullptr || gate->Release(1) == 0) {  // There are bookmarks alone.
      gate->Open();
      gate->Hold();
    }
    any = true;
  }
  return any;
}

bool DeliveryOrder::LetWrites() {
  std::optional<HeldWrite> next;
  {
    absl::MutexLock lock(&mu_);
    const auto found = std::find_if(writes_.begin(), writes_.end(), [this](const HeldWrite& write) {
      mu_.AssertHeld();
      return MayPass(WordsOf(*write.request));
    });
    if (found == writes_.end()) return false;
    next = *found;
    writes_.erase(found);
    Note(WordsOf(*next->request));
  }
  Execute(*next);
  return true;
}

void DeliveryOrder::Execute(const HeldWrite& write) {
  const sandbox::RequestVerdict verdict = run_->OnRequest(write.request);
  verdict.kind == sandbox::RequestVerdict::Kind::kClose ? write.hold->Drop()
                                                        : write.hold->Release();
}

void DeliveryOrder::End() {
  std::vector<GatePtr> gates;
  std::vector<HeldWrite> writes;
  {
    absl::MutexLock lock(&mu_);
    for (size_t i = next_; again_ && i < expected_.size(); ++i) GiveUp(i);
    again_ = false;
    for (const auto& [watch, gate] : gates_) gates.push_back(gate);
    writes.swap(writes_);
    for (const HeldWrite& write : writes) Note(WordsOf(*write.request));
  }
  for (const GatePtr& gate : gates) gate->Open();
  for (const HeldWrite& write : writes) Execute(write);
}

std::vector<std::string> DeliveryOrder::Lines() const {
  absl::MutexLock lock(&mu_);
  std::vector<std::string> lines;
  for (const Recorded& recorded : lines_) lines.push_back(recorded.line);
  return lines;
}

std::vector<std::string> DeliveryOrder::Missed() const {
  absl::MutexLock lock(&mu_);
  return missed_;
}

std::vector<std::string> DeliveryOrder::Unknown() const {
  absl::MutexLock lock(&mu_);
  return unknown_;
}

std::shared_ptr<sandbox::WatchGate> DeliveryOrder::GateOf(const sandbox::RequestFacts& watch) {
  absl::MutexLock lock(&mu_);
  if (!again_) return nullptr;
  GatePtr& gate = gates_[WatchOf(watch)];
  if (gate == nullptr) {
    gate = std::make_shared<sandbox::WatchGate>();
    gate->Hold();
  }
  return gate;
}

sandbox::RequestVerdict DeliveryOrder::OnRequest(const sandbox::RequestPtr& request) {
  const bool counts = Counts(*request) && run_->phase() == Perturbation::Phase::kWorkload;
  if (counts && !IsFromBeside(*request)) return OnWrite(request);
  sandbox::RequestVerdict verdict = run_->OnRequest(request);
  if (request->info.verb == "watch" && !IsFromBeside(*request)) {
    if (GatePtr gate = GateOf(*request)) verdict.gate = std::move(gate);
  }
  return verdict;
}

// An error takes the place of an execution, and so does not wait for its turn.
bool DeliveryOrder::MayFail(const sandbox::RequestFacts& write) const {
  const Plan& plan = run_->plan();
  return plan.kind == Plan::Kind::kError && plan.request_class == RequestClass(write);
}

sandbox::RequestVerdict DeliveryOrder::OnWrite(const sandbox::RequestPtr& request) {
  const std::string words = WordsOf(*request);
  {
    absl::MutexLock lock(&mu_);
    const bool waits = again_ && !MayFail(*request) && !MayPass(words);
    if (waits) {
      writes_.push_back({request, std::make_shared<sandbox::Hold>()});
      return sandbox::RequestVerdict::Wait(writes_.back().hold);
    }
    Note(words);
  }
  sandbox::RequestVerdict verdict = run_->OnRequest(request);
  if (verdict.kind != sandbox::RequestVerdict::Kind::kPass) {  // It is never executed.
    absl::MutexLock lock(&mu_);
    Record({Line(words), request->server});
  }
  return verdict;
}

sandbox::AnswerVerdict DeliveryOrder::OnExecuted(const sandbox::RequestPtr& request,
                                                 const sandbox::Outcome& outcome) {
  if (Counts(*request) && !IsFromBeside(*request) &&
      run_->phase() == Perturbation::Phase::kWorkload) {
    absl::MutexLock lock(&mu_);
    Record(
        {Line(WordsOf(*request)), request->server, outcome.changed() ? outcome.stored.front() : 0});
  }
  return run_->OnExecuted(request, outcome);
}

void DeliveryOrder::OnDelivery(const sandbox::Delivery& delivery) {
  run_->OnDelivery(delivery);
  if (delivery.object == nullptr || IsFromBeside(*delivery.watch)) return;
  if (run_->phase() != Perturbation::Phase::kWorkload) return;
  const std::string words = WordsOf(delivery);
  absl::MutexLock lock(&mu_);
  Note(words);
  // As it came: a watch that begins again delivers what is old.
  lines_.push_back({Line(words), delivery.watch->server, delivery.version});
}

}  // namespace prove
