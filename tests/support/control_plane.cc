#include "tests/support/control_plane.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/yaml.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "tests/support/child_process.h"

namespace tests {
namespace {

// A program that has just been started may have no log yet.
std::string LogIn(const std::string& path) { return base::ReadFile(path).value_or(""); }

std::string TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "behaviour-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  return pattern;
}

// Returns the release that BEHAVIOUR_RELEASE names.
std::optional<config::Release> ReleaseOfEnvironment() {
  const char* text = std::getenv("BEHAVIOUR_RELEASE");
  if (text == nullptr) return std::nullopt;
  const std::optional<config::Release> release = config::kReleases.Named(text);
  INFO("BEHAVIOUR_RELEASE=" << text);
  REQUIRE(release.has_value());
  return release;
}

// Returns how many of the members are in pull mode.
int PullMembers(const ControlPlane::Options& options) {
  if (options.pull_members) return *options.pull_members;
  const char* text = std::getenv("BEHAVIOUR_PULL");
  int wanted = 0;
  INFO("BEHAVIOUR_PULL");
  REQUIRE((text == nullptr || absl::SimpleAtoi(text, &wanted)));
  return std::min(wanted, options.members);
}

// Returns the path of the karmada-agent that lies beside the controller manager of the build.
std::string AgentProgram() {
  return (std::filesystem::path(KM_CONTROLLER_MANAGER).parent_path() / "karmada-agent").string();
}

}  // namespace

struct ControlPlane::Cluster {
  Cluster(std::shared_ptr<kube::Transport> transport, const std::string& name)
      : client(std::move(transport), {.name = name, .host = name, .user_agent = "behaviour-test"},
               base::RealClock(), nullptr),
        mapper(client, base::RealClock()) {}
  kube::Client client;
  kube::RestMapper mapper;
};

ControlPlane::ControlPlane() : ControlPlane(Options{}) {}

ControlPlane::ControlPlane(Options options)
    : options_(std::move(options)), directory_(TemporaryDirectory()) {
  if (const char* real = std::getenv("TEST_PLANE")) {
    const absl::StatusOr<json::Value> plane =
        json::Parse(base::ReadFile(absl::StrCat(real, "/plane.json")).value());
    REQUIRE(plane.ok());
    for (const json::Member& m : (*plane)["kubeconfigs"].members()) {
      kubeconfigs_[std::string(m.name())] = m.value.ToString();
    }
    const char* daemon = std::getenv("TEST_DAEMON_KUBECONFIG");
    daemon_kubeconfig_ = daemon != nullptr ? daemon : (*plane)["daemon"].ToString();
  } else {
    sandbox::FleetOptions fleet;
    fleet.pull_members = PullMembers(options_);
    fleet.members = options_.members - fleet.pull_members;
    fleet.enforce_quotas = options_.enforce_quotas;
    fleet.release = release();
    fleet.scheduler_gates = options_.scheduler_gates;
    fleet.ready_delay = absl::Milliseconds(100);
    fleet.job_duration = absl::Milliseconds(200);
    absl::StatusOr<std::unique_ptr<sandbox::Fleet>> started = sandbox::Fleet::Start(fleet);
    INFO(started.status().ToString());
    REQUIRE(started.ok());
    fleet_ = *std::move(started);
    REQUIRE(fleet_->WriteKubeconfigs(directory_).ok());
    kubeconfigs_["host"] = daemon_kubeconfig_ = absl::StrCat(directory_, "/karmada.kubeconfig");
    for (const std::string& m : fleet_->member_names()) {
      kubeconfigs_[m] = absl::StrCat(directory_, "/", m, ".kubeconfig");
    }
  }
  StartDaemon();
  if (options_.relay_agents) {
    agents_link_ = std::make_unique<Relay>(fleet_->control_plane().port());
  }
  for (const auto& [member, kubeconfig] : kubeconfigs_) {
    if (IsPull(member)) StartAgent(member);
  }
  REQUIRE(Eventually([&] {
    return std::all_of(kubeconfigs_.begin(), kubeconfigs_.end(), [&](const auto& entry) {
      return entry.first == "host" || AcceptsWork(entry.first);
    });
  }));
}

config::Release ControlPlane::release() const {
  if (options_.release) return *options_.release;
  return ReleaseOfEnvironment().value_or(config::Release::kV1_18);
}

