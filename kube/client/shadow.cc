// A record is kept for each target of a write. While it is *due*, Judge() repeats what the write
// was answered with: it reads the object and computes the write anew, without the precondition. The
// write is withdrawn when the server would refuse it or nothing would change, and also when the
// fields that it changes have other values than they had: whoever has written them has woken the
// loop, which makes the write again if it still wants it. A record that is withdrawn stays for an
// hour, so that the same write is not logged a second time when it comes back.
//
// mu_ guards the records; it is not held while a server is asked. A record that was written anew
// during that has another number of attempts, and the result for the earlier one is dropped.
#include "kube/client/shadow.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/cut_text.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/client/internal/shadow_write.h"
#include "kube/meta/object.h"

namespace kube {
namespace {

constexpr size_t kMostRecords = 20000;
constexpr size_t kLoggedBytes = 1000;
constexpr size_t kShownBytes = 8000;
constexpr absl::Duration kKeepWithdrawn = absl::Hours(1);

HttpRequest ReadOf(const HttpRequest& write, std::string path) {
  return {.method = "GET",
          .path = std::move(path),
          .timeout = write.timeout,
          .user_agent = write.user_agent,
          .max_answer_bytes = write.max_answer_bytes};
}

// Returns what the server would answer, by the present state of the object.
absl::StatusOr<internal::ShadowedAnswer> Ask(Transport& server, const HttpRequest& request,
                                             bool without_precondition,
                                             const base::StopToken& stop) {
  const std::string path = internal::PathToRead(request);
  if (path.empty()) return internal::AnswerWrite(request, nullptr, without_precondition);
  absl::StatusOr<HttpResponse> live = server.Send(ReadOf(request, path), stop);
  if (!live.ok()) return live.status();
  return internal::AnswerWrite(request, &*live, without_precondition);
}

}  // namespace

struct Shadow::Record {
  internal::ShadowedWrite write;
  HttpRequest request;
  std::weak_ptr<Transport> server;
  absl::Time first, last;
  base::SteadyTime due_since = base::SteadyTime::InfinitePast();
  base::SteadyTime last_attempt = base::SteadyTime::InfinitePast();
  base::SteadyTime withdrawn_at = base::SteadyTime::InfinitePast();
  base::SteadyTime confirmed_at = base::SteadyTime::InfinitePast();

  bool IsConfirmed() const { return confirmed_at != base::SteadyTime::InfinitePast(); }
  void Withdraw(base::SteadyTime now) {
    due = shown = false;
    withdrawn_at = now;
    confirmed_at = base::SteadyTime::InfinitePast();
  }
  int64_t attempts = 0;
  bool due = false;
  bool shown = false;   // Due for longer than the hold.
  bool logged = false;  // This content was reported.
};

class Shadow::Decorator : public Transport {
 public:
  Decorator(std::shared_ptr<Shadow> shadow, std::string cluster, std::shared_ptr<Transport> server)
      : shadow_(std::move(shadow)), cluster_(std::move(cluster)), server_(std::move(server)) {}

  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override {
    if (internal::IsReadRequest(request)) return server_->Send(request, stop);
    auto answer = Ask(*server_, request, false, stop);
    if (!answer.ok()) return answer.status();
    if (answer->write.has_value()) {
      shadow_->Note(cluster_, request, *std::move(answer->write), server_);
    }
    return std::move(answer->response);
  }

  // Only a GET can be streamed.
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    HttpRequest read = request;
    read.method = "GET";
    return server_->Open(read, std::move(callbacks));
  }

  bool ReplaceToken(const std::string& token) override { return server_->ReplaceToken(token); }

 private:
  const std::shared_ptr<Shadow> shadow_;
  const std::string cluster_;
  const std::shared_ptr<Transport> server_;
};

Shadow::Shadow(const base::Clock& clock)
    : clock_(clock), round_(base::SteadyTime::InfiniteFuture()) {}
Shadow::~Shadow() = default;

void Shadow::ShowIn(metrics::Registry& registry) {
  absl::MutexLock lock(&mu_);
  registry_ = &registry;
  registry
      .GetGauge("karmada_shadow_writes_outstanding",
                "Writes that would be made now, and that nobody else makes.")
      .Set(0);
}

std::shared_ptr<Transport> Shadow::Over(std::string cluster, std::shared_ptr<Transport> server) {
  return std::make_shared<Decorator>(shared_from_this(), std::move(cluster), std::move(server));
}

