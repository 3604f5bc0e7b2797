// The answers of a gateway are JSON documents, also those of errors: {"code": <gRPC code>,
// "message": ...}, in older versions with "error" beside it. A watch answers with one document a
// line, {"result": ...} or {"error": ...}, for as long as it runs; its request is a single message,
// after which the sending side is closed, so that nothing more can be asked of a running watch.

#include "search/registry/etcd_gateway.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/cut_text.h"
#include "base/status.h"

namespace search {
namespace {

// An etcd accepts requests up to 1.5 MB, and base64 adds a third; lists are read in pages.
constexpr size_t kMaxAnswer = 64 << 20;
constexpr size_t kMaxWatchLine = 16 << 20;
// etcd reports progress of quiet watches every ten minutes.
constexpr absl::Duration kLongestSilence = absl::Minutes(25);
constexpr size_t kShownBytes = 300;

// The codes of gRPC that have a meaning here.
constexpr int64_t kGrpcNotFound = 5;
constexpr int64_t kGrpcFailedPrecondition = 9;
constexpr int64_t kGrpcOutOfRange = 11;
constexpr int64_t kGrpcDeadline = 4;
constexpr int64_t kGrpcUnavailable = 14;

absl::Status ErrorOf(int http_code, const json::Value& body, absl::string_view text) {
  std::string message = body["message"].ToString();
  if (message.empty()) message = body["error"].ToString();
  if (message.empty()) message = base::CutText(text, kShownBytes);
  if (message.empty()) message = absl::StrCat("HTTP ", http_code);
  if (absl::StrContains(message, "has been compacted")) return absl::OutOfRangeError(message);
  switch (body["code"].AsInt(body["grpc_code"].AsInt())) {
    case kGrpcOutOfRange:
      return absl::OutOfRangeError(message);
    case kGrpcDeadline:
    case kGrpcUnavailable:
      return absl::UnavailableError(message);
    case kGrpcNotFound:
    case kGrpcFailedPrecondition:
      return absl::FailedPreconditionError(message);
    default:
      break;
  }
  if (http_code == 404) {
    return absl::FailedPreconditionError(
        absl::StrCat("the server has no v3 JSON gateway (is this etcd 3.4 or newer?): ", message));
  }
  if (http_code >= 500 || http_code == 429) return absl::UnavailableError(message);
  return absl::FailedPreconditionError(message);
}

bool IsWorthAnotherServer(const absl::Status& status, bool write) {
  // A write that may have been done must not be sent again: whether it took effect is the caller's
  // question, who knows what it wrote.
  if (kube::WasNotProcessed(status)) return true;
  return !write && (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status));
}

// Splits the body of a watch, and delivers its end once.
class WatchReader {
 public:
  explicit WatchReader(EtcdGateway::WatchCallbacks callbacks) : callbacks_(std::move(callbacks)) {}

  void OnHead(const kube::HttpResponse& head) { code_ = head.code; }

