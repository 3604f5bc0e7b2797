// From an object: find the container, take command and args, refuse a shell, fill in variables from
// its environment, drop the program's name. From a text: words if it looks like a command line,
// else YAML or JSON with an object or a list. Variables whose value only a running pod knows are
// not guessed, except for addresses, of which only the form counts; an argument with such a
// variable is set apart as unresolved, with its flag. Nothing is executed or read from the
// environment of this process.

#include "lens/preflight/arguments.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/programs.h"
#include "base/status.h"
#include "tool/documents.h"

namespace lens::preflight {
namespace {

// Stands for addresses that only a running pod has.
constexpr char kSomeAddress[] = "127.0.0.1";
constexpr absl::string_view kShells[] = {"sh", "bash", "ash", "dash"};

// Values by the names of variables, as far as they are known here.
using Variables = std::map<std::string, std::string>;

std::string LastPart(absl::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));  // npos + 1 is 0.
}

std::vector<std::string> StringsOf(const json::Value& list) {
  std::vector<std::string> strings;
  for (const json::Value& item : list.items()) strings.push_back(item.ToString());
  return strings;
}

// Fills in each $(NAME); $$ stands for $. Returns nothing when a variable is not known: Kubernetes
// would leave the reference as it stands only if the pod did not have the variable either.
std::optional<std::string> Expand(absl::string_view text, const Variables& variables) {
  std::string out;
  while (!text.empty()) {
    const size_t end = absl::StartsWith(text, "$(") ? text.find(')') : absl::string_view::npos;
    if (absl::StartsWith(text, "$$")) {
      out.push_back('$');
      text.remove_prefix(2);
    } else if (end != absl::string_view::npos) {
      const auto known = variables.find(std::string(text.substr(2, end - 2)));
      if (known == variables.end()) return std::nullopt;
      out += known->second;
      text.remove_prefix(end + 1);
    } else {
      out.push_back(text[0]);
      text.remove_prefix(1);
    }
  }
  return out;
}

// Returns "--kube-api-qps=" and takes the flag out of the words before, if the word is the value of
// a flag of two words; otherwise "".
std::string TakeFlagOf(absl::string_view word, std::vector<std::string>& before) {
  const bool is_value = !absl::StartsWith(word, "-") && !before.empty() &&
                        absl::StartsWith(before.back(), "-") &&
                        !absl::StrContains(before.back(), "=");
  if (!is_value) return "";
  const std::string flag = std::move(before.back());
  before.pop_back();
  return absl::StrCat(flag, "=");
}

void ExpandInto(const std::vector<std::string>& words, const Variables& variables,
                Arguments& arguments) {
  for (const std::string& word : words) {
    std::optional<std::string> expanded = Expand(word, variables);
    if (expanded.has_value()) {
      arguments.words.push_back(*std::move(expanded));
    } else {
      arguments.unresolved.push_back(TakeFlagOf(word, arguments.words) + word);
    }
  }
}

Variables EnvironmentOf(const json::Value& container, const kube::Object& workload) {
  Variables variables;
  for (const json::Value& entry : container["env"].items()) {
    const std::string name = entry["name"].ToString();
    const absl::string_view field = entry.Get({"valueFrom", "fieldRef", "fieldPath"}).AsString();
    if (!entry.Has("valueFrom")) {
      const std::string value = entry["value"].ToString();
      // Kubernetes leaves a reference to an unknown variable as it stands, and knows only those
      // above.
      variables[name] = Expand(value, variables).value_or(value);
    } else if (field == "status.podIP" || field == "status.hostIP") {
      variables[name] = kSomeAddress;
    } else if (field == "metadata.namespace") {
      variables[name] = std::string(workload.ns());
    }
  }
  return variables;
}

std::vector<std::string> CommandLineOf(const json::Value& container) {
  std::vector<std::string> words = StringsOf(container["command"]);
  for (std::string& word : StringsOf(container["args"])) words.push_back(std::move(word));
  return words;
}

// The name of the container, its program, or its image without registry and tag.
bool RunsControllerManager(const json::Value& container) {
  const std::vector<std::string> command = StringsOf(container["command"]);
  const std::string image = LastPart(container["image"].AsString());
  return container["name"].AsString() == api::kControllerManager ||
         (!command.empty() && LastPart(command[0]) == api::kControllerManager) ||
         image.substr(0, image.find_first_of(":@")) == api::kControllerManager;
}

