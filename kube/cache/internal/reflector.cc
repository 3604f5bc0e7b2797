// How it works. A reflector is in one of two steps, which are tasks of the pool: it lists, or it
// has a watch running. After a list the store holds what the server had at the list's version,
// handlers have been notified of the differences, and the watch begins at that version. Each event
// advances the version, so that a watch that ends can be resumed from there.
//
// How a watch ends decides about the next step. After a clean end, a broken connection or a
// refusal that may pass (CanResumeAfter) it is resumed at once or after a back-off; a version that
// is gone, an event that is older than the watch (the server went back to an earlier state), and
// too many failures in a row lead to a list. Failed lists are repeated with the same back-off, for
// ever.
//
// An object that this process has written is put into the store when the answer comes
// (Informer::Written); the watch reports that version again, and OnKnownState skips it.
#include "kube/cache/internal/reflector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"

namespace kube::internal {
namespace {

constexpr absl::Duration kFirstDelay = absl::Milliseconds(800);  // As in client-go's reflector.
constexpr absl::Duration kLongestDelay = absl::Seconds(30);
// A watch that ends sooner and without an event counts as a failure, so that a server that closes
// every watch at once is not asked in a busy loop.
constexpr absl::Duration kHealthyAfter = absl::Seconds(5);
// This number of failed watches in a row without an event leads to a list: kRefusedWatches when the
// server refused them, kBrokenWatches when no answer came (a list would not get through either, but
// a version may have gone while the server was away).
constexpr int kRefusedWatches = 3;
constexpr int kBrokenWatches = 10;

// Returns -1 for a version that cannot be compared.
int64_t NumberOf(absl::string_view version) {
  int64_t number = -1;
  return absl::SimpleAtoi(version, &number) ? number : -1;
}

LabelSelector ParseOrNothing(const std::string& text) {
  absl::StatusOr<LabelSelector> selector = LabelSelector::Parse(text);
  return selector.ok() ? *std::move(selector) : LabelSelector::Nothing();
}

// Returns whether the watch may be resumed from its last version after this status; otherwise a
// list is needed.
bool CanResumeAfter(const absl::Status& status) {
  return status.ok() || absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status);
}

}  // namespace

Reflector::Reflector(Resource resource, InformerOptions options, Environment environment)
    : resource_(std::move(resource)),
      options_(std::move(options)),
      selector_(ParseOrNothing(options_.label_selector)),
      server_(environment.client.name()),
      env_(environment),
      backoff_(kFirstDelay, kLongestDelay) {}

Reflector::~Reflector() { Stop(); }

void Reflector::Start() { RunAfter(absl::ZeroDuration(), Step::kList); }

void Reflector::Stop() {
  // The destructor calls this again, when the environment may be gone.
  if (stop_.request_stop()) env_.failures.Forget(Self());
  writer_.Stop();
  // Declared before the lock, so that its end is awaited after the unlock.
  std::unique_ptr<Watch> watch;
  absl::MutexLock lock(&watch_mu_);
  watch.swap(watch_);
}

void Reflector::AddIndex(const std::string& name, IndexFn fn) {
  writer_.mutable_store().AddIndex(name, std::move(fn));
}

int64_t Reflector::AddHandler(EventHandler handler) {
  return writer_.AddHandler(std::move(handler));
}

void Reflector::RemoveHandler(int64_t id) { writer_.RemoveHandler(id); }

absl::Status Reflector::WaitForSync(base::SteadyTime deadline, const base::StopToken& stop) const {
  if (writer_.AwaitSynced(env_.clock, deadline, stop)) return absl::OkStatus();
  if (stop.stop_requested() || stopped()) {
    return absl::CancelledError(absl::StrCat("waiting for ", Name(), ": stopped"));
  }
  const absl::Status error = last_error();
  return absl::DeadlineExceededError(absl::StrCat(Name(), " could not be listed in time",
                                                  error.ok() ? "" : ": ", error.message()));
}

absl::Status Reflector::last_error() const {
  absl::MutexLock lock(&mu_);
  return last_error_;
}

