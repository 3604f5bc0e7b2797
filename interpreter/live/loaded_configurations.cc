#include "interpreter/live/loaded_configurations.h"

#include "absl/strings/str_cat.h"
#include "api/reasons.h"
#include "base/log.h"
#include "interpreter/metric_names.h"
#include "kube/runtime/events.h"

namespace interpreter::live {

void LoadedConfigurations::Report(const std::vector<ConfigurationProblems::Finding>& findings) {
  std::map<Key, State> before;
  before.swap(loaded_);
  for (const ConfigurationProblems::Finding& finding : findings) {
    const kube::Object& object = *finding.object;
    if (object.generation() == 0) continue;
    const Key key{std::string(object.kind()), std::string(object.name())};
    const State state{std::string(object.uid()), object.generation()};
    manager_.registry()
        .GetGauge(kLoadedGenerationMetric,
                  "The generation of an interpreter configuration that answers.", LabelsOf(key))
        .Set(static_cast<double>(state.generation));
    const auto known = before.find(key);
    if (started_ && (known == before.end() || known->second != state)) ReportLoad(finding);
    if (known != before.end()) before.erase(known);
    loaded_[key] = state;
  }
  for (const auto& [key, state] : before) manager_.registry().RemoveSeries(LabelsOf(key));
  started_ = true;
}

void LoadedConfigurations::ReportLoad(const ConfigurationProblems::Finding& finding) {
  if (!manager_.IsLeader()) return;
  const kube::Object& object = *finding.object;
  const size_t problems = finding.problems.size();
  base::LogInfo(
      "an interpreter configuration is loaded",
      {{"object", object.Describe()}, {"generation", object.generation()}, {"problems", problems}});
  const std::string how =
      problems == 0
          ? " is loaded and answers from now on."
          : absl::StrCat(" is loaded with ", problems, problems == 1 ? " problem" : " problems",
                         ", which a warning names; what is right answers from now on.");
  manager_.events().Record(api::kInterpreterSource, kube::InvolvedObject::Of(object),
                           kube::EventType::kNormal, kConfigurationLoadedReason,
                           absl::StrCat("Generation ", object.generation(), how));
}

metrics::Labels LoadedConfigurations::LabelsOf(const Key& key) {
  return {{"kind", key.first}, {"name", key.second}};
}

}  // namespace interpreter::live
