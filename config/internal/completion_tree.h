// What a shell has to know of a command line to complete it: taken from the flags and commands that
// the program itself parses, so that it is never out of date.
#ifndef CONFIG_INTERNAL_COMPLETION_TREE_H_
#define CONFIG_INTERNAL_COMPLETION_TREE_H_

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace config::internal {

struct CompletedFlag {
  std::string name;    // "output"; "" when it has only a short name.
  std::string letter;  // "o", or "".
  std::string help;    // The first line.
  bool takes_value = false;
  bool takes_path = false;
  // All that it takes, or that its list may have; empty when they cannot be listed.
  std::vector<std::string> values;

  // "--output" and "-o", those that exist.
  std::vector<std::string> Spellings() const;
};

struct CompletedCommand {
  std::vector<std::string> path;  // {"member", "up"}; empty for the program itself.
  std::string help;
  std::vector<CompletedFlag> flags;
  std::vector<CompletedCommand> commands;
};

// Returns the command line of the program. Hidden flags are left out.
CompletedCommand CompletionTree(const CLI::App& app);

// Returns the command, then the commands below it, and so on.
std::vector<const CompletedCommand*> AllCommands(const CompletedCommand& root);

}  // namespace config::internal

#endif  // CONFIG_INTERNAL_COMPLETION_TREE_H_