bool ControlPlane::AcceptsWork(const std::string& member) {
  const auto c = Get("host", {"cluster.karmada.io", "v1alpha1", "Cluster"}, {"", member});
  // The scheduler does not use a cluster with the not-ready taint.
  return c && kube::IsConditionTrue(c->status()["conditions"], "Ready") &&
         c->Get({"spec", "taints"}).empty();
}

ControlPlane::~ControlPlane() {
  StopDaemon();
  StopAgents();
  clusters_.clear();
  fleet_.reset();
  KeepLog();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void ControlPlane::KeepLog() const {
  const char* kept = std::getenv("BEHAVIOUR_KEPT_LOG");
  if (kept == nullptr) return;
  std::ofstream(kept, std::ios::app)
      << "== " << Catch::getResultCapture().getCurrentTestName() << "\n"
      << DaemonLog();
}

std::vector<std::string> ControlPlane::DaemonCommand(
    const std::vector<std::string>& more_flags) const {
  const char* given = std::getenv("KARMADA_CONTROLLER_MANAGER");
  std::vector<std::string> words = {"/usr/bin/env"};
  words.insert(words.end(), options_.daemon_environment.begin(), options_.daemon_environment.end());
  words.insert(words.end(),
               {given != nullptr ? given : KM_CONTROLLER_MANAGER,
                absl::StrCat("--kubeconfig=", daemon_kubeconfig_), "--leader-elect=false",
                "--metrics-bind-address=0", "--health-probe-bind-address=0",
                "--cluster-status-update-frequency=1s", "--cluster-failure-threshold=1s",
                "--cluster-success-threshold=1s"});
  if (fleet_ == nullptr && ReleaseOfEnvironment()) {
    words.push_back(absl::StrCat(config::kReleaseFlag, "=", config::kReleases.TextOf(release())));
  }
  for (const auto* flags : {&options_.daemon_flags, &more_flags}) {
    words.insert(words.end(), flags->begin(), flags->end());
  }
  return words;
}

void ControlPlane::StartDaemon(const std::vector<std::string>& more_flags) {
  const char* log = std::getenv("BEHAVIOUR_LOG");
  starts_before_ = Starts();
  daemon_ = std::make_unique<ChildProcess>(
      DaemonCommand(more_flags), log != nullptr ? log : absl::StrCat(directory_, "/daemon.log"));
}

// Of the daemon's flags an agent has those that say what runs.
void ControlPlane::StartAgent(const std::string& member) {
  const std::string path = absl::StrCat(directory_, "/agent-", member);
  const absl::StatusOr<std::string> text = fleet_->AgentKubeconfig(member);
  REQUIRE(text.ok());
  std::string kubeconfig = *text;
  if (agents_link_ != nullptr) {
    const std::string by_link = absl::StrCat("https://[::1]:", agents_link_->port());
    kubeconfig = absl::StrReplaceAll(*text, {{fleet_->control_plane().url(), by_link}});
  }
  std::ofstream(path + ".kubeconfig") << kubeconfig;
  std::vector<std::string> words = {
      AgentProgram(), absl::StrCat("--cluster-name=", member),
      absl::StrCat("--karmada-kubeconfig=", path, ".kubeconfig"),
      absl::StrCat("--kubeconfig=", kubeconfigs_.at(member)),
      // Nobody issues tokens in the members of a fleet.
      "--report-secrets=None", "--leader-elect=false", "--metrics-bind-address=0",
      "--health-probe-bind-address=0", "--cluster-status-update-frequency=1s",
      "--cluster-failure-threshold=1s", "--cluster-success-threshold=1s"};
  for (const std::string& flag : options_.daemon_flags) {
    for (const char* const shared : {"--feature-gates=", "--controllers="}) {
      if (absl::StartsWith(flag, shared)) words.push_back(flag);
    }
  }
  words.insert(words.end(), options_.agent_flags.begin(), options_.agent_flags.end());
  agents_[member] = std::make_unique<ChildProcess>(std::move(words), path + ".log");
}

void ControlPlane::ReplaceAgent(const std::string& member) {
  agents_.at(member).reset();
  StartAgent(member);
}

void ControlPlane::StopAgents() {
  for (const auto& [member, agent] : agents_) {
    const int status = agent->Stop();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    FAIL_CHECK("the agent of " << member << " ended with status " << status << "\n"
                               << LogIn(absl::StrCat(directory_, "/agent-", member, ".log")));
  }
  agents_.clear();
}

void ControlPlane::AwaitDaemon(const std::string& ns) {
  constexpr char kLater[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: later-$1, namespace: $0}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Secret, name: later-$1}]
  placement: {clusterAffinity: {clusterNames: [member1]}, clusterTolerations: [{operator: Exists}]}
