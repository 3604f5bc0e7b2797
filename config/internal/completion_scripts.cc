// The scripts for bash, zsh and PowerShell have the same parts: tables of commands, flags and
// values by command, written from the tree, and a fixed program that finds out from the words
// before the cursor which command is meant and whether a flag waits for its value. Commands have
// the names that their words make, joined by "/", in these tables. fish has one rule for each
// command and flag instead, and finds the command by a function with the same fixed program.
//
// Texts from the tree are written into single quotes, and never interpreted by a shell.

#include "config/internal/completion_scripts.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace config::internal {
namespace {

constexpr char kBashProgram[] = R"sh(
_@FN@() {
  local cur="${COMP_WORDS[COMP_CWORD]}" path="" flag="" word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    flag=""
    if [[ "${word}" == "=" ]]; then
      ((i + 1 < COMP_CWORD)) || flag="${COMP_WORDS[i-1]}"
      ((i++))
    elif [[ "${word}" == -* ]]; then
      if [[ " $(_@FN@_valued "${path}") " == *" ${word} "* && "${COMP_WORDS[i+1]}" != "=" ]]; then
        ((i + 1 < COMP_CWORD)) || flag="${word}"
        ((i++))
      fi
    elif [[ " $(_@FN@_commands "${path}") " == *" ${word} "* ]]; then
      path="${path}/${word}"
    fi
  done
  if [[ "${cur}" == "=" ]]; then
    flag="${COMP_WORDS[COMP_CWORD-1]}"
    cur=""
  fi
  if [[ -n "${flag}" ]]; then
    if [[ " $(_@FN@_paths "${path}") " == *" ${flag} "* ]]; then
      mapfile -t COMPREPLY < <(compgen -f -- "${cur}")
      compopt -o filenames 2>/dev/null
    else
      mapfile -t COMPREPLY < <(
        compgen -P "${cur%"${cur##*,}"}" -W "$(_@FN@_values "${path} ${flag}")" -- "${cur##*,}")
    fi
  elif [[ "${cur}" == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_@FN@_flags "${path}")" -- "${cur}")
  else
    mapfile -t COMPREPLY < <(compgen -W "$(_@FN@_commands "${path}")" -- "${cur}")
  fi
}

# Arguments that are neither commands nor flags are files, if anything.
complete -o bashdefault -o default -F _@FN@ @PROG@
)sh";

constexpr char kZshProgram[] = R"sh(
_@FN@() {
  local cur="${words[CURRENT]}" path_="" flag="" word i
  for ((i = 2; i < CURRENT; i++)); do
    word="${words[i]}"
    flag=""
    if [[ "${word}" == -* ]]; then
      if [[ " $(_@FN@_valued "${path_}") " == *" ${word} "* ]]; then
        (( i + 1 < CURRENT )) || flag="${word}"
        (( i++ ))
      fi
    elif [[ " $(_@FN@_commands "${path_}") " == *" ${word} "* ]]; then
      path_="${path_}/${word}"
    fi
  done
  if [[ -z "${flag}" && "${cur}" == --*=* ]]; then
    flag="${cur%%=*}"
    compset -P '*='
  fi
  local -a found
  if [[ -n "${flag}" ]]; then
    if [[ " $(_@FN@_paths "${path_}") " == *" ${flag} "* ]]; then
      _files
      return
    fi
    [[ "${cur}" == *,* ]] && compset -P '*,'
    found=(${=$(_@FN@_values "${path_} ${flag}")})
    (( ${#found} )) && _describe value found
  elif [[ "${cur}" == -* ]]; then
    found=("${(@f)$(_@FN@_described_flags "${path_}")}")
    _describe flag found
  else
    found=("${(@f)$(_@FN@_described_commands "${path_}")}")
    if [[ -n "${found[1]}" ]]; then
      _describe command found
    else
      _files
    fi
  fi
}

# As a file in $fpath it is called by the file's name.
if [[ "${funcstack[1]}" == (_@FN@|_@PROG@) ]]; then
  _@FN@
else
  compdef _@FN@ @PROG@
fi
)sh";

constexpr char kFishProgram[] = R"sh(
function __@FN@_path
  set -l path ""
  set -l skip 0
  set -l tokens (commandline -opc)
  for word in $tokens[2..-1]
    if test $skip -eq 1
      set skip 0
    else if string match -q -- '-*' $word
      contains -- $word (__@FN@_valued "$path"); and set skip 1
    else if contains -- $word (__@FN@_commands "$path")
      set path "$path/$word"
    end
  end
  echo $path
end

function __@FN@_at
  test (__@FN@_path) = "$argv[1]"
end

# Arguments that are neither commands nor flags are files, if anything.
complete -c @PROG@ -f
complete -c @PROG@ -n 'test (count (__@FN@_commands (__@FN@_path))) -eq 0' -F
)sh";

constexpr char kPowerShellProgram[] = R"sh(
Register-ArgumentCompleter -Native -CommandName '@PROG@' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $path = ''
  $flag = ''
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { "$_" })
  for ($i = 0; $i -lt $words.Count; $i++) {
    $flag = ''
    if ($words[$i].StartsWith('-')) {
      if ($valued[$path] -contains $words[$i]) {
        if ($i + 1 -ge $words.Count) { $flag = $words[$i] }
        $i++
      }
    } elseif ($commands[$path].Contains($words[$i])) {
      $path = "$path/$($words[$i])"
    }
  }
  $found = [ordered]@{}
  if ($flag -ne '') {
    foreach ($value in $values["$path $flag"]) { $found[$value] = $value }
  } elseif ($wordToComplete.StartsWith('-')) {
    $found = $flags[$path]
  } else {
    $found = $commands[$path]
  }
  $found.Keys | Where-Object { $_.StartsWith($wordToComplete) } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $found[$_])
  }
}.GetNewClosure()
)sh";

