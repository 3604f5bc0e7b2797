// CatchUp brings the store up to the server's present version although nothing changes. A list of a
// few objects runs beside the watch: what the store learns from both it puts in order by the
// versions, and the watch goes on. With many objects the watch is replaced by one of three seconds,
// because API servers send a bookmark about two seconds before a watch has to end; when it has
// ended, a long one follows as after any other clean end.
//
// AskVersion reads one object that does not exist, by a list with a field selector on its name. The
// server looks up a single key, whatever the number of objects; without a resourceVersion it has to
// answer consistently; and a server that answers from its own cache first brings that cache, from
// which our watch is fed, up to the version that it returns.
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
constexpr char kNoObject[] = "metadata.name=karmada-reads-the-version";

}  // namespace

void Reflector::CatchUp() {
  {
    absl::MutexLock lock(&mu_);
    if (watch_is_over_ || watch_is_short_ || std::exchange(catch_up_is_due_, true)) return;
  }
  RunAfter(absl::ZeroDuration(), Step::kCatchUp);
}

void Reflector::ListBesideWatch() {
  {
    absl::MutexLock lock(&mu_);
    catch_up_is_due_ = false;  // Who asks from now on needs another list.
  }
  if (!HasWatch()) return;
  if (store().size() > kListToCatchUp) return RestartWatch(false);
  const absl::Status listed = List();
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
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(watch_is_over_, true)) return;  // Another one is about to begin.
    watch_is_open_ = false;
  }
  {
    // Declared before the lock, so that its end is awaited after the unlock.
    std::unique_ptr<Watch> ended;
    absl::MutexLock lock(&watch_mu_);
    ended.swap(watch_);
  }
  StartWatch(lasting);
}

bool Reflector::HasWatch() const {
  absl::MutexLock lock(&mu_);
  return !watch_is_over_;
}

void Reflector::AskVersion(VersionFn done) {
  {
    absl::MutexLock lock(&mu_);
    askers_.push_back(std::move(done));
    if (askers_.size() > 1) return;
  }
  auto self = shared_from_this();
  env_.lane.RunAt(env_.clock.SteadyNow(), [self] {
    std::vector<VersionFn> askers;
    {
      absl::MutexLock lock(&self->mu_);
      askers.swap(self->askers_);
    }
    const absl::StatusOr<int64_t> version = self->ReadServerVersion();
    self->NoteAsked(version.status());
    for (const VersionFn& asker : askers) asker(version);
  });
}

absl::StatusOr<int64_t> Reflector::ReadServerVersion() {
  std::string ns = AskedNamespace();
  if (ns.empty() && resource_.namespaced) ns = "default";
  const ListOptions options{.field_selector = kNoObject, .limit = 0};
  ASSIGN_OR_RETURN(const ListPage page,
                   env_.client.List(resource_, ns, options, stop_.get_token()));
  const int64_t version = NumberOf(page.resource_version);
  if (version >= 0) return version;
  return absl::InternalError(
      absl::StrCat("the version of a list is not a number: \"", page.resource_version, "\""));
}

}  // namespace kube::internal
