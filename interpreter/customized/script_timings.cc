#include "interpreter/customized/script_timings.h"

#include "interpreter/metric_names.h"
#include "lua/script.h"

namespace interpreter::customized {
namespace {

metrics::Histogram& HistogramOf(metrics::Registry& metrics, const std::string& customization,
                                Operation op, const char* result) {
  return metrics.GetHistogram(kScriptDurationMetric,
                              "Time a script of a customization takes, since it was loaded.",
                              metrics::ExponentialBuckets(1e-6, 4, 12),
                              {{"customization", customization},
                               {"operation", std::string(OperationName(op))},
                               {"result", result}});
}

}  // namespace

ScriptTimings::ScriptTimings(metrics::Registry& metrics, const CustomizationSet& set,
                             const ScriptTimings* before) {
  for (const KindOperation& what : set.Covered()) {
    for (const ScriptRule& rule : set.RulesFor(what.gvk, what.operation)) {
      if (!rule.script.ok()) continue;
      series_[{rule.customization, what.operation}].text = (*rule.script)->text();
    }
  }
  if (before != nullptr) {
    for (const auto& [key, old] : before->series_) {
      const auto found = series_.find(key);
      if (found != series_.end() && found->second.text == old.text) continue;
      for (const char* result : {"success", "error"}) {
        metrics.RemoveSeries({{"customization", key.first},
                              {"operation", std::string(OperationName(key.second))},
                              {"result", result}});
      }
    }
  }
  for (auto& [key, series] : series_) {
    series.succeeded = &HistogramOf(metrics, key.first, key.second, "success");
    series.failed = &HistogramOf(metrics, key.first, key.second, "error");
  }
}

void ScriptTimings::Observe(const ScriptRule& rule, Operation op, bool ok,
                            absl::Duration took) const {
  const auto found = series_.find(Key(rule.customization, op));
  if (found == series_.end()) return;
  const Series& series = found->second;
  (ok ? series.succeeded : series.failed)->Observe(absl::ToDoubleSeconds(took));
}

}  // namespace interpreter::customized
