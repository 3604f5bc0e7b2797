// How it works. Run is two loops, one after the other. Acquire tries every retry period, jittered,
// to get the Lease: it creates the Lease if there is none, takes it over if its holder has been
// silent for the lease duration, and waits otherwise. Silence is measured on the local steady clock
// from the moment at which the Lease was last seen to change, so that the clocks of the contenders
// need not agree; a change is seen with the next attempt, so up to one pause after it was made, or
// at once by a LeaseWatch, if there is one. The wait ends when the Lease does (client-go waits for
// the rest of its pause), or early when the LeaseWatch sees that it is given up. Renew then writes
// the Lease every retry period, from the moment at which it is held: what the leader does first, on
// a thread of its own, may take longer than the Lease lasts.
//
// A second thread, the watchdog, ends the renewals when none has succeeded for the renew deadline;
// it also cuts off a call that the server does not answer. The lease duration is longer than the
// deadline, so that a leader has stopped before another contender may begin. Release gives the
// Lease up at the end; it belongs to whoever knows that everything has ended that must not run
// twice. It also gives up a Lease that was just being claimed when the stop cut the call off.

#include "kube/runtime/internal/leader_elector.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "base/random.h"
#include "base/threads.h"
#include "kube/client/errors.h"
#include "kube/runtime/events.h"
#include "kube/runtime/internal/lease_watch.h"
#include "kube/runtime/leader_fence.h"

namespace kube {
namespace {

// client-go spreads the attempts of the contenders by this factor of the retry period.
constexpr double kJitterFactor = 1.2;
// A stand-by does not wait less than this for the end of the lease.
constexpr absl::Duration kShortestPause = absl::Milliseconds(50);

const Resource& LeaseResource() {
  static const auto& kLease =
      *new Resource{{"coordination.k8s.io", "v1", "Lease"}, "leases", /*namespaced=*/true};
  return kLease;
}

std::string NewIdentity() {
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
  return absl::StrCat(host, "_", base::NewUuid());
}

absl::string_view HolderOf(const Object& lease) {
  return lease.spec()["holderIdentity"].AsString();
}

// Returns whether the server may have done what it was asked for all the same.
bool HasNoAnswer(const absl::Status& error) {
  return absl::IsCancelled(error) || absl::IsDeadlineExceeded(error) || absl::IsUnavailable(error);
}

absl::Status Validate(const LeaderElectionOptions& options) {
  if (options.lease_duration <= options.renew_deadline) {
    return absl::InvalidArgumentError(
        "leader election: the lease duration must be greater than the renew deadline");
  }
  if (options.renew_deadline <= options.retry_period * kJitterFactor) {
    return absl::InvalidArgumentError(absl::StrCat(
        "leader election: the renew deadline must be greater than the retry period times ",
        kJitterFactor));
  }
  if (options.retry_period <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("leader election: the retry period must be positive");
  }
  return absl::OkStatus();
}

}  // namespace

metrics::Gauge& MasterStatus(metrics::Registry& registry, const std::string& lease_name) {
  return registry.GetGauge(
      "leader_election_master_status",
      "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 "
      "indicates master. 'name' is the string used to identify the lease. Please make sure to "
      "group by name.",
      {{"name", lease_name}});
}

struct LeaderElector::Impl {
  Impl(LeaderElectionOptions given, Environment environment)
      : options(std::move(given)),
        env(environment),
        master_status(MasterStatus(env.registry, options.lease_name)) {}

  const LeaderElectionOptions options;
  const Environment env;
  metrics::Gauge& master_status;
  std::atomic<bool> leading = false;

  // The Lease as last seen, and when (on our clock) it was last seen to change. Used by the thread
  // of Run only.
  Object observed;
  base::SteadyTime observed_at;
  bool was_removed = false;    // While it was held; with options.is_own.
  bool claim_is_open = false;  // A claim was sent later, and the server has not said what it did.
  absl::Status last_error;
  std::string known_leader;         // The other holder that was logged last.
  std::optional<LeaseWatch> watch;  // While a stand-by waits, with options.watch.

