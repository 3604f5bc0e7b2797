#include "kube/cache/internal/reflector.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"

namespace kube::internal {
namespace {

constexpr absl::Duration kFirstDelay = absl::Milliseconds(800);  // As client-go's reflector.
constexpr absl::Duration kLongestDelay = absl::Seconds(30);
// A watch that ends sooner and without an event counts as a failure, so that a server that closes
// every watch at once is not asked in a busy loop.
constexpr absl::Duration kHealthyAfter = absl::Seconds(5);

LabelSelector ParseOrNothing(const std::string& text) {
  absl::StatusOr<LabelSelector> selector = LabelSelector::Parse(text);
  return selector.ok() ? *std::move(selector) : LabelSelector::Nothing();
}

// Whether the watch may go on from its last version after this; anything else needs a list.
bool CanResumeAfter(const absl::Status& status) {
  return status.ok() || absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status);
}

}  // namespace

Reflector::Reflector(Resource resource, InformerOptions options, Environment environment)
    : resource_(std::move(resource)),
      options_(std::move(options)),
      selector_(ParseOrNothing(options_.label_selector)),
      env_(environment),
      backoff_(kFirstDelay, kLongestDelay) {}

Reflector::~Reflector() { Stop(); }

void Reflector::Start() { RunAfter(absl::ZeroDuration(), Step::kList); }

void Reflector::Stop() {
  stop_.request_stop();
  writer_.Stop();
  std::unique_ptr<Watch> watch;  // Its end is waited for without the lock.
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
  if (ResourceVersionOf(object) < 0) return;  // No state of the server's (a dry run).
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
  env_.pool.RunAt(env_.clock.SteadyNow() + delay, [self, step] {
    if (self->stopped()) return;
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
  // A long list can outlive its continue token; the next attempt starts from a fresh version.
  return absl::IsOutOfRange(status) && !stopped() ? ListPages() : status;
}

absl::Status Reflector::ListPages() {
  const bool initial = !writer_.HasSynced();
  {
    absl::MutexLock lock(&mu_);
    own_versions_.Reset();
  }
  absl::flat_hash_set<ObjectKey> listed;
  std::string version;
  ListOptions options{.label_selector = options_.label_selector};
  do {
    ASSIGN_OR_RETURN(ListPage page, env_.client.List(resource_, "", options, stop_.get_token()));
    for (Object& object : page.items) {
      listed.insert(object.key());
      writer_.Apply(Prepare(std::move(object)), initial);
    }
    if (version.empty()) version = page.resource_version;
    options.continue_token = page.continue_token;
  } while (!options.continue_token.empty());
  writer_.DeleteMissing(listed, version);
  absl::MutexLock lock(&mu_);
  version_ = version;
  return absl::OkStatus();
}

void Reflector::StartWatch() {
  WatchOptions options{.label_selector = options_.label_selector};
  {
    absl::MutexLock lock(&mu_);
    options.resource_version = version_;
    watch_started_ = env_.clock.SteadyNow();
    watch_delivered_ = false;
  }
  std::unique_ptr<Watch> ended;
  absl::MutexLock lock(&watch_mu_);
  if (stopped()) return;
  ended.swap(watch_);
  ended.reset();  // No call of the old one comes after the first of the new one.
  watch_ = env_.client.StartWatch(resource_, "", options, *this);
}

void Reflector::OnEvent(EventType type, Object object) {
  if (stopped()) return;
  {
    absl::MutexLock lock(&mu_);
    if (!object.resource_version().empty()) version_ = std::string(object.resource_version());
    own_versions_.Pass(ResourceVersionOf(object));
    watch_delivered_ = true;
  }
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
    if (!own_versions_.Pass(number)) return false;
    version_ = std::string(resource_version);
    watch_delivered_ = true;
  }
  Succeeded();
  return true;
}

void Reflector::OnEnd(absl::Status status) {
  if (stopped()) return;
  const bool clean = status.ok() || absl::IsOutOfRange(status);
  absl::Duration delay;
  {
    absl::MutexLock lock(&mu_);
    if (WatchWasHealthy()) backoff_.Reset();
    const bool first = backoff_.failures() == 0;
    delay = backoff_.Next();
    if (clean && first) delay = absl::ZeroDuration();
  }
  if (!clean) {
    Failed(status);
  } else if (base::VlogOn(2)) {
    base::LogInfo("watch ended", {{"what", Name()}, {"status", status}});
  }
  RunAfter(delay, CanResumeAfter(status) ? Step::kWatch : Step::kList);
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
  return absl::StrCat(resource_.gvr().ToString(), " of ", env_.client.name());
}

void Reflector::Failed(const absl::Status& status) {
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(last_error_, status) == status) return;
  }
  base::LogWarning("cache is not up to date, trying again", {{"what", Name()}, {"error", status}});
}

void Reflector::Succeeded() {
  {
    absl::MutexLock lock(&mu_);
    if (last_error_.ok()) return;
    last_error_ = absl::OkStatus();
  }
  base::LogInfo("cache is up to date again", {{"what", Name()}});
}

}  // namespace kube::internal
