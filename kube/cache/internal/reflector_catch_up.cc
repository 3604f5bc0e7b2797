// CatchUp brings the store up to the server's present version although nothing changes. A list of a
// few objects runs beside the watch: what the store learns from both it puts in order by the
// versions, and the watch goes on. With many objects the watch is replaced by one of three seconds,
// because API servers send a bookmark about two seconds before a watch has to end; when it has
// ended, a long one follows as after any other clean end. Where no bookmark is sent (API servers do
// not cache Events, and send none for them) the next CatchUp lists, however many objects there are.
// A store that leaves objects out is listed again anyway (FillUp), and not for each reader.
//
// AskState reads one object by a list with a field selector on its name, or on a name that no
// object has. The server looks up a single key, whatever the number of objects; without a
// resourceVersion it has to answer consistently; and a server that answers from its own cache first
// brings that cache, from which our watch is fed, up to the version that it returns.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "kube/cache/internal/reflector.h"
#include "kube/cache/internal/version_number.h"

namespace kube::internal {
namespace {

// The longest store that is caught up with by a list. A page of so many objects takes the server
// and this process some ten milliseconds, less than what the bookmark of a short watch makes
// readers wait.
constexpr size_t kListToCatchUp = 500;
constexpr char kByName[] = "metadata.name=";
constexpr char kNoObject[] = "karmada-reads-the-version";

// Whether a field selector can name the object without escapes, which servers read differently.
bool CanBeSelected(absl::string_view name) {
  return !name.empty() && name.find_first_of("\\,=!") == absl::string_view::npos;
}

}  // namespace

void Reflector::CatchUp() {
  {
    absl::MutexLock lock(&mu_);
    if (watch_is_over_ || watch_is_short_ || !left_out_.ok()) return;
    if (std::exchange(catch_up_is_due_, true)) return;
  }
  RunAfter(absl::ZeroDuration(), Step::kCatchUp);
}

void Reflector::ListBesideWatch() {
  bool sends_bookmarks;
  {
    absl::MutexLock lock(&mu_);
    catch_up_is_due_ = false;  // Who asks from now on needs another list.
    sends_bookmarks = sends_bookmarks_;
  }
  if (!HasWatch()) return;
  if (sends_bookmarks && store().size() > kListToCatchUp) return RestartWatch(false);
  RequestList(ListFor::kCatchUp);
}

void Reflector::EndListBesideWatch(const absl::Status& listed) {
  NoteAsked(listed);
  if (!listed.ok()) {
    if (base::VlogOn(2)) base::LogInfo("could not catch up", {{"what", Name()}, {"why", listed}});
    return;
  }
  Succeeded();
  bool went_back;
  {
    absl::MutexLock lock(&mu_);
    went_back = NumberOf(version_) < watch_from_;
  }
  if (went_back) RestartWatch(true);
}

void Reflector::RestartWatch(bool lasting) {
  if (EndWatch()) StartWatch(lasting);  // Else another one is about to begin.
}

bool Reflector::EndWatch() {
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(watch_is_over_, true)) return false;
    watch_is_open_ = false;
  }
  LeaveWatch();
  return true;
}

void Reflector::LeaveWatch() {
  // Declared before the lock, so that its end is awaited after the unlock.
  std::unique_ptr<Watch> ended;
  absl::MutexLock lock(&watch_mu_);
  ended.swap(watch_);
}

bool Reflector::HasWatch() const {
  absl::MutexLock lock(&mu_);
  return !watch_is_over_;
}

void Reflector::AskState(const ObjectKey& about, StateFn done) {
  {
    absl::MutexLock lock(&mu_);
    askers_.push_back({about, std::move(done)});
    if (askers_.size() > 1) return;
  }
  auto self = shared_from_this();
  env_.lanes.questions->RunAt(env_.clock.SteadyNow(), [self] {
    const std::vector<Asker> askers = self->TakeAskers();
    if (askers.empty()) return;  // Stop has answered them.
    const ObjectKey& first = askers.front().about;
    const bool same = std::all_of(askers.begin(), askers.end(),
                                  [&](const Asker& asker) { return asker.about == first; });
    const absl::StatusOr<ServerState> state = self->ReadServerState(same ? first : ObjectKey());
    if (self->stopped()) return self->AnswerEnded(askers);
    self->NoteAsked(state.status());
    for (const Asker& asker : askers) asker.done(state);
  });
  // Stop may have come before, and the task has been dropped then.
  if (stopped()) AnswerEnded(TakeAskers());
}

std::vector<Reflector::Asker> Reflector::TakeAskers() {
  std::vector<Asker> askers;
  absl::MutexLock lock(&mu_);
  askers.swap(askers_);
  return askers;
}

void Reflector::AnswerEnded(const std::vector<Asker>& askers) const {
  for (const Asker& asker : askers) {
    asker.done(absl::UnavailableError(absl::StrCat(Name(), " is not followed any more")));
  }
}

absl::StatusOr<Informer::ServerState> Reflector::ReadServerState(const ObjectKey& about) {
  const bool known = CanBeSelected(about.name);
  const bool reads = known && WantsNamespace(about.ns);
  std::string ns = reads ? about.ns : AskedNamespace();
  if (ns.empty() && resource_.namespaced) ns = "default";
  const ListOptions options{.label_selector = options_.label_selector,
                            .field_selector = absl::StrCat(kByName, reads ? about.name : kNoObject),
                            .limit = 0,
                            .paced = false,
                            .fields = {"metadata.name"}};
  ASSIGN_OR_RETURN(const ListPage page,
                   env_.client.List(resource_, ns, options, stop_.get_token()));
  ServerState state{.version = NumberOf(page.resource_version), .object = known ? 0 : -1};
  if (state.version < 0) {
    return absl::InternalError(
        absl::StrCat("the version of a list is not a number: \"", page.resource_version, "\""));
  }
  for (const Object& object : page.items) {
    if (reads && object.name() == about.name) state.object = ResourceVersionOf(object);
  }
  return state;
}

}  // namespace kube::internal
