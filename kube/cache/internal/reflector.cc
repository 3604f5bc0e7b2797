// How it works. A reflector is in one of two steps: it lists (reflector_list.cc), or it has a watch
// running. After a list the store holds what the server had at the list's version, handlers have
// been notified of the differences, and the watch begins at that version. Each event advances the
// version, so that a watch that ends can be resumed from there.
//
// Watches begin in a lane of their own, which lists do not enter: a watch that has ended is deaf
// until the next one begins, whatever is being listed meanwhile.
//
// How a watch ends decides about the next step. After a clean end, a broken connection or a
// refusal that may pass (CanResumeAfter) it is resumed at once or after a back-off; a version that
// is gone, an event that is older than the watch (the server went back to an earlier state), and
// too many failures in a row lead to a list. Failed lists are repeated with the same back-off, for
// ever. What happens when the server has more objects than memory is in reflector_memory.cc.
//
// An object that this process has written is put into the store when the answer arrives
// (Informer::Written); the watch reports that version again, and OnKnownState skips it.

#include "kube/cache/internal/reflector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json_size.h"
#include "base/log.h"
#include "base/status.h"
#include "kube/cache/encoded_object.h"
#include "kube/cache/internal/version_number.h"

namespace kube::internal {
namespace {

constexpr absl::Duration kFirstDelay = absl::Milliseconds(800);  // As in client-go's reflector.
constexpr absl::Duration kLongestDelay = absl::Seconds(30);
// When it is tried again whether there is room for what had none. Each try is a list of the whole
// kind; the first ones come soon because several kinds may have been listed at the same time, of
// which one gives its room back.
constexpr absl::Duration kFirstTryForRoom = absl::Seconds(5);
constexpr absl::Duration kLongestTryForRoom = absl::Minutes(5);
// A watch that ends sooner and without an event counts as a failure, so that a server that closes
// every watch at once is not asked in a busy loop.
constexpr absl::Duration kHealthyAfter = absl::Seconds(5);
// This number of failed watches in a row without an event leads to a list: kRefusedWatches when the
// server refused them, kBrokenWatches when no answer came (a list would not get through either, but
// a version may have gone while the server was away).
constexpr int kRefusedWatches = 3;
constexpr int kBrokenWatches = 10;

// API servers send no bookmark on watches of two seconds or less.
constexpr absl::Duration kShortWatch = absl::Seconds(3);

// What stores and handlers need of every object whose text is kept.
json::Fields KeptFields(const InformerOptions& options) {
  if (!options.keep_text) return json::Fields(std::vector<std::string>());
  std::vector<std::string> fields = {"apiVersion",    "kind",
                                     "metadata.name", "metadata.namespace",
                                     "metadata.uid",  "metadata.resourceVersion"};
  fields.insert(fields.end(), options.fields.begin(), options.fields.end());
  return json::Fields(fields);
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

// The bytes of the object are charged for as long as anybody holds it.
ObjectPtr ShareCharged(Object object, const std::shared_ptr<base::ByteBudget>& budget) {
  struct Charged {
    Charged(Object o, const std::shared_ptr<base::ByteBudget>& b)
        : object(std::move(o)), charge(b, json::MemoryOf(object.root())) {}
    const Object object;
    const base::ByteBudget::Charge charge;
  };
  const auto charged = std::make_shared<const Charged>(std::move(object), budget);
  return {charged, &charged->object};
}

}  // namespace

Reflector::Reflector(Resource resource, InformerOptions options, Environment environment)
    : resource_(std::move(resource)),
      options_(std::move(options)),
      selector_(ParseOrNothing(options_.label_selector)),
      kept_(KeptFields(options_)),
      dictionary_(environment.dictionary),
      server_(environment.client.name()),
      env_(environment),
      writer_(env_.memory.budget),
      room_backoff_(kFirstTryForRoom, kLongestTryForRoom),
      ask_backoff_(kFirstDelay, kLongestDelay),
      backoff_(kFirstDelay, kLongestDelay) {}

Reflector::~Reflector() { Stop(); }

void Reflector::Start() {
  if (options_.local) {
    writer_.MarkSynced();
  } else {
    RunAfter(absl::ZeroDuration(), Step::kList);
  }
}

void Reflector::Stop() {
  // The destructor calls this again, when the environment may be gone.
  if (stop_.request_stop()) env_.failures.Forget(Self());
  writer_.Stop();
  AnswerEnded(TakeAskers());
  // Declared before the lock, so that its end is awaited after the unlock.
  std::unique_ptr<Watch> watch;
  absl::MutexLock lock(&watch_mu_);
  watch.swap(watch_);
}

// A list must not bring back what was deleted while it was under way, however long it takes.
void Reflector::AgeDeletions() {
  {
    absl::MutexLock lock(&mu_);
    if (is_listing_) return;
  }
  writer_.mutable_store().AgeDeletions();
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

void Reflector::Written(const Object& object) {
  if (ResourceVersionOf(object) < 0) return;  // This is not a state of the server (a dry run).
  if (!Wants(object)) return;
  ObjectPtr prepared = Prepare(object);
  if (selector_.Matches(object.labels())) {
    writer_.Apply(std::move(prepared));
    absl::MutexLock lock(&mu_);
    own_versions_.Add(ResourceVersionOf(object));
  } else {
    writer_.Delete(std::move(prepared));
  }
}

TaskPool::Lane& Reflector::LaneOf(Step step) const {
  if (step == Step::kWatch) return *env_.lanes.watches;
  return step == Step::kCatchUp ? *env_.lanes.questions : *env_.lanes.lists;
}

void Reflector::RunAfter(absl::Duration delay, Step step) {
  auto self = shared_from_this();
  LaneOf(step).RunAt(env_.clock.SteadyNow() + delay, [self, step] {
    if (self->stopped()) return;
    self->LogFailures();
    if (step == Step::kList) {
      self->RequestList(ListFor::kWatch);
    } else if (step == Step::kWatch) {
      self->StartWatch();
    } else if (step == Step::kFillUp) {
      self->FillUp();
    } else if (step == Step::kCatchUp) {
      self->ListBesideWatch();
    } else {
      self->AskAgain();
    }
  });
}

void Reflector::StartWatch(bool lasting) {
  WatchOptions options{.label_selector = options_.label_selector, .field_selector = AskedFields()};
  if (!options_.keep_text) options.fields = options_.fields;
  if (!lasting) {
    options.server_timeout = kShortWatch;
    options.jitter = 0;
  }
  {
    absl::MutexLock lock(&mu_);
    options.resource_version = version_;
    watch_started_ = env_.clock.SteadyNow();
    watch_delivered_ = false;
    watch_is_over_ = watch_is_open_ = ask_failed_since_start_ = false;
    watch_is_short_ = !lasting;
    watch_from_ = NumberOf(version_);
  }
  std::unique_ptr<Watch> ended;
  absl::MutexLock lock(&watch_mu_);
  if (stopped()) return;
  ended.swap(watch_);
  ended.reset();  // This way no call of the old watch follows the first one of the new watch.
  watch_ = env_.client.StartWatch(resource_, AskedNamespace(), options, *this);
}

void Reflector::OnEvent(EventType type, Object object) {
  if (stopped() || !Advance(object.resource_version())) return;
  Succeeded();
  const Progress reached = ReachedAt(object.resource_version());
  if (type == EventType::kBookmark) {
    // A short watch sends no other bookmark: the next CatchUp needs another watch.
    absl::MutexLock lock(&mu_);
    watch_is_short_ = false;
    sends_bookmarks_ = true;
  }
  if (type == EventType::kBookmark || !Wants(object)) return writer_.Reach(reached);
  ObjectPtr prepared = Prepare(std::move(object));
  if (type == EventType::kDeleted) {
    writer_.Delete(std::move(prepared), reached);
  } else if (HasRoomFor(*prepared)) {
    writer_.Apply(std::move(prepared), reached);
  } else {
    NoteLeftOut();
    writer_.Reach(reached);
  }
}

Progress Reflector::ReachedAt(absl::string_view version) const {
  return {NumberOf(version), env_.clock.SteadyNow()};
}

std::string Reflector::AskedNamespace() const {
  return resource_.namespaced && options_.namespaces.size() == 1 ? options_.namespaces[0] : "";
}

std::string Reflector::AskedFields() const {
  return options_.name.empty() ? "" : absl::StrCat("metadata.name=", options_.name);
}

bool Reflector::Wants(const Object& object) const {
  return WantsNamespace(object.ns()) && (options_.name.empty() || object.name() == options_.name);
}

bool Reflector::WantsNamespace(absl::string_view ns) const {
  const std::vector<std::string>& wanted = options_.namespaces;
  return wanted.empty() || !resource_.namespaced ||
         std::find(wanted.begin(), wanted.end(), ns) != wanted.end();
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
  writer_.Reach(ReachedAt(resource_version));
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
    watch_is_open_ = false;
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
    watch_is_open_ = false;
    // It is as short as it was asked to be, which is not a failure.
    const bool in_time = status.ok() && watch_is_short_;
    if (in_time) sends_bookmarks_ = false;
    const bool healthy = in_time || WatchWasHealthy();
    if (healthy) backoff_.Reset();
    const bool first = backoff_.failures() == 0;
    delay = backoff_.Next();
    if (clean && first) delay = absl::ZeroDuration();
    if (healthy) failed_watches_ = 0;
    // A server that answers but refuses to watch from this version may accept the version of a new
    // list.
    const int tries = FailureOf(status).code != 0 ? kRefusedWatches : kBrokenWatches;
    if (!status.ok() && ++failed_watches_ >= tries) resume = false;
    if (!resume) failed_watches_ = 0;
  }
  // A watch may also end so because one event is too long.
  const bool is_full = absl::IsResourceExhausted(status) && IsOverBudget();
  if (is_full && env_.memory.on_exceeded) env_.memory.on_exceeded();
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
  if (options_.keep_text) {
    return EncodedObject::Make(object, kept_, options_.own_annotation, dictionary_);
  }
  if (env_.memory.budget != nullptr) return ShareCharged(std::move(object), env_.memory.budget);
  return Share(std::move(object));
}

std::string Reflector::Name() const {
  return absl::StrCat(resource_.gvr().ToString(), " of ", server_);
}

}  // namespace kube::internal
