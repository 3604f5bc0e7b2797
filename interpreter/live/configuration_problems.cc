#include "interpreter/live/configuration_problems.h"

#include "absl/strings/str_join.h"
#include "api/reasons.h"
#include "base/log.h"
#include "kube/runtime/events.h"

namespace interpreter::live {

void ConfigurationProblems::Tell(const std::vector<Finding>& findings) {
  std::map<Key, std::string> before;
  before.swap(told_);
  for (const Finding& finding : findings) {
    const Key key{std::string(finding.object->kind()), std::string(finding.object->name())};
    const auto last = before.find(key);
    if (finding.problems.empty()) continue;
    std::string& told = told_[key];
    if (last != before.end()) told = last->second;
    TellOne(finding, told);
    SetGauge(key, static_cast<double>(finding.problems.size()));
  }
  for (const auto& [key, text] : before) {
    if (told_.count(key) == 0) SetGauge(key, 0);
  }
}

void ConfigurationProblems::TellOne(const Finding& finding, std::string& told) {
  const std::string text = absl::StrJoin(finding.problems, "; ");
  if (text == told || !manager_.IsLeader()) return;
  told = text;
  base::LogWarning("an interpreter configuration has problems",
                   {{"object", finding.object->Describe()}, {"problems", text}});
  manager_.events().Record(api::kInterpreterSource, kube::ObjectReference::Of(*finding.object),
                           kube::EventType::kWarning, api::reason::kInvalidConfiguration, text);
}

void ConfigurationProblems::SetGauge(const Key& key, double problems) {
  manager_.registry()
      .GetGauge("karmada_interpreter_configuration_problems",
                "Problems of an interpreter configuration.",
                {{"kind", key.first}, {"name", key.second}})
      .Set(problems);
}

}  // namespace interpreter::live
