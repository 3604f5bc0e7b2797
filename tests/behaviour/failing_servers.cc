// A sandbox server counts requests by client, verb and answer, so that refused requests need no
// record of their own. A watch is counted when it is opened. Nothing but a fault here and the death
// of a program ends one within the time of a test, so the watches that were opened since the last
// of these are those that the next one ends.
#include "tests/behaviour/failing_servers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "kube/meta/object.h"
#include "tests/behaviour/manifests.h"

namespace tests {
namespace {

constexpr int kCodes[] = {429, 500, 503, 504};
constexpr absl::Duration kDownTime = absl::Milliseconds(200);
constexpr int kTurnsOfServers = 4;                         // One of so many faults is the link's.
constexpr absl::Duration kSlow = absl::Milliseconds(100);  // For each piece of what is sent.

std::string Refusals(int code) { return absl::StrCat("requests answered with ", code); }

}  // namespace

FailingServers::FailingServers(ControlPlane& plane)
    : plane_(plane), servers_({&plane.fleet()->control_plane()}) {
  for (const std::string& member : plane.fleet()->member_names()) {
    servers_.push_back(plane.fleet()->member(member));
  }
  for (const char* program : {kDaemon, kAgent}) opened_[program].resize(servers_.size());
  for (const char* kind : {kKills, kDropped, kExpired, kRestarted, kNotReady, kChanged}) {
    met_[kind] = 0;
  }
  if (plane.agents_link() == nullptr) return;
  for (const char* kind : {kAgentKills, kLinkCut, kSlowed}) met_[kind] = 0;
}

void FailingServers::Fail(int server, int requests) {
  if (!partitioned_.empty() && servers_[server] == plane_.fleet()->member(partitioned_)) return;
  sandbox::Faults& faults = servers_[server]->faults();
  if (plane_.agents_link() != nullptr && turns_++ % kTurnsOfServers == 0) return FailLink();
  const int fault = faults_++;
  switch (fault % 6) {
    case 0:
      met_[kDropped] += CutWatches(server);
      return faults.DropWatches();
    case 2:
      faults.ExpireHistory();
      met_[kExpired] += CutWatches(server);
      return faults.DropWatches();
    case 4:
      return Restart(server);
    default:
      return faults.FailNext(requests, kCodes[fault / 2 % 4], "", "/");
  }
}

void FailingServers::Restart(size_t server) {
  met_[kRestarted] += CutWatches(server);
  servers_[server]->faults().SetPartitioned(true);
  base::RealClock().SleepFor(kDownTime, {});
  servers_[server]->faults().SetPartitioned(false);
}

// The link is slow until its next fault, and every second of those cuts what is open, if anything.
void FailingServers::FailLink() {
  if (!partitioned_.empty()) return;
  Relay& link = *plane_.agents_link();
  slow_ = !slow_;
  link.SetDelay(slow_ ? kSlow : absl::ZeroDuration());
  if (slow_) {
    sent_before_ = SentByAgents();
    return;
  }
  met_[kSlowed] += SentByAgents() - sent_before_;
  // On a slow machine an agent would never get as far as to watch if every link was cut.
  const int64_t watches = CutWatches(0, kAgent);
  if (watches == 0) return;
  met_[kLinkCut] += watches;
  link.SetCut(true);
  base::RealClock().SleepFor(kDownTime, {});
  link.SetCut(false);
}

void FailingServers::Partition(const std::string& member, bool on) {
  if (on == (partitioned_ == member)) return;
  if (plane_.IsPull(member) && plane_.agents_link() != nullptr) {
    CutWatches(0, kAgent);
    plane_.agents_link()->SetCut(on);
    partitioned_ = on ? member : "";
    return;
  }
  sandbox::ApiServer* server = plane_.fleet()->member(member);
  const auto at = std::find(servers_.begin(), servers_.end(), server);
  CutWatches(at - servers_.begin());
  server->faults().SetPartitioned(on);
  partitioned_ = on ? member : "";
}

void FailingServers::LookAtPartitioned() {
  if (partitioned_.empty()) return;
  const auto cluster = plane_.Get("host", kCluster, {"", partitioned_});
  if (cluster && !kube::IsConditionTrue(cluster->status()["conditions"], "Ready")) {
    ++met_[kNotReady];
  }
}

void FailingServers::AppWasChanged() {
  if (!partitioned_.empty()) ++met_[kChanged];
}

bool FailingServers::Ended(const std::string& program, const std::string& kill) {
  const bool was_at_work = CutWatches(0, program) > 0;
  for (size_t member = 1; member < servers_.size(); ++member) CutWatches(member, program);
  if (!kill.empty() && was_at_work) ++met_[kill];
  return was_at_work;
}

void FailingServers::End() {
  partitioned_.clear();
  if (plane_.agents_link() != nullptr) {
    plane_.agents_link()->SetCut(false);
    plane_.agents_link()->SetDelay(absl::ZeroDuration());
  }
  for (sandbox::ApiServer* server : servers_) server->faults().Clear();
}

int64_t FailingServers::CutWatches(size_t server, const std::string& program) {
  const int64_t opened = Answers(*servers_[server], program, "watch", 200);
  return opened - std::exchange(opened_.at(program)[server], opened);
}

int64_t FailingServers::CutWatches(size_t server) {
  return CutWatches(server, kDaemon) + CutWatches(server, kAgent);
}

int64_t FailingServers::Answers(const sandbox::ApiServer& server, const std::string& program,
                                const std::string& verb, int code) const {
  int64_t answers = 0;
  for (const sandbox::RequestCount& count : server.Requests()) {
    const bool counts = (code == 0 || count.code == code) && (verb.empty() || count.verb == verb) &&
                        absl::StartsWith(count.client, program);
    if (counts) answers += count.count;
  }
  return answers;
}

std::map<std::string, int64_t> FailingServers::Met() const {
  std::map<std::string, int64_t> met = met_;
  for (const sandbox::ApiServer* server : servers_) {
    for (const int code : kCodes) met[Refusals(code)] += Answers(*server, "karmada-", "", code);
  }
  return met;
}

bool FailingServers::AllMet() const {
  const std::map<std::string, int64_t> met = Met();
  return std::all_of(met.begin(), met.end(), [](const auto& entry) { return entry.second > 0; });
}

std::string FailingServers::Text() const {
  return absl::StrJoin(Met(), ", ", absl::PairFormatter(": "));
}

}  // namespace tests