void Shadow::Note(const std::string& cluster, const HttpRequest& request,
                  internal::ShadowedWrite write, const std::shared_ptr<Transport>& server) {
  const Target target = {cluster,      write.verb,     write.gvk.ApiVersion(), write.gvk.kind,
                         write.key.ns, write.key.name, write.subresource};
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  if (!records_.contains(target) && records_.size() >= kMostRecords) {
    ++not_listed_;
    return;
  }
  Record& record = records_[target];
  const bool is_same = record.write.fingerprint == write.fingerprint;
  // Two programs that undo what the other one writes again and again make a write that is due.
  const bool returns = is_same && now - record.withdrawn_at < kHold;
  if (!record.due && !returns) record.due_since = now;
  if (!is_same) record.logged = false;
  if (!is_same || record.attempts == 0) record.first = clock_.Now();
  if (record.due && record.due_since < round_ && now >= round_) record.confirmed_at = now;
  record.due = true;
  record.last = clock_.Now();
  record.last_attempt = now;
  ++record.attempts;
  record.write = std::move(write);
  record.request = request;
  record.server = server;
}

std::vector<Shadow::Target> Shadow::Due() const {
  std::vector<Target> due;
  absl::MutexLock lock(&mu_);
  for (const auto& [target, record] : records_) {
    if (record.due) due.push_back(target);
  }
  return due;
}

std::optional<Shadow::Record> Shadow::Find(const Target& target) const {
  absl::MutexLock lock(&mu_);
  const auto found = records_.find(target);
  if (found == records_.end() || !found->second.due) return std::nullopt;
  return found->second;
}

void Shadow::Judge(const base::StopToken& stop) {
  std::set<const Transport*> silent;  // One wait for each server that does not answer is enough.
  for (const Target& target : Due()) {
    const std::optional<Record> record = Find(target);
    if (!record.has_value()) continue;
    const std::shared_ptr<Transport> server = record->server.lock();
    if (server == nullptr) {  // The cluster has left, or is reached in another way by now.
      Settle(target, *record, false);
      continue;
    }
    if (silent.contains(server.get())) continue;
    const auto answer = Ask(*server, record->request, true, stop);
    if (stop.stop_requested()) return;
    // Whether a server that gives no answer needs the write is not known.
    if (!answer.ok()) silent.insert(server.get());
    if (!answer.ok() || answer->response.code >= 500) continue;
    const auto& now = answer->write;
    Settle(target, *record, now.has_value() && now->reverse == record->write.reverse);
  }
  ShowGauge();
}

bool Shadow::NeedsRound() const {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  return std::any_of(records_.begin(), records_.end(), [&](const auto& entry) {
    const Record& record = entry.second;
    return record.due && now - record.due_since >= kHold && now - record.confirmed_at > kConfirmed;
  });
}

void Shadow::BeginRound() {
  absl::MutexLock lock(&mu_);
  round_ = clock_.SteadyNow();
}

void Shadow::EndRound() {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  for (auto& [target, record] : records_) {
    const bool was_tried = record.last_attempt >= round_;
    if (record.due && record.due_since < round_ && !was_tried) record.Withdraw(now);
  }
  round_ = base::SteadyTime::InfiniteFuture();
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

void Shadow::Settle(const Target& target, const Record& judged, bool still_due) {
  absl::MutexLock lock(&mu_);
  const auto found = records_.find(target);
  if (found == records_.end()) return;
  Record& record = found->second;
  if (!still_due && record.attempts != judged.attempts) return;
  const base::SteadyTime now = clock_.SteadyNow();
  if (!still_due) return record.Withdraw(now);
  record.shown = now - record.due_since >= kHold && record.IsConfirmed();
  if (record.shown && !record.logged) Report(target, record);
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

void Shadow::ForgetOld() {
  const base::SteadyTime now = clock_.SteadyNow();
  std::erase_if(records_, [&](const auto& entry) {
    return !entry.second.due && now - entry.second.last_attempt > kKeepWithdrawn;
  });
}

std::string Shadow::Page() const {
  int64_t held = 0, not_listed = 0;
  json::Value writes = json::Value::Array();
  {
    absl::MutexLock lock(&mu_);
    not_listed = not_listed_;
    for (const auto& [target, record] : records_) {
      const internal::ShadowedWrite& write = record.write;
      if (record.due && !record.shown) ++held;
      if (!record.shown) continue;
      writes.Append(json::Value::Object(
          {{"cluster", std::get<0>(target)},
           {"verb", write.verb},
           {"apiVersion", write.gvk.ApiVersion()},
           {"kind", write.gvk.kind},
           {"namespace", write.key.ns},
           {"name", write.key.name},
           {"subresource", write.subresource},
           {"fields", write.fields},
           {"patch", base::CutText(internal::PatchText(write.gvk, write.patch), kShownBytes)},
           {"attempts", record.attempts},
           {"first", kube::FormatTime(record.first)},
           {"last", kube::FormatTime(record.last)}}));
    }
  }
  const int64_t outstanding = static_cast<int64_t>(writes.size());
  const json::Value page = json::Value::Object({{"outstanding", outstanding},
                                                {"held", held},
                                                {"notListed", not_listed},
                                                {"writes", std::move(writes)}});
  return absl::StrCat(json::Write(page), "\n");
}

}  // namespace kube
