// Reader goes through one object from the outside to the inside and collects problems instead of
// stopping at the first: a field that cannot be used is left out, and the others count. Scripts are
// compiled here, once; a script that does not compile, or cannot define the function of its
// operation, is kept with its error (see the header for why). Whether it can is decided by its text
// where that is plain, and otherwise by its bytecode. Running scripts is not part of this file;
// nothing is kept.

#include "interpreter/customized/customization.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/status.h"
#include "base/yaml.h"

namespace interpreter::customized {

namespace {

constexpr ScriptField kScriptFields[] = {
    {Operation::kRetain, "retention", "Retain"},
    {Operation::kInterpretReplica, "replicaResource", "GetReplicas"},
    {Operation::kInterpretComponent, "componentResource", "GetComponents"},
    {Operation::kReviseReplica, "replicaRevision", "ReviseReplica"},
    {Operation::kInterpretStatus, "statusReflection", "ReflectStatus"},
    {Operation::kAggregateStatus, "statusAggregation", "AggregateStatus"},
    {Operation::kInterpretHealth, "healthInterpretation", "InterpretHealth"},
    {Operation::kInterpretDependency, "dependencyInterpretation", "GetDependencies"},
};

constexpr absl::string_view kScriptMember = "luaScript";
constexpr char kAny[] = "*";

// Returns what is wrong with the wildcards of an additional target; "" when nothing is.
absl::string_view WildcardMistake(const kube::Gvk& target) {
  const auto partial = [](absl::string_view text) {
    return text != kAny && absl::StrContains(text, kAny);
  };
  if (partial(target.kind)) return "a wildcard is the whole kind: \"*\"";
  if (absl::StrContains(target.group, kAny) || partial(target.version)) {
    return "a wildcard is the whole version: GROUP/*";
  }
  if (target.group.empty() && target.version == kAny) {
    return "a wildcard is a version of a group, GROUP/*; the core group has v1 only";
  }
  return "";
}

// Reads one object and collects its problems in the customization.
class Reader {
 public:
  explicit Reader(const kube::Object& object) : object_(object) {}

  Customization Read() {
    out_.name = std::string(object_.name());
    const kube::Gvk& wanted = api::InterpreterCustomizations().gvk;
    if (object_.gvk() != wanted) {
      Report("", absl::StrCat("not a ", wanted.kind, ", got ", object_.gvk().ToString()));
      return std::move(out_);
    }
    if (out_.name.empty()) Report("metadata.name", "is required");
    ReportUnknown(object_.root(), "", {"apiVersion", "kind", "metadata", "spec"});
    if (IsObject(object_.root(), "", "spec")) ReadSpec();
    return std::move(out_);
  }

 private:
  void Report(std::string field, std::string message) {
    out_.problems.push_back({std::move(field), std::move(message)});
  }

  static std::string Join(absl::string_view parent, absl::string_view name) {
    return absl::StrCat(parent, parent.empty() ? "" : ".", name);
  }

  void ReportUnknown(const json::Value& object, absl::string_view where,
                     std::initializer_list<absl::string_view> known) {
    for (const json::Member& member : object.members()) {
      if (std::find(known.begin(), known.end(), member.name()) == known.end()) {
        Report(Join(where, member.name()), "unknown field");
      }
    }
  }

  // Returns whether a required member is an object; if not, it is reported.
  bool IsObject(const json::Value& parent, absl::string_view where, absl::string_view name) {
    const json::Value& value = parent[name];
    if (value.is_object()) return true;
    Report(Join(where, name), value.is_null() ? "is required" : "must be an object");
    return false;
  }

  // Returns a required string; reports a missing or wrong one and returns "".
  std::string ReadString(const json::Value& parent, absl::string_view where,
                         absl::string_view name) {
    const json::Value& value = parent[name];
    if (!value.AsString().empty()) return value.ToString();
    const bool missing = value.is_null() || value.is_string();
    Report(Join(where, name), missing ? "is required" : "must be a string");
    return "";
  }

  void ReadSpec() {
    const json::Value& spec = object_.spec();
    ReportUnknown(spec, "spec", {"target", "additionalTargets", "customizations"});
    if (IsObject(spec, "spec", "target")) {
      out_.target = ReadTarget(spec["target"], "spec.target").value_or(kube::Gvk());
    }
    if (!spec["additionalTargets"].is_null()) ReadAdditionalTargets(spec["additionalTargets"]);
    if (IsObject(spec, "spec", "customizations")) ReadScripts(spec["customizations"]);
  }

  // Reports what is wrong and returns nullopt when that leaves no target.
  std::optional<kube::Gvk> ReadTarget(const json::Value& target, absl::string_view where) {
    ReportUnknown(target, where, {"apiVersion", "kind"});
    const std::string api_version = ReadString(target, where, "apiVersion");
    const std::string kind = ReadString(target, where, "kind");
    if (api_version.empty() || kind.empty()) return std::nullopt;
    absl::StatusOr<kube::Gvk> gvk = kube::ParseGvk(api_version, kind);
    if (gvk.ok()) return *std::move(gvk);
    Report(Join(where, "apiVersion"), std::string(gvk.status().message()));
    return std::nullopt;
  }

