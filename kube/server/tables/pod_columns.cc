// The columns of pods, after kube-apiserver's printPod.

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/meta/object.h"
#include "kube/server/tables/builtin_columns.h"
#include "kube/server/tables/table_output.h"

namespace kube::server {
namespace {

using Cells = std::vector<json::Value>;

// How often containers were started again, and when one of them ended last.
struct Restarts {
  int64_t count = 0;
  std::optional<absl::Time> last;

  void Add(const json::Value& container) {
    count += container["restartCount"].AsInt();
    const auto ended =
        kube::ParseTime(container["lastState"]["terminated"]["finishedAt"].AsString());
    if (ended.ok() && (!last.has_value() || *last < *ended)) last = *ended;
  }
  void Add(const Restarts& other) {
    count += other.count;
    if (other.last.has_value() && (!last.has_value() || *last < *other.last)) last = other.last;
  }
  std::string ToString(absl::Time now) const {
    if (count == 0 || !last.has_value()) return absl::StrCat(count);
    return absl::StrCat(count, " (", HumanDuration(now - *last), " ago)");
  }
};

struct Summary {
  int64_t containers = 0, ready = 0;
  std::string reason;
  Restarts restarts;
};

// Init containers with restartPolicy Always ("sidecars") run beside the others.
bool IsRestartable(const kube::Object& pod, absl::string_view container) {
  for (const json::Value& c : pod.spec()["initContainers"].items()) {
    if (c["name"].AsString() == container) return c["restartPolicy"].AsString() == "Always";
  }
  return false;
}

std::string EndText(const json::Value& terminated) {
  if (!terminated["reason"].AsString().empty()) return terminated["reason"].ToString();
  const int64_t signal = terminated["signal"].AsInt();
  if (signal != 0) return absl::StrCat("Signal:", signal);
  return absl::StrCat("ExitCode:", terminated["exitCode"].AsInt());
}

// Returns why the pod is still initializing because of this container; nullopt when it is not.
std::optional<std::string> InitReason(const json::Value& status, bool restartable,
                                      absl::string_view progress) {
  const json::Value& state = status["state"];
  const json::Value& terminated = state["terminated"];
  if (terminated.is_object()) {
    if (terminated["exitCode"].AsInt() == 0) return std::nullopt;
    if (!restartable || !status["started"].AsBool()) {
      return absl::StrCat("Init:", EndText(terminated));
    }
  }
  if (restartable && status["started"].AsBool()) return std::nullopt;
  const absl::string_view waiting = state["waiting"]["reason"].AsString();
  if (!waiting.empty() && waiting != "PodInitializing") return absl::StrCat("Init:", waiting);
  return absl::StrCat("Init:", progress);
}

// Adds the init containers. Returns whether the pod is still initializing.
bool AddInits(const kube::Object& pod, Summary& summary, Restarts& sidecars) {
  const json::Value& statuses = pod.status()["initContainerStatuses"];
  const size_t all = pod.spec()["initContainers"].size();
  for (size_t i = 0; i < statuses.size(); ++i) {
    const json::Value& status = statuses.At(i);
    const bool restartable = IsRestartable(pod, status["name"].AsString());
    summary.restarts.Add(status);
    if (restartable) sidecars.Add(status);
    const auto reason = InitReason(status, restartable, absl::StrCat(i, "/", all));
    // The first one that has not done its work is what the pod waits for.
    if (reason.has_value()) {
      summary.reason = *reason;
      return true;
    }
    const bool ended = status["state"]["terminated"].is_object();
    if (restartable && !ended && status["ready"].AsBool()) ++summary.ready;
  }
  return false;
}

void AddContainers(const kube::Object& pod, Summary& summary) {
  bool running = false;
  std::string error;
  const auto statuses = pod.status()["containerStatuses"].items();
  // The first container has the last word.
  for (auto status = statuses.rbegin(); status != statuses.rend(); ++status) {
    summary.restarts.Add(*status);
    const json::Value& state = (*status)["state"];
    if (const absl::string_view why = state["waiting"]["reason"].AsString(); !why.empty()) {
      summary.reason = std::string(why);
    } else if (const json::Value& terminated = state["terminated"]; terminated.is_object()) {
      summary.reason = EndText(terminated);
      if (terminated["exitCode"].AsInt() != 0) error = summary.reason;
    } else if ((*status)["ready"].AsBool() && state["running"].is_object()) {
      running = true;
      ++summary.ready;
    }
  }
  if (summary.reason != "Completed") return;
  if (running && kube::IsConditionTrue(pod.status()["conditions"], "Ready")) {
    summary.reason = "Running";
  } else if (!error.empty()) {
    summary.reason = error;
  } else if (running) {
    summary.reason = "NotReady";
  }
}

std::string FirstReason(const kube::Object& pod) {
  const json::Value* scheduled = kube::FindCondition(pod.status()["conditions"], "PodScheduled");
  if (scheduled != nullptr && (*scheduled)["reason"].AsString() == "SchedulingGated") {
    return "SchedulingGated";
  }
  return TextOr(pod.status()["reason"], pod.status()["phase"].ToString().c_str());
}

Summary Summarize(const kube::Object& pod) {
  Summary summary;
  summary.reason = FirstReason(pod);
  summary.containers = static_cast<int64_t>(pod.spec()["containers"].size());
  for (const json::Value& c : pod.spec()["initContainers"].items()) {
    summary.containers += c["restartPolicy"].AsString() == "Always";
  }
  Restarts sidecars;
  const bool initializing = AddInits(pod, summary, sidecars);
  if (!initializing || kube::IsConditionTrue(pod.status()["conditions"], "Initialized")) {
    // Init containers that have ended do not count any more once the pod is initialized.
    summary.restarts = sidecars;
    AddContainers(pod, summary);
  }
  if (!pod.IsDeleting()) return summary;
  const absl::string_view phase = pod.status()["phase"].AsString();
  if (pod.status()["reason"].AsString() == "NodeLost") {
    summary.reason = "Unknown";
  } else if (phase != "Failed" && phase != "Succeeded") {
    summary.reason = "Terminating";
  }
  return summary;
}

std::string PodAddress(const kube::Object& pod) {
  return TextOr(pod.status()["podIPs"].At(0)["ip"],
                TextOr(pod.status()["podIP"], "<none>").c_str());
}

std::string ReadinessGates(const kube::Object& pod) {
  const json::Value& gates = pod.spec()["readinessGates"];
  if (gates.empty()) return "<none>";
  int64_t open = 0;
  for (const json::Value& gate : gates.items()) {
    open += kube::IsConditionTrue(pod.status()["conditions"], gate["conditionType"].ToString());
  }
  return absl::StrCat(open, "/", gates.size());
}

Cells PodRow(const kube::Object& pod, absl::Time now) {
  const Summary summary = Summarize(pod);
  return {absl::StrCat(summary.ready, "/", summary.containers),
          summary.reason,
          summary.restarts.ToString(now),
          AgeCell(pod, now),
          PodAddress(pod),
          TextOr(pod.spec()["nodeName"], "<none>"),
          TextOr(pod.status()["nominatedNodeName"], "<none>"),
          ReadinessGates(pod)};
}

}  // namespace

BuiltinColumns PodColumns() {
  return {"",
          "Pod",
          {{"Ready"},
           {"Status"},
           {"Restarts"},
           {"Age"},
           {"IP", "string", true},
           {"Node", "string", true},
           {"Nominated Node", "string", true},
           {"Readiness Gates", "string", true}},
          PodRow};
}

}  // namespace kube::server