void Reflector::Written(const Object& object) {
  if (ResourceVersionOf(object) < 0) return;  // This is not a state of the server (a dry run).
  ObjectPtr prepared = Prepare(object);
  if (selector_.Matches(object.labels())) {
    writer_.Apply(std::move(prepared), false);
    absl::MutexLock lock(&mu_);
    own_versions_.Add(ResourceVersionOf(object));
  } else {
    writer_.Delete(std::move(prepared));
  }
}

void Reflector::RunAfter(absl::Duration delay, Step step) {
  auto self = shared_from_this();
  env_.lane.RunAt(env_.clock.SteadyNow() + delay, [self, step] {
    if (self->stopped()) return;
    self->LogFailures();
    if (step == Step::kList) {
      self->ListThenWatch();
    } else {
      self->StartWatch();
    }
  });
}

void Reflector::ListThenWatch() {
  const absl::Status listed = List();
  if (stopped()) return;
  if (!listed.ok()) {
    Failed(listed);
    absl::Duration delay;
    {
      absl::MutexLock lock(&mu_);
      delay = backoff_.Next();
    }
    RunAfter(delay, Step::kList);
    return;
  }
  Succeeded();
  writer_.MarkSynced();
  StartWatch();
}

absl::Status Reflector::List() {
  const absl::Status status = ListPages();
  // A long list can outlive its continue token; the second attempt starts from a new version.
  return absl::IsOutOfRange(status) && !stopped() ? ListPages() : status;
}

absl::Status Reflector::ListPages() {
  CacheWriter::Listing listing = writer_.BeginList();
  {
    absl::MutexLock lock(&mu_);
    own_versions_.Reset();
    // The watch may have reached versions of objects that are gone.
    listing.mark.newest = std::max(listing.mark.newest, NumberOf(version_));
  }
  ListOptions options{.label_selector = options_.label_selector, .fields = options_.fields};
  do {
    absl::StatusOr<ListPage> page = env_.client.List(resource_, "", options, stop_.get_token());
    if (absl::IsResourceExhausted(page.status()) && options.limit > 1) {
      options.limit /= 2;  // The page is too large to be accepted.
      continue;
    }
    RETURN_IF_ERROR(page.status());
    if (listing.version.empty()) listing.version = page->resource_version;
    for (Object& object : page->items) {
      writer_.ApplyListed(Prepare(std::move(object)), listing);
    }
    options.continue_token = page->continue_token;
    if (options.continue_token.empty()) break;
  } while (!stopped());
  if (stopped()) return absl::CancelledError("stopped");
  writer_.EndList(listing);
  const bool went_back = Store::WentBack(listing.mark, NumberOf(listing.version));
  if (went_back) {
    base::LogWarning("the server went back to an earlier state, taken up",
                     {{"what", Name()}, {"resourceVersion", listing.version}});
  }
  absl::MutexLock lock(&mu_);
  // In that case the list has also replaced what was written meanwhile; the watch delivers it
  // again.
  if (went_back) own_versions_.Reset();
  version_ = listing.version;
  return absl::OkStatus();
}

void Reflector::StartWatch() {
  WatchOptions options{.label_selector = options_.label_selector, .fields = options_.fields};
  {
    absl::MutexLock lock(&mu_);
    options.resource_version = version_;
    watch_started_ = env_.clock.SteadyNow();
    watch_delivered_ = false;
    watch_is_over_ = false;
    watch_from_ = NumberOf(version_);
  }
  std::unique_ptr<Watch> ended;
  absl::MutexLock lock(&watch_mu_);
  if (stopped()) return;
  ended.swap(watch_);
  ended.reset();  // This way no call of the old watch comes after the first of the new one.
  watch_ = env_.client.StartWatch(resource_, "", options, *this);
}