---
apiVersion: v1
kind: Secret
metadata: {name: later-$1, namespace: $0}
)";
  const int number = ++awaited_;
  Apply("host", absl::Substitute(kLater, ns, number));
  const kube::ObjectKey key{ns, absl::StrCat("later-", number)};
  REQUIRE(Eventually([&] { return Exists("member1", {"", "v1", "Secret"}, key); }));
}

ControlPlane::StandBy ControlPlane::StartStandBy() {
  return {DaemonCommand({}), absl::StrCat(directory_, "/stand-by.log")};
}

std::string ControlPlane::StandBy::Log() const { return LogIn(log_); }

void ControlPlane::StopDaemon() {
  if (daemon_ == nullptr) return;
  // A signal that comes while the program is being loaded ends it without an orderly stop.
  Eventually([&] { return Starts() > starts_before_ || daemon_->HasEnded(); });
  const int status = daemon_->Stop();
  daemon_.reset();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    FAIL_CHECK("controller manager ended with status " << status << "\n"
                                                       << LogIn(directory_ + "/daemon.log"));
  }
  // A loop that reads a resource it has not declared only works while another loop watches that
  // resource.
  for (const absl::string_view line : absl::StrSplit(DaemonLog(), '\n')) {
    if (absl::StrContains(line, "without having declared it")) FAIL_CHECK(line);
  }
}

std::string ControlPlane::DaemonLog() const {
  const char* log = std::getenv("BEHAVIOUR_LOG");
  return LogIn(log != nullptr ? log : directory_ + "/daemon.log");
}

size_t ControlPlane::Starts() const {
  const std::string log = DaemonLog();
  const std::vector<absl::string_view> parts =
      absl::StrSplit(log, "karmada-controller-manager starts");
  return parts.size() - 1;
}

bool ControlPlane::DaemonDied() const { return daemon_ != nullptr && daemon_->HasEnded(); }

bool ControlPlane::AgentDied() const {
  return std::any_of(agents_.begin(), agents_.end(),
                     [](const auto& agent) { return agent.second->HasEnded(); });
}

std::string ControlPlane::UniqueNamespace(const std::string& stem) {
  static std::atomic<int> counter{0};
  return absl::StrCat(stem, "-", getpid(), "-", ++counter);
}

ControlPlane::Cluster& ControlPlane::cluster(const std::string& name) {
  std::unique_ptr<Cluster>& slot = clusters_[name];
  if (slot != nullptr) return *slot;
  const auto user = users_.find(name);
  absl::StatusOr<kube::ConnectionConfig> config =
      kube::LoadConnectionConfig({kubeconfigs_.at(user == users_.end() ? name : "host"), ""});
  REQUIRE(config.ok());
  if (user != users_.end()) config->impersonate_user = user->second;
  absl::StatusOr<std::shared_ptr<kube::Transport>> transport = kube::NewHttpTransport(*config);
  REQUIRE(transport.ok());
  slot = std::make_unique<Cluster>(*std::move(transport), name);
  return *slot;
}

void ControlPlane::AddUser(const std::string& name, const std::string& user) {
  users_[name] = user;
}

kube::Client& ControlPlane::client(const std::string& name) { return cluster(name).client; }

void ControlPlane::ApplyEverywhere(const std::string& yaml) {
  for (const auto& [name, path] : kubeconfigs_) {
    if (name != "host") Apply(name, yaml);
  }
  Apply("host", yaml);
}

