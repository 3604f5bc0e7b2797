// Lists are read page by page, and each page is a task of its own. Between two pages of a kind with
// many objects the lane of its server gets to the tasks of other kinds, so that a list of minutes
// delays theirs by a page at most, and a server whose pages come in does not count as a slow one.
//
// One list is under way at a time. One that is asked for meanwhile begins at its end: the list
// before a watch first, because a list that catches up is of no use without a watch. A page that
// cannot be read ends the list with its error, and the pages before it stay in the store. Objects
// for which there is no room are left out: see reflector_memory.cc.
//
// API servers honour a continue token until etcd is compacted, some five to ten minutes, and a kind
// may have more objects than can be read in that time. A list of more than a minute therefore has
// its watch run beside it, from the version of the list. When the token has expired, the answer has
// one with which the rest can be read as it is by then; what has changed meanwhile in the pages
// before it, the watch has reported. Without such a token, or such a watch, the list starts over,
// once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/byte_budget.h"
#include "base/log.h"
#include "base/status.h"
#include "kube/cache/internal/reflector.h"
#include "kube/cache/internal/version_number.h"
#include "kube/client/api_error.h"
#include "kube/client/list_budget.h"

namespace kube::internal {
namespace {

// Whole objects are large while they are values: the peak of a process that lists 10,000 pods of
// two servers is 65 MB with 500 in a page, and 57 MB with 200.
constexpr int64_t kPageOfWholeObjects = 200;
// The part of a server's budget that the names of the objects of one list may take, as a divisor.
// That is enough for 1.8 million objects where a server may take 1 GiB, and ends lists of objects
// that are not stored, which nothing else does within half an hour.
constexpr int64_t kMostForNames = 16;
constexpr absl::Duration kLongList = absl::Minutes(1);

}  // namespace

struct Reflector::ListRun {
  ListRun(ListFor purpose, const Environment& env)
      : purpose(purpose), budget(env.clock), names(env.memory.budget) {}

  const ListFor purpose;
  base::SteadyTime begun;
  bool has_started_over = false;
  bool has_watch = false;  // One runs beside it, from its version.
  bool is_first = false;   // Nothing has been listed before.
  // The objects are only counted, `measured` bytes so far: a first list has had no room before.
  bool measures = false;
  int64_t measured = 0;
  int left_outs = 0;        // As left_outs_ at the beginning.
  bool leaves_out = false;  // An object had no room.
  bool has_filled_up = false;
  CacheWriter::Listing listing;
  ListOptions options;
  ListBudget budget;
  base::ByteBudget::Charge names;
};

base::SteadyTime Reflector::last_page() const {
  absl::MutexLock lock(&mu_);
  return last_page_;
}

void Reflector::RequestList(ListFor purpose) {
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(is_listing_, true)) {
      due_lists_.insert(purpose);
      return;
    }
  }
  const auto run = std::make_shared<ListRun>(purpose, env_);
  {
    absl::MutexLock lock(&mu_);
    run->measures = !has_listed_ && has_not_fitted_;
  }
  BeginList(*run);
  ReadPage(run);
}

void Reflector::BeginList(ListRun& run) {
  run.listing = writer_.BeginList();
  run.begun = env_.clock.SteadyNow();
  run.has_watch = false;
  run.leaves_out = false;
  run.measured = 0;
  run.budget = ListBudget(env_.clock);
  run.names.Resize(0);
  run.options = {.label_selector = options_.label_selector, .field_selector = AskedFields()};
  if (options_.keep_text) {
    run.options.limit = kPageOfWholeObjects;
  } else {
    run.options.fields = options_.fields;
  }
  absl::MutexLock lock(&mu_);
  own_versions_.Reset();
  run.is_first = !has_listed_;
  run.left_outs = left_outs_;
  // The watch may have reached versions of objects that are gone.
  run.listing.mark.newest = std::max(run.listing.mark.newest, NumberOf(version_));
}