  // Read by the watchdog of Renew.
  absl::Mutex mu;
  base::SteadyTime renewed_at ABSL_GUARDED_BY(mu);
  bool finished ABSL_GUARDED_BY(mu) = false;

  // Returns whether this process holds the Lease after the attempt. An error means that the Lease
  // could not be read or written.
  absl::StatusOr<bool> Attempt(const base::StopToken& stop);
  absl::StatusOr<bool> Settle(absl::StatusOr<Object> written);
  // As Attempt; also records when the Lease was renewed, and logs errors.
  bool TryToHold(const base::StopToken& stop);
  bool Acquire(const base::StopToken& stop);
  void Renew(const base::StopToken& stop);
  void RenewUntil(const base::StopToken& stop);
  void Watchdog(base::StopSource& calls);

  void Observe(Object lease);
  base::SteadyTime EndOfLease() const;
  bool HeldByOther() const;
  absl::Duration Pause() const;
  Object Claim(const Object& lease) const;
  absl::Status WriteFree(Object lease, const base::StopToken& stop) const;
  std::string WhyLost() const;
  void Announce(bool elected);
  void Note(const absl::Status& error);
  void NoteLeader();
};

void LeaderElector::Impl::Observe(Object lease) {
  if (observed.empty() || observed.spec() != lease.spec()) {
    observed_at = env.clock.SteadyNow();
    // A watch has shown it when it was made, and not with the next attempt.
    const auto seen_at = watch.has_value() ? watch->SeenAt(lease.resource_version()) : std::nullopt;
    if (seen_at.has_value()) observed_at = std::min(observed_at, *seen_at);
  }
  observed = std::move(lease);
  claim_is_open = false;
}

bool LeaderElector::Impl::HeldByOther() const {
  const absl::string_view holder = HolderOf(observed);
  if (holder.empty() || holder == options.identity) return false;
  return env.clock.SteadyNow() < EndOfLease();
}

// Returns when the holder has been silent for its lease.
base::SteadyTime LeaderElector::Impl::EndOfLease() const {
  return observed_at + absl::Seconds(observed.spec()["leaseDurationSeconds"].AsInt());
}

// Returns the time until the next attempt. If another holder's lease ends before, the attempt is
// made then; after an attempt that failed although the lease has ended, the pause is the ordinary
// one.
absl::Duration LeaderElector::Impl::Pause() const {
  const absl::Duration pause = base::Jitter(options.retry_period, kJitterFactor);
  if (!HeldByOther()) return pause;
  const absl::Duration rest = EndOfLease() - env.clock.SteadyNow();
  return std::min(pause, std::max(rest, kShortestPause));
}

// Returns `lease` with this process as its holder, renewed now.
Object LeaderElector::Impl::Claim(const Object& lease) const {
  Object claim = lease;
  const std::string now = kube::FormatMicroTime(env.clock.Now());
  if (HolderOf(lease) != options.identity) {
    const json::Value& transitions = lease.spec()["leaseTransitions"];
    claim.Set({"spec", "acquireTime"}, now);
    claim.Set({"spec", "leaseTransitions"},
              lease.resource_version().empty() ? 0 : transitions.AsInt() + 1);
  }
  claim.Set({"spec", "holderIdentity"}, options.identity);
  claim.Set({"spec", "leaseDurationSeconds"}, absl::ToInt64Seconds(options.lease_duration));
  claim.Set({"spec", "renewTime"}, now);
  return claim;
}

absl::StatusOr<bool> LeaderElector::Impl::Attempt(const base::StopToken& stop) {
  const Resource& leases = LeaseResource();
  if (leading && !observed.empty()) {
    absl::StatusOr<Object> renewed = env.client.Replace(leases, Claim(observed), {}, stop);
    if (renewed.ok() || stop.stop_requested()) return Settle(std::move(renewed));
    // The Lease was changed or deleted by somebody else, or the call failed: read it and try once
    // more to hold it, as client-go's tryAcquireOrRenew does.
  }
  const ObjectKey key{options.lease_namespace, options.lease_name};
  absl::StatusOr<Object> found = env.client.Get(leases, key, stop);
  if (IsGone(found.status()) && leading && options.is_own) {
    was_removed = true;
    return false;
  }
  if (IsGone(found.status())) {
    const Object fresh = Object::Make(leases.gvk, key);
    return Settle(env.client.Create(leases, Claim(fresh), {}, stop));
  }
  if (!found.ok()) return found.status();
  Observe(*std::move(found));
  if (HeldByOther()) {
    NoteLeader();
    return false;
  }
  return Settle(env.client.Replace(leases, Claim(observed), {}, stop));
}

absl::StatusOr<bool> LeaderElector::Impl::Settle(absl::StatusOr<Object> written) {
  if (!written.ok()) {
    claim_is_open = HasNoAnswer(written.status());
    return written.status();
  }
  Observe(*std::move(written));
  return true;
}

bool LeaderElector::Impl::TryToHold(const base::StopToken& stop) {
  const base::SteadyTime sent = env.clock.SteadyNow();
  const absl::StatusOr<bool> held = Attempt(stop);
  if (!stop.stop_requested()) Note(held.status());
  if (!held.ok() || !*held) return false;
  if (env.fence != nullptr) env.fence->HoldsUntil(sent + options.renew_deadline);
  absl::MutexLock lock(&mu);
  renewed_at = sent;
  return true;
}

void LeaderElector::Impl::Note(const absl::Status& error) {
  // Losing a race for the Lease is normal in an election, so it is not logged.
  const bool lost_race = IsConflict(error) || AlreadyExists(error);
  if (error == last_error || lost_race) return;
  last_error = error;
  if (error.ok()) return;
  base::LogError("leader election cannot use its lease, trying again",
                 {{"lease", absl::StrCat(options.lease_namespace, "/", options.lease_name)},
                  {"error", error}});
}

// Logs who leads, when that is new.
void LeaderElector::Impl::NoteLeader() {
  const absl::string_view holder = HolderOf(observed);
  if (holder == known_leader) return;
  known_leader = std::string(holder);
  base::LogInfo("another process leads",
                {{"lease", absl::StrCat(options.lease_namespace, "/", options.lease_name)},
                 {"leader", holder},
                 {"since", observed.spec()["acquireTime"].AsString()}});
}

bool LeaderElector::Impl::Acquire(const base::StopToken& stop) {
  base::LogInfo("waiting for the leader lease",
                {{"lease", absl::StrCat(options.lease_namespace, "/", options.lease_name)},
                 {"identity", options.identity}});
  const absl::Cleanup end_watch = [this] { watch.reset(); };
  if (options.watch) {
    watch.emplace(env.client, LeaseResource(),
                  ObjectKey{options.lease_namespace, options.lease_name});
  }
  while (!stop.stop_requested()) {
    if (TryToHold(stop)) return true;
    const absl::Duration pause = Pause();
    if (watch.has_value()) {
      watch->Await(pause, stop);
    } else {
      env.clock.SleepFor(pause, stop);
    }
  }
  return false;
}

// Returns when the Lease is lost or `stop` is requested.
void LeaderElector::Impl::Renew(const base::StopToken& stop) {
  base::StopSource calls;  // Also ends a call that has not been answered by the deadline.
  base::StopCallback forward(stop, [&calls] { calls.request_stop(); });
  std::thread watchdog =
      base::StartThread("the leader election", [this, &calls] { Watchdog(calls); });
  RenewUntil(calls.get_token());
  {
    absl::MutexLock lock(&mu);
    finished = true;
  }
  watchdog.join();
}

void LeaderElector::Impl::RenewUntil(const base::StopToken& stop) {
  while (env.clock.SleepFor(options.retry_period, stop)) {
    if (!TryToHold(stop) && (HeldByOther() || was_removed)) return;
  }
}

// Requests the stop once the Lease has not been renewed for the renew deadline.
void LeaderElector::Impl::Watchdog(base::StopSource& calls) {
  {
    absl::MutexLock lock(&mu);
    while (!finished) {
      const base::SteadyTime last = renewed_at;
      const base::SteadyTime deadline = last + options.renew_deadline;
      if (env.clock.SteadyNow() >= deadline) break;
      const auto changed = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
        return finished || renewed_at != last;
      };
      env.clock.AwaitUntil(mu, absl::Condition(&changed), deadline);
    }
  }
  calls.request_stop();
}

