#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "sandbox/sim/karmada_admission.h"

namespace sandbox {
namespace {

const std::string& Unlimited() {
  static const auto& text = *new std::string(absl::StrCat(std::numeric_limits<int64_t>::max()));
  return text;
}

json::Value Range(absl::string_view name, const std::string& min, const std::string& max) {
  return json::Value::Object({{"name", name}, {"min", min}, {"max", max}});
}

// Returns nine grades of node sizes, each beginning where the last one ends.
json::Value DefaultModels() {
  constexpr int kCpus[] = {0, 1, 2, 4, 8, 16, 32, 64, 128};
  constexpr int kGibibytes[] = {0, 4, 16, 32, 64, 128, 256, 512, 1024};
  constexpr int kGrades = 9;
  const auto cpu = [&](int grade) {
    return grade == kGrades ? Unlimited() : absl::StrCat(kCpus[grade]);
  };
  const auto memory = [&](int grade) {
    if (grade == kGrades) return Unlimited();
    return grade == 0                  ? std::string("0")
           : kGibibytes[grade] == 1024 ? std::string("1Ti")
                                       : absl::StrCat(kGibibytes[grade], "Gi");
  };
  json::Value models = json::Value::Array();
  for (int grade = 0; grade < kGrades; ++grade) {
    models.Append(json::Value::Object(
        {{"grade", grade},
         {"ranges", json::Value::Array({Range("cpu", cpu(grade), cpu(grade + 1)),
                                        Range("memory", memory(grade), memory(grade + 1))})}}));
  }
  return models;
}

// Sorts the given grades and makes them cover all sizes.
json::Value CompletedModels(const json::Value& given) {
  std::vector<json::Value> models(given.items().begin(), given.items().end());
  std::stable_sort(models.begin(), models.end(), [](const json::Value& a, const json::Value& b) {
    return a["grade"].AsInt() < b["grade"].AsInt();
  });
  const auto set_all = [](json::Value& model, absl::string_view field, const std::string& value) {
    for (size_t i = 0; i < model["ranges"].size(); ++i) {
      model.Mutable("ranges").MutableAt(i).Set(field, value);
    }
  };
  set_all(models.front(), "min", "0");
  set_all(models.back(), "max", Unlimited());
  json::Value out = json::Value::Array();
  for (json::Value& model : models) out.Append(std::move(model));
  return out;
}

}  // namespace

void AdmitCluster(const AdmissionRequest& request, kube::Object& cluster, absl::Time now) {
  json::Value& spec = cluster.mutable_root().Mutable("spec");
  if (request.verb == Verbs::kCreate) {
    const json::Value given = spec["resourceModels"];
    spec.Set("resourceModels", given.empty() ? DefaultModels() : CompletedModels(given));
  }
  const std::string zone = spec["zone"].ToString();
  if (!zone.empty() && spec["zones"].empty()) {
    spec.Set("zones", json::Value::Array({zone}));
    spec.Erase("zone");
  }
  for (size_t i = 0; i < spec["taints"].size(); ++i) {
    json::Value& taint = spec.Mutable("taints").MutableAt(i);
    if (taint["effect"].AsString() == api::kNoExecute && taint["timeAdded"].is_null()) {
      taint.Set("timeAdded", kube::FormatTime(now));
    }
  }
}

}  // namespace sandbox