void Reflector::ReadPage(const ListRunPtr& run) {
  const absl::StatusOr<bool> page = TakePage(*run);
  if (stopped()) return;
  if (absl::IsOutOfRange(page.status())) {
    std::string rest = TokenForRest(page.status());
    if (!rest.empty() && IsFollowed(*run)) {
      run->options.continue_token = std::move(rest);
      return ReadPageLater(run);
    }
    if (!std::exchange(run->has_started_over, true)) {
      BeginList(*run);
      return ReadPageLater(run);
    }
  }
  if (page.ok() && !store().RemembersDeletionsSince(run->listing.mark)) {
    return EndList(
        *run, absl::UnavailableError(absl::StrCat("listing ", Name(),
                                                  ": more objects were deleted meanwhile than are "
                                                  "remembered; the list was given up")));
  }
  if (page.ok() && !*page) {
    WatchFromList(*run);
    return ReadPageLater(run);
  }
  if (!page.ok()) return EndList(*run, page.status());
  if (!TakeWhole(*run)) return EndList(*run, absl::OkStatus());
  BeginList(*run);
  ReadPageLater(run);
}

void Reflector::WatchFromList(ListRun& run) {
  const int64_t version = NumberOf(run.listing.version);
  if (run.purpose != ListFor::kWatch || run.has_watch || run.measures || version < 0) return;
  if (env_.clock.SteadyNow() - run.begun < kLongList) return;
  if (Store::WentBack(run.listing.mark, version)) return;
  run.has_watch = true;
  writer_.HoldProgress();
  {
    absl::MutexLock lock(&mu_);
    version_ = run.listing.version;
  }
  StartWatch();
}

bool Reflector::IsFollowed(const ListRun& run) const {
  absl::MutexLock lock(&mu_);
  if (run.purpose == ListFor::kCatchUp) return !watch_is_over_;
  // A watch that has ended is resumed, or has asked for another list.
  return run.has_watch && !due_lists_.contains(ListFor::kWatch);
}

bool Reflector::TakeWhole(ListRun& run) {
  if (std::exchange(run.measures, false)) return true;
  const size_t gone = StoreList(run);
  if (!run.leaves_out) NoteWhole(run.left_outs);
  // What is gone has made room for what had none before.
  return run.leaves_out && gone > 0 && !std::exchange(run.has_filled_up, true);
}

void Reflector::ReadPageLater(const ListRunPtr& run) {
  auto self = shared_from_this();
  const Step step = run->purpose == ListFor::kWatch ? Step::kList : Step::kCatchUp;
  LaneOf(step).RunAt(env_.clock.SteadyNow(), [self, run] {
    if (!self->stopped()) self->ReadPage(run);
  });
}

absl::StatusOr<bool> Reflector::TakePage(ListRun& run) {
  absl::StatusOr<ListPage> page =
      env_.client.List(resource_, AskedNamespace(), run.options, stop_.get_token());
  if (absl::IsResourceExhausted(page.status()) && run.options.limit > 1) {
    run.options.limit /= 2;  // The page is too large to be accepted.
    return false;
  }
  RETURN_IF_ERROR(page.status());
  {
    absl::MutexLock lock(&mu_);
    last_page_ = env_.clock.SteadyNow();
  }
  RETURN_IF_ERROR(base::Annotate(run.budget.Spend(*page), "listing ", Name()));
  if (run.listing.version.empty()) run.listing.version = page->resource_version;
  run.listing.latest = std::max(run.listing.latest, NumberOf(page->resource_version));
  if (options_.keep_text && NumberOf(run.listing.version) < 0) {
    return absl::InternalError(absl::StrCat("the list of ", Name(),
                                            " has no resourceVersion that is a number: \"",
                                            run.listing.version, "\""));
  }
  for (Object& object : page->items) {
    if (Wants(object)) RETURN_IF_ERROR(TakeListed(Prepare(std::move(object)), run));
  }
  RETURN_IF_ERROR(ChargeNames(run));
  run.options.continue_token = page->continue_token;
  return run.options.continue_token.empty();
}