// Names of shell functions have no hyphens.
std::string FunctionName(absl::string_view program) {
  return absl::StrReplaceAll(program, {{"-", "_"}});
}

std::string Filled(absl::string_view text, absl::string_view program) {
  return absl::StrReplaceAll(text, {{"@FN@", FunctionName(program)}, {"@PROG@", program}});
}

std::string PathOf(const CompletedCommand& command) {
  std::string path;
  for (const std::string& word : command.path) absl::StrAppend(&path, "/", word);
  return path;
}

std::vector<std::string> NamesBelow(const CompletedCommand& command) {
  std::vector<std::string> names;
  for (const CompletedCommand& below : command.commands) names.push_back(below.path.back());
  return names;
}

// Returns the spellings of the flags for which `wanted` holds.
template <class Wanted>
std::vector<std::string> FlagsOf(const CompletedCommand& command, Wanted wanted) {
  std::vector<std::string> all;
  for (const CompletedFlag& flag : command.flags) {
    if (!wanted(flag)) continue;
    for (std::string& spelling : flag.Spellings()) all.push_back(std::move(spelling));
  }
  return all;
}
std::vector<std::string> AllFlags(const CompletedCommand& command) {
  return FlagsOf(command, [](const CompletedFlag&) { return true; });
}
std::vector<std::string> ValuedFlags(const CompletedCommand& command) {
  return FlagsOf(command, [](const CompletedFlag& flag) { return flag.takes_value; });
}
std::vector<std::string> PathFlags(const CompletedCommand& command) {
  return FlagsOf(command, [](const CompletedFlag& flag) { return flag.takes_path; });
}

std::string ShellQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", R"('\'')"}}), "'");
}
// fish knows the backslash inside single quotes; the other shells do not.
std::string FishQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}
std::string PowerShellQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}}), "'");
}

// The rows of a table: a key, and the words under it.
struct Row {
  std::string key;
  std::vector<std::string> words;
};

template <class Words>
std::vector<Row> RowsByCommand(const CompletedCommand& root, Words words) {
  std::vector<Row> rows;
  for (const CompletedCommand* command : AllCommands(root)) {
    rows.push_back({PathOf(*command), words(*command)});
  }
  return rows;
}

