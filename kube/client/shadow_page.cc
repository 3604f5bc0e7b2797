// How a shadow shows what it has recorded: in the log, in metrics and on its page. The page copies
// what it shows of the records and writes its text without the lock, because the text may be large.
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
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

}  // namespace

void Shadow::ShowIn(metrics::Registry& registry) {
  absl::MutexLock lock(&mu_);
  registry_ = &registry;
  registry
      .GetGauge("karmada_shadow_writes_outstanding",
                "Writes that would be made now, and that nobody else makes.")
      .Set(0);
}

void Shadow::ShowFailing(size_t count) {
  absl::MutexLock lock(&mu_);
  if (registry_ == nullptr) return;
  registry_
      ->GetGauge("karmada_shadow_failing",
                 "Keys whose last pass failed, and kinds whose cache cannot be read.")
      .Set(static_cast<double>(count));
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

void Shadow::Report(const Key& key, Record& record) {
  const internal::ShadowedWrite& write = record.write;
  record.logged = true;
  base::LogWarning("shadow: this write would be made",
                   {{"cluster", std::get<0>(key)},
                    {"verb", write.verb},
                    {"object", absl::StrCat(write.gvk.kind, " ", write.key.ToString())},
                    {"apiVersion", write.gvk.ApiVersion()},
                    {"subresource", write.subresource},
                    {"fields", write.fields},
                    {"why", WhyOf(write)},
                    {"patch", base::CutText(write.patch, kLoggedBytes)}});
  if (registry_ == nullptr) return;
  registry_
      ->GetCounter("karmada_shadow_writes_total", "Writes that were reported instead of made.",
                   {{"cluster", std::get<0>(key)}, {"kind", write.gvk.kind}, {"verb", write.verb}})
      .Increment();
}

// What the page shows of a record.
struct Shadow::Listed {
  std::string cluster;
  internal::ShadowedWrite write;
  int64_t attempts = 0;
  absl::Time first, last;
};

struct Shadow::Counts {
  int64_t outstanding = 0, mends = 0, held = 0, unanswered = 0, not_listed = 0, rounds = 0;
  std::vector<Listed> listed;
};

Shadow::Counts Shadow::Count() const {
  Counts counts;
  absl::MutexLock lock(&mu_);
  counts.not_listed = not_listed_;
  counts.rounds = rounds_;
  for (const auto& [key, record] : records_) {
    if (record.due && !record.shown) ++counts.held;
    if (record.unanswered) ++counts.unanswered;
    if (!record.shown) continue;
    ++counts.outstanding;
    if (!WhyOf(record.write).empty()) ++counts.mends;
    if (counts.listed.size() == kMostListed) continue;
    counts.listed.push_back(
        {std::get<0>(key), record.write, record.attempts, record.first, record.last});
  }
  return counts;
}

absl::string_view Shadow::WhyOf(const internal::ShadowedWrite& write) const {
  for (const Mend& mend : mends_) {
    if (mend.gvk != write.gvk || mend.subresource != write.subresource) continue;
    const std::vector<absl::string_view> fields = absl::StrSplit(write.fields, ", ");
    const bool all = std::all_of(fields.begin(), fields.end(), [&](absl::string_view field) {
      return absl::StartsWith(field, mend.field);
    });
    if (all && absl::StrContains(write.patch, mend.word)) return mend.why;
  }
  return "";
}

json::Value Shadow::Shown(const Listed& listed) const {
  const internal::ShadowedWrite& write = listed.write;
  return json::Value::Object({{"cluster", listed.cluster},
                              {"verb", write.verb},
                              {"apiVersion", write.gvk.ApiVersion()},
                              {"kind", write.gvk.kind},
                              {"namespace", write.key.ns},
                              {"name", write.key.name},
                              {"subresource", write.subresource},
                              {"fields", write.fields},
                              {"why", WhyOf(write)},
                              {"patch", write.patch},
                              {"attempts", listed.attempts},
                              {"first", kube::FormatTime(listed.first)},
                              {"last", kube::FormatTime(listed.last)}});
}

std::string Shadow::Page(const Failing& failing) const {
  const Counts counts = Count();
  json::Value writes = json::Value::Array(), failures = json::Value::Array();
  for (const Listed& listed : counts.listed) writes.Append(Shown(listed));
  for (const Failure& failure : failing.some) {
    failures.Append(json::Value::Object(
        {{"controller", failure.controller}, {"key", failure.key}, {"error", failure.error}}));
  }
  const json::Value page = json::Value::Object({{"outstanding", counts.outstanding},
                                                {"mends", counts.mends},
                                                {"held", counts.held},
                                                {"unanswered", counts.unanswered},
                                                {"failing", static_cast<int64_t>(failing.count)},
                                                {"notListed", counts.not_listed},
                                                {"rounds", counts.rounds},
                                                {"writes", std::move(writes)},
                                                {"failures", std::move(failures)}});
  return absl::StrCat(json::Write(page), "\n");
}

}  // namespace kube
