// The stage is that of tests/prove; what differs is that the links are a test's, and that an agent
// that ends is started again while time passes.

#include "tests/agents/day/day.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/json.h"
#include "base/yaml.h"
#include "kube/meta/selector.h"
#include "sandbox/api_server.h"
#include "sandbox/cluster_identity.h"
#include "tests/support/free_port.h"

namespace tests {
namespace {

constexpr absl::Duration kFirstPause = absl::Seconds(10), kLongestPause = absl::Minutes(5);
constexpr absl::Duration kSlack = absl::Milliseconds(50), kLongSlack = absl::Seconds(20);
constexpr char kNs[] = "shop";
constexpr char kMember[] = "member2";

constexpr char kShop[] = R"(
apply:
- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: shop}
  spec: &spec
    replicas: 3
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: nginx}]}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: api, namespace: shop}
  spec:
    replicas: 1
    selector: {matchLabels: {app: api}}
    template:
      metadata: {labels: {app: api}}
      spec: {containers: [{name: main, image: nginx}]}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}, data: {k: a}}
- apiVersion: policy.karmada.io/v1alpha1
  kind: PropagationPolicy
  metadata: {name: all, namespace: shop}
  spec:
    resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: v1, kind: ConfigMap}]
    placement: {clusterAffinity: {clusterNames: [member2]}}
)";

std::vector<std::string> Plain() {
  return {"--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0"};
}

kube::Gvr GvrOf(const std::string& kind) {
  return {kind == "deployments" ? "apps" : "", "v1", kind};
}

}  // namespace

Day::Day(std::vector<std::string> flags, std::vector<std::string> beside)
    : health_port_(FreePort()),
      to_plane_(std::make_shared<Link>()),
      in_member_(std::make_shared<Link>()) {
  prove::StageOptions options;
  options.command = {KM_AGENT, "--metrics-bind-address=0",
                     absl::StrCat("--health-probe-bind-address=127.0.0.1:", health_port_)};
  const bool says_what_to_report = std::any_of(
      flags.begin(), flags.end(),
      [](const std::string& flag) { return absl::StartsWith(flag, "--report-secrets"); });
  if (!says_what_to_report) options.command.emplace_back("--report-secrets=None");
  options.command.insert(options.command.end(), flags.begin(), flags.end());
  options.beside = Plain();
  options.beside.insert(options.beside.begin(), KM_CONTROLLER_MANAGER);
  options.beside.insert(options.beside.end(), beside.begin(), beside.end());
  options.directory = directory_.path();
  auto stage = prove::Stage::Start(std::move(options), time_);
  INFO(stage.status());
  REQUIRE(stage.ok());
  stage_ = *std::move(stage);
  stage_->fleet().control_plane().SetInterference(to_plane_);
  stage_->fleet().member(kMember)->SetInterference(in_member_);
  user_.emplace(stage_->fleet());
}

Day::~Day() {
  to_plane_->Set(LinkState::kUp);
  in_member_->Set(LinkState::kUp);
}

void Day::Begin() {
  StartAgent();
  const bool is_ready = Within(absl::Minutes(5), [&] { return Ready() == "True"; });
  INFO(Log());
  REQUIRE(is_ready);
  Do(kShop);
  REQUIRE(Within(absl::Minutes(5), [&] {
    return ReplicasInMember("web") == 3 && ReplicasInMember("api") == 1 &&
           InMember("configmaps", "settings") != nullptr;
  }));
  Pass(absl::Minutes(2));
}

void Day::StartAgent() {
  REQUIRE(stage_->StartDaemon().ok());
  is_wanted_ = true;
  ++starts_;
  started_at_ = time_.Now();
}

void Day::KillAgent() {
  stage_->KillDaemon();
  is_wanted_ = false;
  pause_ = absl::ZeroDuration();
}

void Day::KeepRunning() {
  if (!is_wanted_) return;
  if (stage_->daemon() == 0) {
    if (time_.Now() >= start_at_) StartAgent();
    return;
  }
  if (!stage_->DaemonDied()) return;
  stage_->KillDaemon();
  if (time_.Now() - started_at_ > 2 * kLongestPause) pause_ = absl::ZeroDuration();
  pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
  start_at_ = time_.Now() + pause_;
}