const json::Value* ContainerOf(const kube::Object& workload) {
  for (const json::Value& container :
       workload.Get({"spec", "template", "spec", "containers"}).items()) {
    if (RunsControllerManager(container)) return &container;
  }
  return nullptr;
}

// Words begin with the program's name when they are a whole command line.
void DropProgram(std::vector<std::string>& words) {
  if (!words.empty() && !absl::StartsWith(words[0], "-")) words.erase(words.begin());
}

absl::Status CheckNoShell(const std::vector<std::string>& words, const std::string& where) {
  for (const absl::string_view shell : kShells) {
    if (words.empty() || LastPart(words[0]) != shell) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(where, " starts karmada-controller-manager by a shell (", words[0],
                     "), so that its arguments are not known; give them with --args-file"));
  }
  return absl::OkStatus();
}

// Returns the words of a text: separated by blanks and line ends, with quotes as in a shell; a #
// at the beginning of a word begins a comment, and a backslash at the end of a line joins lines.
std::vector<std::string> ShellWords(absl::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word->push_back(c);
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      if (!word.has_value()) word.emplace();
    } else if (c == '#' && !word.has_value()) {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (c == '\\' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
    } else if (!absl::ascii_isspace(c)) {
      if (!word.has_value()) word.emplace();
      word->push_back(c);
    } else if (word.has_value()) {
      words.push_back(*std::move(word));
      word.reset();
    }
  }
  if (word.has_value()) words.push_back(*std::move(word));
  return words;
}

// Outside of a pod nothing is known of variables but what the installers of upstream call
// addresses.
Variables AddressesIn(const std::vector<std::string>& words) {
  Variables variables;
  for (const std::string& word : words) {
    for (size_t at = word.find("$("); at != std::string::npos; at = word.find("$(", at + 1)) {
      const std::string name = word.substr(at + 2, word.find(')', at) - at - 2);
      if (absl::EndsWith(name, "_IP")) variables[name] = kSomeAddress;
    }
  }
  return variables;
}

Arguments ArgumentsOfWords(const std::string& file, std::vector<std::string> words) {
  Arguments arguments{.source = tool::DisplayName(file)};
  DropProgram(words);
  ExpandInto(words, AddressesIn(words), arguments);
  return arguments;
}

bool LooksLikeWords(absl::string_view text) {
  const std::vector<std::string> words = ShellWords(text);
  return !words.empty() && ((absl::StartsWith(words[0], "-") && words[0].size() > 1 &&
                             !absl::StartsWith(words[0], "---")) ||
                            LastPart(words[0]) == api::kControllerManager);
}

bool IsListOfStrings(const json::Value& value) {
  if (!value.is_array() || value.empty()) return false;
  for (const json::Value& item : value.items()) {
    if (!item.is_string()) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Arguments> ArgumentsOf(const kube::Object& workload) {
  const std::string where = workload.Describe();
  const json::Value* container = ContainerOf(workload);
  if (container == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("no container of ", where, " runs karmada-controller-manager"));
  }
  Arguments arguments{.source = where, .image = (*container)["image"].ToString()};
  std::vector<std::string> words = CommandLineOf(*container);
  RETURN_IF_ERROR(CheckNoShell(words, where));
  DropProgram(words);
  ExpandInto(words, EnvironmentOf(*container, workload), arguments);
  return arguments;
}

absl::StatusOr<Arguments> ArgumentsOfText(const std::string& file, absl::string_view text) {
  if (LooksLikeWords(text)) return ArgumentsOfWords(file, ShellWords(text));
  ASSIGN_OR_RETURN(const std::vector<tool::Document> documents, tool::ParseDocuments(file, text));
  for (const tool::Document& document : documents) {
    if (IsListOfStrings(document.value)) return ArgumentsOfWords(file, StringsOf(document.value));
    const kube::Object object(document.value);
    if (ContainerOf(object) == nullptr) continue;
    ASSIGN_OR_RETURN(Arguments arguments, ArgumentsOf(object));
    arguments.source = absl::StrCat(arguments.source, " in ", tool::DisplayName(file));
    return arguments;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(tool::DisplayName(file),
                   " has neither a Deployment that runs karmada-controller-manager nor a list of "
                   "its arguments"));
}

}  // namespace lens::preflight
