#include "tests/support/fake_etcd.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tests {
namespace {

std::string Bytes(const json::Value& v) {
  std::string out;
  absl::Base64Unescape(v.AsString(), &out);
  return out;
}

int64_t Int(const json::Value& v) {
  int64_t n = 0;
  return absl::SimpleAtoi(v.AsString(), &n) ? n : v.AsInt();
}

base::HttpResponse Json(int code, const json::Value& body) {
  return {code, "application/json", {}, json::Write(body)};
}

base::HttpResponse Error(int http, int grpc, const std::string& message) {
  return Json(http,
              json::Value::Object({{"error", message}, {"code", grpc}, {"message", message}}));
}

std::string Line(const json::Value& result) {
  return absl::StrCat(json::Write(json::Value::Object({{"result", result}})), "\n");
}

bool IsIn(const std::string& key, const std::string& begin, const std::string& end) {
  return end.empty() ? key == begin : key >= begin && key < end;
}

}  // namespace

FakeEtcd::FakeEtcd(std::optional<tls::ServerOptions> tls) : tls_(tls.has_value()) {
  base::HttpServerOptions options;
  options.tls = std::move(tls);
  auto server = base::HttpServer::Start(
      std::move(options),
      [this](base::HttpRequest request, const std::shared_ptr<base::HttpResponder>& to) {
        Handle(request, to);
      });
  REQUIRE(server.ok());
  server_ = *std::move(server);
}

FakeEtcd::~FakeEtcd() { server_->Stop(); }

std::string FakeEtcd::url() const {
  return absl::StrCat(tls_ ? "https" : "http", "://127.0.0.1:", server_->port());
}

void FakeEtcd::Put(const std::string& key, const std::string& value) {
  absl::MutexLock lock(&mu_);
  Set(key, value);
}

void FakeEtcd::Erase(const std::string& key) {
  absl::MutexLock lock(&mu_);
  Set(key, std::nullopt);
}

std::string FakeEtcd::Value(const std::string& key) const {
  absl::MutexLock lock(&mu_);
  const auto found = kvs_.find(key);
  return found == kvs_.end() ? "" : found->second.value;
}

int64_t FakeEtcd::revision() const {
  absl::MutexLock lock(&mu_);
  return revision_;
}

void FakeEtcd::Compact() {
  absl::MutexLock lock(&mu_);
  compacted_ = revision_;
}

void FakeEtcd::Reset() {
  absl::MutexLock lock(&mu_);
  kvs_.clear();
  history_.clear();
  revision_ = 1;
  compacted_ = 0;
}

void FakeEtcd::SetDown(bool down) {
  {
    absl::MutexLock lock(&mu_);
    down_ = down;
  }
  if (down) CutWatches();
}

void FakeEtcd::FailWith(int grpc_code) {
  absl::MutexLock lock(&mu_);
  fail_ = grpc_code;
}

void FakeEtcd::SetSilent(bool silent) {
  absl::MutexLock lock(&mu_);
  silent_ = silent;
}

void FakeEtcd::CutWatches() {
  std::vector<std::shared_ptr<Watcher>> cut;
  {
    absl::MutexLock lock(&mu_);
    cut.swap(watchers_);
  }
  for (const auto& watcher : cut) watcher->stream->Abort();
}

int FakeEtcd::watches() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int>(
      std::count_if(watchers_.begin(), watchers_.end(), [](const auto& w) { return !w->closed; }));
}

int FakeEtcd::requests() const {
  absl::MutexLock lock(&mu_);
  return requests_;
}

void FakeEtcd::Handle(const base::HttpRequest& request,
                      const std::shared_ptr<base::HttpResponder>& to) {
  absl::MutexLock lock(&mu_);
  ++requests_;
  if (down_) return to->Abort();
  if (fail_ != 0) return to->Send(Error(503, fail_, "etcdserver: no leader"));
  const auto body = json::Parse(request.body);
  if (!body.ok()) return to->Send(Error(400, 3, "not JSON"));
  if (request.path == "/v3/watch") return Watch((*body)["create_request"], to);
  if (request.path == "/v3/kv/txn") return to->Send(Json(200, Txn(*body)));
  if (request.path == "/v3/kv/compaction") return to->Send(CompactTo(Int((*body)["revision"])));
  if (request.path != "/v3/kv/range") return to->Send({404, "text/plain", {}, "Not Found"});
  const int64_t wanted = Int((*body)["revision"]);
  if (wanted > 0 && wanted < compacted_) {
    return to->Send(Error(400, 11, "etcdserver: mvcc: required revision has been compacted"));
  }
  to->Send(Json(200, Range(*body)));
}

base::HttpResponse FakeEtcd::CompactTo(int64_t revision) {
  if (revision <= compacted_) {
    return Error(400, 11, "etcdserver: mvcc: required revision has been compacted");
  }
  compacted_ = revision;
  return Json(200, json::Value::Object({{"header", Header()}}));
}

json::Value FakeEtcd::Header() const {
  return json::Value::Object({{"revision", absl::StrCat(revision_)}});
}

json::Value FakeEtcd::KvJson(const std::string& key, const Kv& kv) {
  return json::Value::Object({{"key", absl::Base64Escape(key)},
                              {"value", absl::Base64Escape(kv.value)},
                              {"create_revision", absl::StrCat(kv.create)},
                              {"mod_revision", absl::StrCat(kv.mod)},
                              {"version", absl::StrCat(kv.version)}});
}

