// An API server in memory, behind the transport's seam: enough of one for tests of what stands on
// kube::Client. It stores objects, lists them in pages, applies merge patches, keeps
// resourceVersions and watches, and misbehaves when told to.
//
//   auto server = std::make_shared<FakeApiServer>();
//   kube::Client client(server, {.name = "fake"}, clock, nullptr);
//   server->Put(kPods, object);               // As some other client would.
//   server->FailNext("GET", 403, "Forbidden");
//   server->EndWatches(absl::OkStatus());
#ifndef TESTS_SUPPORT_FAKE_TRANSPORT_H_
#define TESTS_SUPPORT_FAKE_TRANSPORT_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "base/json.h"
#include "kube/client/transport.h"
#include "kube/meta/object.h"
#include "kube/meta/patch.h"
#include "kube/meta/selector.h"

namespace tests {

// Thread-safe. Callbacks of watches come from one thread of its own.
class FakeApiServer : public kube::Transport {
 public:
  FakeApiServer() : deliverer_([this] { Deliver(); }) {}
  ~FakeApiServer() override {
    {
      absl::MutexLock lock(&queue_mu_);
      closing_ = true;
    }
    deliverer_.join();
  }

  // Creates or replaces, as another client would; the object as stored.
  kube::Object Put(const kube::Resource& r, kube::Object object) {
    absl::MutexLock lock(&mu_);
    return Store(r.gvr().ToString(), std::move(object));
  }
  void Erase(const kube::Resource& r, const kube::ObjectKey& key) {
    absl::MutexLock lock(&mu_);
    Remove(r.gvr().ToString(), key);
  }
  // Empty when absent.
  kube::Object Find(const kube::Resource& r, const kube::ObjectKey& key) const {
    absl::MutexLock lock(&mu_);
    const auto collection = collections_.find(r.gvr().ToString());
    if (collection == collections_.end()) return {};
    const auto it = collection->second.find(key);
    return it == collection->second.end() ? kube::Object() : it->second;
  }
  std::vector<kube::Object> All(const kube::Resource& r) const {
    std::vector<kube::Object> all;
    absl::MutexLock lock(&mu_);
    const auto collection = collections_.find(r.gvr().ToString());
    if (collection == collections_.end()) return all;
    for (const auto& [key, object] : collection->second) all.push_back(object);
    return all;
  }

  // The next `times` requests of this method ("WATCH" for watches) are answered with this error.
  void FailNext(const std::string& method, int code, const std::string& reason, int times = 1) {
    absl::MutexLock lock(&mu_);
    for (int i = 0; i < times; ++i) failures_[method].push_back({code, reason});
  }
  // Where a resource's status is written; others have the subresource.
  enum class Status { kSubresource, kOnObject, kNone };
  void KeepStatus(const kube::Resource& r, Status where) {
    absl::MutexLock lock(&mu_);
    status_[r.gvr().ToString()] = where;
  }
  // Requests of this method wait until Unblock or until they are cancelled.
  void Block(const std::string& method) {
    absl::MutexLock lock(&mu_);
    blocked_ = method;
  }
  void Unblock() { Block(""); }

