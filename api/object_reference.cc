#include "api/object_reference.h"

#include "absl/strings/str_cat.h"

namespace api {

namespace {

void SetUnlessEmpty(json::Value& object, absl::string_view name, const std::string& value) {
  if (!value.empty()) object.Set(name, value);
}

}  // namespace

ObjectReference ObjectReference::Of(const kube::Object& object) {
  return {std::string(object.api_version()), std::string(object.kind()),
          std::string(object.ns()),          std::string(object.name()),
          std::string(object.uid()),         std::string(object.resource_version())};
}

ObjectReference ObjectReference::FromJson(const json::Value& reference) {
  return {reference["apiVersion"].ToString(), reference["kind"].ToString(),
          reference["namespace"].ToString(),  reference["name"].ToString(),
          reference["uid"].ToString(),        reference["resourceVersion"].ToString()};
}

json::Value ObjectReference::ToJson() const {
  json::Value out = json::Value::Object({{"apiVersion", api_version}, {"kind", kind}});
  SetUnlessEmpty(out, "namespace", ns);
  out.Set("name", name);
  SetUnlessEmpty(out, "uid", uid);
  SetUnlessEmpty(out, "resourceVersion", resource_version);
  return out;
}

json::Value ObjectReference::ToJson(const json::Value& held) const {
  return WithUnknown(ToJson(), held, ReferenceField(""));
}

kube::Gvk ObjectReference::gvk() const {
  return kube::ParseGvk(api_version, kind).value_or(kube::Gvk{});
}

std::string ObjectReference::Describe() const { return absl::StrCat(kind, " ", key().ToString()); }

KnownField ReferenceField(absl::string_view name) {
  return {name, {{"apiVersion"}, {"kind"}, {"namespace"}, {"name"}, {"uid"}, {"resourceVersion"}}};
}

}  // namespace api
