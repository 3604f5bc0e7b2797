// Reads the tables of built-in types, whose notation the header describes, into messages that refer
// to one another by pointer. A message may be mentioned before it is described, so Get makes an
// empty one that is filled later; one that is never described has no fields. The tables are
// constants of this program: they are read once, at the first use, by whichever thread is the
// first, and never freed. Malformed entries are not reported: the tables are a part of this
// program.

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
  // It is sent under the group of the resource that is deleted.
  if (gvk.kind == "DeleteOptions") return "meta";
  if (gvk.group.empty()) return "core";
  if (gvk.group == "autoscaling" && gvk.version == "v1") return "autoscalingv1";
  return gvk.group.substr(0, gvk.group.find('.'));
}

// Reads what follows a field's name.
std::shared_ptr<const MergeMark> MarkOf(absl::string_view text) {
  auto mark = std::make_shared<MergeMark>();
  // They stand at the end, "!" and "=" at the beginning.
  for (const char* c : {"?", "+"}) {
    if (!absl::ConsumeSuffix(&text, c)) continue;
    (*c == '?' ? mark->implied_null : mark->implied_object) = true;
  }
  mark->atomic = absl::ConsumePrefix(&text, "!");
  if (!absl::ConsumePrefix(&text, "=")) return mark;
  mark->set = text.empty();
  for (absl::string_view word : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> key =
        absl::StrSplit(word, absl::MaxSplits(':', 1));
    mark->keys.push_back({std::string(key.first), json::Parse(key.second).value_or(json::Value())});
  }
  return mark;
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

void WireTypes::Mark(absl::string_view marks) {
  WireMessage* message = nullptr;
  for (absl::string_view word : absl::StrSplit(marks, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    if (word == "!") {
      if (message != nullptr) message->atomic = true;
      continue;
    }
    const size_t end = word.find_first_of("=!+?");
    if (end == absl::string_view::npos) {  // The name of a message begins a line.
      const auto found = messages_.find(std::string(word));
      message = found == messages_.end() ? nullptr : found->second.get();
      continue;
    }
    WireField* field = message == nullptr ? nullptr : FieldOf(*message, word.substr(0, end));
    if (field != nullptr) field->mark = MarkOf(word.substr(end));
  }
}

WireField* WireTypes::FieldOf(WireMessage& message, absl::string_view name) {
  for (WireField& field : message.fields) {
    if (field.name == name) return &field;
    if (!field.name.empty()) continue;
    WireMessage& inlined = Get(absl::StrCat(field.message->package, ".", field.message->name));
    if (WireField* inner = FieldOf(inlined, name)) return inner;
  }
  return nullptr;
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
  return FindBuiltinMessage(absl::StrCat(PackageOf(gvk), ".", gvk.kind));
}

const WireMessage* FindBuiltinMessage(const std::string& name) {
  static const auto* const types = [] {
    auto* all = new WireTypes({CoreWireTypes(), AppsWireTypes(), AccessWireTypes()});
    all->Mark(MergeMarks());
    return all;
  }();
  return types->Find(name);
}

}  // namespace kube::server
