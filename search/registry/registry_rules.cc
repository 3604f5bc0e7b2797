// Decoding goes before validation, as in an API server: type and metadata first, then the fields by
// the table below (unknown ones dropped and reported, wrong types refused with 400), then defaults.
// Only a decoded object is validated; mistakes are collected, not returned one by one, with
// upstream's order and texts (pkg/apis/search/validation) because clients show them. The functions
// have no state.

#include "search/registry/registry_rules.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resource_registry.h"
#include "base/status.h"
#include "kube/meta/names.h"
#include "kube/meta/selector.h"
#include "kube/server/field_path.h"
#include "kube/server/metadata_rules.h"
#include "kube/server/wire/typed_fields.h"

namespace search {
namespace {

using kube::server::FieldErrors;
using kube::server::FieldPath;

void SetIfAbsent(json::Value& object, absl::string_view name, json::Value value) {
  if (!object.Has(name)) object.Set(name, std::move(value));
}

// Sets the fields that Go writes even when nobody has set them.
void SetDefaults(kube::Object& object) {
  json::Value& root = object.mutable_root();
  SetIfAbsent(root, "status", json::Value::Object());
  SetIfAbsent(root, "spec", json::Value::Object());
  json::Value& spec = root.Mutable("spec");
  SetIfAbsent(spec, "targetCluster", json::Value::Object());
  SetIfAbsent(spec, "resourceSelectors", nullptr);
  const size_t selectors = spec["resourceSelectors"].size();
  for (size_t i = 0; i < selectors; ++i) {
    json::Value& selector = spec.Mutable("resourceSelectors").MutableAt(i);
    SetIfAbsent(selector, "apiVersion", "");
    SetIfAbsent(selector, "kind", "");
  }
}

// Upstream's util/validation ValidatePolicyFieldSelector: the first mistake, for the whole
// selector.
std::string MistakeIn(const json::Value& field_selector) {
  for (const json::Value& expression : field_selector["matchExpressions"].items()) {
    const absl::string_view key = expression["key"].AsString();
    if (key != "provider" && key != "region" && key != "zone") {
      return absl::StrCat("unsupported key ", json::Write(key),
                          ", must be provider, region, or zone");
    }
    const absl::string_view op = expression["operator"].AsString();
    if (op != "In" && op != "NotIn") {
      return absl::StrCat("unsupported operator ", json::Write(op), ", must be In or NotIn");
    }
  }
  return "";
}

void ValidateSelector(const json::Value& selector, const std::string& path, FieldErrors& errors) {
  const absl::string_view version = selector["apiVersion"].AsString();
  if (std::count(version.begin(), version.end(), '/') > 1) {
    errors.Invalid(FieldPath(path, "apiVersion"), version,
                   absl::StrCat("unexpected GroupVersion string: ", version));
  }
  const absl::string_view ns = selector["namespace"].AsString();
  if (ns.empty()) return;
  if (const absl::Status valid = kube::ValidateDns1123Label(ns); !valid.ok()) {
    errors.Invalid(FieldPath(path, "namespace"), ns, valid.message());
  }
}

// Returns the mistake in the address of an OpenSearch, "" if there is none. Go's url.Parse has many
// messages of its own; of these there are the ones for what users get wrong.
std::string MistakeInUrl(absl::string_view address) {
  const auto parse_error = [&](absl::string_view why) {
    return absl::StrCat("parse ", json::Write(address), ": ", why);
  };
  if (std::any_of(address.begin(), address.end(),
                  [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); })) {
    return parse_error("net/url: invalid control character in URL");
  }
  if (absl::StartsWith(address, ":")) return parse_error("missing protocol scheme");
  const size_t colon = address.find(':');
  const size_t slash = address.find('/');
  if (colon != absl::string_view::npos && (slash == absl::string_view::npos || colon < slash) &&
      !absl::ascii_isalpha(static_cast<unsigned char>(address.front()))) {
    return parse_error("first path segment in URL cannot contain colon");
  }
  const std::string scheme = absl::AsciiStrToLower(
      colon == absl::string_view::npos ? absl::string_view() : address.substr(0, colon));
  absl::string_view rest = colon == absl::string_view::npos ? address : address.substr(colon + 1);
  const bool has_authority = absl::StartsWith(rest, "//");
  absl::string_view host = has_authority ? rest.substr(2) : absl::string_view();
  host = host.substr(0, host.find_first_of("/?#"));
  if (const size_t at = host.rfind('@'); at != absl::string_view::npos) host.remove_prefix(at + 1);
  if (absl::StrContains(host, ' ')) {
    return parse_error("invalid character \" \" in host name");
  }
  // A colon inside the brackets of an IPv6 address does not begin a port.
  const size_t port = host.rfind(':');
  const bool is_v6 = absl::StartsWith(host, "[");
  if (port != absl::string_view::npos && !(is_v6 && host.rfind(']') > port)) {
    const absl::string_view digits = host.substr(port + 1);
    if (!std::all_of(digits.begin(), digits.end(),
                     [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); })) {
      return parse_error(
          absl::StrCat("invalid port ", json::Write(host.substr(port)), " after host"));
    }
  }
  if ((scheme == "http" || scheme == "https") && !host.empty()) return "";
  return "must be a valid http or https URL with non-empty scheme and host";
}

}  // namespace

