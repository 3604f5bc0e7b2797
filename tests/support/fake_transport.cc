#include "tests/support/fake_transport.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "base/stop_flag.h"
#include "tests/support/request_path.h"

namespace tests {

struct FakeApiServer::Stream {
  absl::Mutex mu;  // Held during callbacks.
  kube::StreamCallbacks callbacks;
  RequestPath path;
  bool closed = false;
};

// The client's end of a stream.
class FakeApiServer::Handle : public kube::HttpStream {
 public:
  Handle(FakeApiServer& server, StreamPtr stream) : server_(server), stream_(std::move(stream)) {}
  ~Handle() override {
    {
      absl::MutexLock lock(&stream_->mu);
      stream_->closed = true;
    }
    absl::MutexLock lock(&server_.mu_);
    std::erase(server_.streams_, stream_);
    std::erase(server_.held_, stream_);
  }

 private:
  FakeApiServer& server_;
  StreamPtr stream_;
};

FakeApiServer::FakeApiServer() : deliverer_([this] { Deliver(); }) {}

FakeApiServer::~FakeApiServer() {
  {
    absl::MutexLock lock(&queue_mu_);
    closing_ = true;
  }
  deliverer_.join();
}

kube::Object FakeApiServer::Put(const kube::Resource& r, kube::Object object) {
  absl::MutexLock lock(&mu_);
  kube::Object stored = objects_.Put(r.gvr().ToString(), std::move(object));
  Publish();
  return stored;
}

void FakeApiServer::Erase(const kube::Resource& r, const kube::ObjectKey& key) {
  absl::MutexLock lock(&mu_);
  objects_.Erase(r.gvr().ToString(), key);
  Publish();
}

kube::Object FakeApiServer::Find(const kube::Resource& r, const kube::ObjectKey& key) const {
  absl::MutexLock lock(&mu_);
  return objects_.Find(r.gvr().ToString(), key);
}

std::vector<kube::Object> FakeApiServer::All(const kube::Resource& r) const {
  absl::MutexLock lock(&mu_);
  return objects_.All(r.gvr().ToString());
}

void FakeApiServer::FailNext(const std::string& method, int code, const std::string& reason,
                             int times) {
  absl::MutexLock lock(&mu_);
  for (int i = 0; i < times; ++i) failures_[method].push_back({code, reason});
}

void FakeApiServer::EndFailures() {
  absl::MutexLock lock(&mu_);
  failures_.clear();
}

void FakeApiServer::KeepStatus(const kube::Resource& r, Status where) {
  absl::MutexLock lock(&mu_);
  objects_.KeepStatus(r.gvr().ToString(), where);
}

void FakeApiServer::Serve(const std::vector<kube::Resource>& resources,
                          const std::vector<kube::Gvk>& stale) {
  absl::MutexLock lock(&mu_);
  objects_.Serve(resources, stale);
}

void FakeApiServer::Block(const std::string& method) {
  absl::MutexLock lock(&mu_);
  blocked_ = method;
  if (method == "WATCH") return;
  for (const StreamPtr& stream : std::exchange(held_, {})) Start(stream);
}

void FakeApiServer::EndWatches(const absl::Status& status) {
  absl::MutexLock lock(&mu_);
  for (const StreamPtr& stream : std::exchange(streams_, {})) End(stream, status);
}

void FakeApiServer::Compact() {
  absl::MutexLock lock(&mu_);
  compacted_ = objects_.version();
}

FakeObjects FakeApiServer::Backup() const {
  absl::MutexLock lock(&mu_);
  return objects_;
}

void FakeApiServer::Restore(FakeObjects backup, bool cut) {
  absl::MutexLock lock(&mu_);
  objects_ = std::move(backup);
  published_ = objects_.history().size();
  if (!cut) return;
  for (const StreamPtr& stream : std::exchange(streams_, {})) {
    End(stream, absl::UnavailableError("connection reset"));
  }
}

void FakeApiServer::SendBookmarks() {
  absl::MutexLock lock(&mu_);
  for (const StreamPtr& stream : streams_) {
    kube::Object bookmark;
    bookmark.Set({"metadata", "resourceVersion"}, absl::StrCat(objects_.version()));
    SendEvent(stream, "BOOKMARK", bookmark);
  }
}

int FakeApiServer::watches() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int>(streams_.size());
}

bool FakeApiServer::AwaitWatches(int n) const {
  const auto open = [&] { return static_cast<int>(streams_.size()) == n; };
  absl::MutexLock lock(&mu_);
  return mu_.AwaitWithTimeout(absl::Condition(&open), absl::Minutes(1));
}

std::vector<std::string> FakeApiServer::Requests(const std::string& method) const {
  std::vector<std::string> found;
  absl::MutexLock lock(&mu_);
  for (const std::string& line : requests_) {
    if (method.empty() || absl::StartsWith(line, method + " ")) found.push_back(line);
  }
  return found;
}

size_t FakeApiServer::Calls() const {
  absl::MutexLock lock(&mu_);
  return std::count_if(requests_.begin(), requests_.end(),
                       [](const std::string& line) { return !absl::StartsWith(line, "WATCH "); });
}

std::string FakeApiServer::last_body() const {
  absl::MutexLock lock(&mu_);
  return last_body_;
}