// A key is "<path of the command> <flag>".
std::vector<Row> RowsByFlag(const CompletedCommand& root) {
  std::vector<Row> rows;
  for (const CompletedCommand* command : AllCommands(root)) {
    for (const CompletedFlag& flag : command->flags) {
      for (const std::string& spelling : flag.Spellings()) {
        rows.push_back({absl::StrCat(PathOf(*command), " ", spelling), flag.values});
      }
    }
  }
  return rows;
}

// Returns a function of bash and zsh that prints the words under its argument.
std::string ShellTable(absl::string_view name, const std::vector<Row>& rows,
                       absl::string_view separator = " ") {
  std::string text = absl::StrCat("_@FN@_", name, "() {\n  case \"$1\" in\n");
  for (const Row& row : rows) {
    if (row.words.empty()) continue;
    absl::StrAppend(&text, "    ", ShellQuoted(row.key), ") printf '%s\\n' ",
                    ShellQuoted(absl::StrJoin(row.words, separator)), " ;;\n");
  }
  return absl::StrCat(text, "  esac\n}\n");
}

std::string TablesOfNames(const CompletedCommand& root) {
  return absl::StrCat(ShellTable("commands", RowsByCommand(root, NamesBelow)),
                      ShellTable("flags", RowsByCommand(root, AllFlags)),
                      ShellTable("valued", RowsByCommand(root, ValuedFlags)),
                      ShellTable("paths", RowsByCommand(root, PathFlags)),
                      ShellTable("values", RowsByFlag(root)));
}

// zsh takes a colon in a name for the beginning of its description.
std::string Described(absl::string_view name, absl::string_view help) {
  return absl::StrCat(absl::StrReplaceAll(name, {{":", "\\:"}}), ":", help);
}

std::vector<std::string> DescribedCommands(const CompletedCommand& command) {
  std::vector<std::string> all;
  for (const CompletedCommand& below : command.commands) {
    all.push_back(Described(below.path.back(), below.help));
  }
  return all;
}

std::vector<std::string> DescribedFlags(const CompletedCommand& command) {
  std::vector<std::string> all;
  for (const CompletedFlag& flag : command.flags) {
    for (const std::string& spelling : flag.Spellings()) {
      all.push_back(Described(spelling, flag.help));
    }
  }
  return all;
}

std::string Bash(const CompletedCommand& root) {
  return absl::StrCat("# bash completion for @PROG@\n\n", TablesOfNames(root), kBashProgram);
}

std::string Zsh(const CompletedCommand& root) {
  return absl::StrCat(
      "#compdef @PROG@\n\n", TablesOfNames(root),
      ShellTable("described_commands", RowsByCommand(root, DescribedCommands), "\n"),
      ShellTable("described_flags", RowsByCommand(root, DescribedFlags), "\n"), kZshProgram);
}

std::string FishTable(absl::string_view name, const std::vector<Row>& rows) {
  std::string text = absl::StrCat("function __@FN@_", name, "\n  switch \"$argv[1]\"\n");
  for (const Row& row : rows) {
    if (row.words.empty()) continue;
    absl::StrAppend(&text, "    case ", FishQuoted(row.key), "\n      printf '%s\\n' ",
                    absl::StrJoin(row.words, " "), "\n");
  }
  return absl::StrCat(text, "  end\nend\n");
}

std::string FishFlag(const CompletedFlag& flag) {
  std::string text;
  if (!flag.name.empty()) absl::StrAppend(&text, " -l ", flag.name);
  if (!flag.letter.empty()) absl::StrAppend(&text, " -s ", flag.letter);
  // -r: a value follows; -F: it is a file; -x: it is none.
  if (flag.takes_value) absl::StrAppend(&text, flag.takes_path ? " -r -F" : " -x");
  if (!flag.values.empty()) {
    absl::StrAppend(&text, " -a ", FishQuoted(absl::StrJoin(flag.values, " ")));
  }
  return absl::StrCat(text, " -d ", FishQuoted(flag.help));
}