absl::Status Reflector::TakeListed(ObjectPtr object, ListRun& run) {
  ObjectPtr equal = run.is_first ? HeldEqual(*object) : nullptr;
  if (run.measures) {
    if (equal == nullptr && env_.memory.budget != nullptr) run.measured += MemoryOf(*object);
    object.reset();
    const bool fits = env_.memory.budget == nullptr ||
                      env_.memory.budget->used() + run.measured <= MostForNewObjects();
    run.leaves_out = !fits;
    return fits ? absl::OkStatus() : NoRoomError();
  }
  if (equal != nullptr) {
    writer_.ApplyListed(std::move(equal), run.listing);
  } else if (HasRoomFor(*object)) {
    writer_.ApplyListed(std::move(object), run.listing);
  } else {
    if (!std::exchange(run.leaves_out, true) && !run.is_first) NoteLeftOut();
    if (run.is_first) return NoRoomError();
    writer_.NoteListed(object->key(), run.listing);
  }
  return absl::OkStatus();
}

absl::Status Reflector::ChargeNames(ListRun& run) const {
  if (env_.memory.budget == nullptr) return absl::OkStatus();
  const size_t bytes = run.budget.bytes() + run.listing.seen.capacity() * (sizeof(size_t) + 1);
  run.names.Resize(bytes);
  if (static_cast<int64_t>(bytes) <= env_.memory.budget->limit() / kMostForNames) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("listing ", Name(), ": the names of the objects alone take ", bytes >> 10,
                   " KiB of memory; the list was given up"));
}

size_t Reflector::StoreList(const ListRun& run) {
  const size_t gone = writer_.EndList(run.listing, env_.clock.SteadyNow());
  const bool went_back = Store::WentBack(run.listing.mark, NumberOf(run.listing.version));
  if (went_back) {
    base::LogWarning("the server went back to an earlier state, taken up",
                     {{"what", Name()}, {"resourceVersion", run.listing.version}});
  }
  absl::MutexLock lock(&mu_);
  // In that case the list has also replaced what was written meanwhile; the watch delivers it
  // again.
  if (went_back) own_versions_.Reset();
  if (!run.has_watch) version_ = run.listing.version;
  return gone;
}

void Reflector::EndList(const ListRun& run, const absl::Status& listed) {
  std::set<ListFor> due;
  {
    absl::MutexLock lock(&mu_);
    is_listing_ = false;
    due.swap(due_lists_);
  }
  if (run.purpose == ListFor::kWatch) {
    EndListBeforeWatch(run, listed);
  } else {
    EndListBesideWatch(listed);
  }
  for (const ListFor next : due) {
    RunAfter(absl::ZeroDuration(), next == ListFor::kWatch ? Step::kList : Step::kCatchUp);
  }
}

void Reflector::EndListBeforeWatch(const ListRun& run, const absl::Status& listed) {
  if (listed.ok()) {
    {
      absl::MutexLock lock(&mu_);
      has_listed_ = true;
    }
    Succeeded();
    writer_.MarkSynced();
    if (!run.has_watch) StartWatch();
    return;
  }
  if (run.has_watch) EndWatch();
  Failed(listed);
  const bool had_no_room = run.is_first && run.leaves_out;
  absl::Duration delay;
  {
    absl::MutexLock lock(&mu_);
    has_not_fitted_ |= had_no_room;
    delay = had_no_room ? room_backoff_.Next() : backoff_.Next();
  }
  if (had_no_room && env_.memory.on_exceeded) env_.memory.on_exceeded();
  if (absl::IsResourceExhausted(listed)) {
    if (run.is_first) writer_.DropAll();
    if (!had_no_room) delay = std::max(delay, kLongPause);
  }
  RunAfter(delay, Step::kList);
}

}  // namespace kube::internal
