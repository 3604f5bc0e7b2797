// The columns of HorizontalPodAutoscalers in the form of autoscaling/v2. A target is shown beside
// what was measured last, after upstream's formatHPAMetrics.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kube/meta/quantity.h"
#include "kube/server/tables/builtin_columns.h"

namespace kube::server {
namespace {

constexpr size_t kMaxMetrics = 2;
constexpr char kUnknown[] = "<unknown>";

// Returns the canonical text; for an absent quantity what Go prints for a nil pointer.
std::string AmountText(const json::Value& v) {
  if (v.is_null()) return "<nil>";
  const auto quantity = kube::Quantity::FromJson(v);
  return quantity.ok() ? quantity->ToString() : v.ToString();
}

std::string PercentText(const json::Value& v, const char* otherwise) {
  return v.is_int() ? absl::StrCat(v.AsInt(), "%") : otherwise;
}

// Returns the text of `current[field]` for a metric that has a status.
std::string MeasuredText(const json::Value& status, const char* field) {
  return status.is_object() ? AmountText(status["current"][field]) : kUnknown;
}

// For the types Resource and ContainerResource.
std::string ResourceText(const json::Value& source, const json::Value& status) {
  const json::Value& target = source["target"];
  const std::string name = absl::StrCat(source["name"].AsString(), ": ");
  if (!target["averageValue"].is_null()) {
    return absl::StrCat(name, MeasuredText(status, "averageValue"), "/",
                        AmountText(target["averageValue"]));
  }
  return absl::StrCat(name, PercentText(status["current"]["averageUtilization"], kUnknown), "/",
                      PercentText(target["averageUtilization"], "<auto>"));
}

std::string PodsText(const json::Value& source, const json::Value& status) {
  return absl::StrCat(MeasuredText(status, "averageValue"), "/",
                      AmountText(source["target"]["averageValue"]));
}

// For the types Object and External.
std::string ValueText(const json::Value& source, const json::Value& status) {
  const json::Value& average = source["target"]["averageValue"];
  if (average.is_null()) {
    return absl::StrCat(MeasuredText(status, "value"), "/", AmountText(source["target"]["value"]));
  }
  const json::Value& measured = status["current"]["averageValue"];
  return absl::StrCat(measured.is_null() ? kUnknown : AmountText(measured), "/",
                      AmountText(average), " (avg)");
}

struct Source {
  const char* type;
  const char* field;  // Of a metric, and of its status.
  std::string (*text)(const json::Value& source, const json::Value& status);
};
constexpr Source kSources[] = {
    {"Resource", "resource", ResourceText},
    {"ContainerResource", "containerResource", ResourceText},
    {"Pods", "pods", PodsText},
    {"Object", "object", ValueText},
    {"External", "external", ValueText},
};

std::string MetricText(const json::Value& metric, const json::Value& status) {
  for (const Source& source : kSources) {
    if (metric["type"].AsString() == source.type) {
      return source.text(metric[source.field], status[source.field]);
    }
  }
  return "<unknown type>";
}

// The status of a metric has the metric's place in its list.
std::string MetricsText(const json::Value& metrics, const json::Value& statuses) {
  if (metrics.empty()) return "<none>";
  std::string text;
  for (size_t i = 0; i < metrics.size() && i < kMaxMetrics; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", MetricText(metrics.At(i), statuses.At(i)));
  }
  if (metrics.size() <= kMaxMetrics) return text;
  return absl::StrCat(text, " + ", metrics.size() - kMaxMetrics, " more...");
}

std::vector<json::Value> AutoscalerRow(const kube::Object& o, absl::Time now) {
  const json::Value& target = o.spec()["scaleTargetRef"];
  return {
      absl::StrCat(target["kind"].AsString(), "/", target["name"].AsString()),
      MetricsText(o.spec()["metrics"], o.status()["currentMetrics"]),
      o.spec()["minReplicas"].is_int() ? absl::StrCat(o.spec()["minReplicas"].AsInt()) : "<unset>",
      o.spec()["maxReplicas"].AsInt(),
      o.status()["currentReplicas"].AsInt(),
      AgeCell(o, now)};
}

}  // namespace

BuiltinColumns AutoscalerColumns() {
  return {"autoscaling",
          "HorizontalPodAutoscaler",
          {{"Reference"}, {"Targets"}, {"MinPods"}, {"MaxPods"}, {"Replicas", "integer"}, {"Age"}},
          AutoscalerRow};
}

}  // namespace kube::server
