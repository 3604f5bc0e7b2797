// What `kubectl get pods` shows for the states that real pods have.
#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "kube/server/tables/table_output.h"

namespace kube::server {
namespace {

const absl::Time kNow = *kube::ParseTime("2024-01-01T01:00:00Z");

// Returns "ready status restarts" of a pod with these members of spec and status.
std::string Shown(const std::string& spec, const std::string& status,
                  const std::string& metadata = "") {
  const auto pod = json::Parse(
      absl::StrCat(R"({"metadata": {"name": "p", "creationTimestamp": "2024-01-01T00:00:00Z")",
                   metadata, R"(}, "spec": {"containers": [{"name": "a"}, {"name": "b"}])", spec,
                   R"(}, "status": {)", status, "}}"));
  INFO(spec << " " << status);
  REQUIRE(pod.ok());
  const auto cells = PrinterOf(kube::Gvk{"", "v1", "Pod"})->Row(kube::Object(*pod), kNow);
  REQUIRE(cells.size() == 9);
  CHECK(cells[4].AsString() == "60m");
  return absl::StrCat(cells[1].AsString(), " ", cells[2].AsString(), " ", cells[3].AsString());
}

constexpr char kRunning[] =
    R"({"name": "a", "ready": true, "restartCount": 0, "state": {"running": {}}})";

TEST_CASE("pods in the phases of their life") {
  CHECK(Shown("", R"("phase": "Pending")") == "0/2 Pending 0");
  CHECK(Shown("", R"("phase": "Pending", "conditions": [{"type": "PodScheduled",
      "status": "False", "reason": "SchedulingGated"}])") == "0/2 SchedulingGated 0");
  CHECK(Shown("", R"("phase": "Failed", "reason": "Evicted")") == "0/2 Evicted 0");
  CHECK(Shown("", absl::StrCat(R"("phase": "Running", "containerStatuses": [)", kRunning, ",",
                               kRunning, "]")) == "2/2 Running 0");
  CHECK(Shown("", R"("phase": "Succeeded", "containerStatuses": [
      {"state": {"terminated": {"reason": "Completed", "exitCode": 0}}}])") == "0/2 Completed 0");
}

TEST_CASE("a container in trouble gives the status, and the time of the last restart") {
  CHECK(Shown("", absl::StrCat(R"("phase": "Running", "containerStatuses": [)", kRunning, R"(,
      {"name": "b", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
       "lastState": {"terminated": {"finishedAt": "2024-01-01T00:55:00Z"}}}])")) ==
        "1/2 CrashLoopBackOff 3 (5m ago)");
  CHECK(Shown("", R"("phase": "Running", "containerStatuses": [
      {"state": {"terminated": {"exitCode": 137, "signal": 9}}}])") == "0/2 Signal:9 0");
  CHECK(Shown("", R"("phase": "Running", "containerStatuses": [
      {"state": {"terminated": {"exitCode": 2}}}])") == "0/2 ExitCode:2 0");
  // One container is done, another one still runs.
  const std::string half = absl::StrCat(R"("phase": "Running", "containerStatuses": [
      {"state": {"terminated": {"reason": "Completed", "exitCode": 0}}},)",
                                        kRunning, "]");
  CHECK(Shown("", half) == "1/2 NotReady 0");
  CHECK(Shown("", absl::StrCat(half, R"(, "conditions": [{"type": "Ready", "status": "True"}])")) ==
        "1/2 Running 0");
}

TEST_CASE("init containers come first, and sidecars count as containers") {
  const std::string inits = R"(, "initContainers": [{"name": "i"}, {"name": "j"}])";
  CHECK(Shown(inits, R"("phase": "Pending", "initContainerStatuses": [
      {"name": "i", "restartCount": 1, "state": {"running": {}}}])") == "0/2 Init:0/2 1");
  CHECK(Shown(inits, R"("phase": "Pending", "initContainerStatuses": [
      {"name": "i", "state": {"terminated": {"exitCode": 0}}},
      {"name": "j", "state": {"waiting": {"reason": "ImagePullBackOff"}}}])") ==
        "0/2 Init:ImagePullBackOff 0");
  CHECK(Shown(inits, R"("phase": "Pending", "initContainerStatuses": [
      {"name": "i", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}])") ==
        "0/2 Init:Error 0");
  const std::string sidecar = R"(, "initContainers": [{"name": "s", "restartPolicy": "Always"}])";
  CHECK(Shown(sidecar, absl::StrCat(R"("phase": "Running", "containerStatuses": [)", kRunning, ",",
                                    kRunning, R"(], "initContainerStatuses": [{"name": "s",
      "started": true, "ready": true, "restartCount": 2, "state": {"running": {}}}])")) ==
        "3/3 Running 2");
}

TEST_CASE("a pod that is being deleted is terminating, unless it has ended or its node is lost") {
  const std::string deleted = R"(, "deletionTimestamp": "2024-01-01T00:59:00Z")";
  CHECK(Shown("", R"("phase": "Running")", deleted) == "0/2 Terminating 0");
  CHECK(Shown("", R"("phase": "Running", "reason": "NodeLost")", deleted) == "0/2 Unknown 0");
  CHECK(Shown("", R"("phase": "Succeeded")", deleted) == "0/2 Succeeded 0");
}

TEST_CASE("the wide columns of a pod") {
  const kube::Object pod(*json::Parse(R"({"metadata": {"name": "p"},
      "spec": {"nodeName": "n", "readinessGates": [{"conditionType": "x"}, {"conditionType": "y"}]},
      "status": {"podIPs": [{"ip": "10.0.0.1"}], "conditions": [{"type": "x", "status": "True"}]}})"));
  const auto cells = PrinterOf(kube::Gvk{"", "v1", "Pod"})->Row(pod, kNow);
  REQUIRE(cells.size() == 9);
  CHECK(cells[5].AsString() == "10.0.0.1");
  CHECK(cells[6].AsString() == "n");
  CHECK(cells[7].AsString() == "<none>");
  CHECK(cells[8].AsString() == "1/2");
}

TEST_CASE("every built-in kind has a cell for each of its columns") {
  const kube::Gvk kinds[] = {
      {"networking.k8s.io", "v1", "IngressClass"},
      {"networking.k8s.io", "v1", "ServiceCIDR"},
      {"networking.k8s.io", "v1", "IPAddress"},
      {"", "v1", "PodTemplate"},
      {"", "v1", "PersistentVolume"},
      {"", "v1", "PersistentVolumeClaim"},
      {"apps", "v1", "ControllerRevision"},
      {"apps", "v1", "Deployment"},
      {"node.k8s.io", "v1", "RuntimeClass"},
      {"storage.k8s.io", "v1", "VolumeAttachment"},
      {"storage.k8s.io", "v1", "CSINode"},
      {"storage.k8s.io", "v1", "CSIDriver"},
      {"storage.k8s.io", "v1", "CSIStorageCapacity"},
      {"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy"},
      {"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding"},
      {"flowcontrol.apiserver.k8s.io", "v1", "FlowSchema"},
      {"flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration"},
      {"batch", "v1", "CronJob"},
      {"certificates.k8s.io", "v1", "CertificateSigningRequest"}};
  for (const kube::Gvk& gvk : kinds) {
    INFO(gvk.ToString());
    const auto printer = PrinterOf(gvk);
    CHECK(printer->columns().size() > 2);
    CHECK(printer->columns()[1].name != "Created At");
    const kube::Object empty = kube::Object::Make(gvk, {"", "x"});
    CHECK(printer->Row(empty, kNow).size() == printer->columns().size());
  }
}

}  // namespace
}  // namespace kube::server
