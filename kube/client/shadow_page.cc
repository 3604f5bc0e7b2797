// How a shadow shows what it has recorded: in the log, in metrics and on its page. The page copies
// the records and writes its text without the lock, because the text may be large.
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/cut_text.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/client/internal/shadow_record.h"
#include "kube/client/internal/shadow_write.h"
#include "kube/client/shadow.h"
#include "kube/meta/object.h"

namespace kube {
namespace {

constexpr size_t kLoggedBytes = 1000;
constexpr size_t kShownBytes = 8000;

}  // namespace

void Shadow::ShowIn(metrics::Registry& registry) {
  absl::MutexLock lock(&mu_);
  registry_ = &registry;
  registry
      .GetGauge("karmada_shadow_writes_outstanding",
                "Writes that would be made now, and that nobody else makes.")
      .Set(0);
}

void Shadow::ShowGauge() {
  absl::MutexLock lock(&mu_);
  ForgetOld();
  if (registry_ == nullptr) return;
  const auto outstanding = std::count_if(records_.begin(), records_.end(),
                                         [](const auto& entry) { return entry.second.shown; });
  registry_->GetGauge("karmada_shadow_writes_outstanding", "")
      .Set(static_cast<double>(outstanding));
}

void Shadow::Report(const Target& target, Record& record) {
  const internal::ShadowedWrite& write = record.write;
  record.logged = true;
  const std::string patch = internal::PatchText(write.gvk, write.patch);
  base::LogWarning("shadow: this write would be made",
                   {{"cluster", std::get<0>(target)},
                    {"verb", write.verb},
                    {"object", absl::StrCat(write.gvk.kind, " ", write.key.ToString())},
                    {"apiVersion", write.gvk.ApiVersion()},
                    {"subresource", write.subresource},
                    {"fields", write.fields},
                    {"patch", base::CutText(patch, kLoggedBytes)}});
  if (registry_ == nullptr) return;
  registry_
      ->GetCounter(
          "karmada_shadow_writes_total", "Writes that were reported instead of made.",
          {{"cluster", std::get<0>(target)}, {"kind", write.gvk.kind}, {"verb", write.verb}})
      .Increment();
}

struct Shadow::Counts {
  int64_t held = 0, unanswered = 0, not_listed = 0, rounds = 0;
  std::vector<std::pair<std::string, Record>> shown;  // With the cluster.
};

Shadow::Counts Shadow::Count() const {
  Counts counts;
  absl::MutexLock lock(&mu_);
  counts.not_listed = not_listed_;
  counts.rounds = rounds_;
  for (const auto& [target, record] : records_) {
    if (record.due && !record.shown) ++counts.held;
    if (record.IsUnanswered()) ++counts.unanswered;
    if (record.shown) counts.shown.emplace_back(std::get<0>(target), record);
  }
  return counts;
}

json::Value Shadow::Shown(const std::string& cluster, const Record& record) {
  const internal::ShadowedWrite& write = record.write;
  const std::string patch = internal::PatchText(write.gvk, write.patch);
  return json::Value::Object({{"cluster", cluster},
                              {"verb", write.verb},
                              {"apiVersion", write.gvk.ApiVersion()},
                              {"kind", write.gvk.kind},
                              {"namespace", write.key.ns},
                              {"name", write.key.name},
                              {"subresource", write.subresource},
                              {"fields", write.fields},
                              {"patch", base::CutText(patch, kShownBytes)},
                              {"attempts", record.attempts},
                              {"first", kube::FormatTime(record.first)},
                              {"last", kube::FormatTime(record.last)}});
}

std::string Shadow::Page() const {
  const Counts counts = Count();
  json::Value writes = json::Value::Array();
  for (const auto& [cluster, record] : counts.shown) writes.Append(Shown(cluster, record));
  const json::Value page =
      json::Value::Object({{"outstanding", static_cast<int64_t>(writes.size())},
                           {"held", counts.held},
                           {"unanswered", counts.unanswered},
                           {"notListed", counts.not_listed},
                           {"rounds", counts.rounds},
                           {"writes", std::move(writes)}});
  return absl::StrCat(json::Write(page), "\n");
}

}  // namespace kube
