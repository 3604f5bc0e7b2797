// Each function makes the status that a kubelet would have written at this point from the pod and
// its present status: pending without a node, waiting for a ConfigMap or Secret, running, or ended.
// Nothing runs: the exit code is read from the command, as tests and demonstrations write it
// (`false`, `sh -c "...; exit 3"`). Times have whole seconds, as in the API; pods.cc keeps the
// fractions and decides when a status is written.

#include "sandbox/sim/pod_status.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/names.h"

namespace sandbox {
namespace {

// Sets a condition in the format of metav1, without the fields that a pod's conditions do not have.
void SetPodCondition(json::Value& status, const kube::Condition& condition, absl::Time now) {
  json::Value conditions = status["conditions"];
  kube::SetCondition(conditions, condition, now);
  for (size_t i = 0; i < conditions.size(); ++i) {
    for (const char* field : {"reason", "message"}) {
      if (conditions.At(i)[field].AsString().empty()) conditions.MutableAt(i).Erase(field);
    }
  }
  status.Set("conditions", std::move(conditions));
}

// 64 hexadecimal digits as of a real runtime, the same ones each time: a status that is made again
// must not differ.
std::string ContainerId(const kube::Object& pod, absl::string_view name) {
  std::string id = "sandbox://";
  for (int i = 0; i < 8; ++i) {
    absl::StrAppend(
        &id, absl::Hex(api::Fnv1a32(absl::StrCat(pod.uid(), "/", name, "/", i)), absl::kZeroPad8));
  }
  return id;
}

json::Value ContainerStatuses(const kube::Object& pod, const json::Value& state, bool running) {
  json::Value list = json::Value::Array();
  for (const json::Value& container : pod.spec()["containers"].items()) {
    const absl::string_view name = container["name"].AsString();
    const std::string id = ContainerId(pod, name);
    json::Value own_state = state;
    if (!running) own_state.Set({"terminated", "containerID"}, id);
    list.Append(
        json::Value::Object({{"name", name},
                             {"image", container["image"]},
                             {"imageID", absl::StrCat("sandbox://", container["image"].ToString())},
                             {"containerID", id},
                             {"lastState", json::Value::Object()},
                             {"ready", running},
                             {"started", running},
                             {"restartCount", 0},
                             {"state", std::move(own_state)}}));
  }
  return list;
}

// Returns the exit code of a shell script, which the last word of the last argument determines.
int64_t ExitCodeOfContainer(const json::Value& container) {
  std::string line;
  for (const char* field : {"command", "args"}) {
    for (const json::Value& word : container[field].items()) {
      absl::StrAppend(&line, " ", word.AsString());
    }
  }
  const absl::string_view text = absl::StripAsciiWhitespace(line);
  if (text == "false" || text == "/bin/false") return 1;
  const size_t at = text.rfind("exit ");
  int64_t code = 0;
  if (at == absl::string_view::npos) return 0;
  return absl::SimpleAtoi(text.substr(at + 5), &code) ? code : 0;
}

}  // namespace

json::Value UnschedulableStatus(const kube::Object& pod, absl::string_view message,
                                absl::Time now) {
  json::Value status = pod.status();
  status.Set("phase", "Pending");
  SetPodCondition(status, {"PodScheduled", "False", "Unschedulable", std::string(message)}, now);
  return status;
}

json::Value WaitingStatus(const kube::Object& pod, const MissingReference& missing,
                          absl::Time now) {
  json::Value status = pod.status();
  status.Set("phase", "Pending");
  json::Value waiting = json::Value::Object({{"reason", missing.reason}});
  if (!missing.message.empty()) waiting.Set("message", missing.message);
  json::Value list = json::Value::Array();
  std::vector<std::string> names;
  for (const json::Value& container : pod.spec()["containers"].items()) {
    names.push_back(container["name"].ToString());
    list.Append(json::Value::Object({{"name", container["name"]},
                                     {"image", container["image"]},
                                     {"imageID", ""},
                                     {"lastState", json::Value::Object()},
                                     {"ready", false},
                                     {"started", false},
                                     {"restartCount", 0},
                                     {"state", json::Value::Object({{"waiting", waiting}})}}));
  }
  status.Set("containerStatuses", std::move(list));
  const std::string unready =
      absl::StrCat("containers with unready status: [", absl::StrJoin(names, " "), "]");
  for (const char* type : {"Ready", "ContainersReady"}) {
    SetPodCondition(status, {type, "False", "ContainersNotReady", unready}, now);
  }
  for (const char* type : {"Initialized", "PodScheduled"}) {
    SetPodCondition(status, {type, "True", "", ""}, now);
  }
  return status;
}

json::Value RunningStatus(const kube::Object& pod, const PodAddress& address, absl::Time now) {
  const std::string stamp = kube::FormatTime(now);
  json::Value status = pod.status();
  status.Set("phase", "Running");
  status.Set("observedGeneration", pod.generation());
  status.Set("startTime", stamp);
  status.Set("podIP", address.pod_ip);
  status.Set("podIPs", json::Value::Array({json::Value::Object({{"ip", address.pod_ip}})}));
  status.Set("hostIP", address.host_ip);
  status.Set("hostIPs", json::Value::Array({json::Value::Object({{"ip", address.host_ip}})}));
  for (const char* type :
       {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"}) {
    SetPodCondition(status, {type, "True", "", ""}, now);
  }
  const json::Value state =
      json::Value::Object({{"running", json::Value::Object({{"startedAt", stamp}})}});
  status.Set("containerStatuses", ContainerStatuses(pod, state, /*running=*/true));
  return status;
}

json::Value FinishedStatus(const kube::Object& pod, int64_t exit_code, absl::Time now) {
  json::Value status = pod.status();
  const bool succeeded = exit_code == 0;
  status.Set("phase", succeeded ? "Succeeded" : "Failed");
  const std::string reason = succeeded ? "PodCompleted" : "PodFailed";
  for (const char* type : {"Ready", "ContainersReady"}) {
    SetPodCondition(status, {type, "False", reason, ""}, now);
  }
  const json::Value state = json::Value::Object(
      {{"terminated", json::Value::Object({{"exitCode", exit_code},
                                           {"reason", succeeded ? "Completed" : "Error"},
                                           {"startedAt", status["startTime"]},
                                           {"finishedAt", kube::FormatTime(now)}})}});
  status.Set("containerStatuses", ContainerStatuses(pod, state, /*running=*/false));
  return status;
}

int64_t ExitCodeOf(const kube::Object& pod) {
  for (const json::Value& container : pod.spec()["containers"].items()) {
    if (const int64_t code = ExitCodeOfContainer(container); code != 0) return code;
  }
  return 0;
}

bool RunsToCompletion(const kube::Object& pod) {
  const absl::string_view policy = pod.spec()["restartPolicy"].AsString();
  return policy == "Never" || policy == "OnFailure";
}

}  // namespace sandbox