  void OnData(absl::string_view bytes) {
    if (ended_) return;
    absl::StrAppend(&text_, bytes);
    if (code_ != 200) {
      if (text_.size() > kMaxWatchLine) End(absl::UnavailableError("an endless error"));
      return;
    }
    size_t begin = 0;
    for (size_t end; !ended_ && (end = text_.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      OnLine(absl::string_view(text_).substr(begin, end - begin));
    }
    // The rest is the beginning of a line that has not arrived whole.
    text_.erase(0, begin);
    if (text_.size() > kMaxWatchLine) {
      End(absl::ResourceExhaustedError("a watch event is longer than 16 MB"));
    }
  }

  void OnEnd(const absl::Status& status) {
    if (code_ != 200 && code_ != 0) {
      const auto body = json::Parse(text_);
      return End(ErrorOf(code_, body.ok() ? *body : json::Value(), text_));
    }
    End(absl::IsCancelled(status) ? absl::UnavailableError(status.message()) : status);
  }

 private:
  void OnLine(absl::string_view line) {
    if (line.empty()) return;
    const auto document = json::Parse(line);
    if (!document.ok()) {
      return End(absl::UnavailableError(
          absl::StrCat("malformed watch event: ", document.status().message())));
    }
    if (const json::Value* error = document->Find("error"); error != nullptr) {
      return End(ErrorOf(500, *error, line));
    }
    const absl::Status status = callbacks_.on_result((*document)["result"]);
    if (!status.ok()) End(status);
  }

  void End(const absl::Status& status) {
    if (!std::exchange(ended_, true)) callbacks_.on_end(status);
  }

  const EtcdGateway::WatchCallbacks callbacks_;
  int code_ = 0;
  std::string text_;
  bool ended_ = false;
};

}  // namespace

int64_t EtcdInt(const json::Value& v) {
  int64_t n = 0;
  if (v.is_string() && absl::SimpleAtoi(v.AsString(), &n)) return n;
  return v.AsInt();
}

std::string EtcdBytes(absl::string_view bytes) { return absl::Base64Escape(bytes); }

absl::StatusOr<std::string> BytesFromEtcd(const json::Value& v) {
  std::string bytes;
  if (!absl::Base64Unescape(v.AsString(), &bytes)) {
    return absl::InternalError("etcd's answer has bytes that are not base64");
  }
  return bytes;
}

absl::StatusOr<json::Value> EtcdGateway::SendTo(const Server& server, const Call& call,
                                                absl::Duration timeout,
                                                const base::StopToken& stop) {
  kube::HttpRequest request;
  request.method = "POST";
  request.path = call.path;
  request.content_type = "application/json";
  request.body = json::Write(call.body);
  request.timeout = timeout;
  request.max_answer_bytes = kMaxAnswer;
  ASSIGN_OR_RETURN(const kube::HttpResponse answer, server.transport->Send(request, stop));
  auto document = json::Parse(answer.body);
  if (answer.code != 200) {
    return ErrorOf(answer.code, document.ok() ? *document : json::Value(), answer.body);
  }
  if (!document.ok()) {
    return absl::UnavailableError(
        absl::StrCat("the answer is not JSON: ", document.status().message()));
  }
  return document;
}

absl::StatusOr<json::Value> EtcdGateway::Send(const Call& call, const base::StopToken& stop) {
  const base::SteadyTime deadline = clock_.SteadyNow() + call.timeout;
  const size_t first = good_;
  std::vector<std::string> reasons;
  absl::Status last;
  for (size_t i = 0; i < servers_.size(); ++i) {
    const size_t at = (first + i) % servers_.size();
    const absl::Duration left = deadline - clock_.SteadyNow();
    if (left <= absl::ZeroDuration() || stop.stop_requested()) break;
    // A server that swallows requests must leave time for the others.
    const absl::Duration share = left / static_cast<int64_t>(servers_.size() - i);
    auto answer = SendTo(servers_[at], call, share, stop);
    // Also after a refusal: a server that refuses works, and the next call begins with it.
    if (answer.ok() || !IsWorthAnotherServer(answer.status(), call.write)) good_ = at;
    if (answer.ok()) return answer;
    last = answer.status();
    // Callers tell these apart (compaction means to list again), so they are not wrapped.
    if (absl::IsCancelled(last) || absl::IsOutOfRange(last)) return last;
    reasons.push_back(absl::StrCat(servers_[at].url, ": ", last.message()));
    if (!IsWorthAnotherServer(last, call.write)) break;
  }
  if (stop.stop_requested()) return absl::CancelledError("stopped");
  if (reasons.empty()) reasons.emplace_back("no time was left");
  const absl::StatusCode code = last.ok() ? absl::StatusCode::kDeadlineExceeded : last.code();
  return absl::Status(code, absl::StrCat("etcd does not answer: ", absl::StrJoin(reasons, "; ")));
}

std::unique_ptr<kube::HttpStream> EtcdGateway::Watch(const json::Value& request,
                                                     WatchCallbacks callbacks) {
  const size_t at = good_;
  callbacks.on_end = [this, at, on_end = std::move(callbacks.on_end)](absl::Status status) {
    // The next watch tries the next server, unless a call finds a better one first.
    if (!status.ok() && !absl::IsOutOfRange(status)) {
      size_t expected = at;
      good_.compare_exchange_strong(expected, (at + 1) % servers_.size());
    }
    on_end(base::Annotate(status, "etcd's watch"));
  };
  const auto reader = std::make_shared<WatchReader>(std::move(callbacks));
  kube::HttpRequest open;
  open.method = "POST";
  open.path = "/v3/watch";
  open.content_type = "application/json";
  open.body = json::Write(request);
  open.timeout = kLongestSilence;
  return servers_[at].transport->Open(
      open, {.on_head = [reader](const kube::HttpResponse& head) { reader->OnHead(head); },
             .on_data = [reader](absl::string_view bytes) { reader->OnData(bytes); },
             .on_end = [reader](absl::Status status) { reader->OnEnd(status); }});
}

}  // namespace search