std::string LeaderElector::Impl::WhyLost() const {
  if (was_removed) return "the lease has been removed";
  if (HeldByOther()) return absl::StrCat("the lease is held by ", HolderOf(observed));
  return absl::StrCat("the lease could not be renewed within ",
                      absl::FormatDuration(options.renew_deadline), last_error.ok() ? "" : ": ",
                      last_error.message());
}

void LeaderElector::Impl::Announce(bool elected) {
  leading = elected;
  master_status.Set(elected ? 1 : 0);
  const std::string message =
      absl::StrCat(options.identity, elected ? " became leader" : " stopped leading");
  env.events.Record(options.identity, InvolvedObject::Of(observed), EventType::kNormal,
                    "LeaderElection", message);
  base::LogInfo(elected ? "became leader" : "stopped leading", {{"identity", options.identity}});
}

LeaderElector::LeaderElector(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LeaderElector::~LeaderElector() = default;

absl::StatusOr<std::unique_ptr<LeaderElector>> LeaderElector::Create(LeaderElectionOptions options,
                                                                     Environment environment) {
  if (absl::Status status = Validate(options); !status.ok()) return status;
  if (options.identity.empty()) options.identity = NewIdentity();
  return std::unique_ptr<LeaderElector>(
      new LeaderElector(std::make_unique<Impl>(std::move(options), environment)));
}

absl::Status LeaderElector::Run(const base::StopToken& stop, const OnElected& on_elected) {
  if (!impl_->Acquire(stop)) return absl::OkStatus();
  impl_->Announce(true);
  base::StopSource over;
  std::thread leading =
      base::StartThread("the leader election", [&] { on_elected(over.get_token()); });
  impl_->Renew(stop);
  if (impl_->env.fence != nullptr && !stop.stop_requested()) impl_->env.fence->Close();
  over.request_stop();
  impl_->Announce(false);
  leading.join();
  if (stop.stop_requested()) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("leader election lost: ", impl_->WhyLost()));
}

