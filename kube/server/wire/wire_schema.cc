#include "kube/server/wire/wire_schema.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kube::server {
namespace {

// Returns "rbac" for "rbac.authorization.k8s.io".
std::string PackageOf(const kube::Gvk& gvk) {
  if (gvk.kind == "DeleteOptions") return "meta";
  if (gvk.group.empty()) return "core";
  if (gvk.group == "autoscaling" && gvk.version == "v1") return "autoscalingv1";
  return gvk.group.substr(0, gvk.group.find('.'));
}

}  // namespace

WireTypes::WireTypes(absl::Span<const absl::string_view> tables) {
  for (absl::string_view table : tables) Read(table);
}

const WireMessage* WireTypes::Find(const std::string& name) const {
  const auto found = messages_.find(name);
  return found == messages_.end() ? nullptr : found->second.get();
}

void WireTypes::Read(absl::string_view table) {
  std::string package;
  WireMessage* message = nullptr;
  for (absl::string_view line : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
    if (absl::ConsumePrefix(&line, "package ")) {
      package = std::string(line);
      continue;
    }
    std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (line[0] != ' ') {
      message = &Get(absl::StrCat(package, ".", words[0]));
      words.erase(words.begin());
    }
    for (absl::string_view word : words) message->fields.push_back(ReadField(package, word));
  }
}

WireField WireTypes::ReadField(const std::string& package, absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  WireField field;
  if (parts[0] != "~") field.name = std::string(parts[0]);
  (void)absl::SimpleAtoi(parts[1], &field.number);
  absl::string_view type = parts[2];
  field.keeps_zero = absl::ConsumePrefix(&type, "!");
  if (absl::ConsumePrefix(&type, "*")) field.shape = WireField::Shape::kList;
  if (absl::ConsumePrefix(&type, "%")) field.shape = WireField::Shape::kMap;
  if (type.size() == 1) {
    field.type = type[0];
    return field;
  }
  field.type = 'O';
  field.message =
      &Get(absl::StrContains(type, '.') ? std::string(type) : absl::StrCat(package, ".", type));
  return field;
}

WireMessage& WireTypes::Get(const std::string& name) {
  std::unique_ptr<WireMessage>& slot = messages_[name];
  if (slot == nullptr) {
    slot = std::make_unique<WireMessage>();
    slot->package = name.substr(0, name.find('.'));
    slot->name = name.substr(name.find('.') + 1);
  }
  return *slot;
}

const WireField* WireMessage::ByNumber(int number) const {
  for (const WireField& field : fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

const WireField* WireMessage::ByName(absl::string_view json_name) const {
  for (const WireField& field : fields) {
    if (!field.name.empty()) {
      if (field.name == json_name) return &field;
      continue;
    }
    if (const WireField* inlined = field.message->ByName(json_name)) return inlined;
  }
  return nullptr;
}

const WireMessage* FindWireMessage(const kube::Gvk& gvk) {
  static const auto* const types =
      new WireTypes({CoreWireTypes(), AppsWireTypes(), AccessWireTypes()});
  return types->Find(absl::StrCat(PackageOf(gvk), ".", gvk.kind));
}

}  // namespace kube::server