void Reflector::OnEvent(EventType type, Object object) {
  if (stopped() || !Advance(object.resource_version())) return;
  Succeeded();
  if (type == EventType::kBookmark) return;
  ObjectPtr prepared = Prepare(std::move(object));
  if (type == EventType::kDeleted) {
    writer_.Delete(std::move(prepared));
  } else {
    writer_.Apply(std::move(prepared), false);
  }
}

bool Reflector::OnKnownState(absl::string_view resource_version) {
  int64_t number = -1;
  if (stopped() || !absl::SimpleAtoi(resource_version, &number)) return false;
  {
    absl::MutexLock lock(&mu_);
    if (watch_is_over_ || number < watch_from_ || !own_versions_.Pass(number)) return false;
    version_ = std::string(resource_version);
    watch_delivered_ = true;
    failed_watches_ = 0;
  }
  Succeeded();
  return true;
}

// Records an event at `version`. Returns false when the watch is over because its server went back
// to an earlier state; then a list has been scheduled.
bool Reflector::Advance(absl::string_view version) {
  absl::Duration delay;
  {
    absl::MutexLock lock(&mu_);
    if (watch_is_over_) return false;
    const int64_t number = NumberOf(version);
    if (number < 0 || number >= watch_from_) {
      if (!version.empty()) version_ = std::string(version);
      if (number >= 0) own_versions_.Pass(number);
      watch_delivered_ = true;
      failed_watches_ = 0;
      return true;
    }
    watch_is_over_ = true;
    delay = backoff_.Next();
  }
  RunAfter(delay, Step::kList);
  return false;
}

void Reflector::OnEnd(absl::Status status) {
  if (stopped()) return;
  const bool clean = status.ok() || absl::IsOutOfRange(status);
  absl::Duration delay;
  bool resume = CanResumeAfter(status);
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(watch_is_over_, true)) return;
    if (WatchWasHealthy()) backoff_.Reset();
    const bool first = backoff_.failures() == 0;
    delay = backoff_.Next();
    if (clean && first) delay = absl::ZeroDuration();
    if (WatchWasHealthy()) failed_watches_ = 0;
    // A server that answers but refuses to watch from this version may accept the version of a new
    // list.
    const int tries = FailureOf(status).code != 0 ? kRefusedWatches : kBrokenWatches;
    if (!status.ok() && ++failed_watches_ >= tries) resume = false;
    if (!resume) failed_watches_ = 0;
  }
  if (!clean) {
    Failed(status);
  } else if (base::VlogOn(2)) {
    base::LogInfo("watch ended", {{"what", Name()}, {"status", status}});
  }
  RunAfter(delay, resume ? Step::kWatch : Step::kList);
}

bool Reflector::WatchWasHealthy() const {
  return watch_delivered_ || env_.clock.SteadyNow() - watch_started_ >= kHealthyAfter;
}

ObjectPtr Reflector::Prepare(Object object) const {
  if (object.metadata().Has("managedFields")) object.Erase({"metadata", "managedFields"});
  if (options_.transform) options_.transform(object);
  return Share(std::move(object));
}

std::string Reflector::Name() const {
  return absl::StrCat(resource_.gvr().ToString(), " of ", server_);
}

void Reflector::Failed(const absl::Status& status) {
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(last_error_, status) == status) return;
  }
  env_.failures.Failed(Self(), status, env_.clock.SteadyNow());
  if (stopped()) env_.failures.Forget(Self());  // Stop may have called it just before.
}

void Reflector::Succeeded() {
  {
    absl::MutexLock lock(&mu_);
    if (last_error_.ok()) return;
    last_error_ = absl::OkStatus();
  }
  env_.failures.Succeeded(Self());
  LogFailures();
}

void Reflector::LogFailures() {
  for (const FailureLog::Report& report : env_.failures.TakeDue(env_.clock.SteadyNow())) {
    if (report.error.ok()) {
      base::LogInfo("caches are up to date again",
                    {{"count", report.count}, {"what", report.what}});
    } else {
      base::LogWarning("caches are not up to date, trying again",
                       {{"count", report.count}, {"what", report.what}, {"error", report.error}});
    }
  }
}

}  // namespace kube::internal
