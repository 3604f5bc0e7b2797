// A line goes to the end of the queue, and whoever brought it, or has let more through, pumps: one
// thread at a time takes the first line while lag and gate allow it, and sends it without the lock.
// Another thread that comes meanwhile leaves its line, or its permission, to that one, which looks
// at both again under the lock before it stops. So nothing that may be sent stays behind.
//
// A line that is held is announced before it can be sent, so that OnHeldBack comes before
// OnDelivery, and sees the line among those that are held. Bookmarks that follow one another become
// one; without them a watch that is held for long would only fill with bookmarks. A watch with too
// many lines is cut, as an API server cuts a client that does not read.

#include "sandbox/http/held_watch.h"

#include <utility>

namespace sandbox {
namespace {

constexpr size_t kMaxLines = 100000;

bool IsBookmark(const WatchLine& line) { return line.type == Event::Type::kBookmark; }

}  // namespace

absl::string_view TypeText(Event::Type type) {
  switch (type) {
    case Event::Type::kAdded:
      return "ADDED";
    case Event::Type::kModified:
      return "MODIFIED";
    case Event::Type::kDeleted:
      return "DELETED";
    case Event::Type::kBookmark:
      break;
  }
  return "BOOKMARK";
}

HeldWatch::HeldWatch(Parts parts, Actions actions)
    : parts_(std::move(parts)), actions_(std::move(actions)) {}

void HeldWatch::Attach() {
  if (parts_.lag != nullptr) parts_.lag->Attach(weak_from_this());
  if (parts_.gate != nullptr) parts_.gate->Attach(weak_from_this());
}

bool HeldWatch::LagLets(const WatchLine& line) const {
  return parts_.lag == nullptr || line.version <= parts_.lag->version();
}

bool HeldWatch::Lets(const WatchLine& line) const {
  return LagLets(line) && (passes_ > 0 || parts_.gate == nullptr || parts_.gate->open());
}

// Whether a line that has just come to the end waits for more than its turn.
bool HeldWatch::IsHeld(const WatchLine& line) const {
  return !Lets(line) || (!lines_.empty() && !Lets(lines_.front()));
}

void HeldWatch::Push(WatchLine line) {
  bool is_held = false;
  bool is_full = false;
  const Delivery delivery = DeliveryOf(line);
  {
    absl::MutexLock lock(&mu_);
    if (ending_ != Ending::kNone) return;
    const bool plain = IsBookmark(line) && !line.ends_initial_events;
    const bool follows = !lines_.empty() && IsBookmark(lines_.back());
    if (plain && follows && !lines_.back().ends_initial_events) lines_.pop_back();
    is_held = announcing_ = IsHeld(line);
    lines_.push_back(std::move(line));
    is_full = lines_.size() > kMaxLines;
  }
  if (is_held) {
    parts_.interference->OnHeldBack(delivery);
    absl::MutexLock lock(&mu_);
    announcing_ = false;
  }
  is_full ? Cut() : Pump();
}

std::optional<WatchLine> HeldWatch::TakeNext() {
  const bool gate_is_open = parts_.gate == nullptr || parts_.gate->open();
  if (gate_is_open) passes_ = 0;
  if (lines_.empty() || (announcing_ && lines_.size() == 1)) return std::nullopt;
  if (!Lets(lines_.front())) return std::nullopt;
  WatchLine line = std::move(lines_.front());
  lines_.pop_front();
  if (passes_ > 0 && !IsBookmark(line)) --passes_;
  return line;
}

void HeldWatch::Pump() {
  mu_.Lock();
  if (pumper_ != std::thread::id()) {
    mu_.Unlock();
    return;
  }
  pumper_ = std::this_thread::get_id();
  while (true) {
    if (ending_ == Ending::kExpire || ending_ == Ending::kCut) {
      const Ending ending = std::exchange(ending_, Ending::kStopped);
      mu_.Unlock();
      Finish(ending);
      mu_.Lock();
    }
    const std::optional<WatchLine> line = TakeNext();
    if (!line.has_value()) break;
    mu_.Unlock();
    Send(*line);
    mu_.Lock();
  }
  pumper_ = std::thread::id();
  mu_.Unlock();
}

Delivery HeldWatch::DeliveryOf(const WatchLine& line) const {
  return {parts_.request, std::string(TypeText(line.type)), line.object, line.version,
          line.ends_initial_events};
}

void HeldWatch::Send(const WatchLine& line) {
  parts_.interference->OnDelivery(DeliveryOf(line));
  const bool half = !IsBookmark(line) && parts_.gate != nullptr && parts_.gate->TakeCutWithin();
  half ? actions_.send_half(line) : actions_.send(line);
}

void HeldWatch::Finish(Ending ending) {
  if (ending == Ending::kCut) return actions_.cut();
  parts_.interference->OnDelivery({parts_.request, "ERROR", nullptr, 0, false});
  actions_.expire();
}

const WatchLine* HeldWatch::NextEvent() const {
  int passing = passes_;  // May pass already, but have not been sent yet.
  for (const WatchLine& line : lines_) {
    if (!LagLets(line)) break;
    if (!IsBookmark(line) && passing-- <= 0) return &line;
  }
  return nullptr;
}

std::optional<int64_t> HeldWatch::NextVersion() const {
  absl::MutexLock lock(&mu_);
  const WatchLine* next = NextEvent();
  if (next == nullptr) return std::nullopt;
  return next->version;
}

bool HeldWatch::PassOne() {
  {
    absl::MutexLock lock(&mu_);
    if (NextEvent() == nullptr) return false;
    ++passes_;
  }
  Pump();
  return true;
}

std::vector<Delivery> HeldWatch::Held() const {
  absl::MutexLock lock(&mu_);
  std::vector<Delivery> out;
  for (const WatchLine& line : lines_) out.push_back(DeliveryOf(line));
  return out;
}

void HeldWatch::End(Ending ending) {
  std::deque<WatchLine> dropped;  // Destroyed after the lock is released.
  absl::MutexLock lock(&mu_);
  dropped.swap(lines_);
  if (ending_ != Ending::kStopped) ending_ = ending;
}

void HeldWatch::Expire() {
  End(Ending::kExpire);
  Pump();
}

void HeldWatch::Cut() {
  End(Ending::kCut);
  Pump();
}

void HeldWatch::Stop() { End(Ending::kStopped); }

bool HeldWatch::ended() const {
  absl::MutexLock lock(&mu_);
  return ending_ != Ending::kNone;
}

void HeldWatch::AwaitQuiet() {
  absl::MutexLock lock(&mu_);
  const auto is_quiet = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return pumper_ == std::thread::id() || pumper_ == std::this_thread::get_id();
  };
  mu_.Await(absl::Condition(&is_quiet));
}

}  // namespace sandbox
