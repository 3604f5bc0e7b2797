// Each Pod is asked for the first thing that keeps it from running: it has no node, a container
// waits with a reason that says that it fails, or has ended badly. Pods that say the same are one
// trouble. What only the events of a Pod say, such as a volume that cannot be mounted, is not read.
// No state.

#include "lens/why/pods.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "api/work.h"
#include "kube/meta/selector.h"
#include "lens/why/expected.h"

namespace lens::why {
namespace {

constexpr size_t kTroublesShown = 3;
constexpr size_t kLongestMessage = 240;

// What a Pod says of itself.
struct Complaint {
  std::string key;        // The same for Pods that complain of the same.
  std::string container;  // "" when it is about the Pod.
  std::string text;       // "cannot be scheduled (...)".
  std::string advice;     // "$POD" is the Pod, "$C" the cluster.
};

std::string Shortened(absl::string_view message) {
  std::string text = absl::StrReplaceAll(message, {{"\n", " "}});
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  if (text.size() <= kLongestMessage) return text;
  size_t end = kLongestMessage;
  const auto is_inside = [&] { return (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80; };
  while (end > 0 && is_inside()) --end;  // Not within a letter.
  return absl::StrCat(text.substr(0, end), "…");
}

// Returns "reason: message", or one of them.
std::string Said(const json::Value& state) {
  const std::string reason = state["reason"].ToString();
  const std::string message = Shortened(state["message"].AsString());
  return absl::StrCat(reason, reason.empty() || message.empty() ? "" : ": ", message);
}

// Returns "exit code 137 (OOMKilled)".
std::string HowItEnded(const json::Value& terminated) {
  const std::string reason = terminated["reason"].ToString();
  return absl::StrCat("exit code ", terminated["exitCode"].AsInt(),
                      reason.empty() ? "" : absl::StrCat(" (", reason, ")"));
}

constexpr char kDescribe[] = "in $C: kubectl -n $NS describe pod $POD";

std::string AdviceForEnd(const json::Value& terminated, absl::string_view container,
                         bool was_restarted) {
  const std::string logs = absl::StrCat("in $C: kubectl -n $NS logs $POD -c ", container,
                                        was_restarted ? " --previous" : "");
  if (terminated["reason"].AsString() != "OOMKilled") {
    return absl::StrCat("see what it says before it ends; ", logs);
  }
  return absl::StrCat("raise its limit of memory in the template, or see why it needs that much; ",
                      logs);
}

bool IsAboutImage(absl::string_view reason) {
  constexpr absl::string_view kReasons[] = {
      "ImagePullBackOff",  "ErrImagePull",        "InvalidImageName",         "ErrImageNeverPull",
      "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"};
  return std::find(std::begin(kReasons), std::end(kReasons), reason) != std::end(kReasons);
}

bool IsAboutCreation(absl::string_view reason) {
  return reason == "CreateContainerConfigError" || reason == "CreateContainerError" ||
         reason == "RunContainerError" || reason == "StartError";
}

// Returns what the container's status says that fails.
std::optional<Complaint> ComplaintOf(const json::Value& status) {
  const std::string name = status["name"].ToString();
  const json::Value& waiting = status["state"]["waiting"];
  const std::string reason = waiting["reason"].ToString();
  if (IsAboutImage(reason)) {
    return Complaint{
        absl::StrCat("image/", name), name,
        absl::StrCat("cannot get its image ", status["image"].AsString(), " (", Said(waiting), ")"),
        absl::StrCat("see whether the name of the image is right$OVERRIDES, whether $C reaches its "
                     "registry, and whether a pull secret that it needs is there; ",
                     kDescribe)};
  }
  if (IsAboutCreation(reason)) {
    return Complaint{
        absl::StrCat("create/", name), name, absl::StrCat("cannot be made (", Said(waiting), ")"),
        absl::StrCat("mend what the message says: create what a container names, such as a "
                     "ConfigMap, a Secret or a key in one, in the control plane, and set "
                     "propagateDeps: true in the policy or select it in a policy, too; ",
                     kDescribe)};
  }
  const json::Value& last = status["lastState"]["terminated"];
  if (reason == "CrashLoopBackOff") {
    return Complaint{
        absl::StrCat("crash/", name), name,
        absl::StrCat("ends again and again (CrashLoopBackOff",
                     last.is_null() ? "" : absl::StrCat(", the last time with ", HowItEnded(last)),
                     ")"),
        AdviceForEnd(last, name, /*was_restarted=*/true)};
  }
  const json::Value& ended = status["state"]["terminated"];
  if (!ended.is_null() && ended["exitCode"].AsInt() != 0) {
    return Complaint{absl::StrCat("end/", name), name,
                     absl::StrCat("has ended with ", HowItEnded(ended)),
                     AdviceForEnd(ended, name, /*was_restarted=*/false)};
  }
  return std::nullopt;
}

std::optional<Complaint> ComplaintOf(const kube::Object& pod) {
  const json::Value& status = pod.status();
  const json::Value* scheduled = kube::FindCondition(status["conditions"], "PodScheduled");
  if (scheduled != nullptr && (*scheduled)["status"].AsString() == "False") {
    const std::string reason = (*scheduled)["reason"].ToString();
    if (reason == "SchedulingGated") {
      return Complaint{
          "gated", "", "cannot be scheduled yet (SchedulingGated)",
          absl::StrCat("see which program in $C takes spec.schedulingGates away; ", kDescribe)};
    }
    return Complaint{
        "unschedulable", "", absl::StrCat("cannot be scheduled (", Said(*scheduled), ")"),
        absl::StrCat("have the template ask for less, or for other nodes (requests, nodeSelector, "
                     "affinity, tolerations), or give $C nodes that fit; ",
                     kDescribe)};
  }
  for (const char* containers : {"initContainerStatuses", "containerStatuses"}) {
    for (const json::Value& container : status[containers].items()) {
      if (auto complaint = ComplaintOf(container); complaint.has_value()) return complaint;
    }
  }
  if (status["phase"].AsString() == "Failed") {
    return Complaint{
        absl::StrCat("failed/", status["reason"].AsString()), "",
        absl::StrCat("failed", Said(status).empty() ? "" : absl::StrCat(" (", Said(status), ")")),
        absl::StrCat("see why; ", kDescribe)};
  }
  return std::nullopt;
}

// Returns whether the workload has made the Pod: others may have the same labels.
bool IsOf(const kube::Object& workload, const kube::Object& pod) {
  const kube::OwnerRef owner = pod.ControllerOwner();
  if (workload.kind() != "Deployment") {
    return owner.kind == workload.kind() && owner.name == workload.name();
  }
  const std::string prefix = absl::StrCat(workload.name(), "-");
  return owner.kind == "ReplicaSet" && absl::StartsWith(owner.name, prefix) &&
         !absl::StrContains(owner.name.substr(prefix.size()), "-");
}

// Returns "its Pod", "its 3 Pods", "2 of its 3 Pods" or "2 of those 50 of its Pods that were read".
std::string HowMany(size_t count, size_t all, bool has_more) {
  if (has_more) {
    return absl::StrCat(count, " of those ", all, " of its Pods that were read");
  }
  if (all == 1) return "its Pod";
  return count == all ? absl::StrCat("its ", all, " Pods")
                      : absl::StrCat(count, " of its ", all, " Pods");
}

kube::ObjectPtr ObjectIn(const Chain& chain, const std::string& cluster) {
  const auto answer = chain.members.find(cluster);
  return answer == chain.members.end() ? nullptr : answer->second.object;
}

// Returns " in the template", and also the override policies that may change it there.
std::string OverridesThere(const Chain& chain, const std::string& cluster) {
  const auto work = chain.works.find(cluster);
  if (work == chain.works.end()) return " in the template";
  const std::vector<std::string> names = OverridesOf(*work->second, chain.asked.key.ns);
  if (names.empty()) return " in the template";
  return absl::StrCat(" in the template, or in ", absl::StrJoin(names, ", "),
                      names.size() == 1 ? ", which changes it there" : ", which change it there");
}

}  // namespace

bool MakesPods(const kube::Gvk& gvk) {
  if (gvk.group == "batch") return gvk.kind == "Job";
  return gvk.group == "apps" && (gvk.kind == "Deployment" || gvk.kind == "StatefulSet" ||
                                 gvk.kind == "DaemonSet" || gvk.kind == "ReplicaSet");
}

std::string PodSelectorOf(const kube::Object& workload) {
  const auto selector = kube::LabelSelector::FromJson(workload.spec()["selector"]);
  if (!selector.ok() || selector->MatchesNothing() || selector->MatchesEverything()) return "";
  return selector->ToString();
}

bool ArePodsOfInterest(const Chain& chain, const std::string& cluster, const kube::Object& work) {
  const kube::ObjectPtr object = ObjectIn(chain, cluster);
  if (!MakesPods(chain.asked.gvk) || object == nullptr || object->IsDeleting()) return false;
  if (HealthIn(chain, work) == api::kUnhealthy) return true;
  return chain.asked.gvk.kind == "Job" && !object->spec()["suspend"].AsBool() &&
         !kube::IsConditionTrue(object->status()["conditions"], "Complete");
}

std::vector<PodTrouble> PodTroublesIn(const Chain& chain, const std::string& cluster) {
  std::vector<PodTrouble> troubles;
  const auto read = chain.pods.find(cluster);
  const kube::ObjectPtr workload = ObjectIn(chain, cluster);
  if (read == chain.pods.end() || workload == nullptr) return troubles;
  struct Group {
    Complaint complaint;
    std::string pod;  // One of them.
    size_t count = 0;
  };
  std::vector<Group> groups;
  size_t all = 0;
  for (const kube::ObjectPtr& pod : read->second.pods) {
    if (!IsOf(*workload, *pod) || pod->IsDeleting()) continue;
    ++all;
    auto complaint = ComplaintOf(*pod);
    if (!complaint.has_value()) continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& known) {
      return known.complaint.key == complaint->key;
    });
    if (group == groups.end()) {
      groups.push_back({*std::move(complaint), std::string(pod->name())});
      group = std::prev(groups.end());
    }
    ++group->count;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.count > b.count; });
  if (groups.size() > kTroublesShown) groups.resize(kTroublesShown);
  for (const Group& group : groups) {
    const std::string many = HowMany(group.count, all, read->second.has_more);
    const std::string& container = group.complaint.container;
    troubles.push_back({container.empty() ? absl::StrCat(many, " ", group.complaint.text)
                                          : absl::StrCat("in ", many, " the container ", container,
                                                         " ", group.complaint.text),
                        absl::StrReplaceAll(group.complaint.advice,
                                            {{"$C", cluster},
                                             {"$NS", chain.asked.key.ns},
                                             {"$POD", group.pod},
                                             {"$OVERRIDES", OverridesThere(chain, cluster)}})});
  }
  return troubles;
}

std::string WhyPodsUnread(const Chain& chain, const std::string& cluster) {
  const auto read = chain.pods.find(cluster);
  if (read == chain.pods.end()) {
    // A member that does not answer was not asked for them.
    const auto answer = chain.members.find(cluster);
    const bool is_silent = answer != chain.members.end() && !answer->second.status.ok();
    if (!is_silent || !MakesPods(chain.asked.gvk)) return "";
    return Shortened(answer->second.status.message());
  }
  return read->second.status.ok() ? "" : Shortened(read->second.status.message());
}

}  // namespace lens::why