json::Value FakeEtcd::Range(const json::Value& request) const {
  std::map<std::string, Kv> state = kvs_;
  if (const int64_t at = Int(request["revision"]); at > 0) {
    for (auto it = history_.rbegin(); it != history_.rend() && it->revision > at; ++it) {
      state.erase(it->key);
      if (it->before.has_value()) state[it->key] = *it->before;
    }
  }
  const std::string begin = Bytes(request["key"]), end = Bytes(request["range_end"]);
  const int64_t limit = Int(request["limit"]);
  json::Value kvs = json::Value::Array();
  int64_t count = 0;
  for (const auto& [key, kv] : state) {
    if (!IsIn(key, begin, end)) continue;
    ++count;
    const bool full = limit > 0 && static_cast<int64_t>(kvs.size()) == limit;
    if (!full && !request["count_only"].AsBool()) kvs.Append(KvJson(key, kv));
  }
  json::Value out = json::Value::Object({{"header", Header()}});
  // protobuf's JSON leaves out what is empty.
  if (count > 0) out.Set("count", absl::StrCat(count));
  if (!kvs.empty()) out.Set("kvs", std::move(kvs));
  return out;
}

void FakeEtcd::Set(const std::string& key, std::optional<std::string> value) {
  Change change;
  const auto found = kvs_.find(key);
  if (found != kvs_.end()) change.before = found->second;
  if (!value.has_value() && found == kvs_.end()) return;
  change.key = key;
  change.revision = ++revision_;
  if (value.has_value()) {
    Kv& kv = kvs_[key];
    kv.value = *std::move(value);
    kv.mod = revision_;
    if (kv.create == 0) kv.create = revision_;
    ++kv.version;
    change.after = kv;
  } else {
    kvs_.erase(found);
  }
  history_.push_back(change);
  if (silent_) return;
  for (const auto& watcher : watchers_) {
    if (watcher->closed || !IsIn(key, watcher->begin, watcher->end)) continue;
    watcher->stream->Write(Line(json::Value::Object(
        {{"header", Header()}, {"events", json::Value::Array({EventJson(change)})}})));
  }
}

json::Value FakeEtcd::EventJson(const Change& change) const {
  json::Value event = json::Value::Object();
  if (change.after.has_value()) {
    event.Set("kv", KvJson(change.key, *change.after));
  } else {
    event.Set("type", "DELETE");
    event.Set("kv", json::Value::Object({{"key", absl::Base64Escape(change.key)},
                                         {"mod_revision", absl::StrCat(change.revision)}}));
  }
  if (change.before.has_value()) event.Set("prev_kv", KvJson(change.key, *change.before));
  return event;
}

json::Value FakeEtcd::Execute(const json::Value& operation) {
  if (const json::Value* put = operation.Find("request_put")) {
    Set(Bytes((*put)["key"]), Bytes((*put)["value"]));
    return json::Value::Object({{"response_put", json::Value::Object({{"header", Header()}})}});
  }
  if (const json::Value* remove = operation.Find("request_delete_range")) {
    Set(Bytes((*remove)["key"]), std::nullopt);
    return json::Value::Object(
        {{"response_delete_range", json::Value::Object({{"header", Header()}})}});
  }
  return json::Value::Object({{"response_range", Range(operation["request_range"])}});
}

json::Value FakeEtcd::Txn(const json::Value& request) {
  const json::Value& compare = request["compare"].At(0);
  const auto found = kvs_.find(Bytes(compare["key"]));
  const int64_t mod = found == kvs_.end() ? 0 : found->second.mod;
  const int64_t version = found == kvs_.end() ? 0 : found->second.version;
  const bool succeeded = compare["target"].AsString() == "VERSION"
                             ? version == Int(compare["version"])
                             : mod == Int(compare["mod_revision"]);
  json::Value responses = json::Value::Array();
  for (const json::Value& operation : request[succeeded ? "success" : "failure"].items()) {
    responses.Append(Execute(operation));
  }
  json::Value out = json::Value::Object({{"header", Header()}, {"responses", responses}});
  if (succeeded) out.Set("succeeded", true);
  return out;
}

void FakeEtcd::Watch(const json::Value& request, const std::shared_ptr<base::HttpResponder>& to) {
  auto watcher = std::make_shared<Watcher>();
  watcher->begin = Bytes(request["key"]);
  watcher->end = Bytes(request["range_end"]);
  watcher->stream = to->StartStream({});
  watcher->stream->Write(Line(json::Value::Object({{"header", Header()}, {"created", true}})));
  const int64_t since = Int(request["start_revision"]);
  if (since > 0 && since < compacted_) {
    watcher->stream->Write(
        Line(json::Value::Object({{"header", Header()},
                                  {"canceled", true},
                                  {"compact_revision", absl::StrCat(compacted_)}})));
    watcher->stream->Close();
    return;
  }
  json::Value events = json::Value::Array();
  for (const Change& change : history_) {
    if (change.revision >= since && IsIn(change.key, watcher->begin, watcher->end)) {
      events.Append(EventJson(change));
    }
  }
  if (!events.empty()) {
    watcher->stream->Write(
        Line(json::Value::Object({{"header", Header()}, {"events", std::move(events)}})));
  }
  watchers_.push_back(watcher);
  watcher->stream->OnClosed([weak = std::weak_ptr<Watcher>(watcher)] {
    if (const auto gone = weak.lock()) gone->closed = true;
  });
}

}  // namespace tests