  void ReadAdditionalTargets(const json::Value& list) {
    constexpr absl::string_view kWhere = "spec.additionalTargets";
    if (!list.is_array()) return Report(std::string(kWhere), "must be a list");
    if (list.size() > kMaxAdditionalTargets) {
      Report(std::string(kWhere), absl::StrCat("has ", list.size(), " entries, of which the first ",
                                               kMaxAdditionalTargets, " are used"));
    }
    size_t index = 0;
    for (const json::Value& item : list.items()) {
      if (index == kMaxAdditionalTargets) break;
      ReadAdditionalTarget(item, absl::StrCat(kWhere, "[", index++, "]"));
    }
  }

  void ReadAdditionalTarget(const json::Value& item, const std::string& where) {
    if (!item.is_object()) return Report(where, "must be an object");
    std::optional<kube::Gvk> target = ReadTarget(item, where);
    if (!target.has_value()) return;
    const absl::string_view mistake = WildcardMistake(*target);
    if (!mistake.empty()) return Report(where, std::string(mistake));
    out_.additional_targets.push_back(*std::move(target));
  }

  void ReadScripts(const json::Value& customizations) {
    constexpr absl::string_view kWhere = "spec.customizations";
    for (const ScriptField& field : kScriptFields) {
      if (const json::Value& value = customizations[field.name]; !value.is_null()) {
        ReadScript(value, Join(kWhere, field.name), field);
      }
    }
    for (const json::Member& member : customizations.members()) {
      const bool known = std::any_of(std::begin(kScriptFields), std::end(kScriptFields),
                                     [&](const auto& f) { return f.name == member.name(); });
      if (!known) Report(Join(kWhere, member.name()), "unknown field");
    }
  }

  void ReadScript(const json::Value& holder, const std::string& where, const ScriptField& field) {
    ReportUnknown(holder, where, {kScriptMember});
    const json::Value& text = holder[kScriptMember];
    if (text.is_string()) {
      // An empty script does not customize the operation, as upstream has it.
      if (!text.AsString().empty()) Keep(Compile(text.AsString(), field), where, field);
    } else if (holder.is_object() && text.is_null()) {
      Report(Join(where, kScriptMember), "is required");
    } else {
      Keep(
          absl::InvalidArgumentError(holder.is_object() ? "must be a string" : "must be an object"),
          where, field);
    }
  }

  CompiledScript Compile(absl::string_view text, const ScriptField& field) const {
    ASSIGN_OR_RETURN(const std::shared_ptr<const lua::Script> script,
                     lua::Script::Compile(absl::StrCat(out_.name, "/", field.name), text));
    if (DefinesPlainly(text, field.function)) return script;
    ASSIGN_OR_RETURN(const lua::ScriptFacts facts, lua::Inspect(*script));
    if (facts.MayDefine(field.function)) return script;
    return absl::InvalidArgumentError(absl::StrCat(script->name(), ": not found function ",
                                                   field.function, InsteadOf(field, facts)));
  }

  // Returns whether the function is at the beginning of a line, as in nearly every script; then the
  // bytecode need not be inspected. (If that line is in a comment, the first run reports that the
  // function is missing.)
  static bool DefinesPlainly(absl::string_view text, absl::string_view function) {
    const std::string definition = absl::StrCat("function ", function, "(");
    return absl::StartsWith(text, definition) ||
           absl::StrContains(text, absl::StrCat("\n", definition));
  }

  // Returns what the script defines instead of the function, for the message.
  static std::string InsteadOf(const ScriptField& field, const lua::ScriptFacts& facts) {
    for (const auto& local : facts.local_functions) {
      if (local.name != field.function) continue;
      return absl::StrCat(" (the one in line ", local.line, " is local)");
    }
    if (facts.functions.empty()) return "";
    return absl::StrCat(" (line ", facts.functions.front().line, " defines ",
                        facts.functions.front().name, ")");
  }

  void Keep(CompiledScript script, const std::string& where, const ScriptField& field) {
    if (!script.ok()) Report(Join(where, kScriptMember), std::string(script.status().message()));
    out_.scripts.emplace(field.operation, std::move(script));
  }

  const kube::Object& object_;
  Customization out_;
};

}  // namespace

absl::Span<const ScriptField> ScriptFields() { return kScriptFields; }

const ScriptField* ScriptFieldOf(Operation op) {
  const auto* found = std::find_if(std::begin(kScriptFields), std::end(kScriptFields),
                                   [&](const ScriptField& f) { return f.operation == op; });
  return found == std::end(kScriptFields) ? nullptr : found;
}

std::string Problem::ToString() const {
  return field.empty() ? message : absl::StrCat(field, ": ", message);
}

bool HasWildcard(const kube::Gvk& target) { return target.version == kAny || target.kind == kAny; }

bool Covers(const kube::Gvk& target, const kube::Gvk& kind) {
  return target.group == kind.group && (target.version == kAny || target.version == kind.version) &&
         (target.kind == kAny || target.kind == kind.kind);
}

Customization ParseCustomization(const kube::Object& object) { return Reader(object).Read(); }

std::vector<Customization> ParseCustomizations(absl::string_view source, absl::string_view text) {
  std::vector<Customization> out;
  const absl::StatusOr<std::vector<json::Value>> documents = yaml::ParseAll(text);
  if (!documents.ok()) {
    Customization unreadable;
    unreadable.name = std::string(source);
    unreadable.problems.push_back({"", std::string(documents.status().message())});
    out.push_back(std::move(unreadable));
    return out;
  }
  for (const json::Value& document : *documents) {
    out.push_back(ParseCustomization(kube::Object(document)));
  }
  return out;
}

}  // namespace interpreter::customized