  void EndWatches(const absl::Status& status) {
    absl::MutexLock lock(&mu_);
    for (const auto& stream : std::exchange(streams_, {})) End(stream, status);
  }
  // A watch from a version before the present one is refused (410) from now on.
  void Compact() {
    absl::MutexLock lock(&mu_);
    compacted_ = version_;
  }
  void SendBookmarks() {
    absl::MutexLock lock(&mu_);
    for (const auto& stream : streams_) {
      kube::Object bookmark;
      bookmark.Set({"metadata", "resourceVersion"}, absl::StrCat(version_));
      Send(stream, "BOOKMARK", bookmark);
    }
  }
  int watches() const {
    absl::MutexLock lock(&mu_);
    return static_cast<int>(streams_.size());
  }
  // Waits (in real time, at most 10 s) until there are n open watches.
  bool AwaitWatches(int n) const {
    const auto open = [&] { return static_cast<int>(streams_.size()) == n; };
    absl::MutexLock lock(&mu_);
    return mu_.AwaitWithTimeout(absl::Condition(&open), absl::Seconds(10));
  }
  // "PATCH /api/v1/namespaces/a/pods/b" of each request so far; watches as "WATCH".
  std::vector<std::string> Requests(const std::string& method = "") const {
    std::vector<std::string> found;
    absl::MutexLock lock(&mu_);
    for (const std::string& line : requests_) {
      if (method.empty() || absl::StartsWith(line, method + " ")) found.push_back(line);
    }
    return found;
  }
  std::string last_body() const {
    absl::MutexLock lock(&mu_);
    return last_body_;
  }
  // Waits (in real time, at most 10 s) until n requests of the method have come.
  bool AwaitRequests(const std::string& method, int n) const {
    const auto come = [&] {
      return std::count_if(requests_.begin(), requests_.end(), [&](const std::string& line) {
               return absl::StartsWith(line, method + " ");
             }) >= n;
    };
    absl::MutexLock lock(&mu_);
    return mu_.AwaitWithTimeout(absl::Condition(&come), absl::Seconds(10));
  }

  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                          const base::StopToken& stop) override {
    bool cancelled = false;
    base::StopCallback wake(stop, [&] {
      absl::MutexLock lock(&mu_);
      cancelled = true;
    });
    absl::MutexLock lock(&mu_);
    requests_.push_back(absl::StrCat(request.method, " ", request.path));
    if (!request.body.empty()) last_body_ = request.body;
    const auto free = [&] { return blocked_ != request.method || cancelled; };
    mu_.Await(absl::Condition(&free));
    if (cancelled) return absl::CancelledError("stopped");
    if (const kube::HttpResponse failure = NextFailure(request.method); failure.code != 0) {
      return failure;
    }
    return Answer(request.method, ParsePath(request.path), request.body);
  }

  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest& request,
                                         kube::StreamCallbacks callbacks) override {
    auto stream = std::make_shared<Stream>();
    stream->callbacks = std::move(callbacks);
    stream->target = ParsePath(request.path);
    absl::MutexLock lock(&mu_);
    requests_.push_back(absl::StrCat("WATCH ", request.path));
    kube::HttpResponse head = NextFailure("WATCH");
    if (head.code != 0) {
      Enqueue(stream, [head](Stream& s) {
        s.callbacks.on_head(head);
        s.callbacks.on_data(head.body);
        s.callbacks.on_end(absl::OkStatus());
      });
      return std::make_unique<Handle>(*this, stream);
    }
    head.code = 200;
    Enqueue(stream, [head](Stream& s) { s.callbacks.on_head(head); });
    int64_t from = 0;
    if (!absl::SimpleAtoi(stream->target.query["resourceVersion"], &from)) from = version_;
    if (from < compacted_) {
      Send(stream, "ERROR", kube::Object(StatusBody(410, "Expired")));
      End(stream, absl::OkStatus());
      return std::make_unique<Handle>(*this, stream);
    }
    streams_.push_back(stream);
    for (const Change& change : history_) {
      if (change.version > from) Tell(stream, change);
    }
    return std::make_unique<Handle>(*this, stream);
  }

 private:
  struct Target {
    std::string collection;  // "apps/v1/deployments"
    kube::ObjectKey key;     // The name is empty for a collection.
    std::string subresource;
    std::map<std::string, std::string> query;
  };
  struct Stream {
    absl::Mutex mu;  // Held during callbacks.
    kube::StreamCallbacks callbacks;
    Target target;
    bool closed = false;
  };
  using StreamPtr = std::shared_ptr<Stream>;
  struct Change {
    std::string collection;
    int64_t version;
    kube::Object before, after;  // Empty: absent.
  };
  // What the client holds of a stream.
  class Handle : public kube::HttpStream {
   public:
    Handle(FakeApiServer& server, StreamPtr stream) : server_(server), stream_(stream) {}
    ~Handle() override {
      {
        absl::MutexLock lock(&stream_->mu);
        stream_->closed = true;
      }
      absl::MutexLock lock(&server_.mu_);
      auto& open = server_.streams_;
      open.erase(std::remove(open.begin(), open.end(), stream_), open.end());
    }

   private:
    FakeApiServer& server_;
    StreamPtr stream_;
  };

  static std::string Unescape(absl::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '%' && i + 2 < text.size()) {
        out += absl::HexStringToBytes(text.substr(i + 1, 2));
        i += 2;
      } else {
        out += text[i] == '+' ? ' ' : text[i];
      }
    }
    return out;
  }

  static Target ParsePath(absl::string_view text) {
    Target target;
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(text, absl::MaxSplits('?', 1));
    for (const absl::string_view pair : absl::StrSplit(parts.second, '&', absl::SkipEmpty())) {
      const std::pair<absl::string_view, absl::string_view> named =
          absl::StrSplit(pair, absl::MaxSplits('=', 1));
      target.query[Unescape(named.first)] = Unescape(named.second);
    }
    std::vector<std::string> path = absl::StrSplit(parts.first, '/', absl::SkipEmpty());
    if (path.size() < 2) return target;  // Discovery: nothing is served.
    size_t at = 1;
    if (path[0] == "apis") target.collection = absl::StrCat(path[at++], "/");
    absl::StrAppend(&target.collection, path[at++], "/");
    if (path[at] == "namespaces" && path.size() > at + 2) {
      target.key.ns = Unescape(path[at + 1]);
      at += 2;
    }
    absl::StrAppend(&target.collection, path[at++]);
    if (at < path.size()) target.key.name = Unescape(path[at++]);
    if (at < path.size()) target.subresource = path[at];
    return target;
  }

  static json::Value StatusBody(int code, const std::string& reason) {
    return json::Value::Object({{"apiVersion", "v1"},
                                {"kind", "Status"},
                                {"status", "Failure"},
                                {"code", code},
                                {"reason", reason},
                                {"message", absl::StrCat("fake: ", reason)}});
  }
  static kube::HttpResponse Failure(int code, const std::string& reason) {
    return {.code = code, .body = json::Write(StatusBody(code, reason))};
  }
  static kube::HttpResponse Success(int code, const kube::Object& object) {
    return {.code = code, .body = json::Write(object.root())};
  }

  kube::HttpResponse NextFailure(const std::string& method) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    auto& waiting = failures_[method];
    if (waiting.empty()) return {};
    const auto [code, reason] = waiting.front();
    waiting.pop_front();
    return Failure(code, reason);
  }

  kube::HttpResponse Answer(const std::string& method, const Target& target,
                            const std::string& body) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const json::Value sent = body.empty() ? json::Value() : *json::Parse(body);
    if (target.collection.empty()) {
      return {.code = 200, .body = R"({"kind":"APIGroupList","groups":[],"versions":[]})"};
    }
    if (method == "POST") return Create(target, kube::Object(sent));
    if (target.key.name.empty()) return List(target);
    auto& collection = collections_[target.collection];
    const auto it = collection.find(target.key);
    if (it == collection.end()) return Failure(404, "NotFound");
    const kube::Object held = it->second;
    if (method == "GET") return Success(200, held);
    if (method == "DELETE") return Delete(target, held);
    kube::Object after(method == "PUT" ? sent : kube::ApplyMergePatch(held.root(), sent));
    if (after.resource_version() != held.resource_version()) return Failure(409, "Conflict");
    const auto status = status_.find(target.collection);
    const Status where = status == status_.end() ? Status::kSubresource : status->second;
    if (target.subresource == "status" && where != Status::kSubresource) {
      return Failure(404, "NotFound");
    }
    if (target.subresource.empty() && status != status_.end() && where != Status::kOnObject) {
      after.Set({"status"}, held.status());
      if (held.status().is_null()) after.Erase({"status"});
    }
    if (target.subresource == "status") {
      kube::Object whole = held;
      whole.Set({"status"}, after.status());
      after = whole;
    }
    return Success(200, after == held ? held : Store(target.collection, std::move(after)));
  }

  kube::HttpResponse Create(const Target& target, kube::Object object)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (collections_[target.collection].contains(object.key())) {
      return Failure(409, "AlreadyExists");
    }
    return Success(201, Store(target.collection, std::move(object)));
  }

  kube::HttpResponse Delete(const Target& target, kube::Object held)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (held.metadata()["finalizers"].empty()) {
      Remove(target.collection, target.key);
      return {.code = 200, .body = json::Write(StatusBody(200, ""))};
    }
    held.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    return Success(200, Store(target.collection, std::move(held)));
  }

  // Pages start after the name in the continue token ("ns/name").
  kube::HttpResponse List(const Target& target) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto option = [&](const char* name) {
      const auto it = target.query.find(name);
      return it == target.query.end() ? std::string() : it->second;
    };
    int64_t limit = 0;
    if (!absl::SimpleAtoi(option("limit"), &limit)) limit = INT64_MAX;
    json::Value items = json::Value::Array();
    std::string next;
    for (const auto& [key, object] : collections_[target.collection]) {
      if (!target.key.ns.empty() && key.ns != target.key.ns) continue;
      if (!Selected(target, object)) continue;
      if (absl::StrCat(key.ns, "/", key.name) <= option("continue")) continue;
      if (static_cast<int64_t>(items.size()) == limit) {
        const kube::Object last(items.At(items.size() - 1));
        next = absl::StrCat(last.ns(), "/", last.name());
        break;
      }
      items.Append(object.root());
    }
    json::Value list = json::Value::Object({{"kind", "List"}, {"items", items}});
    list.Set({"metadata", "resourceVersion"}, absl::StrCat(version_));
    if (!next.empty()) list.Set({"metadata", "continue"}, next);
    return {.code = 200, .body = json::Write(list)};
  }

  static bool Selected(const Target& target, const kube::Object& object) {
    const auto it = target.query.find("labelSelector");
    if (it == target.query.end()) return true;
    return kube::LabelSelector::Parse(it->second)->Matches(object.labels());
  }

  kube::Object Store(const std::string& collection, kube::Object object)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    kube::Object& held = collections_[collection][object.key()];
    const int64_t version = ++version_;
    object.Set({"metadata", "resourceVersion"}, absl::StrCat(version));
    if (object.uid().empty()) {
      object.Set({"metadata", "uid"},
                 held.empty() ? absl::StrCat("uid-", version) : std::string(held.uid()));
    }
    Publish({collection, version, held, object});
    held = object;
    return object;
  }

  void Remove(const std::string& collection, const kube::ObjectKey& key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    auto& objects = collections_[collection];
    const auto it = objects.find(key);
    if (it == objects.end()) return;
    Publish({collection, ++version_, it->second, {}});
    objects.erase(it);
  }

  void Publish(Change change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    history_.push_back(change);
    for (const StreamPtr& stream : streams_) Tell(stream, change);
  }

  void Tell(const StreamPtr& stream, const Change& change) {
    if (stream->target.collection != change.collection) return;
    const bool was = !change.before.empty() && Selected(stream->target, change.before);
    const bool is = !change.after.empty() && Selected(stream->target, change.after);
    if (!was && !is) return;
    kube::Object object = is ? change.after : change.before;
    object.Set({"metadata", "resourceVersion"}, absl::StrCat(change.version));
    Send(stream, !was ? "ADDED" : is ? "MODIFIED" : "DELETED", object);
  }

  void Send(const StreamPtr& stream, const char* type, const kube::Object& object) {
    const std::string line =
        json::Write(json::Value::Object({{"type", type}, {"object", object.root()}})) + "\n";
    Enqueue(stream, [line](Stream& s) { s.callbacks.on_data(line); });
  }

  void End(const StreamPtr& stream, const absl::Status& status) {
    Enqueue(stream, [status](Stream& s) { s.callbacks.on_end(status); });
  }

  void Enqueue(const StreamPtr& stream, std::function<void(Stream&)> call) {
    absl::MutexLock lock(&queue_mu_);
    queue_.emplace_back(stream, std::move(call));
  }

  void Deliver() {
    const auto ready = [this] { return closing_ || !queue_.empty(); };
    for (;;) {
      std::pair<StreamPtr, std::function<void(Stream&)>> next;
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

  mutable absl::Mutex mu_;
  std::map<std::string, std::map<kube::ObjectKey, kube::Object>> collections_ ABSL_GUARDED_BY(mu_);
  std::vector<Change> history_ ABSL_GUARDED_BY(mu_);
  std::vector<StreamPtr> streams_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::deque<std::pair<int, std::string>>> failures_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> requests_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Status> status_ ABSL_GUARDED_BY(mu_);
  std::string last_body_ ABSL_GUARDED_BY(mu_);
  std::string blocked_ ABSL_GUARDED_BY(mu_);
  int64_t version_ ABSL_GUARDED_BY(mu_) = 100;
  int64_t compacted_ ABSL_GUARDED_BY(mu_) = 0;

  absl::Mutex queue_mu_;
  std::deque<std::pair<StreamPtr, std::function<void(Stream&)>>> queue_ ABSL_GUARDED_BY(queue_mu_);
  bool closing_ ABSL_GUARDED_BY(queue_mu_) = false;
  std::thread deliverer_;  // Last: it uses all of the above.
};

}  // namespace tests

#endif  // TESTS_SUPPORT_FAKE_TRANSPORT_H_
