#include "sandbox/http/interfered_responder.h"

#include <algorithm>
#include <utility>

#include "kube/server/negotiation.h"

namespace sandbox {
namespace {

void SendPart(base::HttpResponder& to, base::HttpResponse response, size_t bytes) {
  for (const base::SharedBytes& more : response.more_body) response.body += *more;
  response.more_body.clear();
  const size_t whole = response.body.size();
  response.stream_length = whole;
  response.body.resize(std::min(bytes, whole == 0 ? 0 : whole - 1));
  const auto stream = to.StartStream(std::move(response));
  // A cut at once would throw away what has not been given to the network yet; the connection calls
  // this after it has done so.
  stream->OnRoom([stream] { stream->Abort(); });
}

}  // namespace

AnswerVerdict InterferedResponder::Verdict(int code) {
  parts_.outcome->code = code;
  return parts_.interference->OnExecuted(parts_.request, *parts_.outcome);
}

void InterferedResponder::Send(base::HttpResponse response) {
  const AnswerVerdict verdict = Verdict(response.code);
  switch (verdict.kind) {
    case AnswerVerdict::Kind::kPass:
      return parts_.inner->Send(std::move(response));
    case AnswerVerdict::Kind::kReplace:
      return parts_.inner->Send(kube::server::ErrorAnswer(ToStatus(verdict.error)));
    case AnswerVerdict::Kind::kClose:
      return parts_.inner->Abort();
    case AnswerVerdict::Kind::kCut:
      return SendPart(*parts_.inner, std::move(response), verdict.bytes);
    case AnswerVerdict::Kind::kWait:
      break;
  }
  parts_.note(verdict.hold);
  verdict.hold->Arrive([inner = parts_.inner, response = std::move(response)](bool released) {
    released ? inner->Send(response) : inner->Abort();
  });
}

std::shared_ptr<base::HttpStream> InterferedResponder::StartStream(base::HttpResponse head) {
  const AnswerVerdict verdict = Verdict(head.code);
  auto stream = parts_.inner->StartStream(std::move(head));
  const bool ends =
      verdict.kind == AnswerVerdict::Kind::kClose || verdict.kind == AnswerVerdict::Kind::kCut;
  if (ends) stream->Abort();
  return stream;
}

}  // namespace sandbox
