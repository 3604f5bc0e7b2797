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

// A write has as many events as make this many bytes: a slow client does not hold much, and a write
// costs little for each event. What a batch has beyond them waits as references to the objects.
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

void WatchPump::ForgetBatch() {
  std::vector<MergedEvent>().swap(taken_);
  next_ = 0;
}

bool WatchPump::TakeBatch() {
  ForgetBatch();
  ended_ = !watch_->Take(kBatch, taken_);
  if (beginning_ != nullptr && watch_->HasBegun()) beginning_ = nullptr;
  return !ended_ && !taken_.empty();
}

bool WatchPump::Pump() {
  if (!stream_->HasRoom()) {
    stream_->OnRoom(OnReady());
    return false;
  }
  std::string bytes;
  bool more = true;
  while (more && bytes.size() < kWriteBytes) {
    if (next_ == taken_.size()) more = !ended_ && TakeBatch();
    while (next_ < taken_.size() && bytes.size() < kWriteBytes) AppendEvent(taken_[next_++], bytes);
  }
  const bool rest = next_ < taken_.size();
  if (!rest) ForgetBatch();
  const bool ends = ended_ && !rest;
  if (ends && !watch_->status().ok()) absl::StrAppend(&bytes, WatchErrorLine(watch_->status()));
  const bool written = bytes.empty() || stream_->Write(std::move(bytes));
  if (!ends && written) return more || rest;
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
