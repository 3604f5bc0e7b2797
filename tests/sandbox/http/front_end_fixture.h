// The HTTP side of a server without HTTP: requests go directly to the front end, and answers are
// kept.
#ifndef TESTS_SANDBOX_HTTP_FRONT_END_FIXTURE_H_
#define TESTS_SANDBOX_HTTP_FRONT_END_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "sandbox/http/front_end.h"
#include "tests/sandbox/write/backend_fixture.h"

namespace sandbox {

class FakeStream : public base::HttpStream {
 public:
  bool Write(std::string bytes) override {
    absl::MutexLock lock(&mu_);
    if (ended_) return false;
    text_ += bytes;
    return true;
  }
  void Close() override { End(true); }
  void Abort() override { End(false); }
  void OnClosed(std::function<void()> callback) override { callback_ = std::move(callback); }

  // Returns the events as objects with `type` and `object`.
  std::vector<json::Value> Events() const {
    absl::MutexLock lock(&mu_);
    std::vector<json::Value> out;
    const absl::string_view whole = absl::string_view(text_).substr(0, text_.rfind('\n') + 1);
    for (absl::string_view line : absl::StrSplit(whole, '\n', absl::SkipEmpty())) {
      out.push_back(*json::Parse(line));
    }
    return out;
  }
  // What has come of a line that has not ended.
  std::string Unfinished() const {
    absl::MutexLock lock(&mu_);
    return text_.substr(text_.rfind('\n') + 1);
  }
  std::string Summary() const {
    std::string out;
    for (const json::Value& e : Events()) {
      out += e["type"].ToString() + " " + e["object"]["metadata"]["name"].ToString() + ";";
    }
    return out;
  }
  bool ended() const {
    absl::MutexLock lock(&mu_);
    return ended_;
  }
  bool properly() const {
    absl::MutexLock lock(&mu_);
    return properly_;
  }

 private:
  void End(bool properly) {
    {
      absl::MutexLock lock(&mu_);
      if (std::exchange(ended_, true)) return;
      properly_ = properly;
    }
    if (callback_) callback_();
  }

  mutable absl::Mutex mu_;
  std::string text_ ABSL_GUARDED_BY(mu_);
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  bool properly_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void()> callback_;
};

struct FakeResponder : base::HttpResponder {
  void Send(base::HttpResponse r) override { response = std::move(r); }
  std::shared_ptr<base::HttpStream> StartStream(base::HttpResponse head) override {
    response = std::move(head);
    stream = std::make_shared<FakeStream>();
    return stream;
  }
  void Abort() override { response.code = 0; }

  base::HttpResponse response{.code = -1};
  std::shared_ptr<FakeStream> stream;
};

struct Reply {
  int code = 0;
  base::HttpResponse raw;
  json::Value body;  // Null when the answer is not JSON.
  std::shared_ptr<FakeStream> stream;

  std::string Header(const std::string& name) const {
    for (const auto& [key, value] : raw.headers) {
      if (key == name) return value;
    }
    return "";
  }
};

class FrontEndFixture {
 public:
  explicit FrontEndFixture(const base::Clock& clock = base::RealClock())
      : backend(1000),
        authentication({{"secret", "tester"}}, false),
        faults({[this] { front_end.DropWatches(); }, [this] { backend.store().ExpireHistory(); },
                [](bool) {}}),
        timers(clock),
        front_end({backend, authentication, faults, counts, timers, "v1.35.3", "server"}) {}
  ~FrontEndFixture() {
    timers.Stop();
    front_end.DropWatches();
  }

  struct Call {
    std::string method = "GET";
    std::string target;  // Path, with a query of plain characters.
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
  };
  // Begins a request, which may be answered later.
  std::shared_ptr<FakeResponder> Begin(const Call& call) {
    base::HttpRequest request;
    request.method = call.method;
    request.target = call.target;
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(call.target, absl::MaxSplits('?', 1));
    request.path = parts.first;
    for (absl::string_view pair : absl::StrSplit(parts.second, '&', absl::SkipEmpty())) {
      request.query.push_back(absl::StrSplit(pair, absl::MaxSplits('=', 1)));
    }
    request.headers = {{"authorization", "Bearer secret"}, {"user-agent", "test/1 (x)"}};
    if (!call.body.empty()) request.headers["content-type"] = "application/json";
    for (const auto& [name, value] : call.headers) request.headers[name] = value;
    request.body = call.body;
    auto responder = std::make_shared<FakeResponder>();
    front_end.Handle(std::move(request), responder);
    return responder;
  }
  Reply Send(const Call& call) {
    const auto responder = Begin(call);
    const auto parsed = json::Parse(responder->response.body);
    return {responder->response.code, responder->response, parsed.ok() ? *parsed : json::Value(),
            responder->stream};
  }
  Reply Get(const std::string& target, const std::string& accept = "") {
    return Send({.target = target, .headers = {{"accept", accept}}});
  }
  Reply Put(const std::string& target, const kube::Object& object) {
    return Send({.method = "PUT", .target = target, .body = json::Write(object.root())});
  }
  Reply Delete(const std::string& target) { return Send({.method = "DELETE", .target = target}); }
  Reply Post(const std::string& target, const kube::Object& object) {
    return Send({.method = "POST", .target = target, .body = json::Write(object.root())});
  }

  ServerBackend backend;
  Authentication authentication;
  FaultInjection faults;
  RequestCounts counts;
  base::Timers timers;
  FrontEnd front_end;
};

}  // namespace sandbox

#endif  // TESTS_SANDBOX_HTTP_FRONT_END_FIXTURE_H_
