#include "interpreter/live/configuration_problems.h"

#include "absl/strings/str_join.h"
#include "api/reasons.h"
#include "base/log.h"
#include "interpreter/metric_names.h"
#include "kube/runtime/events.h"

namespace interpreter::live {

void ConfigurationProblems::Report(const std::vector<Finding>& findings) {
  std::map<Key, std::string> before;
  before.swap(reported_);
  std::set<Key> gone;
  gone.swap(gauged_);
  for (const Finding& finding : findings) {
    const Key key{std::string(finding.object->kind()), std::string(finding.object->name())};
    const auto last = before.find(key);
    if (gone.erase(key) > 0 || !finding.problems.empty()) SetGauge(key, finding.problems.size());
    if (finding.problems.empty()) {
      if (last != before.end() && !last->second.empty()) ReportRepaired(*finding.object);
      continue;
    }
    std::string& reported = reported_[key];
    if (last != before.end()) reported = last->second;
    ReportOne(finding, reported);
  }
  for (const Key& key : gone) manager_.registry().RemoveSeries(LabelsOf(key));
}

void ConfigurationProblems::ReportOne(const Finding& finding, std::string& reported) {
  const std::string text = absl::StrJoin(finding.problems, "; ");
  if (text == reported || !manager_.IsLeader()) return;
  reported = text;
  base::LogWarning("an interpreter configuration has problems",
                   {{"object", finding.object->Describe()}, {"problems", text}});
  manager_.events().Record(api::kInterpreterSource, kube::InvolvedObject::Of(*finding.object),
                           kube::EventType::kWarning, api::reason::kInvalidConfiguration, text);
}

void ConfigurationProblems::ReportRepaired(const kube::Object& object) {
  if (!manager_.IsLeader()) return;
  base::LogInfo("an interpreter configuration has no problems any more",
                {{"object", object.Describe()}});
  manager_.events().Record(api::kInterpreterSource, kube::InvolvedObject::Of(object),
                           kube::EventType::kNormal, api::reason::kValidConfiguration,
                           "The problems that were reported are repaired.");
}

metrics::Labels ConfigurationProblems::LabelsOf(const Key& key) {
  return {{"kind", key.first}, {"name", key.second}};
}

void ConfigurationProblems::SetGauge(const Key& key, size_t problems) {
  gauged_.insert(key);
  manager_.registry()
      .GetGauge(kConfigurationProblemsMetric, "Problems of an interpreter configuration.",
                LabelsOf(key))
      .Set(static_cast<double>(problems));
}

}  // namespace interpreter::live
