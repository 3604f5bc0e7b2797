// A record is kept for each target of a write. While it is *due*, Judge() repeats what the write
// was answered with: it reads the object and computes the write anew, without the precondition. The
// write is withdrawn when the server would refuse it or nothing would change, and also when the
// fields that it changes have other values than they had: whoever has written them has woken the
// loop, which makes the write again if it still wants it. A record that is withdrawn stays for an
// hour, so that the same write is not logged a second time when it comes back, unless its place is
// needed.
//
// When the object cannot be read, a loop's attempt is kept beside what was due before it, and
// Judge() repeats it until there is an answer, which takes the place of the older write. It takes
// that long also when the loop itself no longer wants it, because nobody can know that it does not.
//
// mu_ guards the records; it is not held while a server is asked. A record that was written anew
// during that has another number of attempts, and the result for the earlier one is dropped.
#include "kube/client/shadow.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "kube/client/internal/shadow_record.h"
#include "kube/client/internal/shadow_write.h"

namespace kube {
namespace {

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

class Shadow::Decorator : public Transport {
 public:
  Decorator(std::shared_ptr<Shadow> shadow, std::string cluster, std::shared_ptr<Transport> server)
      : shadow_(std::move(shadow)), cluster_(std::move(cluster)), server_(std::move(server)) {}

  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override {
    if (!internal::IsReadRequest(request)) return Answer(request, stop);
    auto answer = server_->Send(request, stop);
    if (!stop.stop_requested()) shadow_->Hear(cluster_, answer);
    return answer;
  }

  // Only a GET can be streamed.
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    HttpRequest read = request;
    read.method = "GET";
    return server_->Open(read, std::move(callbacks));
  }

  bool ReplaceToken(const std::string& token) override { return server_->ReplaceToken(token); }

 private:
  absl::StatusOr<HttpResponse> Answer(const HttpRequest& request, const base::StopToken& stop) {
    auto answer = Ask(*server_, request, false, stop);
    if (!answer.ok() && stop.stop_requested()) return answer.status();
    const Target target = TargetOf(cluster_, request);
    // A 404 about the path is what the write would get, too.
    if (!answer.ok() || (!answer->is_known && answer->response.code != 404)) {
      shadow_->NoteUnanswered(target, request, server_);
    } else if (answer->write.has_value()) {
      shadow_->Note(target, request, *std::move(answer->write), server_);
    } else {
      shadow_->NoteNoChange(target);
    }
    if (!answer.ok()) {
      shadow_->Hear(cluster_, answer.status());
      return answer.status();
    }
    if (!internal::PathToRead(request).empty()) shadow_->Hear(cluster_, answer->response);
    return std::move(answer->response);
  }

  const std::shared_ptr<Shadow> shadow_;
  const std::string cluster_;
  const std::shared_ptr<Transport> server_;
};

Shadow::Shadow(const base::Clock& clock)
    : clock_(clock), round_(base::SteadyTime::InfiniteFuture()) {}
Shadow::~Shadow() = default;

std::shared_ptr<Transport> Shadow::Over(std::string cluster, std::shared_ptr<Transport> server) {
  return std::make_shared<Decorator>(shared_from_this(), std::move(cluster), std::move(server));
}

Shadow::Target Shadow::TargetOf(const std::string& cluster, const HttpRequest& request) {
  std::string verb = "patch";
  if (request.method == "POST") verb = "create";
  if (request.method == "PUT") verb = "update";
  if (request.method == "DELETE") verb = "delete";
  return {cluster, std::move(verb), internal::TargetPath(request)};
}

void Shadow::Hear(const std::string& cluster, const absl::StatusOr<HttpResponse>& answer) {
  const bool is_silent = !answer.ok() || answer->code >= 500 || answer->code == 429;
  absl::MutexLock lock(&mu_);
  if (is_silent) {
    silent_.insert(cluster);
  } else {
    silent_.erase(cluster);
  }
}

Shadow::Record* Shadow::Attempted(const Target& target, const std::shared_ptr<Transport>& server) {
  if (!records_.contains(target) && records_.size() >= kMostRecords) {
    std::erase_if(records_, [](const auto& entry) { return !entry.second.IsKept(); });
  }
  if (!records_.contains(target) && records_.size() >= kMostRecords) {
    ++not_listed_;
    return nullptr;
  }
  Record& record = records_[target];
  record.last = clock_.Now();
  record.last_attempt = clock_.SteadyNow();
  record.server = server;
  ++record.attempts;
  return &record;
}

void Shadow::Take(Record& record, internal::ShadowedWrite write, const HttpRequest& request) {
  const base::SteadyTime now = clock_.SteadyNow();
  const bool is_same = record.write.fingerprint == write.fingerprint;
  // Two programs that undo what the other one writes again and again make a write that is due.
  const bool returns = is_same && now - record.withdrawn_at < kHold;
  if (!record.due && !returns) record.due_since = now;
  if (!record.due) record.judged_at = now;
  if (!is_same) record.logged = false;
  if (!is_same || record.attempts <= 1) record.first = clock_.Now();
  record.due = true;
  record.write = std::move(write);
  record.request = request;
  record.unanswered_request.reset();
  record.unjudged = false;
}

void Shadow::Note(const Target& target, const HttpRequest& request, internal::ShadowedWrite write,
                  const std::shared_ptr<Transport>& server) {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  Record* const record = Attempted(target, server);
  if (record == nullptr) return;
  if (record->due && record->due_since < round_ && now >= round_) record->confirmed_at = now;
  Take(*record, std::move(write), request);
}

void Shadow::NoteNoChange(const Target& target) {
  absl::MutexLock lock(&mu_);
  const auto found = records_.find(target);
  if (found == records_.end()) return;
  found->second.unanswered_request.reset();
  // While the earlier write is due, only Judge() decides whether its object can be read.
  if (!found->second.due) found->second.unjudged = false;
}

void Shadow::NoteUnanswered(const Target& target, const HttpRequest& request,
                            const std::shared_ptr<Transport>& server) {
  absl::MutexLock lock(&mu_);
  Record* const record = Attempted(target, server);
  if (record != nullptr) record->unanswered_request = request;
}

std::vector<Shadow::Target> Shadow::ToJudge() const {
  std::vector<std::pair<base::SteadyTime, Target>> kept;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [target, record] : records_) {
      if (record.IsKept()) kept.emplace_back(record.judged_at, target);
    }
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Target> targets;
  for (auto& [time, target] : kept) targets.push_back(std::move(target));
  return targets;
}

