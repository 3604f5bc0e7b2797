// Reads and writes references to dependencies. The annotation's text has to be byte for byte what
// Go's encoder writes, since both programs read and write it, and a different text would look like
// a change: hence members in the order of the struct's fields, empty ones left out, and characters
// of HTML escaped. The same holds for PrintedDependencies, whose text is in events that users
// search for.

#include "api/dependencies.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/keys.h"
#include "kube/meta/selector.h"

namespace api {
namespace {

// Quotes as Go's encoder does.
std::string Quoted(const json::Value& value) { return json::Write(value, {.html_escape = true}); }

void AppendMember(absl::string_view name, const std::string& value, std::string& out) {
  absl::StrAppend(&out, out.size() > 1 ? "," : "", "\"", name, "\":", value);
}

void AppendString(absl::string_view name, absl::string_view value, std::string& out) {
  if (!value.empty()) AppendMember(name, Quoted(value), out);
}

// Writes the members in Go's order, which is not the order of names. (In a requirement both orders
// are the same.)
std::string SelectorText(const json::Value& selector) {
  std::string out = "{";
  for (const absl::string_view name : {"matchLabels", "matchExpressions"}) {
    if (!selector[name].empty()) AppendMember(name, Quoted(selector[name]), out);
  }
  return out + "}";
}

// Formats as the generated String() of metav1.LabelSelector does.
std::string PrintedSelector(const json::Value& selector) {
  if (selector.is_null()) return "nil";
  std::string labels, expressions;
  for (const json::Member& m : selector["matchLabels"].members()) {
    absl::StrAppend(&labels, m.name(), ": ", m.value.AsString(), ",");
  }
  for (const json::Value& e : selector["matchExpressions"].items()) {
    std::vector<std::string> values;
    for (const json::Value& value : e["values"].items()) values.push_back(value.ToString());
    absl::StrAppend(&expressions, "LabelSelectorRequirement{Key:", e["key"].AsString(),
                    ",Operator:", e["operator"].AsString(), ",Values:[", absl::StrJoin(values, " "),
                    "],},");
  }
  return absl::StrCat("&LabelSelector{MatchLabels:map[string]string{", labels,
                      "},MatchExpressions:[]LabelSelectorRequirement{", expressions, "},}");
}

// The texts are compared instead of the structs, because they are in one form whatever the order of
// a selector's members is.
std::vector<std::string> SortedTexts(const json::Value& list) {
  std::vector<std::string> texts;
  for (const DependentReference& reference : DependenciesFromJson(list)) {
    texts.push_back(reference.ToText());
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace

DependentReference DependentReference::FromJson(const json::Value& reference) {
  return {reference["apiVersion"].ToString(), reference["kind"].ToString(),
          reference["namespace"].ToString(), reference["name"].ToString(),
          reference["labelSelector"]};
}

std::string DependentReference::ToText() const {
  std::string out = "{";
  AppendMember("apiVersion", Quoted(api_version), out);
  AppendMember("kind", Quoted(kind), out);
  AppendString("namespace", ns, out);
  AppendString("name", name, out);
  // An empty selector is written ("{}"): it selects everything, while none selects nothing.
  if (!label_selector.is_null()) AppendMember("labelSelector", SelectorText(label_selector), out);
  return out + "}";
}

kube::Gvk DependentReference::gvk() const {
  return kube::ParseGvk(api_version, kind).value_or(kube::Gvk{});
}

std::string DependentReference::Describe() const {
  if (!name.empty()) return absl::StrCat(kind, " ", kube::ObjectKey{ns, name}.ToString());
  const std::string objects = absl::StrCat(kind, ns.empty() ? "" : " in ", ns);
  if (label_selector.is_null()) return objects;
  const absl::StatusOr<kube::LabelSelector> selector =
      kube::LabelSelector::FromJson(label_selector);
  return absl::StrCat(objects, " selected by ",
                      selector.ok() ? selector->ToString() : json::Write(label_selector));
}

bool DependentReference::Matches(const kube::Object& object) const {
  if (object.api_version() != api_version || object.kind() != kind || object.ns() != ns) {
    return false;
  }
  return name.empty() ? Selects(object.labels()) : object.name() == name;
}

bool DependentReference::Selects(const json::Value& labels) const {
  // A name takes precedence over a selector.
  if (!name.empty()) return false;
  const absl::StatusOr<kube::LabelSelector> selector =
      kube::LabelSelector::FromJson(label_selector);
  return selector.ok() && selector->Matches(labels);
}

std::vector<DependentReference> DependenciesFromJson(const json::Value& list) {
  std::vector<DependentReference> references;
  for (const json::Value& item : list.items()) {
    references.push_back(DependentReference::FromJson(item));
  }
  return references;
}

std::vector<DependentReference> RecordedDependencies(const kube::Object& binding) {
  const json::Value* text = binding.annotations().Find(kDependenciesAnnotation);
  if (text == nullptr) return {};
  const absl::StatusOr<json::Value> list = json::Parse(text->AsString());
  // A broken text counts as no dependencies: the distributor then writes it again from the
  // template.
  return list.ok() ? DependenciesFromJson(*list) : std::vector<DependentReference>();
}

std::string DependenciesText(const json::Value& list) {
  if (list.is_null()) return "null";
  const auto append = [](std::string* out, const DependentReference& reference) {
    out->append(reference.ToText());
  };
  return absl::StrCat("[", absl::StrJoin(DependenciesFromJson(list), ",", append), "]");
}

bool NamesSameDependencies(absl::string_view text, const json::Value& list) {
  const absl::StatusOr<json::Value> recorded = json::Parse(text);
  // A text that somebody else has broken is written again.
  if (!recorded.ok() || !(recorded->is_array() || recorded->is_null())) return false;
  return SortedTexts(*recorded) == SortedTexts(list);
}

std::string PrintedDependencies(const json::Value& list) {
  const auto append = [](std::string* out, const DependentReference& r) {
    absl::StrAppend(out, "{APIVersion:", r.api_version, " Kind:", r.kind, " Namespace:", r.ns,
                    " Name:", r.name, " LabelSelector:", PrintedSelector(r.label_selector), "}");
  };
  return absl::StrCat("[", absl::StrJoin(DependenciesFromJson(list), " ", append), "]");
}

}  // namespace api
