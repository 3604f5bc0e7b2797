// What happens when a server has more objects than its budget has room for.
//
// Once a kind has been listed, lists are read to their end and the watch goes on, whatever they
// bring. Deletions are applied, and so are new states of objects that are held; an object that is
// not held is stored while there is room, else it is left out. As long as anything is left out,
// last_error() and LeavesOut() say so, because then a missing object need not be gone, and the kind
// is listed again and again (FillUp), seldom, until a list has left nothing out.
//
// A kind whose first list does not fit is of no use: nothing says that it is whole. So it gives
// back what it has taken, at once, and before the next try its objects are only counted, lest it
// take the room of other kinds again and again. The first list of another kind that has met such a
// moment follows soon.
//
// The last part of the budget is for objects that are held already and grow, and for events that
// have begun; without it, new states would have no room as soon as the budget is filled. Where even
// that is full, the former state stays, which counts as left out.

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_size.h"
#include "kube/cache/encoded_object.h"
#include "kube/cache/internal/reflector.h"

namespace kube::internal {
namespace {

// The part of the budget that only objects which are held already may fill, as a divisor.
constexpr int64_t kPartForGrowth = 16;

}  // namespace

bool Reflector::LeavesOut() const {
  absl::MutexLock lock(&mu_);
  return !left_out_.ok();
}

int64_t Reflector::MostForNewObjects() const {
  const int64_t limit = env_.memory.budget->limit();
  const auto share = static_cast<int64_t>(static_cast<double>(limit) * env_.memory.share);
  return share - share / kPartForGrowth;
}

int64_t Reflector::MemoryOf(const Object& object) const {
  return static_cast<int64_t>(options_.keep_text ? Encoded(object).memory()
                                                 : json::MemoryOf(object.root()));
}

bool Reflector::HasRoomFor(const Object& object) const {
  if (env_.memory.budget == nullptr) return true;
  const base::ByteBudget& budget = *env_.memory.budget;
  const int64_t used = budget.used();
  if (used <= MostForNewObjects()) return true;
  const ObjectPtr held = store().Find(object.key());
  if (held == nullptr) return false;
  const int64_t freed = MemoryOf(*held);
  return used - freed <= budget.limit() || MemoryOf(object) <= freed;
}

ObjectPtr Reflector::HeldEqual(const Object& object) const {
  if (!options_.held || !options_.keep_text) return nullptr;
  ObjectPtr held = options_.held(object.key());
  if (held == nullptr || held->resource_version() != object.resource_version()) return nullptr;
  // One that is charged to another budget would count nowhere here.
  const EncodedObject& its = Encoded(*held);
  const EncodedObject& ours = Encoded(object);
  const bool equal = its.dictionary() == dictionary_.get() && held->root() == object.root() &&
                     its.text() == ours.text();
  return equal ? held : nullptr;
}

absl::Status Reflector::LeavesOutError() const {
  return absl::ResourceExhaustedError(
      absl::StrCat(Name(), ": the objects of ", server_, " take more than the ",
                   env_.memory.budget->limit() >> 20,
                   " MiB of memory that it may take; objects without room are left out"));
}

absl::Status Reflector::NoRoomError() const {
  return absl::ResourceExhaustedError(
      absl::StrCat(Name(), ": the objects of ", server_, " take more than the ",
                   env_.memory.budget->limit() >> 20,
                   " MiB of memory that it may take; there is no room for those of this kind"));
}

void Reflector::NoteLeftOut() {
  absl::Duration delay;
  bool is_new, schedule;
  {
    absl::MutexLock lock(&mu_);
    ++left_outs_;
    is_new = left_out_.ok();
    if (is_new) left_out_ = LeavesOutError();
    schedule = !std::exchange(fill_up_is_due_, true);
    if (schedule) delay = room_backoff_.Next();
  }
  if (is_new) {
    env_.failures.Failed(Self(), LeavesOutError(), env_.clock.SteadyNow());
    if (stopped()) env_.failures.Forget(Self());  // Stop may have called it just before.
  }
  if (!schedule) return;
  if (env_.memory.on_exceeded) env_.memory.on_exceeded();
  RunAfter(delay, Step::kFillUp);
}

void Reflector::NoteWhole(int left_out_before) {
  {
    absl::MutexLock lock(&mu_);
    if (left_outs_ != left_out_before) return;  // By the watch, meanwhile.
    room_backoff_.Reset();
    if (left_out_.ok()) return;
    left_out_ = absl::OkStatus();
  }
  env_.failures.Succeeded(Self());
  LogFailures();
}

void Reflector::FillUp() {
  absl::Duration delay;
  {
    absl::MutexLock lock(&mu_);
    fill_up_is_due_ = false;
    if (left_out_.ok()) return;
    // A list that is under way, or that precedes the next watch, may be the one that fills up.
    if (is_listing_ || watch_is_over_) {
      fill_up_is_due_ = true;
      delay = room_backoff_.Next();
    } else {
      watch_is_over_ = true;
      watch_is_open_ = false;
    }
  }
  if (delay > absl::ZeroDuration()) return RunAfter(delay, Step::kFillUp);
  LeaveWatch();
  RequestList(ListFor::kWatch);
}

}  // namespace kube::internal
