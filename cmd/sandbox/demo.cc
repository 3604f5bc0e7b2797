// The demo starts a session and the controller manager, waits until all members are ready, applies
// the samples, and follows the Deployment to its stations: scheduled, Works applied, ready in each
// cluster, status collected on the binding, sum on the template. Then a second Deployment, whose
// policy propagates dependencies, goes to two members before the ConfigMap that it mounts exists;
// the ConfigMap is created and has to follow; and the policy is changed to name another member, to
// which both have to move. At each station a check is repeated every 20 ms until it passes; what it
// returns until then says what is still missing. One deadline holds for all stations. When it is
// over, the error says what is missing; when the controller manager ends by itself, how it ended.
// Either shows the end of the manager's log, and the directory is kept.

#include "cmd/sandbox/demo.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/status.h"
#include "cmd/sandbox/page_beside.h"
#include "cmd/sandbox/propagation_tree.h"
#include "cmd/sandbox/session.h"
#include "cmd/sandbox/up.h"
#include "sandbox/manifests.h"
#include "tool/console.h"
#include "tool/tree.h"

namespace cmd {
namespace {

constexpr absl::Duration kCheck = absl::Milliseconds(20);
constexpr size_t kLogLines = 15;
constexpr char kDeployment[] = "Deployment";
constexpr char kConfigMap[] = "ConfigMap";
// The clusters that the second Deployment is put into at first, and later.
constexpr absl::string_view kFirstMembers[] = {"member1", "member2"};
constexpr absl::string_view kLaterMember[] = {"member3"};

// Follows a Deployment through the stages of propagation, one after the other.
class Demo {
 public:
  Demo(Session& session, base::SteadyTime start, absl::Duration deadline,
       const base::StopToken& stop)
      : session_(session), stop_(stop), start_(start), deadline_(start + deadline) {}

  tool::Console& console() { return console_; }
  const kube::ObjectKey& deployment() const { return deployment_; }
  Session& session() { return session_; }

  void Done(const std::string& what) {
    const tool::Colours& colours = console_.out_colours;
    console_.out << colours.Green("✓") << " " << what << "  "
                 << colours.Dim(tool::Seconds(base::RealClock().SteadyNow() - start_)) << std::endl;
  }
  // Before every member is ready, the scheduler would not divide among all of them.
  absl::Status AwaitMembers() {
    return WaitFor("the controller manager finds every member ready",
                   [this] { return MembersReady(); });
  }
  absl::Status Apply(const std::vector<kube::Object>& objects);
  absl::Status Follow();
  // Shows that the ConfigMap among the samples follows their Deployment.
  absl::Status ShowDependencies(const std::vector<kube::Object>& samples);

 private:
  // Returns OK, or kUnavailable naming what is still missing.
  // Other errors count as missing, too: objects may not exist yet.
  using Check = std::function<absl::Status()>;

  absl::Status WaitFor(const std::string& what, const Check& check);
  absl::Status MembersReady();
  absl::Status Scheduled();
  absl::Status WorksApplied();
  absl::Status ReadyIn(const std::string& cluster);
  absl::Status StatusComplete();
  absl::Status TemplateReady();
  // Makes the policies among the objects name the later member.
  absl::Status MovePolicies(const std::vector<kube::Object>& objects);
  using Members = absl::Span<const absl::string_view>;
  // They return OK when every member has the object, and when none has it.
  absl::Status InAll(const kube::Object& object, Members members);
  absl::Status InNone(const kube::Object& object, Members members);
  bool IsIn(const kube::Object& object, absl::string_view member);

  sandbox::Backend& karmada() { return session_.fleet().control_plane().backend(); }
  absl::StatusOr<kube::ObjectPtr> Binding() {
    const api::BindingAddress at = api::BindingOf(kDeployment, deployment_);
    return karmada().Get(at.resource.gvr(), at.key);
  }
  absl::StatusOr<std::vector<api::TargetCluster>> Targets();