bool FakeApiServer::AwaitRequests(const std::string& method, int n) const {
  const auto come = [&] {
    return std::count_if(requests_.begin(), requests_.end(), [&](const std::string& line) {
             return absl::StartsWith(line, method + " ");
           }) >= n;
  };
  absl::MutexLock lock(&mu_);
  return mu_.AwaitWithTimeout(absl::Condition(&come), absl::Minutes(1));
}

absl::StatusOr<kube::HttpResponse> FakeApiServer::Send(const kube::HttpRequest& request,
                                                       const base::StopToken& stop) {
  const base::StopFlag cancelled(mu_, stop);
  absl::MutexLock lock(&mu_);
  requests_.push_back(absl::StrCat(request.method, " ", request.path));
  if (!request.body.empty()) last_body_ = request.body;
  const auto free = [&] { return blocked_ != request.method || cancelled.IsSet(); };
  mu_.Await(absl::Condition(&free));
  if (cancelled.IsSet()) return absl::CancelledError("stopped");
  const RequestPath path = RequestPath::Parse(request.path);
  if (const kube::HttpResponse failure = NextFailure(request.method, path); failure.code != 0) {
    return failure;
  }
  kube::HttpResponse answer = objects_.Answer(request.method, path, request.body);
  Publish();
  return answer;
}

std::unique_ptr<kube::HttpStream> FakeApiServer::Open(const kube::HttpRequest& request,
                                                      kube::StreamCallbacks callbacks) {
  auto stream = std::make_shared<Stream>();
  stream->callbacks = std::move(callbacks);
  stream->path = RequestPath::Parse(request.path);
  absl::MutexLock lock(&mu_);
  requests_.push_back(absl::StrCat("WATCH ", request.path));
  if (blocked_ == "WATCH") {
    held_.push_back(stream);
  } else {
    Start(stream);
  }
  return std::make_unique<Handle>(*this, stream);
}

void FakeApiServer::Start(const StreamPtr& stream) {
  int64_t from = 0;
  if (!absl::SimpleAtoi(stream->path.Parameter("resourceVersion"), &from)) {
    from = objects_.version();
  }
  kube::HttpResponse head = NextFailure("WATCH", stream->path);
  if (head.code == 0 && from > objects_.version()) head = Failure(504, "Timeout");
  if (head.code != 0) {
    Enqueue(stream, [head](Stream& s) {
      s.callbacks.on_head(head);
      s.callbacks.on_data(head.body);
      s.callbacks.on_end(absl::OkStatus());
    });
    return;
  }
  head.code = 200;
  Enqueue(stream, [head](Stream& s) { s.callbacks.on_head(head); });
  if (from < compacted_) {
    SendEvent(stream, "ERROR", kube::Object(StatusBody(410, "Expired")));
    End(stream, absl::OkStatus());
    return;
  }
  streams_.push_back(stream);
  for (const FakeObjects::Change& change : objects_.history()) {
    if (change.version > from) SendChange(stream, change);
  }
}

kube::HttpResponse FakeApiServer::NextFailure(const std::string& method, const RequestPath& path) {
  // Those that are due for the requests of one kind only come first.
  const auto of_kind = failures_.find(absl::StrCat(method, " ", path.collection));
  auto& waiting = of_kind != failures_.end() ? of_kind->second : failures_[method];
  if (waiting.empty()) return {};
  const auto [code, reason] = waiting.front();
  waiting.pop_front();
  json::Value status = StatusBody(code, reason);
  // Servers name the object that they do not find; an unknown path has no object.
  if (code == 404 && !path.key.name.empty()) status.Set({"details", "name"}, path.key.name);
  return {.code = code, .body = json::Write(status)};
}

void FakeApiServer::Publish() {
  for (; published_ < objects_.history().size(); ++published_) {
    for (const StreamPtr& stream : streams_) SendChange(stream, objects_.history()[published_]);
  }
}

void FakeApiServer::SendChange(const StreamPtr& stream, const FakeObjects::Change& change) {
  if (stream->path.collection != change.collection) return;
  const bool was = !change.before.empty() && Selects(stream->path, change.before);
  const bool is = !change.after.empty() && Selects(stream->path, change.after);
  if (!was && !is) return;
  kube::Object object = is ? change.after : change.before;
  object.Set({"metadata", "resourceVersion"}, absl::StrCat(change.version));
  SendEvent(stream, !was ? "ADDED" : is ? "MODIFIED" : "DELETED", object);
}

void FakeApiServer::SendEvent(const StreamPtr& stream, const char* type,
                              const kube::Object& object) {
  const std::string line =
      json::Write(json::Value::Object({{"type", type}, {"object", object.root()}})) + "\n";
  Enqueue(stream, [line](Stream& s) { s.callbacks.on_data(line); });
}

void FakeApiServer::End(const StreamPtr& stream, const absl::Status& status) {
  Enqueue(stream, [status](Stream& s) { s.callbacks.on_end(status); });
}

void FakeApiServer::Enqueue(const StreamPtr& stream, Call call) {
  absl::MutexLock lock(&queue_mu_);
  queue_.emplace_back(stream, std::move(call));
}

void FakeApiServer::Deliver() {
  const auto ready = [this] { return closing_ || !queue_.empty(); };
  for (;;) {
    std::pair<StreamPtr, Call> next;
    {
      absl::MutexLock lock(&queue_mu_, absl::Condition(&ready));
      if (closing_) return;
      next = std::move(queue_.front());
      queue_.pop_front();
    }
    absl::MutexLock lock(&next.first->mu);
    if (!next.first->closed) next.second(*next.first);
  }
}

}  // namespace tests
