// Lists are read page by page, and each page is a task of its own. Between two pages of a kind with
// many objects the lane of its server gets to the tasks of other kinds, so that a list of minutes
// delays theirs by a page at most, and a server whose pages come in does not count as a slow one.
//
// One list is under way at a time. One that is asked for meanwhile begins at its end: the list
// before a watch first, because a list that catches up is of no use without a watch. A page that
// cannot be read ends the list with its error, and the pages before it stay in the store. The
// exception is a list that has outlived its continue token, which starts over once.
//
// Beyond the budget for memory a list is given up at the first object that would add to what was
// there at its beginning. One that brings no more is read to its end, so that objects that are gone
// are dropped, after which there may be room again.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "kube/cache/internal/reflector.h"
#include "kube/cache/internal/version_number.h"
#include "kube/client/list_budget.h"

namespace kube::internal {
namespace {

// Whole objects are large while they are values: the peak of a process that lists 10,000 pods of
// two servers is 65 MB with 500 in a page, and 57 MB with 200.
constexpr int64_t kPageOfWholeObjects = 200;

}  // namespace

struct Reflector::ListRun {
  ListRun(ListFor purpose, const base::Clock& clock) : purpose(purpose), budget(clock) {}

  const ListFor purpose;
  bool has_started_over = false;
  int64_t memory_before = 0;
  CacheWriter::Listing listing;
  ListOptions options;
  ListBudget budget;
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
  const auto run = std::make_shared<ListRun>(purpose, env_.clock);
  BeginList(*run);
  ReadPage(run);
}

void Reflector::BeginList(ListRun& run) {
  run.listing = writer_.BeginList();
  if (env_.memory.budget != nullptr) run.memory_before = env_.memory.budget->used();
  run.budget = ListBudget(env_.clock);
  run.options = {.label_selector = options_.label_selector};
  if (options_.keep_text) {
    run.options.limit = kPageOfWholeObjects;
  } else {
    run.options.fields = options_.fields;
  }
  absl::MutexLock lock(&mu_);
  own_versions_.Reset();
  // The watch may have reached versions of objects that are gone.
  run.listing.mark.newest = std::max(run.listing.mark.newest, NumberOf(version_));
}

void Reflector::ReadPage(const ListRunPtr& run) {
  const absl::StatusOr<bool> page = TakePage(*run);
  if (stopped()) return;
  if (absl::IsOutOfRange(page.status()) && !std::exchange(run->has_started_over, true)) {
    BeginList(*run);
    return ReadPageLater(run);
  }
  if (page.ok() && !*page) return ReadPageLater(run);
  if (!page.ok()) return EndList(run->purpose, page.status());
  StoreList(*run);
  EndList(run->purpose, IsOverBudget() ? NoteOverBudget() : absl::OkStatus());
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
  if (options_.keep_text && NumberOf(run.listing.version) < 0) {
    return absl::InternalError(absl::StrCat("the list of ", Name(),
                                            " has no resourceVersion that is a number: \"",
                                            run.listing.version, "\""));
  }
  for (Object& object : page->items) {
    if (!Wants(object.ns())) continue;
    ObjectPtr prepared = Prepare(std::move(object));
    if (!HasRoomFor(*prepared, run.memory_before)) return NoteOverBudget();
    writer_.ApplyListed(std::move(prepared), run.listing);
  }
  run.options.continue_token = page->continue_token;
  return run.options.continue_token.empty();
}

void Reflector::StoreList(const ListRun& run) {
  writer_.EndList(run.listing, env_.clock.SteadyNow());
  const bool went_back = Store::WentBack(run.listing.mark, NumberOf(run.listing.version));
  if (went_back) {
    base::LogWarning("the server went back to an earlier state, taken up",
                     {{"what", Name()}, {"resourceVersion", run.listing.version}});
  }
  absl::MutexLock lock(&mu_);
  // In that case the list has also replaced what was written meanwhile; the watch delivers it
  // again.
  if (went_back) own_versions_.Reset();
  version_ = run.listing.version;
}

void Reflector::EndList(ListFor purpose, const absl::Status& listed) {
  std::set<ListFor> due;
  {
    absl::MutexLock lock(&mu_);
    is_listing_ = false;
    due.swap(due_lists_);
  }
  if (purpose == ListFor::kWatch) {
    EndListBeforeWatch(listed);
  } else {
    EndListBesideWatch(listed);
  }
  for (const ListFor next : due) {
    RunAfter(absl::ZeroDuration(), next == ListFor::kWatch ? Step::kList : Step::kCatchUp);
  }
}

void Reflector::EndListBeforeWatch(const absl::Status& listed) {
  if (listed.ok()) {
    Succeeded();
    writer_.MarkSynced();
    return StartWatch();
  }
  Failed(listed);
  absl::Duration delay;
  {
    absl::MutexLock lock(&mu_);
    delay = backoff_.Next();
  }
  // All pages that fit are read again each time.
  if (absl::IsResourceExhausted(listed)) delay = std::max(delay, kFullPause);
  RunAfter(delay, Step::kList);
}

}  // namespace kube::internal