std::optional<Shadow::Record> Shadow::Find(const Target& target) const {
  absl::MutexLock lock(&mu_);
  const auto found = records_.find(target);
  if (found == records_.end() || !found->second.IsKept()) return std::nullopt;
  return found->second;
}

void Shadow::Judge(const base::StopToken& stop) {
  std::set<std::string> silent;  // One wait for each server that does not answer is enough.
  int reads = 0;
  for (const Target& target : ToJudge()) {
    const std::string& cluster = std::get<0>(target);
    if (silent.contains(cluster)) continue;
    const std::optional<Record> record = Find(target);
    if (!record.has_value()) continue;
    if (record->server.expired()) {  // The cluster has left, or is reached in another way by now.
      Withdraw(target, *record);
      continue;
    }
    if (reads++ == kMostReads) break;
    if (!JudgeOne(target, *record, stop)) silent.insert(cluster);
    if (stop.stop_requested()) return;
  }
  ShowGauge();
}

bool Shadow::JudgeOne(const Target& target, const Record& record, const base::StopToken& stop) {
  const std::shared_ptr<Transport> server = record.server.lock();
  if (server == nullptr) return true;  // Just now.
  const HttpRequest& request =
      record.unanswered_request.has_value() ? *record.unanswered_request : record.request;
  const bool is_read = !internal::PathToRead(request).empty();
  const auto answer = Ask(*server, request, true, stop);
  if (stop.stop_requested()) return true;
  if (is_read && answer.ok()) Hear(std::get<0>(target), answer->response);
  if (!answer.ok()) Hear(std::get<0>(target), answer.status());
  if (!answer.ok() || !answer->is_known) {
    LeaveUnjudged(target);
  } else {
    Settle(target, record, answer->write);
  }
  return answer.ok();
}

bool Shadow::CanBeTried(const Target& target, const Record& record) const {
  return !record.IsUnanswered() && !silent_.contains(std::get<0>(target));
}

bool Shadow::NeedsRound() const {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  for (const auto& [target, record] : records_) {
    const bool is_old = now - record.due_since >= kHold && now - record.confirmed_at > kConfirmed;
    if (record.due && is_old && CanBeTried(target, record)) return true;
  }
  return false;
}

void Shadow::BeginRound() {
  absl::MutexLock lock(&mu_);
  round_ = clock_.SteadyNow();
  not_listed_ = 0;
}

void Shadow::EndRound() {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  for (auto& [target, record] : records_) {
    const bool was_tried = record.due_since >= round_ || record.last_attempt >= round_;
    if (record.due && !was_tried && CanBeTried(target, record)) record.Withdraw(now);
  }
  round_ = base::SteadyTime::InfiniteFuture();
  ++rounds_;
}

void Shadow::AbandonRound() {
  absl::MutexLock lock(&mu_);
  round_ = base::SteadyTime::InfiniteFuture();
}

int64_t Shadow::rounds() const {
  absl::MutexLock lock(&mu_);
  return rounds_;
}

void Shadow::Withdraw(const Target& target, const Record& judged) {
  absl::MutexLock lock(&mu_);
  const auto found = records_.find(target);
  if (found == records_.end() || found->second.attempts != judged.attempts) return;
  found->second.Withdraw(clock_.SteadyNow());
}

void Shadow::LeaveUnjudged(const Target& target) {
  absl::MutexLock lock(&mu_);
  const auto found = records_.find(target);
  if (found == records_.end() || !found->second.IsKept()) return;
  found->second.judged_at = clock_.SteadyNow();
  found->second.unjudged = true;
}

void Shadow::Settle(const Target& target, const Record& judged,
                    std::optional<internal::ShadowedWrite> now) {
  const bool is_new = judged.unanswered_request.has_value();
  if (!now.has_value() || (!is_new && now->reverse != judged.write.reverse)) {
    return Withdraw(target, judged);
  }
  absl::MutexLock lock(&mu_);
  const auto found = records_.find(target);
  if (found == records_.end() || !found->second.IsKept()) return;
  Record& record = found->second;
  if (is_new && record.attempts != judged.attempts) return;
  if (is_new) Take(record, *std::move(now), *judged.unanswered_request);
  const base::SteadyTime time = clock_.SteadyNow();
  record.judged_at = time;
  record.unjudged = false;
  record.shown = time - record.due_since >= kHold && record.IsConfirmed();
  if (record.shown && !record.logged) Report(target, record);
}

void Shadow::ForgetOld() {
  const base::SteadyTime now = clock_.SteadyNow();
  std::erase_if(records_, [&](const auto& entry) {
    return !entry.second.IsKept() && now - entry.second.last_attempt > kKeepWithdrawn;
  });
}

}  // namespace kube