absl::Status ControlPlane::TryApply(const std::string& name, const kube::Object& object) {
  Cluster& c = cluster(name);
  absl::StatusOr<kube::Resource> resource = c.mapper.ForKind(object.gvk(), {});
  // The definition may be new, and the mapper asks the server rarely.
  if (!resource.ok()) c.mapper.Reset();
  if (!resource.ok()) return resource.status();
  const absl::Status created = c.client.Create(*resource, object, {}, {}).status();
  if (object.kind() == "CustomResourceDefinition") c.mapper.Reset();
  if (!absl::IsAlreadyExists(created)) return created;
  return c.client.Patch(*resource, object.key(), kube::PatchType::kMerge, object.root(), {}, {})
      .status();
}

void ControlPlane::Apply(const std::string& name, const std::string& yaml) {
  const absl::StatusOr<std::vector<json::Value>> documents = yaml::ParseAll(yaml);
  INFO(documents.status().ToString());
  REQUIRE(documents.ok());
  for (const json::Value& document : *documents) {
    const kube::Object object(document);
    absl::Status applied;
    // A kind is served a moment after its definition was created.
    Eventually([&] { return (applied = TryApply(name, object)).ok(); }, absl::Minutes(1));
    INFO(object.Describe() << ": " << applied.ToString());
    REQUIRE(applied.ok());
  }
}

void ControlPlane::Patch(const std::string& name, const kube::Gvk& gvk, const kube::ObjectKey& key,
                         const std::string& merge_patch, const std::string& subresource) {
  Cluster& c = cluster(name);
  const absl::StatusOr<kube::Resource> resource = c.mapper.ForKind(gvk, {});
  REQUIRE(resource.ok());
  const absl::StatusOr<json::Value> patch = json::Parse(merge_patch);
  REQUIRE(patch.ok());
  const absl::Status patched =
      c.client
          .Patch(*resource, key, kube::PatchType::kMerge, *patch, {.subresource = subresource}, {})
          .status();
  INFO(patched.ToString());
  REQUIRE(patched.ok());
}

void ControlPlane::Delete(const std::string& name, const kube::Gvk& gvk,
                          const kube::ObjectKey& key) {
  Cluster& c = cluster(name);
  const absl::StatusOr<kube::Resource> resource = c.mapper.ForKind(gvk, {});
  REQUIRE(resource.ok());
  const absl::Status deleted =
      c.client.Delete(*resource, key, {.propagation = "Background"}, {}).status();
  INFO(deleted.ToString());
  REQUIRE((deleted.ok() || absl::IsNotFound(deleted)));
}

std::optional<kube::Object> ControlPlane::Get(const std::string& name, const kube::Gvk& gvk,
                                              const kube::ObjectKey& key) {
  Cluster& c = cluster(name);
  const absl::StatusOr<kube::Resource> resource = c.mapper.ForKind(gvk, {});
  if (!resource.ok()) return std::nullopt;
  absl::StatusOr<kube::Object> object = c.client.Get(*resource, key, {});
  if (!object.ok()) return std::nullopt;
  return *std::move(object);
}

bool ControlPlane::Eventually(const std::function<bool()>& holds, absl::Duration within) {
  const base::SteadyTime deadline = base::RealClock().SteadyNow() + within;
  while (!holds()) {
    if (base::RealClock().SteadyNow() > deadline || DaemonDied() || AgentDied()) return holds();
    base::RealClock().SleepFor(absl::Milliseconds(50), {});
  }
  return true;
}

bool ControlPlane::Always(const std::function<bool()>& holds, absl::Duration during) {
  return !Eventually([&] { return !holds(); }, during);
}

std::string ControlPlane::EventsOn(const kube::Gvk& gvk, const std::string& name) {
  const kube::Resource events{{"", "v1", "Event"}, "events", /*namespaced=*/true};
  const auto page = client("host").ListAll(events, "", {}, {});
  REQUIRE(page.ok());
  std::string text;
  for (const kube::Object& event : page->items) {
    const json::Value& about = event.Get({"involvedObject"});
    if (about["kind"].AsString() != gvk.kind || about["name"].AsString() != name) continue;
    absl::StrAppend(&text, event.Get({"type"}).AsString(), " ", event.Get({"reason"}).AsString(),
                    ": ", event.Get({"message"}).AsString(), "\n");
  }
  return text;
}

bool ControlPlane::Settles(const std::function<std::string()>& text, absl::Duration during) {
  return Eventually([&] {
    const std::string before = text();
    return Always([&] { return text() == before; }, during);
  });
}

}  // namespace tests