// As client-go's release: without a holder and with the shortest duration. (An empty holderIdentity
// would be refused.) The Lease is read first, since a renewal may have been cut off by the stop.
void LeaderElector::Release(const base::StopToken& stop) {
  if (HolderOf(impl_->observed) != impl_->options.identity && !impl_->claim_is_open) return;
  const ObjectKey key{impl_->options.lease_namespace, impl_->options.lease_name};
  absl::StatusOr<Object> present = impl_->env.client.Get(LeaseResource(), key, stop);
  if (present.ok() && HolderOf(*present) != impl_->options.identity) return;
  const absl::Status released =
      present.ok() ? impl_->WriteFree(*std::move(present), stop) : present.status();
  if (released.ok() || IsConflict(released) || IsGone(released)) return;
  base::LogWarning("the leader lease could not be released, it expires by itself",
                   {{"identity", impl_->options.identity}, {"error", released}});
}

absl::Status LeaderElector::Impl::WriteFree(Object lease, const base::StopToken& stop) const {
  lease.Erase({"spec", "holderIdentity"});
  lease.Set({"spec", "leaseDurationSeconds"}, 1);
  lease.Set({"spec", "renewTime"}, kube::FormatMicroTime(env.clock.Now()));
  return env.client.Replace(LeaseResource(), lease, {}, stop).status();
}

bool LeaderElector::IsLeader() const { return impl_->leading; }

const std::string& LeaderElector::identity() const { return impl_->options.identity; }

}  // namespace kube
