// Columns of kinds that set up a cluster: classes, drivers, admission and flow control.

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/meta/object.h"
#include "kube/server/tables/builtin_columns.h"
#include "kube/server/tables/table_output.h"

namespace kube::server {
namespace {

using Cells = std::vector<json::Value>;

std::string JoinTexts(const json::Value& list, const char* when_empty) {
  std::vector<std::string> texts;
  for (const json::Value& text : list.items()) texts.push_back(text.ToString());
  return texts.empty() ? when_empty : absl::StrJoin(texts, ",");
}

Cells IngressClassRow(const kube::Object& o, absl::Time now) {
  const json::Value& parameters = o.spec()["parameters"];
  std::string text = "<none>";
  if (parameters.is_object()) {
    const std::string group = parameters["apiGroup"].ToString();
    text = absl::StrCat(parameters["kind"].AsString(), group.empty() ? "" : ".", group, "/",
                        parameters["name"].AsString());
  }
  return {o.spec()["controller"].ToString(), text, AgeCell(o, now)};
}

Cells PodTemplateRow(const kube::Object& o, absl::Time) {
  const json::Value& pod = o.root()["template"];
  return {ContainerNames(pod["spec"]), ContainerImages(pod["spec"]),
          LabelsText(pod["metadata"]["labels"])};
}

Cells ControllerRevisionRow(const kube::Object& o, absl::Time now) {
  std::string controller = "<none>";
  for (const json::Value& owner : o.metadata()["ownerReferences"].items()) {
    if (!owner["controller"].AsBool()) continue;
    const auto gvk = kube::ParseGvk(owner["apiVersion"].AsString(), owner["kind"].AsString());
    if (!gvk.ok()) continue;
    controller = absl::StrCat(absl::AsciiStrToLower(gvk->kind), gvk->group.empty() ? "" : ".",
                              gvk->group, "/", owner["name"].AsString());
  }
  return {controller, o.root()["revision"].AsInt(), AgeCell(o, now)};
}

Cells RuntimeClassRow(const kube::Object& o, absl::Time now) {
  return {o.root()["handler"].ToString(), AgeCell(o, now)};
}

Cells AttachmentRow(const kube::Object& o, absl::Time now) {
  return {o.spec()["attacher"].ToString(), o.spec()["source"]["persistentVolumeName"].ToString(),
          o.spec()["nodeName"].ToString(), o.status()["attached"].AsBool(), AgeCell(o, now)};
}

Cells CsiNodeRow(const kube::Object& o, absl::Time now) {
  return {static_cast<int64_t>(o.spec()["drivers"].size()), AgeCell(o, now)};
}

Cells CsiDriverRow(const kube::Object& o, absl::Time now) {
  const json::Value& spec = o.spec();
  std::vector<std::string> audiences;
  for (const json::Value& request : spec["tokenRequests"].items()) {
    audiences.push_back(request["audience"].ToString());
  }
  return {spec["attachRequired"].AsBool(true),
          spec["podInfoOnMount"].AsBool(),
          spec["storageCapacity"].AsBool(),
          spec["tokenRequests"].is_null() ? "<unset>" : absl::StrJoin(audiences, ","),
          spec["requiresRepublish"].AsBool(),
          JoinTexts(spec["volumeLifecycleModes"], "<none>"),
          AgeCell(o, now)};
}

Cells CsiCapacityRow(const kube::Object& o, absl::Time) {
  return {o.root()["storageClassName"].ToString(), TextOr(o.root()["capacity"], "<unset>")};
}

Cells AdmissionPolicyRow(const kube::Object& o, absl::Time now) {
  const json::Value& kind = o.spec()["paramKind"];
  return {static_cast<int64_t>(o.spec()["validations"].size()),
          kind.is_object()
              ? absl::StrCat(kind["apiVersion"].AsString(), "/", kind["kind"].AsString())
              : "<unset>",
          AgeCell(o, now)};
}

Cells AdmissionBindingRow(const kube::Object& o, absl::Time now) {
  const json::Value& parameter = o.spec()["paramRef"];
  std::string text = "<unset>";
  if (!parameter["name"].AsString().empty()) {
    text = absl::StrCat(TextOr(parameter["namespace"], "*"), "/", parameter["name"].AsString());
  }
  return {o.spec()["policyName"].ToString(), text, AgeCell(o, now)};
}

Cells FlowSchemaRow(const kube::Object& o, absl::Time now) {
  const json::Value* dangling = kube::FindCondition(o.status()["conditions"], "Dangling");
  return {o.spec()["priorityLevelConfiguration"]["name"].ToString(),
          o.spec()["matchingPrecedence"].AsInt(),
          TextOr(o.spec()["distinguisherMethod"]["type"], "<none>"), AgeCell(o, now),
          dangling == nullptr ? "?" : (*dangling)["status"].ToString()};
}

json::Value NumberOrNone(const json::Value& v) { return v.is_int() ? v : json::Value("<none>"); }

Cells PriorityLevelRow(const kube::Object& o, absl::Time now) {
  const json::Value& limited = o.spec()["limited"];
  const json::Value& queuing = limited["limitResponse"]["queuing"];
  return {o.spec()["type"].ToString(),
          NumberOrNone(limited["nominalConcurrencyShares"]),
          NumberOrNone(queuing["queues"]),
          NumberOrNone(queuing["handSize"]),
          NumberOrNone(queuing["queueLengthLimit"]),
          AgeCell(o, now)};
}

Cells ServiceCidrRow(const kube::Object& o, absl::Time now) {
  return {JoinTexts(o.spec()["cidrs"], ""), AgeCell(o, now)};
}

Cells AddressRow(const kube::Object& o, absl::Time now) {
  const json::Value& parent = o.spec()["parentRef"];
  if (!parent.is_object()) return {"<none>", AgeCell(o, now)};
  const std::string group = parent["group"].ToString();
  const std::string ns = parent["namespace"].ToString();
  return {
      absl::StrCat(absl::AsciiStrToLower(parent["resource"].AsString()), group.empty() ? "" : ".",
                   group, ns.empty() ? "" : "/", ns, "/", parent["name"].AsString()),
      AgeCell(o, now)};
}

}  // namespace

std::vector<BuiltinColumns> MachineryColumns() {
  using Spec = BuiltinColumns::Spec;
  const Spec age{"Age"};
  const std::string storage = "storage.k8s.io";
  const std::string admission = "admissionregistration.k8s.io";
  const std::string flow = "flowcontrol.apiserver.k8s.io";
  const auto yes_or_no = [](const char* name) { return Spec{name, "boolean"}; };
  const auto number = [](const char* name) { return Spec{name, "integer"}; };
  return {
      {"networking.k8s.io", "IngressClass", {{"Controller"}, {"Parameters"}, age}, IngressClassRow},
      {"networking.k8s.io", "ServiceCIDR", {{"CIDRs"}, age}, ServiceCidrRow},
      {"networking.k8s.io", "IPAddress", {{"ParentRef"}, age}, AddressRow},
      {"", "PodTemplate", {{"Containers"}, {"Images"}, {"Pod Labels"}}, PodTemplateRow},
      {"apps", "ControllerRevision", {{"Controller"}, {"Revision"}, age}, ControllerRevisionRow},
      {"node.k8s.io", "RuntimeClass", {{"Handler"}, age}, RuntimeClassRow},
      {storage,
       "VolumeAttachment",
       {{"Attacher"}, {"PV"}, {"Node"}, yes_or_no("Attached"), age},
       AttachmentRow},
      {storage, "CSINode", {number("Drivers"), age}, CsiNodeRow},
      {storage,
       "CSIDriver",
       {yes_or_no("AttachRequired"),
        yes_or_no("PodInfoOnMount"),
        yes_or_no("StorageCapacity"),
        {"TokenRequests"},
        yes_or_no("RequiresRepublish"),
        {"Modes"},
        age},
       CsiDriverRow},
      {storage, "CSIStorageCapacity", {{"StorageClassName"}, {"Capacity"}}, CsiCapacityRow},
      {admission,
       "ValidatingAdmissionPolicy",
       {number("Validations"), {"ParamKind"}, age},
       AdmissionPolicyRow},
      {admission,
       "ValidatingAdmissionPolicyBinding",
       {{"PolicyName"}, {"ParamRef"}, age},
       AdmissionBindingRow},
      {flow,
       "FlowSchema",
       {{"PriorityLevel"},
        number("MatchingPrecedence"),
        {"DistinguisherMethod"},
        age,
        {"MissingPL"}},
       FlowSchemaRow},
      {flow,
       "PriorityLevelConfiguration",
       {{"Type"},
        {"NominalConcurrencyShares"},
        {"Queues"},
        {"HandSize"},
        {"QueueLengthLimit"},
        age},
       PriorityLevelRow},
  };
}

}  // namespace kube::server
