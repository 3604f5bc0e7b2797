// A control plane that answers reviews, in the place of a transport.
#ifndef TESTS_KUBE_AGGREGATION_REVIEW_SERVER_H_
#define TESTS_KUBE_AGGREGATION_REVIEW_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/json.h"
#include "base/stop_flag.h"
#include "kube/http/transport.h"

namespace tests {

// Knows tokens by name, and allows what it was told to. Thread-safe.
class ReviewServer : public kube::Transport {
 public:
  // Answers with these codes first, one after the other; code 0 is a connection that broke.
  void FailNext(std::vector<int> codes) {
    absl::MutexLock lock(&mu_);
    failures_ = std::move(codes);
  }
  void AddToken(const std::string& token, json::Value user) {
    absl::MutexLock lock(&mu_);
    tokens_[token] = std::move(user);
  }
  void RevokeToken(const std::string& token) {
    absl::MutexLock lock(&mu_);
    tokens_.erase(token);
  }
  // `right`: "bob get pods", "bob get /metrics", "bob impersonate users/alice".
  void Allow(const std::string& right) {
    absl::MutexLock lock(&mu_);
    allowed_.insert(right);
  }
  void Deny(const std::string& right) {
    absl::MutexLock lock(&mu_);
    allowed_.erase(right);
  }
  void AllowAll() {
    absl::MutexLock lock(&mu_);
    allow_all_ = true;
  }
  // While it is blocked, requests wait until they are cancelled.
  void Block(bool blocked) {
    absl::MutexLock lock(&mu_);
    blocked_ = blocked;
  }

  // Returns the reviews so far: "token secret", "bob get pods".
  std::vector<std::string> reviews() const {
    absl::MutexLock lock(&mu_);
    return reviews_;
  }
  size_t count() const { return reviews().size(); }
  // Returns the spec of the last review.
  json::Value last_spec() const {
    absl::MutexLock lock(&mu_);
    return last_spec_;
  }
  absl::Duration last_timeout() const {
    absl::MutexLock lock(&mu_);
    return last_timeout_;
  }

  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                          const base::StopToken& stop) override {
    const base::StopFlag stopped(mu_, stop);
    const json::Value review = *json::Parse(request.body);
    absl::MutexLock lock(&mu_);
    const bool of_token = absl::StrContains(request.path, "tokenreviews");
    last_spec_ = review["spec"];
    last_timeout_ = request.timeout;
    reviews_.push_back(of_token ? "token " + last_spec_["token"].ToString() : RightOf(last_spec_));
    const auto may_go = [&]() ABSL_SHARED_LOCKS_REQUIRED(mu_) {
      return !blocked_ || stopped.IsSet();
    };
    mu_.Await(absl::Condition(&may_go));
    if (stopped.IsSet()) return absl::CancelledError("stopped");
    if (!failures_.empty()) {
      const int code = failures_.front();
      failures_.erase(failures_.begin());
      if (code == 0) return absl::UnavailableError("no connection");
      return kube::HttpResponse{.code = code, .body = "{}"};
    }
    json::Value answer = review;
    answer.Set("status", of_token ? TokenStatus(review) : AccessStatus(review));
    return kube::HttpResponse{.code = 201, .body = json::Write(answer)};
  }

  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest&, kube::StreamCallbacks) override {
    return nullptr;
  }

 private:
  static std::string RightOf(const json::Value& spec) {
    const json::Value& r = spec["resourceAttributes"];
    const std::string who = spec["user"].ToString() + " ";
    if (!r.is_object()) {
      const json::Value& other = spec["nonResourceAttributes"];
      return absl::StrCat(who, other["verb"].AsString(), " ", other["path"].AsString());
    }
    std::string right = absl::StrCat(who, r["verb"].AsString(), " ", r["resource"].AsString());
    for (const char* part : {"subresource", "name"}) {
      if (r.Has(part)) absl::StrAppend(&right, "/", r[part].AsString());
    }
    return right;
  }

  json::Value TokenStatus(const json::Value& review) const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    const auto known = tokens_.find(review["spec"]["token"].ToString());
    if (known == tokens_.end()) {
      return json::Value::Object({{"authenticated", false}, {"error", "invalid bearer token"}});
    }
    return json::Value::Object({{"authenticated", true}, {"user", known->second}});
  }

  json::Value AccessStatus(const json::Value& review) const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    const bool allowed = allow_all_ || allowed_.count(RightOf(review["spec"])) > 0;
    json::Value status = json::Value::Object({{"allowed", allowed}});
    if (!allowed) status.Set("reason", "no rule allows it");
    return status;
  }

  mutable absl::Mutex mu_;
  std::vector<int> failures_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, json::Value> tokens_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> allowed_ ABSL_GUARDED_BY(mu_);
  bool allow_all_ ABSL_GUARDED_BY(mu_) = false;
  bool blocked_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::string> reviews_ ABSL_GUARDED_BY(mu_);
  json::Value last_spec_ ABSL_GUARDED_BY(mu_);
  absl::Duration last_timeout_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tests

#endif  // TESTS_KUBE_AGGREGATION_REVIEW_SERVER_H_