const kube::server::GroupName& RegistryResourceName() {
  static const auto* const name = new kube::server::GroupName{
      api::ResourceRegistryResource().gvk.group, api::ResourceRegistryResource().plural};
  return *name;
}

const kube::server::GroupName& RegistryKindName() {
  static const auto* const name = new kube::server::GroupName{
      api::ResourceRegistryResource().gvk.group, api::ResourceRegistryResource().gvk.kind};
  return *name;
}

const kube::server::ObjectRules& RegistryRules() {
  static const auto* const rules = [] {
    auto* made = new kube::server::ObjectRules;
    made->resource = api::ResourceRegistryResource();
    made->status_subresource = true;
    made->keeps_managed_fields = true;
    return made;
  }();
  return *rules;
}

kube::server::FieldKind RegistryFields() {
  const kube::Gvk& gvk = RegistryRules().resource.gvk;
  return {gvk, kube::server::FieldType::OfBuiltin(gvk), /*custom=*/false,
          RegistryRules().status_subresource};
}

absl::Status DecodeRegistry(kube::Object& object, kube::server::FieldValidation validation,
                            std::vector<std::string>* warnings) {
  const kube::Gvk& gvk = RegistryRules().resource.gvk;
  RETURN_IF_ERROR(kube::server::CheckTypeMeta(gvk, object));
  RETURN_IF_ERROR(kube::server::NormalizeMetadata(RegistryRules(), object));
  std::vector<std::string> unknown;
  RETURN_IF_ERROR(kube::server::DecodeTypedFields(gvk, object, unknown));
  RETURN_IF_ERROR(kube::server::ReportUnknownFields(gvk, unknown, validation, warnings));
  SetDefaults(object);
  return absl::OkStatus();
}

void ValidateRegistry(const kube::Object& object, FieldErrors& errors) {
  kube::server::ValidateMetadata(RegistryRules(), object, errors);
  const json::Value& spec = object.spec();
  const json::Value& fields = spec["targetCluster"]["fieldSelector"];
  if (const std::string mistake = MistakeIn(fields); !mistake.empty()) {
    errors.Invalid("spec.targetCluster.fieldSelector", fields, mistake);
  }
  const json::Value& selectors = spec["resourceSelectors"];
  for (size_t i = 0; i < selectors.size(); ++i) {
    ValidateSelector(selectors.At(i), FieldPath("spec.resourceSelectors", i), errors);
  }
  const json::Value& addresses = spec.Get({"backendStore", "openSearch", "addresses"});
  for (size_t i = 0; i < addresses.size(); ++i) {
    const std::string mistake = MistakeInUrl(addresses.At(i).AsString());
    if (mistake.empty()) continue;
    errors.Invalid(FieldPath("spec.backendStore.openSearch.addresses", i), addresses.At(i),
                   mistake);
  }
}

}  // namespace search
