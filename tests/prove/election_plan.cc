#include "tests/prove/election_plan.h"

#include <map>
#include <set>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace prove {
namespace {

using Fault = ElectionPlan::Fault;
using Who = ElectionPlan::Who;

const std::map<std::string, Fault>& Faults() {
  static const auto& kFaults = *new std::map<std::string, Fault>{
      {"refused", Fault::kRefused},     {"silent", Fault::kSilent}, {"lost", Fault::kLost},
      {"stopped", Fault::kStopped},     {"killed", Fault::kKilled}, {"held", Fault::kHeld},
      {"overtaken", Fault::kOvertaken}, {"lease", Fault::kLease},   {"clocks", Fault::kClocks}};
  return kFaults;
}

// Reads words one by one; the first that is wrong makes everything wrong.
class Words {
 public:
  explicit Words(const std::string& text) : words_(absl::StrSplit(text, ' ')) {}
  std::string Text() {
    if (at_ >= words_.size()) complete_ = false;
    return complete_ ? words_[at_++] : "";
  }
  int Number() {
    int number = 0;
    complete_ = absl::SimpleAtoi(Text(), &number) && complete_;
    return number;
  }
  template <class Value>
  Value OneOf(const std::map<std::string, Value>& values) {
    const auto found = values.find(Text());
    complete_ = complete_ && found != values.end();
    return complete_ ? found->second : Value();
  }
  bool complete() const { return complete_ && at_ == words_.size(); }

 private:
  const std::vector<std::string> words_;
  size_t at_ = 0;
  bool complete_ = true;
};

void ReadWhat(Words& words, ElectionPlan& plan) {
  switch (plan.fault) {
    case Fault::kRefused:
    case Fault::kSilent:
    case Fault::kLost:
    case Fault::kStopped:
      plan.who = words.OneOf<Who>(
          {{"leader", Who::kLeader}, {"stand-bys", Who::kStandBys}, {"all", Who::kAll}});
      [[fallthrough]];
    case Fault::kHeld:
      plan.duration = absl::Seconds(words.Number());
      break;
    case Fault::kLease:
      plan.edit = words.Text();
      break;
    case Fault::kClocks:
      plan.leader_clock = absl::Seconds(words.Number());
      plan.other_clocks = absl::Seconds(words.Number());
      break;
    case Fault::kKilled:
    case Fault::kOvertaken:
      break;
  }
  plan.write = words.Number();
}

}  // namespace

absl::StatusOr<ElectionPlan> ReadElectionPlan(const std::string& name) {
  Words words(name);
  const bool election = words.Text() == "election";
  ElectionPlan plan;
  plan.contenders = words.Number();
  plan.fault = words.OneOf(Faults());
  ReadWhat(words, plan);
  static const auto& kEdits = *new std::set<std::string>{
      "deleted", "free", "stranger", "stand-by", "past", "future", "short", "long"};
  const bool edits = plan.fault != Fault::kLease || kEdits.contains(plan.edit);
  if (election && words.complete() && plan.contenders >= 2 && plan.write >= 1 && edits) return plan;
  return absl::InvalidArgumentError(absl::StrCat("not the name of a run: ", name));
}

}  // namespace prove
