// The watch says that it has something (OnReady), the stream that it has room again: both wake the
// pump. One thread of the pool at a time runs it; a wake during a run makes it run again, so that
// none is lost. While the client has no room, nothing is taken: the events stay in the history that
// all watches share.

#include "search/proxy/internal/watch_pump.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/search_keys.h"
#include "kube/server/api_errors.h"

namespace search {
namespace {

// A write has as many events as make this many bytes, and the rest of a batch: a slow client does
// not hold much, no object least of all, and a write costs little for each event.
constexpr size_t kWriteBytes = 128 << 10;
constexpr size_t kBatch = 8;

absl::string_view NameOf(MergedEvent::Type type) {
  switch (type) {
    case MergedEvent::Type::kAdded:
      return "ADDED";
    case MergedEvent::Type::kModified:
      return "MODIFIED";
    case MergedEvent::Type::kDeleted:
      return "DELETED";
    case MergedEvent::Type::kBookmark:
      return "BOOKMARK";
  }
  return "";
}

}  // namespace

std::string WatchErrorLine(const absl::Status& status) {
  return kube::server::ErrorFrame(
      absl::IsOutOfRange(status) ? kube::server::Expired(status.message()) : status);
}

WatchPump::WatchPump(const ReadRequest& read, kube::aggregation::WorkPool& pool, EventTexts& texts)
    : kind_(read.resource.gvk),
      is_plain_(read.form.kind == kube::server::AnswerForm::Kind::kPlain),
      columns_(read.columns),
      encoder_(read.form, read.include, read.printer),
      pool_(pool),
      texts_(texts) {}

std::function<void()> WatchPump::OnReady() {
  return [weak = weak_from_this()] {
    if (const auto pump = weak.lock()) pump->Wake();
  };
}

void WatchPump::Start(std::shared_ptr<MergedWatch> watch, std::shared_ptr<base::HttpStream> stream,
                      const base::StopToken& stop) {
  {
    const absl::MutexLock lock(&mu_);
    watch_ = std::move(watch);
    stream_ = std::move(stream);
    started_ = true;
  }
  // The stream keeps the pump until it is closed.
  stream_->OnClosed([self = shared_from_this()] { self->Finish(); });
  on_stop_.emplace(stop, [weak = weak_from_this()] {
    const auto pump = weak.lock();
    if (pump == nullptr) return;
    pump->stream_->Close();
    pump->Finish();
  });
  Wake();
}

void WatchPump::Wake() {
  {
    const absl::MutexLock lock(&mu_);
    if (!started_ || state_ == State::kOver) return;
    const bool idle = state_ == State::kIdle;
    // kAgain tells the thread that runs the pump to go round once more before it stops.
    state_ = idle ? State::kRunning : State::kAgain;
    if (!idle) return;
  }
  // A pool that has too much to do takes nothing more; then the one who woke the pump runs it.
  if (!pool_.Run([self = shared_from_this()] { self->Run(); })) Run();
}

void WatchPump::Run() {
  while (true) {
    const bool more = Pump();
    const absl::MutexLock lock(&mu_);
    if (state_ == State::kOver) return;
    if (!more && state_ == State::kRunning) {
      state_ = State::kIdle;
      return;
    }
    state_ = State::kRunning;
  }
}

bool WatchPump::AppendBatch(std::string& bytes) {
  std::vector<MergedEvent> events;
  ended_ = !watch_->Take(kBatch, events);
  for (const MergedEvent& event : events) AppendEvent(event, bytes);
  return !ended_ && !events.empty();
}

bool WatchPump::Pump() {
  if (!stream_->HasRoom()) {
    stream_->OnRoom(OnReady());
    return false;
  }
  std::string bytes;
  bool more = true;
  while (more && bytes.size() < kWriteBytes) more = AppendBatch(bytes);
  if (ended_ && !watch_->status().ok()) absl::StrAppend(&bytes, WatchErrorLine(watch_->status()));
  const bool written = bytes.empty() || stream_->Write(std::move(bytes));
  if (!ended_ && written) return more;
  if (written) stream_->Close();
  Finish();
  return false;
}

void WatchPump::AppendEvent(const MergedEvent& event, std::string& out) {
  if (event.object == nullptr) {
    out += encoder_.Bookmark(kind_, event.version, event.initial_events_end);
    return;
  }
  absl::StrAppend(&out, R"({"type":")", NameOf(event.type), R"(","object":)");
  if (is_plain_) {
    AppendObject(event, out);
  } else {
    const auto make = [&](const std::string& version) {
      return encoder_.Text(*DecodedObject(*event.object, event.cluster, version));
    };
    texts_.Append({event.object, columns_, absl::StrCat(encoder_.Key(), "|", event.cluster)},
                  event.version, make, out);
    encoder_.Sent();
  }
  out += "}\n";
}

void WatchPump::Finish() {
  {
    const absl::MutexLock lock(&mu_);
    if (std::exchange(state_, State::kOver) == State::kOver) return;
  }
  watch_->Stop();
}

}  // namespace search
