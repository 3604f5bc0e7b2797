// A table of the fields by which objects of built-in kinds can be selected, in a small notation
// that is read when a kind is asked for. The table follows kube-apiserver, oddities included:
// fields that may be named and are always empty, and fields whose value is looked for in several
// places. A selector is compiled once for each request, which refuses unknown fields, and then
// matched with every object.

#include "kube/server/field_labels.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"
#include "base/status.h"
#include "kube/server/api_errors.h"

namespace kube::server {
namespace {

constexpr char kNotSupported[] = "field label not supported: $0";

// The labels of one kind as a table line: fields are separated by blanks. A field is
//   label              its value is at the path of that name
//   label=path|path    its value is at the first path that has one; "-" is nowhere
//   label?text         an absent value reads as text
struct KindLabels {
  const char* group;
  const char* kind;
  const char* fields;
  const char* refusal = kNotSupported;
};

constexpr char kNamespaced[] = "metadata.name metadata.namespace";

constexpr KindLabels kBuiltin[] = {
    {"", "Pod",
     "metadata.name metadata.namespace spec.nodeName spec.host=spec.nodeName spec.restartPolicy "
     "spec.schedulerName spec.serviceAccountName spec.hostNetwork?false status.phase "
     "status.podIP=status.podIPs.*.ip|status.podIP status.podIPs=- status.nominatedNodeName"},
    {"", "Node", "metadata.name spec.unschedulable?false"},
    {"", "ReplicationController", "metadata.name metadata.namespace status.replicas?0"},
    {"", "Event",
     "metadata.name metadata.namespace involvedObject.kind involvedObject.namespace "
     "involvedObject.name involvedObject.uid involvedObject.apiVersion "
     "involvedObject.resourceVersion involvedObject.fieldPath reason reportingComponent "
     "source=source.component|reportingComponent type"},
    {"events.k8s.io", "Event",
     "metadata.name metadata.namespace regarding.kind=regarding.kind|involvedObject.kind "
     "regarding.namespace=regarding.namespace|involvedObject.namespace "
     "regarding.name=regarding.name|involvedObject.name "
     "regarding.uid=regarding.uid|involvedObject.uid "
     "regarding.apiVersion=regarding.apiVersion|involvedObject.apiVersion "
     "regarding.resourceVersion=regarding.resourceVersion|involvedObject.resourceVersion "
     "regarding.fieldPath=regarding.fieldPath|involvedObject.fieldPath "
     "reason reportingController=reportingController|reportingComponent type"},
    {"", "Namespace", "metadata.name status.phase"},
    {"", "Secret", "metadata.name metadata.namespace type"},
    {"", "Service", "metadata.name metadata.namespace spec.clusterIP spec.type"},
    {"batch", "Job", "metadata.name metadata.namespace status.successful=status.succeeded?0",
     "field label \"$0\" not supported for Job"},
    {"batch", "CronJob", "metadata.name metadata.namespace"},
    {"certificates.k8s.io", "CertificateSigningRequest", "metadata.name spec.signerName"},
    {"certificates.k8s.io", "ClusterTrustBundle", "metadata.name spec.signerName"},
    {"certificates.k8s.io", "PodCertificateRequest",
     "metadata.name spec.signerName spec.podName spec.nodeName"},
    {"resource.k8s.io", "ResourceSlice", "metadata.name spec.nodeName spec.driver"},
};

// Reads one field of the table's notation.
FieldLabel ReadLabel(absl::string_view text) {
  FieldLabel out;
  const std::pair<absl::string_view, absl::string_view> value =
      absl::StrSplit(text, absl::MaxSplits('?', 1));
  out.absent = std::string(value.second);
  const std::pair<absl::string_view, absl::string_view> place =
      absl::StrSplit(value.first, absl::MaxSplits('=', 1));
  out.label = std::string(place.first);
  if (place.second == "-") return out;
  for (absl::string_view path :
       absl::StrSplit(place.second.empty() ? place.first : place.second, '|')) {
    out.paths.push_back(absl::StrSplit(path, '.'));
  }
  return out;
}

std::vector<FieldLabel> ReadLabels(absl::string_view fields) {
  std::vector<FieldLabel> out;
  for (absl::string_view field : absl::StrSplit(fields, ' ', absl::SkipEmpty())) {
    out.push_back(ReadLabel(field));
  }
  return out;
}

const KindLabels* FindBuiltin(const kube::Gvk& gvk) {
  const auto* found = std::find_if(std::begin(kBuiltin), std::end(kBuiltin), [&](const auto& k) {
    return gvk.kind == k.kind && gvk.group == k.group;
  });
  return found == std::end(kBuiltin) ? nullptr : found;
}

const json::Value& At(const json::Value& object, const FieldLabel::JsonPath& path) {
  const json::Value* value = &object;
  for (const std::string& name : path) value = name == "*" ? &value->At(0) : &(*value)[name];
  return *value;
}

}  // namespace

std::string FieldLabel::ValueIn(const json::Value& object) const {
  for (const JsonPath& path : paths) {
    const json::Value& value = At(object, path);
    // Selectors compare texts.
    if (value.is_bool() || value.is_number()) return json::Write(value);
    if (!value.AsString().empty()) return value.ToString();
  }
  return absent;
}

bool FieldMatcher::Matches(const json::Value& object) const {
  return std::all_of(terms_.begin(), terms_.end(), [&object](const Term& term) {
    return (term.field.ValueIn(object) == term.value) == term.equal;
  });
}

std::vector<std::string> FieldMatcher::Labels() const {
  std::vector<std::string> out;
  for (const Term& term : terms_) {
    if (std::find(out.begin(), out.end(), term.field.label) == out.end()) {
      out.push_back(term.field.label);
    }
  }
  return out;
}

FieldLabels FieldLabels::Of(const kube::Gvk& gvk) {
  FieldLabels out;
  const KindLabels* builtin = FindBuiltin(gvk);
  out.labels_ = ReadLabels(builtin == nullptr ? kNamespaced : builtin->fields);
  if (builtin != nullptr) out.refusal_ = builtin->refusal;
  return out;
}

FieldLabels FieldLabels::OfCustom(bool namespaced, const std::vector<std::string>& declared) {
  FieldLabels out;
  out.refusal_ = kNotSupported;
  out.labels_ = ReadLabels(namespaced ? kNamespaced : "metadata.name");
  for (absl::string_view path : declared) {
    FieldLabel field;
    field.label = std::string(absl::StripPrefix(path, "."));
    field.paths.push_back(absl::StrSplit(field.label, '.'));
    out.labels_.push_back(std::move(field));
  }
  return out;
}

const FieldLabel* FieldLabels::Find(absl::string_view label) const {
  const auto found = std::find_if(labels_.begin(), labels_.end(),
                                  [label](const FieldLabel& f) { return f.label == label; });
  return found == labels_.end() ? nullptr : &*found;
}

std::string FieldLabels::Refusal(absl::string_view label) const {
  // Kinds differ in their messages.
  if (!refusal_.empty()) return absl::Substitute(refusal_, label);
  // DefaultMetaV1FieldSelectorConversion.
  return absl::StrCat("\"", label,
                      "\" is not a known field selector: only \"metadata.name\", "
                      "\"metadata.namespace\"");
}

absl::StatusOr<FieldMatcher> FieldLabels::Compile(const kube::FieldSelector& selector) const {
  FieldMatcher matcher;
  for (const kube::FieldSelector::Term& term : selector.terms()) {
    const FieldLabel* label = Find(term.field);
    if (label == nullptr) return BadRequest(Refusal(term.field));
    matcher.terms_.push_back({*label, term.value, term.equal});
  }
  return matcher;
}

}  // namespace kube::server