std::string Fish(const CompletedCommand& root) {
  std::string text = absl::StrCat(
      "# fish completion for @PROG@\n\n", FishTable("commands", RowsByCommand(root, NamesBelow)),
      FishTable("valued", RowsByCommand(root, ValuedFlags)), kFishProgram);
  for (const CompletedCommand* command : AllCommands(root)) {
    const std::string rule = absl::StrCat(
        "complete -c @PROG@ -n ", FishQuoted(absl::StrCat("__@FN@_at \"", PathOf(*command), "\"")));
    for (const CompletedCommand& below : command->commands) {
      absl::StrAppend(&text, rule, " -a ", below.path.back(), " -d ", FishQuoted(below.help), "\n");
    }
    for (const CompletedFlag& flag : command->flags) {
      absl::StrAppend(&text, rule, FishFlag(flag), "\n");
    }
  }
  return text;
}

std::string PowerShellTable(absl::string_view name, const std::vector<Row>& rows) {
  std::string text = absl::StrCat("$", name, " = @{\n");
  for (const Row& row : rows) {
    std::vector<std::string> quoted;
    for (const std::string& word : row.words) quoted.push_back(PowerShellQuoted(word));
    absl::StrAppend(&text, "  ", PowerShellQuoted(row.key), " = @(", absl::StrJoin(quoted, ", "),
                    ")\n");
  }
  return absl::StrCat(text, "}\n");
}

// Rows of names with their descriptions.
std::string PowerShellHelp(absl::string_view name, const CompletedCommand& root, bool of_flags) {
  std::string text = absl::StrCat("$", name, " = @{\n");
  const auto add = [&text](absl::string_view key, absl::string_view help) {
    absl::StrAppend(&text, "    ", PowerShellQuoted(key), " = ",
                    PowerShellQuoted(help.empty() ? key : help), "\n");
  };
  for (const CompletedCommand* command : AllCommands(root)) {
    absl::StrAppend(&text, "  ", PowerShellQuoted(PathOf(*command)), " = [ordered]@{\n");
    for (const CompletedCommand& below : command->commands) {
      if (!of_flags) add(below.path.back(), below.help);
    }
    for (const CompletedFlag& flag : command->flags) {
      // The keys of its tables are equal if they differ in case alone, as -v and -V do.
      if (of_flags && !flag.name.empty()) add(absl::StrCat("--", flag.name), flag.help);
    }
    absl::StrAppend(&text, "  }\n");
  }
  return absl::StrCat(text, "}\n");
}

std::string PowerShell(const CompletedCommand& root) {
  return absl::StrCat("# powershell completion for @PROG@\n\n",
                      PowerShellHelp("commands", root, /*of_flags=*/false),
                      PowerShellHelp("flags", root, /*of_flags=*/true),
                      PowerShellTable("valued", RowsByCommand(root, ValuedFlags)),
                      PowerShellTable("values", RowsByFlag(root)), kPowerShellProgram);
}

}  // namespace

std::string CompletionScript(const CompletedCommand& root, absl::string_view program,
                             absl::string_view shell) {
  if (shell == kBash) return Filled(Bash(root), program);
  if (shell == kZsh) return Filled(Zsh(root), program);
  if (shell == kFish) return Filled(Fish(root), program);
  return Filled(PowerShell(root), program);
}

std::string HowToLoad(absl::string_view program, absl::string_view shell) {
  if (shell == kFish) {
    return Filled("To load it: @PROG@ completion fish > ~/.config/fish/completions/@PROG@.fish",
                  program);
  }
  if (shell == kPowerShell) {
    return Filled("To load it: @PROG@ completion powershell | Out-String | Invoke-Expression",
                  program);
  }
  return absl::StrCat(Filled("To load it: source <(@PROG@ completion ", program), shell,
                      shell == kZsh ? "), after `autoload -U compinit; compinit`" : ")");
}

}  // namespace config::internal
