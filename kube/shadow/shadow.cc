// A record is kept for each write: for each set of fields that a loop changes in an object, and for
// each creation and deletion. It is *due* until Judge() (shadow_judge.cc) or a round withdraws it.
// A record that is withdrawn stays for an hour, so that the same write is not logged a second time
// when it is made again, unless its place is needed.
//
// When the object cannot be read, nobody knows which fields a loop's attempt would change. It has a
// record of its own then, by the fields that its request names, beside what was due before it. It
// is dropped when a loop's attempt at the same fields is answered, or made a write by Judge().
//
// Records are limited in number and in the bytes that they hold together. What finds no place is
// counted, and an older attempt of the same write stays as it was.
//
// mu_ guards the records; it is not held while a server is asked. A record that was written again
// during that has another number of attempts, and is not withdrawn by the result of the earlier
// one.

#include "kube/shadow/shadow.h"

#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/shadow/internal/shadow_record.h"
#include "kube/shadow/internal/shadow_write.h"

namespace kube {
namespace {

constexpr absl::Duration kKeepWithdrawn = absl::Hours(1);

// Assigns the value. An assignment alone may keep the memory of a larger text.
template <class T>
void Replace(T& place, T value) {
  std::swap(place, value);
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
    auto answer = internal::AskShadowed(*server_, request, false, stop);
    if (!answer.ok() && stop.stop_requested()) return answer.status();
    const Target target = TargetOf(cluster_, request);
    // A 404 about the path is what the write would get, too.
    if (!answer.ok() || (!answer->is_known && answer->response.code != 404)) {
      shadow_->NoteUnanswered(target, request, server_);
    } else if (answer->write.has_value()) {
      shadow_->Note(target, request, *std::move(answer->write), server_);
    } else {
      shadow_->NoteNoChange(target, request);
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

Shadow::Key Shadow::KeyOf(const Target& target, const internal::ShadowedWrite& write) {
  return std::tuple_cat(target, std::make_tuple(write.changes.identity));
}

Shadow::Key Shadow::UnansweredKey(const Target& target, const HttpRequest& request) {
  return std::tuple_cat(target,
                        std::make_tuple(absl::StrCat("?", internal::FieldsOfRequest(request))));
}

template <class Matches>
void Shadow::Drop(const Matches& matches) {
  for (auto at = records_.begin(); at != records_.end();) {
    if (at->second.IsKept() || !matches(at->second)) {
      ++at;
      continue;
    }
    bytes_ -= at->second.bytes;
    at = records_.erase(at);
  }
}

void Shadow::ForgetOld() {
  const base::SteadyTime now = clock_.SteadyNow();
  Drop([&](const Record& record) { return now - record.last_attempt > kKeepWithdrawn; });
}

Shadow::Record* Shadow::Attempted(const Key& key, size_t bytes,
                                  const std::shared_ptr<Transport>& server) {
  const auto has_place = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto found = records_.find(key);
    if (found != records_.end()) return bytes_ - found->second.bytes + bytes <= kMostBytes;
    return records_.size() < kMostRecords && bytes_ + bytes <= kMostBytes;
  };
  if (!has_place()) Drop([](const Record&) { return true; });
  const bool has = has_place();
  if (!has) ++not_listed_;
  if (!has && !records_.contains(key)) return nullptr;
  Record& record = records_[key];
  record.last = clock_.Now();
  record.last_attempt = clock_.SteadyNow();
  record.server = server;
  ++record.attempts;
  return has ? &record : nullptr;
}

size_t Shadow::BytesOf(const internal::ShadowedWrite& write, const HttpRequest& request) {
  return request.body.capacity() + request.path.size() + write.patch.capacity() +
         write.fields.size() + write.fingerprint.size() +
         write.changes.fields.size() * sizeof(internal::ChangedField);
}

void Shadow::Weigh(const Key& key, Record& record) {
  bytes_ -= record.bytes;
  record.bytes = BytesOf(record.write, record.request) + std::get<2>(key).size();
  bytes_ += record.bytes;
}

void Shadow::Erase(const Key& key) {
  const auto found = records_.find(key);
  if (found == records_.end()) return;
  bytes_ -= found->second.bytes;
  records_.erase(found);
}

void Shadow::Withdraw(const Key& key, Record& record) {
  record.due = record.shown = record.unanswered = false;
  record.withdrawn_at = clock_.SteadyNow();
  record.confirmed_at = base::SteadyTime::InfinitePast();
  // A write that is made again is recognised by its fingerprint; the rest may be large.
  Replace(record.request, {});
  Replace(record.write.patch, {});
  Replace(record.write.changes, {});
  Weigh(key, record);
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
  write.changes.Limit(kMostFields);
  Replace(record.write, std::move(write));
  Replace(record.request, request);
  record.unanswered = false;
}

void Shadow::Note(const Target& target, const HttpRequest& request, internal::ShadowedWrite write,
                  const std::shared_ptr<Transport>& server) {
  const Key key = KeyOf(target, write), unanswered = UnansweredKey(target, request);
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  Erase(unanswered);
  Record* const record = Attempted(key, BytesOf(write, request), server);
  if (record == nullptr) return;
  if (record->due && record->due_since < round_ && now >= round_) record->confirmed_at = now;
  Take(*record, std::move(write), request);
  Weigh(key, *record);
}

void Shadow::NoteNoChange(const Target& target, const HttpRequest& request) {
  const Key unanswered = UnansweredKey(target, request);
  absl::MutexLock lock(&mu_);
  // What is due is left to Judge(), which reads the object, too.
  Erase(unanswered);
}

void Shadow::NoteUnanswered(const Target& target, const HttpRequest& request,
                            const std::shared_ptr<Transport>& server) {
  const Key key = UnansweredKey(target, request);
  absl::MutexLock lock(&mu_);
  Record* const record = Attempted(key, BytesOf({}, request), server);
  if (record == nullptr) return;
  Replace(record->request, request);
  record->unanswered = true;
  Weigh(key, *record);
}

bool Shadow::CanBeTried(const Key& key, const Record& record) const {
  const auto& [cluster, verb, path, identity] = key;
  if (record.unanswered || silent_.contains(cluster)) return false;
  // An attempt without an answer may be one of this write.
  for (auto at = records_.lower_bound({cluster, verb, path, ""}); at != records_.end(); ++at) {
    const auto& [at_cluster, at_verb, at_path, other] = at->first;
    if (at_path != path || at_verb != verb || at_cluster != cluster) break;
    if (at->second.unanswered) return false;
  }
  return true;
}

bool Shadow::NeedsRound() const {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  for (const auto& [key, record] : records_) {
    const bool is_old = now - record.due_since >= kHold && now - record.confirmed_at > kConfirmed;
    if (record.due && is_old && CanBeTried(key, record)) return true;
  }
  return false;
}

void Shadow::BeginRound() {
  absl::MutexLock lock(&mu_);
  round_ = clock_.SteadyNow();
  not_listed_ = 0;
}

void Shadow::EndRound() {
  absl::MutexLock lock(&mu_);
  for (auto& [key, record] : records_) {
    const bool was_tried = record.due_since >= round_ || record.last_attempt >= round_;
    if (record.due && !was_tried && CanBeTried(key, record)) Withdraw(key, record);
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

}  // namespace kube
