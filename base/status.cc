#include "base/status.h"

#include "base/log.h"

namespace base {
namespace {

constexpr char kTerminalPayload[] = "base/terminal-error";

// How many bytes of messages an ErrorList joins before it leaves out the rest.
constexpr size_t kMostBytes = 32 << 10;

absl::Status WithMessage(const absl::Status& status, absl::string_view message) {
  absl::Status result(status.code(), message);
  status.ForEachPayload([&](absl::string_view type_url, const absl::Cord& payload) {
    result.SetPayload(type_url, payload);
  });
  return result;
}

// Orders errors by how well they stand for several: best one that a retry may mend, then a terminal
// one, then a conflict, which is retried without a report.
int Weight(const absl::Status& status) {
  if (absl::IsAborted(status)) return 0;
  return IsTerminal(status) ? 1 : 2;
}

}  // namespace

absl::Status AnnotateMessage(const absl::Status& status, absl::string_view context) {
  if (status.ok() || context.empty()) return status;
  return WithMessage(status, absl::StrCat(context, ": ", status.message()));
}

void IgnoreError(const absl::Status& status, absl::string_view why) {
  if (status.ok() || !VlogOn(1)) return;
  LogInfo("error ignored", {{"why", why}, {"err", status}});
}

absl::Status Terminal(const absl::Status& status) {
  absl::Status terminal = status;
  terminal.SetPayload(kTerminalPayload, absl::Cord());
  return terminal;
}

bool IsTerminal(const absl::Status& status) {
  return status.GetPayload(kTerminalPayload).has_value();
}

void ErrorList::Add(const absl::Status& status) {
  if (status.ok()) return;
  const bool with_conflict = !first_.ok() && (absl::IsAborted(first_) || absl::IsAborted(status));
  if (first_.ok() || Weight(status) > Weight(first_)) first_ = status;
  if (with_conflict) first_.ErasePayload(kTerminalPayload);  // A retry may solve the conflict.
  // Somebody may have made the list long. Its first messages are enough to find the mistake.
  if (seen_.size() > kMostBytes) return;
  // Messages are remembered between NUL bytes, which no message contains.
  const std::string mark =
      absl::StrCat(absl::string_view("\0", 1), status.message(), absl::string_view("\0", 1));
  if (seen_.find(mark) != std::string::npos) return;
  absl::StrAppend(&joined_, count_ == 0 ? "" : ", ", status.message());
  seen_ += mark;
  ++count_;
  if (seen_.size() > kMostBytes) joined_ += ", and more";
}

absl::Status ErrorList::Join() const {
  if (count_ <= 1) return first_;
  return WithMessage(first_, absl::StrCat("[", joined_, "]"));
}

}  // namespace base
