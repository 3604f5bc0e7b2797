// CheckCustomization puts together what several readers find, in the order of the document:
// problems that ParseCustomization reports (those of scripts that do not compile get line and
// column here), the name, the target and the additional targets, compared with the kinds that
// Karmada knows, and for each script that compiles what running its top level shows (CheckScript,
// in script_check.cc). The column of a syntax error is not in the compiler's message, so ColumnOf
// looks for the place at which a shorter script fails with the same message. Only KnownKinds is
// kept, for the life of the process.

#include "interpreter/check/findings.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "interpreter/customized/shipped.h"
#include "interpreter/interpreter.h"
#include "kube/meta/selector.h"

namespace interpreter::check {
namespace {

using interpreter::customized::CompiledScript;
using interpreter::customized::Customization;
using interpreter::customized::kNotCombined;
using interpreter::customized::MergeOptions;
using interpreter::customized::ScriptField;
using Severity = Finding::Severity;

std::string ScriptPath(const ScriptField& field) {
  return absl::StrCat("spec.customizations.", field.name, ".luaScript");
}

// The parts of a message of the compiler.
struct CompilerMessage {
  int line = 0;
  std::string what;   // "'=' expected near 'x'"
  std::string token;  // "x"
};

// The first ":<digits>:" ends the script's name.
CompilerMessage Parse(absl::string_view message) {
  for (size_t at = message.find(':'); at != absl::string_view::npos;
       at = message.find(':', at + 1)) {
    const size_t end = message.find_first_not_of("0123456789", at + 1);
    CompilerMessage parsed;
    if (end == absl::string_view::npos || message[end] != ':') continue;
    if (!absl::SimpleAtoi(message.substr(at + 1, end - at - 1), &parsed.line)) continue;
    parsed.what = std::string(absl::StripAsciiWhitespace(message.substr(end + 1)));
    // The last "near": the token itself may contain the word.
    const size_t near = parsed.what.rfind("near '");
    if (near != std::string::npos && absl::EndsWith(parsed.what, "'")) {
      parsed.token = parsed.what.substr(near + 6, parsed.what.size() - near - 7);
    }
    return parsed;
  }
  return {0, std::string(message), ""};
}

absl::string_view LineOf(absl::string_view text, int line) {
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  const auto index = static_cast<size_t>(line - 1);
  return index < lines.size() ? lines[index] : absl::string_view();
}

constexpr char kNearEnd[] = "near '<eof>'";

// Returns line and column after the last character that is not blank.
std::pair<int, int> EndOf(absl::string_view text) {
  const absl::string_view whole = absl::StripTrailingAsciiWhitespace(text);
  const auto line = static_cast<int>(std::count(whole.begin(), whole.end(), '\n')) + 1;
  return {line, static_cast<int>(LineOf(whole, line).size()) + 1};
}

// So many bytes are compiled to find a column: a long line may have the token thousands of times.
constexpr size_t kMostTried = size_t{1} << 20;

// Returns the column of the token in its line. If it occurs several times, it is the first place at
// which a script that ends there fails with the same message; 0 when there is none, or when it
// takes too much work to find it.
int ColumnOf(const CompilerMessage& error, absl::string_view text) {
  const absl::string_view line = LineOf(text, error.line);
  if (error.token.empty() || line.empty()) return 0;
  // LineOf returns a view into `text`.
  const size_t before = line.data() - text.data();
  size_t tried = 0;
  for (size_t at = line.find(error.token); at != absl::string_view::npos;
       at = line.find(error.token, at + 1)) {
    tried += before + at;
    if (tried > kMostTried) return 0;
    const auto cut = lua::Script::Compile("x", text.substr(0, before + at + error.token.size()));
    if (cut.ok()) continue;
    const CompilerMessage again = Parse(cut.status().message());
    if (again.line == error.line && again.what == error.what) return static_cast<int>(at) + 1;
  }
  return 0;
}

// Returns whether a server can serve such a version: "v1" in the core group, any version in a named
// group.
bool CanBeServed(const kube::Gvk& target) {
  return target.group.empty() ? target.version == "v1" : !target.version.empty();
}

std::vector<kube::Gvk> ReadKnownKinds() {
  std::vector<kube::Gvk> known = interpreter::NativeKinds();
  const auto shipped =
      interpreter::customized::LoadShipped(interpreter::customized::ShippedFiles());
  for (const auto& pair : shipped->Covered()) known.push_back(pair.gvk);
  return known;
}

// Computed once, because compiling the shipped scripts takes 40 ms.
const std::vector<kube::Gvk>& KnownKinds() {
  static const auto* const kKinds = new std::vector<kube::Gvk>(ReadKnownKinds());
  return *kKinds;
}

// Returns a message about a target for which CanBeServed() is false.
std::string UnservedText(const kube::Gvk& target, const std::vector<kube::Gvk>& known) {
  const auto same = std::find_if(known.begin(), known.end(),
                                 [&](const kube::Gvk& kind) { return kind.kind == target.kind; });
  return absl::StrCat("\"", target.ApiVersion(),
                      "\" matches nothing: it is \"v1\" or GROUP/VERSION, such as ",
                      same == known.end() ? "apps/v1" : same->ApiVersion());
}

// Adds findings about a target that matches nothing, or is probably a misspelt known kind. They are
// about members of the object `where`.
void CheckKind(const kube::Gvk& target, const std::string& where, std::vector<Finding>& findings) {
  const auto add = [&](Severity severity, const char* member, const std::string& message) {
    findings.push_back({severity, absl::StrCat(where, member), 0, 0, "", message});
  };
  const std::vector<kube::Gvk>& known = KnownKinds();
  if (!CanBeServed(target)) {
    return add(Severity::kError, ".apiVersion", UnservedText(target, known));
  }
  if (std::find(known.begin(), known.end(), target) != known.end()) return;
  for (const kube::Gvk& kind : known) {
    if (kind.group == target.group && kind.kind == target.kind) {
      return add(Severity::kWarning, ".apiVersion",
                 absl::StrCat("what Karmada knows of ", kind.kind, " is for ", kind.ApiVersion(),
                              "; a target matches its own version only"));
    }
    if (absl::EqualsIgnoreCase(kind.kind, target.kind) && kind.kind != target.kind) {
      return add(Severity::kWarning, ".kind", absl::StrCat("did you mean ", kind.kind, "?"));
    }
  }
  if (!absl::ascii_isupper(target.kind[0])) {
    add(Severity::kWarning, ".kind", "kinds begin with a capital letter, like Deployment");
  }
}

void CheckTarget(const kube::Gvk& target, std::vector<Finding>& findings) {
  if (absl::StrContains(target.ApiVersion(), "*") || target.kind == "*") {
    findings.push_back({Severity::kError, "spec.target", 0, 0, "",
                        "a target has no wildcards: it is one version of one kind"});
    return;
  }
  CheckKind(target, "spec.target", findings);
}

// Warns that a target with wildcards takes kinds from the rules that Karmada has for them.
void CheckCovered(const kube::Gvk& target, const std::string& where,
                  std::vector<Finding>& findings) {
  const std::vector<kube::Gvk>& known = KnownKinds();
  const auto found = std::find_if(known.begin(), known.end(), [&](const kube::Gvk& kind) {
    return interpreter::customized::Covers(target, kind);
  });
  if (found == known.end()) return;
  findings.push_back(
      {Severity::kWarning, where, 0, 0, "",
       absl::StrCat("includes kinds that Karmada knows, such as ", found->ApiVersion(), " ",
                    found->kind, ": its own rules for the same operations are not asked")});
}

// Adds findings about additional targets beyond those that were reported when they were read.
void CheckAdditionalTargets(const kube::Object& object, const Customization& customization,
                            const MergeOptions& merge, std::vector<Finding>& findings) {
  constexpr char kWhere[] = "spec.additionalTargets";
  const json::Value& list = object.spec()["additionalTargets"];
  if (list.is_null()) return;
  if (!merge.combined) {
    findings.push_back({Severity::kWarning, kWhere, 0, 0, "", std::string(kNotCombined)});
  }
  size_t index = 0;
  for (const json::Value& item : list.items()) {
    const std::string where = absl::StrCat(kWhere, "[", index++, "]");
    const auto kind = kube::ParseGvk(item["apiVersion"].AsString(), item["kind"].AsString());
    const auto& used = customization.additional_targets;
    if (!kind.ok() || std::find(used.begin(), used.end(), *kind) == used.end()) continue;
    if (!interpreter::customized::HasWildcard(*kind)) {
      CheckKind(*kind, where, findings);
    } else if (merge.combined) {
      CheckCovered(*kind, where, findings);
    }
  }
}

// Checks the name as the API server does, whose messages users know from kubectl.
void CheckName(absl::string_view name, std::vector<Finding>& findings) {
  if (name.empty()) return;  // This was reported when the object was read.
  const absl::Status valid = kube::ValidateDns1123Subdomain(name);
  if (valid.ok()) return;
  findings.push_back(
      {Severity::kError, "metadata.name", 0, 0, std::string(name), std::string(valid.message())});
}

const ScriptField* FieldOfPath(const std::string& path) {
  for (const ScriptField& field : interpreter::customized::ScriptFields()) {
    if (path == ScriptPath(field)) return &field;
  }
  return nullptr;
}

absl::string_view ScriptText(const kube::Object& object, const ScriptField& field) {
  return object.Get({"spec", "customizations", field.name, "luaScript"}).AsString();
}

// Compiles the script of the field, even if it lacks the function that it is for; an error when
// there is no script or it does not compile.
absl::StatusOr<std::shared_ptr<const lua::Script>> Compile(const kube::Object& object,
                                                           const ScriptField& field) {
  const absl::string_view text = ScriptText(object, field);
  if (text.empty()) return absl::NotFoundError("no script");
  return lua::Script::Compile(absl::StrCat(object.name(), "/", field.name), text);
}

}  // namespace

std::string Finding::ToString() const {
  return absl::StrCat(
      field, field.empty() ? "" : ": ",
      script_line == 0 ? "" : absl::StrCat("line ", script_line, " of the script: "), message);
}

Finding SyntaxFinding(const std::string& field, absl::string_view message, absl::string_view text) {
  CompilerMessage error = Parse(message);
  if (absl::EndsWith(error.what, kNearEnd)) {
    const auto [line, column] = EndOf(text);
    return {Severity::kError, field, line, column, "", std::move(error.what)};
  }
  const int column = ColumnOf(error, text);
  return {Severity::kError,     field, error.line, column, std::move(error.token),
          std::move(error.what)};
}

std::vector<Finding> CheckCustomization(const kube::Object& object, const MergeOptions& merge,
                                        absl::Duration patience) {
  const base::SteadyTime end = base::RealClock().SteadyNow() + patience;
  const Customization customization = interpreter::customized::ParseCustomization(object);
  std::vector<Finding> findings;
  for (const auto& problem : customization.problems) {
    const ScriptField* field = FieldOfPath(problem.field);
    // CheckScript reports this more exactly.
    if (field != nullptr && Compile(object, *field).ok()) continue;
    const absl::string_view text = field == nullptr ? "" : ScriptText(object, *field);
    findings.push_back(text.empty()
                           ? Finding{Severity::kError, problem.field, 0, 0, "", problem.message}
                           : SyntaxFinding(problem.field, problem.message, text));
  }
  CheckName(object.name(), findings);
  if (!customization.target.empty()) CheckTarget(customization.target, findings);
  CheckAdditionalTargets(object, customization, merge, findings);
  for (const ScriptField& field : interpreter::customized::ScriptFields()) {
    const absl::StatusOr<std::shared_ptr<const lua::Script>> script = Compile(object, field);
    if (!script.ok()) continue;
    if (base::RealClock().SteadyNow() >= end) {
      findings.push_back({Severity::kWarning, ScriptPath(field), 0, 0, "",
                          "not checked, because the other scripts have taken too long"});
      continue;
    }
    const std::vector<Finding> more = CheckScript(field, **script);
    findings.insert(findings.end(), more.begin(), more.end());
  }
  if (findings.empty() && customization.scripts.empty()) {
    findings.push_back({Severity::kWarning, "spec.customizations", 0, 0, "",
                        "there is no script: nothing is customized"});
  }
  return findings;
}

}  // namespace interpreter::check