void Day::Pass(absl::Duration duration) {
  // In hours nothing depends on seconds, and each jump of the time takes a while.
  time_.SetSlack(duration > absl::Hours(1) ? kLongSlack : kSlack);
  time_.RunFor(duration, [&] {
    KeepRunning();
    return false;
  });
  CHECK_FALSE(time_.busy_without_end());
}

bool Day::Within(absl::Duration longest, const std::function<bool()>& holds) {
  time_.SetSlack(kSlack);
  return time_.RunFor(longest, [&] {
    KeepRunning();
    return holds();
  });
}

void Day::Do(const std::string& step) {
  std::string text = "steps:\n- name: step\n";
  for (const absl::string_view line : absl::StrSplit(step, '\n')) {
    absl::StrAppend(&text, "  ", line, "\n");
  }
  const auto workload = prove::ReadWorkload(directory_.Write("step.yaml", text));
  INFO(workload.status());
  REQUIRE(workload.ok());
  for (const prove::Action& action : workload->steps[0].actions) {
    const absl::Status done = user_->Perform(action);
    INFO(done);
    REQUIRE(done.ok());
  }
}

kube::ObjectPtr Day::InMember(const std::string& kind, const std::string& name) {
  const auto found = stage_->fleet().member(kMember)->backend().Get(GvrOf(kind), {kNs, name});
  return found.ok() ? *found : nullptr;
}

int64_t Day::ReplicasInMember(const std::string& name) {
  const kube::ObjectPtr found = InMember("deployments", name);
  return found == nullptr ? 0 : found->Get({"spec", "replicas"}).AsInt();
}

std::vector<std::string> Day::Member() {
  std::vector<std::string> lines;
  for (const char* kind : {"deployments", "configmaps"}) {
    const auto all =
        stage_->fleet().member(kMember)->backend().List(GvrOf(kind), kNs, kube::LabelSelector());
    REQUIRE(all.ok());
    for (const kube::ObjectPtr& object : *all) {
      lines.push_back(absl::StrCat(kind, " ", object->name(), " ", object->uid(), " ",
                                   json::Write(object->root()["spec"]),
                                   json::Write(object->root()["data"])));
    }
  }
  return lines;
}

std::string Day::Ready() {
  const auto found = stage_->fleet().control_plane().backend().Get(
      {"cluster.karmada.io", "v1alpha1", "clusters"}, {"", kMember});
  if (!found.ok()) return "";
  const json::Value* condition =
      kube::FindCondition((*found)->Get({"status", "conditions"}), "Ready");
  return condition == nullptr ? "" : (*condition)["status"].ToString();
}

void Day::WriteKubeconfig(const std::string& text) {
  REQUIRE(
      sandbox::WritePrivateFile(absl::StrCat(directory_.path(), "/agent.kubeconfig"), text).ok());
}

std::string Day::Kubeconfig() const {
  return base::ReadFile(absl::StrCat(directory_.path(), "/agent.kubeconfig")).value();
}

std::string Day::WithToken(const std::string& token) const {
  json::Value config = yaml::Parse(Kubeconfig()).value();
  json::Value user = config["users"].items()[0];
  user.Set("user", json::Value::Object({{"token", token}}));
  config.Set("users", json::Value::Array({std::move(user)}));
  return yaml::Write(config);
}

std::string Day::Log() const { return base::ReadFile(stage_->log()).value_or(""); }

std::string Day::Readyz() const {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(health_port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  constexpr absl::string_view kRequest =
      "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      send(fd, kRequest.data(), kRequest.size(), MSG_NOSIGNAL) > 0) {
    char bytes[4096];
    for (ssize_t n = 0; (n = recv(fd, bytes, sizeof bytes, 0)) > 0;) {
      answer.append(bytes, static_cast<size_t>(n));
    }
  }
  close(fd);
  return answer;
}

int64_t Day::Figure(const std::string& name) const {
  std::ifstream status(absl::StrCat("/proc/", stage_->daemon(), "/status"));
  for (std::string line; std::getline(status, line);) {
    if (!absl::StartsWith(line, name)) continue;
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar("\t "), absl::SkipEmpty());
    int64_t value = 0;
    return absl::SimpleAtoi(words[1], &value) ? value : 0;
  }
  return 0;
}

int Day::Descriptors() const {
  const std::filesystem::directory_iterator all(absl::StrCat("/proc/", stage_->daemon(), "/fd"));
  return static_cast<int>(std::distance(begin(all), end(all)));
}

}  // namespace tests
