#include "lens/serve/exchange.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lens/serve/bounds.h"
#include "lens/serve/shown.h"

namespace lens::serve {

Exchange::Exchange(base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder,
                   base::Timers& timers, const base::StopToken& server_stop)
    : request_(std::move(request)),
      responder_(std::move(responder)),
      timers_(timers),
      on_server_stop_(server_stop, [source = source_]() mutable { source.request_stop(); }) {
  responder_->OnClosed([source = source_]() mutable { source.request_stop(); });
}

Exchange::~Exchange() {
  if (patience_ > absl::ZeroDuration()) timers_.Cancel(timer_);
  if (is_answered_) return;
  responder_->Send(ErrorAnswer(absl::ResourceExhaustedError(
      "too many questions are being answered at the moment: try again in a few seconds")));
}

void Exchange::EndAfter(absl::Duration patience) {
  patience_ = patience;
  timer_ = timers_.After(patience, [source = source_, is_late = is_late_]() mutable {
    *is_late = true;
    source.request_stop();
  });
}

void Exchange::OnEnd(std::function<void()> callback) {
  on_end_.emplace(source_.get_token(), std::move(callback));
}

void Exchange::Send(const absl::StatusOr<json::Value>& answer) {
  if (!answer.ok()) {
    return Send(ErrorAnswer(
        *is_late_ ? absl::DeadlineExceededError(absl::StrCat("the answer was not complete within ",
                                                             absl::FormatDuration(patience_), ": ",
                                                             answer.status().message()))
                  : answer.status()));
  }
  base::HttpResponse response = JsonAnswer(200, *answer);
  const absl::Status length = CheckLength(response.body.size());
  Send(length.ok() ? std::move(response) : ErrorAnswer(length));
}

void Exchange::Send(base::HttpResponse response) {
  is_answered_ = true;
  if (request_.method == "HEAD") response.body.clear();
  responder_->Send(std::move(response));
}

void Exchange::SendShared(const base::SharedBytes& json, base::HttpResponse head) {
  if (json->size() <= kPieceBytes || request_.method == "HEAD") {
    head.body = *json;
    return Send(std::move(head));
  }
  is_answered_ = true;
  head.stream_length = json->size();
  base::WritePieces(responder_->StartStream(std::move(head)),
                    [json, begin = size_t{0}]() mutable -> std::optional<base::SharedBytes> {
                      if (begin == json->size()) return std::nullopt;
                      const std::string piece = json->substr(begin, kPieceBytes);
                      begin += piece.size();
                      return std::make_shared<const std::string>(piece);
                    });
}

}  // namespace lens::serve
