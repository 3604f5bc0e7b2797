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
#include "kube/meta/object.h"
#include "kube/shadow/internal/shadow_record.h"
#include "kube/shadow/internal/shadow_write.h"
#include "kube/shadow/shadow.h"

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
  // ShowIn has given the gauge its help.
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
                    {"upstream", UpstreamOf(std::get<0>(key), write)},
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
  std::string upstream;
  int64_t attempts = 0;
  absl::Time first, last;
};

Shadow::Numbers Shadow::Count() const { return Count(nullptr); }

Shadow::Numbers Shadow::Count(std::vector<Listed>* listed) const {
  Numbers numbers;
  absl::MutexLock lock(&mu_);
  const base::SteadyTime now = clock_.SteadyNow();
  numbers.not_listed = not_listed_;
  numbers.rounds = rounds_;
  for (const auto& [key, record] : records_) {
    const std::string& cluster = std::get<0>(key);
    // A write that is due is held until it is certain that nobody else makes it.
    if (record.due && !record.shown) {
      ++numbers.held;
      if (now - record.due_since > kHeldLong) ++numbers.held_long;
    }
    if (record.unanswered) ++numbers.unanswered[cluster];
    if (!record.shown) continue;
    ++numbers.outstanding;
    std::string upstream = UpstreamOf(cluster, record.write);
    if (!WhyOf(record.write).empty()) ++numbers.mends;
    if (!upstream.empty()) ++numbers.refused_upstream;
    if (listed == nullptr || listed->size() == kMostListed) continue;
    listed->push_back(
        {cluster, record.write, std::move(upstream), record.attempts, record.first, record.last});
  }
  return numbers;
}

absl::string_view Shadow::WhyOf(const internal::ShadowedWrite& write) const {
  for (const Mend& mend : mends_) {
    if (mend.gvk != write.gvk || mend.subresource != write.subresource) continue;
    const std::vector<absl::string_view> fields = absl::StrSplit(write.fields, ", ");
    // A write that also changes something else is reported as a difference, not as an expected
    // repair.
    const bool all = std::all_of(fields.begin(), fields.end(), [&](absl::string_view field) {
      return absl::StartsWith(field, mend.field);
    });
    if (all && absl::StrContains(write.patch, mend.word)) return mend.why;
  }
  return "";
}

std::string Shadow::UpstreamOf(const std::string& cluster,
                               const internal::ShadowedWrite& write) const {
  // The reason of a repair is known already.
  if (refusal_ == nullptr || !WhyOf(write).empty()) return "";
  return refusal_({cluster, write.gvk, write.key, write.subresource, write.verb});
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
                              {"upstream", listed.upstream},
                              {"patch", write.patch},
                              {"attempts", listed.attempts},
                              {"first", kube::FormatTime(listed.first)},
                              {"last", kube::FormatTime(listed.last)}});
}

json::Value Shadow::PageObject(const Failing& failing) const {
  std::vector<Listed> listed;
  const Numbers numbers = Count(&listed);
  json::Value writes = json::Value::Array(), failures = json::Value::Array();
  for (const Listed& one : listed) writes.Append(Shown(one));
  for (const Failure& failure : failing.some) {
    failures.Append(json::Value::Object({{"controller", failure.controller},
                                         {"key", failure.key},
                                         {"error", failure.error},
                                         {"upstream", failure.upstream}}));
  }
  int64_t unanswered = 0;
  for (const auto& [cluster, count] : numbers.unanswered) unanswered += count;
  return json::Value::Object({{"outstanding", numbers.outstanding},
                              {"mends", numbers.mends},
                              {"refusedUpstream", numbers.refused_upstream},
                              {"held", numbers.held},
                              {"unanswered", unanswered},
                              {"failing", static_cast<int64_t>(failing.count)},
                              {"failingUpstream", static_cast<int64_t>(failing.upstream)},
                              {"notListed", numbers.not_listed},
                              {"rounds", numbers.rounds},
                              {"writes", std::move(writes)},
                              {"failures", std::move(failures)}});
}

std::string Shadow::Page(const Failing& failing) const {
  return absl::StrCat(json::Write(PageObject(failing)), "\n");
}

}  // namespace kube
