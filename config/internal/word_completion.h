// Answers the hidden command `__complete WORD...`: what the last word may become. It is that of
// programs made with Cobra, by which kubectl completes plugins.
#ifndef CONFIG_INTERNAL_WORD_COMPLETION_H_
#define CONFIG_INTERNAL_WORD_COMPLETION_H_

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace config::internal {

// What a word may become.
struct Completions {
  struct Candidate {
    std::string text;  // The whole word.
    std::string help;  // One line; may be "".
  };
  enum class Files { kNone, kAny, kDirectories };

  std::vector<Candidate> candidates;
  Files files = Files::kNone;  // Which files the shell offers besides.
};

// Completes the last of `words`, which may be ""; the others stand before it. The program's name is
// not among them.
Completions Complete(const CLI::App& app, const std::vector<std::string>& words);

// Returns them in Cobra's form: one candidate a line, a tab before its help, and at the end a colon
// with a sum of directives (4: no files, 16: directories only).
std::string CobraAnswer(const Completions& completions);

// The word that asks for completions of those after it.
inline constexpr char kCompleteWord[] = "__complete";

}  // namespace config::internal

#endif  // CONFIG_INTERNAL_WORD_COMPLETION_H_
