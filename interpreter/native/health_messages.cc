#include "interpreter/native/health_messages.h"

#include "absl/strings/str_cat.h"

namespace interpreter::native {

namespace {

// Returns the message of the condition if it has this status, else "".
absl::string_view MessageOf(const kube::Object& object, absl::string_view type,
                            absl::string_view status) {
  const json::Value* condition = kube::FindCondition(object.status()["conditions"], type);
  if (condition == nullptr || (*condition)["status"].AsString() != status) return "";
  return (*condition)["message"].AsString();
}

// Returns `text`, or what `detail` adds to it.
std::string With(absl::string_view text, absl::string_view detail) {
  return detail.empty() ? std::string(text) : absl::StrCat(text, ": ", detail);
}

// Returns "container web: ImagePullBackOff: Back-off pulling image ..." for the first container
// that waits; "" when none does.
std::string WaitingContainer(const kube::Object& pod) {
  for (const absl::string_view list : {"initContainerStatuses", "containerStatuses"}) {
    for (const json::Value& container : pod.status()[list].items()) {
      const json::Value& waiting = container["state"]["waiting"];
      const absl::string_view reason = waiting["reason"].AsString();
      if (reason.empty() || reason == "PodInitializing") continue;
      return With(absl::StrCat("container ", container["name"].AsString(), ": ", reason),
                  waiting["message"].AsString());
    }
  }
  return "";
}

}  // namespace

std::string WhyReplicasAreMissing(const kube::Object& workload, const ReplicaCounts& counts) {
  absl::string_view stated = MessageOf(workload, "ReplicaFailure", "True");
  if (stated.empty()) stated = MessageOf(workload, "Progressing", "False");
  if (!stated.empty()) return std::string(stated);
  if (workload.status()["observedGeneration"].AsInt() != workload.generation()) {
    return absl::StrCat("its controller has not seen generation ", workload.generation(), " yet");
  }
  const int64_t to_update = counts.wanted - counts.held;
  if (counts.updated < to_update) {
    return absl::StrCat(counts.updated, " of ", to_update, " replicas are updated, ",
                        counts.available, " available");
  }
  return absl::StrCat(counts.available, " of ", counts.wanted, " replicas are available");
}

std::string WhyPodIsNotReady(const kube::Object& pod) {
  const absl::string_view phase = pod.status()["phase"].AsString();
  std::string why = WaitingContainer(pod);
  for (const absl::string_view type : {"PodScheduled", "Ready"}) {
    if (why.empty()) why = std::string(MessageOf(pod, type, "False"));
  }
  if (why.empty()) why = std::string(pod.status()["message"].AsString());
  return With(absl::StrCat("the pod is ", phase.empty() ? "without a phase" : phase), why);
}

}  // namespace interpreter::native
