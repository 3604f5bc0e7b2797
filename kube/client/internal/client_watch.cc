// The head of the answer decides: after a 200 the bytes are events, one a line; after any other
// code they are collected as an error, up to a bound of size and time. A line whose version the
// handler knows already is not parsed. A watch ends once (ended_): with the server's clean end,
// with an ERROR event, with a malformed line, with a broken connection, and, as if the server had
// ended it, when it has gone on for twice its time. An event that has not ended a minute after its
// beginning counts as a broken connection. All functions but Start are callbacks of the
// stream, which makes them one at a time, so that nothing is locked.

#include "kube/client/internal/client_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/client/api_error.h"
#include "kube/client/internal/payload.h"

namespace kube {
namespace {

// An error's Status object is small and arrives at once; a longer body is cut off here.
constexpr size_t kMaxErrorBody = 64 << 10;
constexpr absl::Duration kLongestErrorAnswer = absl::Seconds(32);
// Servers write each event at once. Without this limit a server could have the beginnings of events
// held for ever, by a byte now and then.
constexpr absl::Duration kLongestLine = absl::Minutes(1);

WatchHandler::EventType TypeOf(WatchEvent::Type type) {
  switch (type) {
    case WatchEvent::Type::kModified:
      return WatchHandler::EventType::kModified;
    case WatchEvent::Type::kDeleted:
      return WatchHandler::EventType::kDeleted;
    case WatchEvent::Type::kBookmark:
      return WatchHandler::EventType::kBookmark;
    default:
      return WatchHandler::EventType::kAdded;
  }
}

}  // namespace

ClientWatch::ClientWatch(Caller& caller, const Subject& subject, WatchHandler& handler)
    : caller_(caller),
      gvk_(subject.gvk),
      what_(subject.what),
      wanted_(WantedFields(subject.fields, "object", {"type"})),
      handler_(handler),
      decoder_(WatchDecoder::kMaxLineBytes, caller.memory()) {}

void ClientWatch::Start(const HttpRequest& request, absl::Duration longest) {
  end_at_ = caller_.clock().SteadyNow() + 2 * longest;
  StreamCallbacks callbacks;
  callbacks.on_head = [this](const HttpResponse& head) { OnHead(head); };
  callbacks.on_data = [this](absl::string_view bytes) { OnData(bytes); };
  callbacks.on_end = [this](absl::Status status) { OnEnd(std::move(status)); };
  stream_ = caller_.transport().Open(request, std::move(callbacks));
}

void ClientWatch::OnHead(const HttpResponse& head) {
  caller_.Count("GET", absl::StrCat(head.code));
  if (head.code == 200) return handler_.OnOpen();
  error_answer_ = head;
  end_at_ = caller_.clock().SteadyNow() + kLongestErrorAnswer;
}

void ClientWatch::OnData(absl::string_view bytes) {
  if (ended_) return;
  if (error_answer_.code != 0) return OnErrorData(bytes);
  const absl::Status status =
      decoder_.Feed(bytes, [this](absl::string_view line) { return OnLine(line); });
  if (!status.ok()) return End(status);
  if (const absl::Status slow = CheckUnfinishedLine(); !slow.ok()) return End(slow);
  // Ends the watch as if the server had ended it in time, so that it is resumed.
  if (caller_.clock().SteadyNow() >= end_at_) End(absl::OkStatus());
}

absl::Status ClientWatch::CheckUnfinishedLine() {
  if (!decoder_.is_inside_line()) return absl::OkStatus();
  const base::SteadyTime now = caller_.clock().SteadyNow();
  if (std::exchange(lines_before_, decoder_.lines()) != decoder_.lines()) line_began_ = now;
  if (now - line_began_ <= kLongestLine) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("an event has not ended after ", absl::FormatDuration(kLongestLine)));
}

void ClientWatch::OnErrorData(absl::string_view bytes) {
  absl::StrAppend(&error_answer_.body, bytes.substr(0, kMaxErrorBody - error_answer_.body.size()));
  const bool late = caller_.clock().SteadyNow() >= end_at_;
  if (late || error_answer_.body.size() == kMaxErrorBody) EndWithAnswer();
}

absl::Status ClientWatch::OnLine(absl::string_view line) {
  const absl::string_view version = VersionOfStateEvent(line);
  if (!version.empty() && handler_.OnKnownState(version)) return absl::OkStatus();
  auto event = ParseWatchEvent(line, wanted_.has_value() ? &*wanted_ : nullptr);
  if (!event.ok()) return base::Annotate(event.status(), "malformed watch event");
  if (event->type == WatchEvent::Type::kError) return ErrorOfStatusObject(event->object, 500);
  handler_.OnEvent(TypeOf(event->type), TakeObject(std::move(event->object), gvk_));
  return absl::OkStatus();
}

void ClientWatch::OnEnd(absl::Status status) {
  if (error_answer_.code != 0) return EndWithAnswer();
  if (absl::IsCancelled(status)) status = absl::UnavailableError(status.message());
  End(status.ok() ? decoder_.Finish() : status);
}

void ClientWatch::End(const absl::Status& status) {
  if (std::exchange(ended_, true)) return;
  handler_.OnEnd(base::Annotate(status, what_));
}

void ClientWatch::EndWithAnswer() {
  if (std::exchange(ended_, true)) return;
  handler_.OnEnd(ErrorOfResponse(error_answer_, what_));
}

}  // namespace kube