  Session& session_;
  const base::StopToken stop_;
  const base::SteadyTime start_;
  const base::SteadyTime deadline_;
  tool::Console console_ = tool::StandardConsole();
  kube::ObjectKey deployment_;
};

absl::Status Missing(const std::string& what) { return absl::UnavailableError(what); }

absl::Status Demo::WaitFor(const std::string& what, const Check& check) {
  absl::Status missing = check();
  while (!missing.ok()) {
    if (const auto ended = session_.daemon().EndedByItself()) {
      return absl::InternalError(absl::StrCat("karmada-controller-manager ", *ended));
    }
    if (base::RealClock().SteadyNow() >= deadline_) {
      return absl::DeadlineExceededError(
          absl::StrCat("gave up after ", tool::Seconds(base::RealClock().SteadyNow() - start_),
                       "; still missing: ", missing.message()));
    }
    if (!base::RealClock().SleepFor(kCheck, stop_)) return absl::CancelledError("stopped");
    missing = check();
  }
  Done(what);
  return absl::OkStatus();
}

absl::Status Demo::Apply(const std::vector<kube::Object>& objects) {
  std::vector<std::string> applied;
  for (kube::Object object : objects) {
    const kube::Resource resource = karmada().Find(object.gvk());
    if (resource.gvk.empty()) {
      return absl::NotFoundError(
          absl::StrCat(object.Describe(), ": the control plane does not know ", object.kind()));
    }
    if (resource.namespaced && object.ns().empty()) {
      object.Set({"metadata", "namespace"}, "default");
    }
    RETURN_IF_ERROR(base::Annotate(karmada().Create(resource.gvr(), object).status(), "creating ",
                                   object.Describe()));
    if (object.kind() == kDeployment && deployment_.name.empty()) deployment_ = object.key();
    applied.push_back(object.Describe());
  }
  Done(absl::StrCat("created ", absl::StrJoin(applied, ", ")));
  return absl::OkStatus();
}

absl::Status Demo::Follow() {
  RETURN_IF_ERROR(WaitFor("the policy claims the template, the scheduler chooses clusters",
                          [this] { return Scheduled(); }));
  RETURN_IF_ERROR(WaitFor("a Work for each cluster is applied", [this] { return WorksApplied(); }));
  ASSIGN_OR_RETURN(const std::vector<api::TargetCluster> targets, Targets());
  for (const api::TargetCluster& target : targets) {
    RETURN_IF_ERROR(
        WaitFor(absl::StrCat(target.name, ": ", target.replicas,
                             target.replicas == 1 ? " replica ready" : " replicas ready"),
                [&] { return ReadyIn(target.name); }));
  }
  RETURN_IF_ERROR(WaitFor("the binding has collected every member's status",
                          [this] { return StatusComplete(); }));
  return WaitFor("the template shows the sum", [this] { return TemplateReady(); });
}

absl::StatusOr<std::vector<api::TargetCluster>> Demo::Targets() {
  ASSIGN_OR_RETURN(const kube::ObjectPtr binding, Binding());
  return api::BindingView(*binding).Clusters();
}

absl::Status Demo::MembersReady() {
  for (const std::string& name : session_.fleet().member_names()) {
    ASSIGN_OR_RETURN(const kube::ObjectPtr cluster,
                     karmada().Get(api::Clusters().gvr(), {"", name}));
    const api::ClusterView view(*cluster);
    if (!view.IsReady()) return Missing(absl::StrCat("condition Ready of Cluster ", name));
    for (const api::Taint& taint : view.Taints()) {
      if (taint.key != api::kNotReadyTaint) continue;
      return Missing(absl::StrCat("Cluster ", name, " without the taint ", taint.key));
    }
  }
  return absl::OkStatus();
}

absl::Status Demo::Scheduled() {
  const auto binding = Binding();
  if (!binding.ok()) {
    return Missing(absl::StrCat("a ResourceBinding for Deployment ", deployment_.ToString()));
  }
  if (!kube::IsConditionTrue((*binding)->status()["conditions"], api::kBindingScheduled)) {
    const json::Value* scheduled =
        kube::FindCondition((*binding)->status()["conditions"], api::kBindingScheduled);
    return Missing(
        absl::StrCat("condition Scheduled of ", (*binding)->Describe(),
                     scheduled == nullptr ? "" : " (" + (*scheduled)["message"].ToString() + ")"));
  }
  return absl::OkStatus();
}

absl::Status Demo::WorksApplied() {
  ASSIGN_OR_RETURN(const kube::ObjectPtr binding, Binding());
  ASSIGN_OR_RETURN(const auto works, WorksOf(session_.fleet(), *binding));
  const size_t wanted = api::BindingView(*binding).Clusters().size();
  if (works.size() != wanted) {
    return Missing(absl::StrCat(wanted, " Works, there are ", works.size()));
  }
  for (const kube::ObjectPtr& work : works) {
    if (kube::IsConditionTrue(work->status()["conditions"], api::kWorkApplied)) continue;
    const json::Value* applied =
        kube::FindCondition(work->status()["conditions"], api::kWorkApplied);
    return Missing(
        absl::StrCat("condition Applied of ", work->Describe(),
                     applied == nullptr ? "" : " (" + (*applied)["message"].ToString() + ")"));
  }
  return absl::OkStatus();
}

absl::Status Demo::ReadyIn(const std::string& cluster) {
  sandbox::ApiServer* member = session_.fleet().member(cluster);
  if (member == nullptr) return absl::NotFoundError(absl::StrCat("there is no member ", cluster));
  const auto object = member->backend().Get({"apps", "v1", "deployments"}, deployment_);
  if (!object.ok()) {
    return Missing(absl::StrCat("Deployment ", deployment_.ToString(), " in ", cluster));
  }
  const int64_t wanted = (*object)->spec()["replicas"].AsInt(1);
  if ((*object)->status()["readyReplicas"].AsInt() == wanted) return absl::OkStatus();
  return Missing(absl::StrCat("ready pods in ", cluster, ": ", ReadyCount(**object)));
}

absl::Status Demo::StatusComplete() {
  ASSIGN_OR_RETURN(const kube::ObjectPtr binding, Binding());
  const api::BindingView view(*binding);
  const std::vector<api::AggregatedStatusItem> items = view.AggregatedItems();
  for (const api::TargetCluster& target : view.Clusters()) {
    // One status of the cluster must have all of it; an earlier one may still be there.
    bool healthy = false;
    for (const api::AggregatedStatusItem& item : items) {
      const bool right = item.cluster_name == target.name && item.applied &&
                         item.health == api::kHealthy &&
                         item.status["readyReplicas"].AsInt() == target.replicas;
      healthy = healthy || right;
    }
    if (!healthy) {
      return Missing(
          absl::StrCat("a healthy status of ", target.name, " in ", binding->Describe()));
    }
  }
  return absl::OkStatus();
}

absl::Status Demo::TemplateReady() {
  ASSIGN_OR_RETURN(const kube::ObjectPtr object,
                   karmada().Get({"apps", "v1", "deployments"}, deployment_));
  const int64_t wanted = object->spec()["replicas"].AsInt(1);
  if (object->status()["readyReplicas"].AsInt() == wanted) return absl::OkStatus();
  return Missing(absl::StrCat("status of the template: ", ReadyCount(*object)));
}

bool Demo::IsIn(const kube::Object& object, absl::string_view member) {
  const kube::Resource resource = karmada().Find(object.gvk());
  return session_.fleet().member(member)->backend().Get(resource.gvr(), object.key()).ok();
}

absl::Status Demo::InAll(const kube::Object& object, Members members) {
  for (const absl::string_view member : members) {
    if (!IsIn(object, member)) return Missing(absl::StrCat(object.Describe(), " in ", member));
  }
  return absl::OkStatus();
}

absl::Status Demo::InNone(const kube::Object& object, Members members) {
  for (const absl::string_view member : members) {
    if (!IsIn(object, member)) continue;
    return Missing(absl::StrCat("the end of ", object.Describe(), " in ", member));
  }
  return absl::OkStatus();
}

absl::Status Demo::MovePolicies(const std::vector<kube::Object>& objects) {
  for (const kube::Object& object : objects) {
    if (object.kind() != "PropagationPolicy") continue;
    const kube::Gvr policies = karmada().Find(object.gvk()).gvr();
    ASSIGN_OR_RETURN(const kube::ObjectPtr now, karmada().Get(policies, object.key()));
    kube::Object moved = *now;
    moved.Set({"spec", "placement", "clusterAffinity", "clusterNames"},
              json::Value::Array({kLaterMember[0]}));
    RETURN_IF_ERROR(karmada().Update(policies, moved).status());
    Done(absl::StrCat("changed ", object.Describe(), " to name ", kLaterMember[0]));
  }
  return absl::OkStatus();
}

absl::Status Demo::ShowDependencies(const std::vector<kube::Object>& samples) {
  std::vector<kube::Object> before, config, apps;
  for (const kube::Object& sample : samples) {
    (sample.kind() == kConfigMap ? config : before).push_back(sample);
    if (sample.kind() == kDeployment) apps.push_back(sample);
  }
  if (apps.size() != 1 || config.size() != 1) {
    return absl::InvalidArgumentError("the samples are not one Deployment and one ConfigMap");
  }
  const kube::Object& app = apps[0];
  const std::string first = absl::StrJoin(kFirstMembers, ", ");
  RETURN_IF_ERROR(Apply(before));
  RETURN_IF_ERROR(WaitFor(
      absl::StrCat(first, ": ", app.name(), "; the ConfigMap that it mounts is ", "not there yet"),
      [&] { return InAll(app, kFirstMembers); }));
  RETURN_IF_ERROR(Apply(config));
  RETURN_IF_ERROR(WaitFor(absl::StrCat(first, ": ", config[0].name(), ", which no policy selects"),
                          [&] { return InAll(config[0], kFirstMembers); }));
  RETURN_IF_ERROR(MovePolicies(before));
  return WaitFor(absl::StrCat(kLaterMember[0], ": ", app.name(), " and ", config[0].name(),
                              "; both have left ", first),
                 [&]() -> absl::Status {
                   for (const auto* object : {&app, std::as_const(config).data()}) {
                     RETURN_IF_ERROR(InAll(*object, kLaterMember));
                     RETURN_IF_ERROR(InNone(*object, kFirstMembers));
                   }
                   return absl::OkStatus();
                 });
}

absl::StatusOr<std::vector<kube::Object>> ReadSamples(std::string directory) {
  ASSIGN_OR_RETURN(directory, sandbox::FindManifests({directory, "samples/demo", "--samples"}));
  ASSIGN_OR_RETURN(std::vector<kube::Object> objects, sandbox::ReadManifests(directory));
  for (const kube::Object& object : objects) {
    if (object.kind() == kDeployment) return objects;
  }
  return absl::InvalidArgumentError(absl::StrCat("there is no Deployment in ", directory));
}

int MembersOf(const SandboxOptions& options) {
  return options.fleet.members + options.fleet.pull_members;
}

struct Samples {
  std::vector<kube::Object> first;
  std::vector<kube::Object> dependencies;  // What the second part of the demo applies.
};

// Returns the samples of the second part; none when the user has given other samples, or too few
// members.
absl::StatusOr<std::vector<kube::Object>> ReadDependencies(const SandboxOptions& options) {
  if (!options.samples.empty() || MembersOf(options) < 3) return std::vector<kube::Object>();
  ASSIGN_OR_RETURN(const std::string directory,
                   sandbox::FindManifests({"", "samples/dependencies", "--samples"}));
  return sandbox::ReadManifests(directory);
}

absl::Status Walk(Demo& demo, const Samples& samples) {
  RETURN_IF_ERROR(demo.AwaitMembers());
  RETURN_IF_ERROR(demo.Apply(samples.first));
  RETURN_IF_ERROR(demo.Follow());
  tool::Console& console = demo.console();
  ASSIGN_OR_RETURN(const tool::TreeNode tree,
                   PropagationTree(demo.session().fleet(), demo.deployment(), console.out_colours));
  console.out << "\n" << tool::TreeText(tree) << std::endl;
  return samples.dependencies.empty() ? absl::OkStatus()
                                      : demo.ShowDependencies(samples.dependencies);
}

}  // namespace

absl::Status RunDemo(const SandboxOptions& options, const base::StopToken& stop) {
  Samples samples;
  ASSIGN_OR_RETURN(samples.first, ReadSamples(options.samples));
  ASSIGN_OR_RETURN(samples.dependencies, ReadDependencies(options));
  ASSIGN_OR_RETURN(const std::string program, FindControllerManager(options.controller_manager));
  if (program.empty()) {
    return absl::NotFoundError(
        absl::StrCat("the demo needs a controller manager and there is no "
                     "karmada-controller-manager in ",
                     ProgramDirectory(), ": give one with --with-controller-manager"));
  }
  const base::SteadyTime start = base::RealClock().SteadyNow();
  ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(options));
  Demo demo(*session, start, options.deadline, stop);
  tool::Console& console = demo.console();
  if (!session->earlier_run().empty()) console.out << session->earlier_run() << std::endl;
  demo.Done(absl::StrCat("a control plane and ", MembersOf(options), " members are up"));
  RETURN_IF_ERROR(session->daemon().Start(program));
  RETURN_IF_ERROR(session->StartAgents());
  const absl::Status walked = Walk(demo, samples);
  if (!walked.ok() && !absl::IsCancelled(walked)) {
    session->directory().Keep();
    return base::Annotate(
        absl::Status(walked.code(),
                     absl::StrCat(walked.message(), "\nThe controller manager's last words (",
                                  session->daemon().log_file(), "):\n",
                                  session->daemon().LogTail(kLogLines))),
        "demo");
  }
  RETURN_IF_ERROR(walked);
  if (!console.out_is_terminal) return absl::OkStatus();
  const std::unique_ptr<PageBeside> page = PageBeside::Start(*session);
  if (page != nullptr) {
    console.out << "The fleet as a page: " << console.out_colours.Bold(page->url()) << "\n"
                << std::endl;
  }
  const kube::ObjectKey& key = demo.deployment();
  console.out << Instructions(
                     *session, console.out_colours,
                     {absl::StrCat("kubectl -n ", key.ns,
                                   " get deployments,propagationpolicies,resourcebindings"),
                      absl::StrCat("kubectl -n ", key.ns, " scale deployment ", key.name,
                                   " --replicas 12")})
              << std::endl;
  ServeUntil(stop, *session, console.out, console.out_colours);
  return absl::OkStatus();
}

}  // namespace cmd
