#include "tests/search/opensearch/fake_opensearch.h"

#include <algorithm>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/random.h"
#include "kube/http/http_transport.h"

namespace tests {
namespace {

std::string Escaped(absl::string_view id) {
  std::string out;
  for (const char c : id) out += c == '/' ? "%2F" : std::string(1, c);
  return out;
}

}  // namespace

TestOpenSearch::TestOpenSearch()
    : prefix_(absl::StrCat("t", absl::string_view(base::NewUuid()).substr(0, 8))) {
  kube::InitializeHttp();
  if (IsReal()) {
    kube::ConnectionConfig config;
    config.server = std::getenv("OPENSEARCH_URL");
    real_ = kube::NewHttpTransport(config).value();
  }
  auto server = base::HttpServer::Start(
      {.threads = 4, .max_body_bytes = 200 << 20},
      [this](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
        Handle(std::move(request), responder);
      });
  REQUIRE(server.ok());
  server_ = *std::move(server);
}

TestOpenSearch::~TestOpenSearch() {
  server_->Stop();
  if (!IsReal()) return;
  const json::Value indices =
      json::Parse(Ask("GET", absl::StrCat("/_cat/indices/", prefix_, "*?format=json&h=index")).body)
          .value_or(json::Value());
  for (const json::Value& index : indices.items()) {
    Ask("DELETE", "/" + index["index"].ToString());
  }
  Ask("DELETE", "/_index_template/" + prefix_);
}

bool TestOpenSearch::IsReal() { return std::getenv("OPENSEARCH_URL") != nullptr; }

std::string TestOpenSearch::url() const {
  return absl::StrCat("http://127.0.0.1:", server_->port());
}

void TestOpenSearch::SetFault(Fault fault) {
  absl::MutexLock lock(&mu_);
  fault_ = std::move(fault);
}

void TestOpenSearch::SetDown(bool down) {
  absl::MutexLock lock(&mu_);
  down_ = down;
}

void TestOpenSearch::Change(const std::function<void(MemoryOpenSearch& memory)>& change) {
  absl::MutexLock lock(&mu_);
  change(memory_);
}

std::string TestOpenSearch::cluster_uuid() const {
  absl::MutexLock lock(&mu_);
  return memory_.cluster_uuid;
}

int TestOpenSearch::Requests(absl::string_view part) const {
  absl::MutexLock lock(&mu_);
  return static_cast<int>(
      std::count_if(targets_.begin(), targets_.end(),
                    [&](const std::string& target) { return absl::StrContains(target, part); }));
}

int64_t TestOpenSearch::BytesReceived() const {
  absl::MutexLock lock(&mu_);
  return received_;
}

base::HttpResponse TestOpenSearch::Forward(const base::HttpRequest& request) {
  const auto type = request.headers.find("content-type");
  const auto answer =
      real_->Send({.method = request.method,
                   .path = request.target,
                   .content_type = type == request.headers.end() ? "" : type->second,
                   .body = request.body,
                   .timeout = absl::Seconds(60),
                   .max_answer_bytes = 256 << 20},
                  {});
  if (!answer.ok()) return {.code = 502, .body = std::string(answer.status().message())};
  return {.code = answer->code, .body = answer->body};
}

void TestOpenSearch::Handle(base::HttpRequest request,
                            const std::shared_ptr<base::HttpResponder>& responder) {
  Fault fault;
  {
    absl::MutexLock lock(&mu_);
    targets_.push_back(request.method + " " + request.target);
    received_ += static_cast<int64_t>(request.body.size());
    if (down_) {
      responder->Abort();
      return;
    }
    fault = fault_;
  }
  if (fault) {
    if (auto answer = fault(request); answer.has_value()) {
      responder->Send(*std::move(answer));
      return;
    }
  }
  if (IsReal()) {
    responder->Send(Forward(request));
    return;
  }
  absl::MutexLock lock(&mu_);
  responder->Send(memory_.Answer(request));
}

base::HttpResponse TestOpenSearch::Ask(const std::string& method, const std::string& target,
                                       const std::string& body) {
  base::HttpRequest request{.method = method, .target = target, .body = body};
  request.headers["content-type"] = "application/json";
  if (IsReal()) return Forward(request);
  request.path = absl::StrReplaceAll(target.substr(0, target.find('?')), {{"%2F", "/"}});
  absl::MutexLock lock(&mu_);
  return memory_.Answer(request);
}

json::Value TestOpenSearch::Document(const std::string& index, const std::string& id) {
  const base::HttpResponse answer = Ask("GET", absl::StrCat("/", index, "/_doc/", Escaped(id)));
  return answer.code == 200 ? json::Parse(answer.body).value() : json::Value();
}

int64_t TestOpenSearch::Count(const std::string& index, const std::string& cluster) {
  Ask("POST", absl::StrCat("/", index, "/_refresh"));
  json::Value body = json::Value::Object({{"size", 0}, {"track_total_hits", true}});
  body.Set({"query", "term", "cluster"}, cluster);
  const base::HttpResponse answer =
      Ask("POST", absl::StrCat("/", index, "/_search"), json::Write(body));
  if (answer.code == 404) return 0;
  return json::Parse(answer.body).value().Get({"hits", "total", "value"}).AsInt(-1);
}

}  // namespace tests
