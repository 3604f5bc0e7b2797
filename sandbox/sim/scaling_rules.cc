// What upstream's webhooks refuse of CronFederatedHPAs (validateCronFederatedHPASpec) and
// FederatedHPAs (ValidateFederatedHPA), with their messages. Names of metrics and targets are not
// checked for characters. A schedule is read in the language of the library that the webhook uses
// (gronx), which differs from that of the controller: it has five to seven fields and other names,
// and neither "@every" nor a time zone.

#include <cctype>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/cron_schedule.h"
#include "base/time_zone.h"
#include "kube/meta/quantity.h"
#include "sandbox/sim/karmada_admission.h"
#include "sandbox/sim/webhook_rules.h"

namespace sandbox {
namespace {

using Messages = std::vector<std::string>;

constexpr int64_t kMostPeriodSeconds = 1800;
constexpr int64_t kMostStabilizationSeconds = 3600;
constexpr int64_t kNoLimit = 2147483647;

std::string Invalid(absl::string_view path, const json::Value& value, absl::string_view why) {
  return absl::StrCat(path, ": Invalid value: ", json::Write(value), ": ", why);
}

std::string Required(absl::string_view path, absl::string_view why) {
  return absl::StrCat(path, ": Required value", why.empty() ? "" : ": ", why);
}

std::string NotSupported(absl::string_view path, const json::Value& value,
                         const std::vector<std::string>& supported) {
  const std::string text = value.is_null() ? "\"\"" : json::Write(value);
  return absl::StrCat(path, ": Unsupported value: ", text, ": supported values: \"",
                      absl::StrJoin(supported, "\", \""), "\"");
}

void CheckTarget(const json::Value& target, const std::string& path, Messages& out) {
  for (const char* field : {"kind", "name"}) {
    if (target[field].AsString().empty())
      out.push_back(Required(absl::StrCat(path, ".", field), ""));
  }
}

// ---- CronFederatedHPA ---------------------------------------------------------------------------

// Returns whether a field has something that gronx knows and CronSchedule does not.
bool HasItsOwnSigns(absl::string_view field) {
  return field.find_first_of("LlWw#") != absl::string_view::npos &&
         field.find_first_not_of("0123456789*?/,-LlWw#") == absl::string_view::npos;
}

bool IsSchedule(absl::string_view text) {
  static const auto& names = *new std::set<std::string, std::less<>>{
      "@yearly", "@annually", "@monthly",   "@weekly",    "@daily",     "@hourly",
      "@always", "@5minutes", "@10minutes", "@15minutes", "@30minutes", "@everysecond"};
  const std::vector<std::string> fields =
      absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (fields.size() == 1) return names.contains(absl::AsciiStrToLower(fields[0]));
  if (fields.size() < 5 || fields.size() > 7) return false;
  // Five fields of those begin with minutes: seconds come before, and years behind.
  const size_t first = fields.size() == 5 || (fields.size() == 6 && fields[5].size() == 4) ? 0 : 1;
  for (size_t i = 0; i < fields.size(); ++i) {
    const bool is_more = i < first || i >= first + 5;
    if (is_more && fields[i].find_first_not_of("0123456789*?/,-") != std::string::npos)
      return false;
  }
  std::vector<std::string> plain;
  for (size_t i = first; i < first + 5; ++i)
    // What CronSchedule does not know is taken for good, and the other fields are checked.
    plain.push_back(HasItsOwnSigns(fields[i]) ? "*" : fields[i]);
  return base::CronSchedule::Parse(absl::StrJoin(plain, " "), absl::UTCTimeZone()).ok();
}

void CheckReplicasOfHpa(const json::Value& rule, const std::string& path, Messages& out) {
  const json::Value &min = rule["targetMinReplicas"], &max = rule["targetMaxReplicas"];
  // A limit that is missing counts as one that changes nothing.
  const int64_t least = min.is_null() ? 1 : min.AsInt(),
                most = max.is_null() ? kNoLimit : max.AsInt();
  const json::Value none("");
  if (min.is_null() && max.is_null()) {
    out.push_back(Invalid(path + ".targetMaxReplicas", none,
                          "targetMinReplicas and targetMaxReplicas cannot be nil at the same time "
                          "if you want to scale FederatedHPA"));
  }
  if (least <= 0) {
    out.push_back(
        Invalid(path + ".targetMinReplicas", none, "targetMinReplicas should be larger than 0"));
  }
  if (most <= 0) {
    out.push_back(
        Invalid(path + ".targetMaxReplicas", none, "targetMaxReplicas should be larger than 0"));
  }
  if (least > most) {
    out.push_back(Invalid(path + ".targetMinReplicas", none,
                          "targetMaxReplicas should be larger than or equal to targetMinReplicas"));
  }
}

void CheckReplicas(const json::Value& rule, absl::string_view kind, const std::string& path,
                   Messages& out) {
  const json::Value none("");
  const json::Value& replicas = rule["targetReplicas"];
  if (replicas.is_null()) {
    out.push_back(
        Invalid(path + ".targetReplicas", none,
                absl::StrCat("targetReplicas cannot be nil if you want to scale ", kind)));
  }
  if (replicas.AsInt() < 0) {
    out.push_back(Invalid(path + ".targetReplicas", none,
                          "targetReplicas should be larger than or equal to 0"));
  }
}

void CheckRules(const kube::Object& cron, bool scales_hpa, Messages& out) {
  std::set<std::string> names;
  const auto rules = cron.spec()["rules"].items();
  for (size_t i = 0; i < rules.size(); ++i) {
    const json::Value& rule = rules[i];
    const std::string path = absl::StrCat("spec.rules[", i, "]");
    if (!names.insert(std::string(rule["name"].AsString())).second) {
      out.push_back(absl::StrCat(path, ".name: Duplicate value: ", json::Write(rule["name"])));
    }
    if (!IsSchedule(rule["schedule"].AsString())) {
      out.push_back(Invalid(path + ".schedule", rule["schedule"], "invalid cron format"));
    }
    if (!rule["timeZone"].is_null()) {
      const absl::Status zone = base::FindTimeZone(rule["timeZone"].AsString()).status();
      if (!zone.ok()) out.push_back(Invalid(path + ".timeZone", rule["timeZone"], zone.message()));
    }
    if (scales_hpa) {
      CheckReplicasOfHpa(rule, path, out);
    } else {
      CheckReplicas(rule, cron.spec()["scaleTargetRef"]["kind"].AsString(), path, out);
    }
  }
}

// ---- FederatedHPA -------------------------------------------------------------------------------

void CheckScalingPolicy(const json::Value& policy, const std::string& path, Messages& out) {
  const absl::string_view type = policy["type"].AsString();
  if (type != "Pods" && type != "Percent") {
    out.push_back(NotSupported(path + ".type", policy["type"], {"Percent", "Pods"}));
  }
  for (const char* field : {"value", "periodSeconds"}) {
    if (policy[field].AsInt() > 0) continue;
    out.push_back(Invalid(absl::StrCat(path, ".", field), policy[field].AsInt(),
                          "must be greater than zero"));
  }
  if (policy["periodSeconds"].AsInt() > kMostPeriodSeconds) {
    out.push_back(Invalid(path + ".periodSeconds", policy["periodSeconds"],
                          absl::StrCat("must be less than or equal to ", kMostPeriodSeconds)));
  }
}

void CheckScalingRules(const json::Value& rules, const std::string& path, Messages& out) {
  if (rules.is_null()) return;
  const json::Value& window = rules["stabilizationWindowSeconds"];
  if (window.AsInt() < 0) {
    out.push_back(Invalid(path + ".stabilizationWindowSeconds", window,
                          "must be greater than or equal to zero"));
  }
  if (window.AsInt() > kMostStabilizationSeconds) {
    out.push_back(
        Invalid(path + ".stabilizationWindowSeconds", window,
                absl::StrCat("must be less than or equal to ", kMostStabilizationSeconds)));
  }
  const absl::string_view select = rules["selectPolicy"].AsString();
  if (!select.empty() && select != "Max" && select != "Min" && select != "Disabled") {
    out.push_back(
        NotSupported(path + ".selectPolicy", rules["selectPolicy"], {"Disabled", "Max", "Min"}));
  }
  const auto policies = rules["policies"].items();
  if (policies.empty()) {
    out.push_back(Required(path + ".policies", "must specify at least one Policy"));
  }
  for (size_t i = 0; i < policies.size(); ++i) {
    CheckScalingPolicy(policies[i], absl::StrCat(path, ".policies[", i, "]"), out);
  }
}

bool IsPositive(const json::Value& quantity) {
  const auto parsed = kube::Quantity::FromJson(quantity);
  return parsed.ok() && parsed->Sign() > 0;
}

void CheckMetricTarget(const json::Value& target, const std::string& path, Messages& out) {
  const absl::string_view type = target["type"].AsString();
  if (type.empty()) {
    out.push_back(Required(path + ".type", "must specify a metric target type"));
  }
  if (type != "Utilization" && type != "Value" && type != "AverageValue") {
    out.push_back(
        Invalid(path + ".type", type, "must be either Utilization, Value, or AverageValue"));
  }
  for (const char* field : {"value", "averageValue"}) {
    if (target[field].is_null() || IsPositive(target[field])) continue;
    out.push_back(Invalid(absl::StrCat(path, ".", field), target[field], "must be positive"));
  }
  const json::Value& utilization = target["averageUtilization"];
  if (!utilization.is_null() && utilization.AsInt() < 1) {
    out.push_back(Invalid(path + ".averageUtilization", utilization, "must be greater than 0"));
  }
}

// A metric of one of the four kinds; `field` is its part of the metric.
void CheckMetricSource(const json::Value& source, absl::string_view field, const std::string& path,
                       Messages& out) {
  const json::Value& target = source["target"];
  const bool of_resource = field == "resource" || field == "containerResource";
  if (of_resource && source["name"].AsString().empty()) {
    out.push_back(Required(path + ".name", "must specify a resource name"));
  }
  if (field == "containerResource" && source["container"].AsString().empty()) {
    out.push_back(Required(path + ".container", "must specify a container"));
  }
  if (field == "object") CheckTarget(source["describedObject"], path + ".describedObject", out);
  if (!of_resource && source["metric"]["name"].AsString().empty()) {
    out.push_back(Required(path + ".metric.name", "must specify a metric name"));
  }
  CheckMetricTarget(target, path + ".target", out);
  const bool average = !target["averageValue"].is_null();
  if (field == "object" && !average && target["value"].is_null()) {
    out.push_back(
        Required(path + ".target.averageValue", "must set either a target value or averageValue"));
  }
  if (field == "pods" && !average) {
    out.push_back(
        Required(path + ".target.averageValue", "must specify a positive target averageValue"));
  }
  if (!of_resource) return;
  const bool utilization = !target["averageUtilization"].is_null();
  if (!utilization && !average) {
    out.push_back(Required(path + ".target.averageUtilization",
                           "must set either a target raw value or a target utilization"));
  }
  if (utilization && average) {
    out.push_back(absl::StrCat(path,
                               ".target.averageValue: Forbidden: may not set both a target "
                               "raw value and a target utilization"));
  }
}

void CheckMetric(const json::Value& metric, const std::string& path, Messages& out) {
  static const auto& fields = *new std::map<std::string, std::string, std::less<>>{
      {"ContainerResource", "containerResource"},
      {"Object", "object"},
      {"Pods", "pods"},
      {"Resource", "resource"}};
  const std::vector<std::string> supported = {"ContainerResource", "Object", "Pods", "Resource"};
  const absl::string_view type = metric["type"].AsString();
  if (type.empty()) out.push_back(Required(path + ".type", "must specify a metric source type"));
  const auto expected = fields.find(type);
  if (expected == fields.end()) {
    out.push_back(NotSupported(path + ".type", metric["type"], supported));
  }
  std::vector<std::string> present;
  for (const char* field : {"object", "pods", "resource", "containerResource"}) {
    if (metric[field].is_null()) continue;
    present.emplace_back(field);
    // As upstream: only the first source is looked into; the others are forbidden as such.
    if (present.size() == 1) {
      CheckMetricSource(metric[field], field, absl::StrCat(path, ".", field), out);
    }
  }
  if (expected != fields.end() && metric[expected->second].is_null()) {
    out.push_back(Required(absl::StrCat(path, ".", expected->second),
                           "must populate information for the given metric source"));
  }
  if (present.size() == 1) return;
  for (const std::string& field : present) {
    if (expected != fields.end() && field == expected->second) continue;
    out.push_back(
        absl::StrCat(path, ".", field, ": Forbidden: must populate the given metric source only"));
  }
}

}  // namespace

absl::Status CheckCronFederatedHpa(const kube::Object& cron) {
  Messages messages;
  const json::Value& target = cron.spec()["scaleTargetRef"];
  const bool of_hpas_group =
      target["apiVersion"].AsString() == api::FederatedHpas().gvk.ApiVersion();
  const std::string& hpa = api::FederatedHpas().gvk.kind;
  if (of_hpas_group && target["kind"].AsString() != hpa) {
    messages.push_back(Invalid("spec.scaleTargetRef.kind", target["kind"],
                               absl::StrCat("invalid scaleTargetRef kind: ",
                                            target["kind"].AsString(), ", only support ", hpa)));
  } else {
    CheckTarget(target, "spec.scaleTargetRef", messages);
    CheckRules(cron, of_hpas_group, messages);
  }
  return Denied(absl::StrCat("cronfederatedhpa", api::kGroupSuffix), messages);
}

absl::Status CheckFederatedHpa(const kube::Object& hpa) {
  Messages messages;
  const json::Value& spec = hpa.spec();
  const json::Value &min = spec["minReplicas"], &max = spec["maxReplicas"];
  if (!min.is_null() && min.AsInt() < 1) {
    messages.push_back(Invalid("spec.minReplicas", min, "must be greater than or equal to 1"));
  }
  if (max.AsInt() < 1) {
    messages.push_back(Invalid("spec.maxReplicas", max.AsInt(), "must be greater than 0"));
  }
  if (!min.is_null() && max.AsInt() < min.AsInt()) {
    messages.push_back(
        Invalid("spec.maxReplicas", max.AsInt(), "must be greater than or equal to `minReplicas`"));
  }
  CheckTarget(spec["scaleTargetRef"], "spec.scaleTargetRef", messages);
  const auto metrics = spec["metrics"].items();
  for (size_t i = 0; i < metrics.size(); ++i) {
    CheckMetric(metrics[i], absl::StrCat("spec.metrics[", i, "]"), messages);
  }
  for (const char* direction : {"scaleUp", "scaleDown"}) {
    CheckScalingRules(spec["behavior"][direction], absl::StrCat("spec.behavior.", direction),
                      messages);
  }
  return Denied(absl::StrCat("federatedhpa", api::kGroupSuffix), messages);
}

}  // namespace sandbox
