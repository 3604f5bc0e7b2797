#include "search/registry/etcd_compactor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"

namespace search {
namespace {

constexpr char kKey[] = "compact_rev_key";  // That of apiserver, whatever the prefix.

json::Value RaiseKey(int64_t round, int64_t revision) {
  const std::string key = EtcdBytes(kKey);
  const json::Value compare = json::Value::Object(
      {{"key", key}, {"target", "VERSION"}, {"result", "EQUAL"}, {"version", absl::StrCat(round)}});
  const json::Value put = json::Value::Object(
      {{"request_put",
        json::Value::Object({{"key", key}, {"value", EtcdBytes(absl::StrCat(revision))}})}});
  const json::Value get =
      json::Value::Object({{"request_range", json::Value::Object({{"key", key}})}});
  return json::Value::Object({{"compare", json::Value::Array({compare})},
                              {"success", json::Value::Array({put})},
                              {"failure", json::Value::Array({get})}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<EtcdCompactor>> EtcdCompactor::Create(const EtcdOptions& options,
                                                                     const base::Clock& clock) {
  ASSIGN_OR_RETURN(auto gateway, NewEtcdGateway(options, clock));
  return std::make_unique<EtcdCompactor>(std::move(gateway), options.request_timeout, clock);
}

absl::StatusOr<bool> EtcdCompactor::Round(const base::StopToken& stop) {
  ASSIGN_OR_RETURN(
      const json::Value answer,
      gateway_->Send({"/v3/kv/txn", RaiseKey(round_, revision_), true, timeout_}, stop));
  const int64_t before = revision_;
  revision_ = EtcdInt(answer["header"]["revision"]);
  if (!answer["succeeded"].AsBool()) {
    // Another process has made this round: it is joined in the next one.
    round_ = EtcdInt(answer["responses"].At(0)["response_range"]["kvs"].At(0)["version"]);
    return false;
  }
  ++round_;
  if (before == 0) return false;  // The first round only learns the revision.
  const json::Value body = json::Value::Object({{"revision", absl::StrCat(before)}});
  const auto compacted =
      gateway_->Send({"/v3/kv/compaction", body, /*write=*/true, timeout_}, stop);
  // Somebody has compacted further already.
  if (absl::IsOutOfRange(compacted.status())) return false;
  RETURN_IF_ERROR(compacted.status());
  return true;
}

void EtcdCompactor::Run(absl::Duration interval, const base::StopToken& stop) {
  if (interval <= absl::ZeroDuration()) return;
  while (clock_.SleepFor(interval, stop)) {
    const auto done = Round(stop);
    if (done.ok() || stop.stop_requested()) continue;
    base::LogWarning("etcd could not be compacted", {{"error", done.status()}});
  }
}

}  // namespace search
