// Explains what is wrong with a command line to the user who typed it. All programs use it, so that
// they report the same mistake alike.
#ifndef CONFIG_INTERNAL_USAGE_ERROR_H_
#define CONFIG_INTERNAL_USAGE_ERROR_H_

#include <string>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace config::internal {

// Returns a sentence about the error that app.parse() has thrown, without a full stop. A command or
// flag that does not exist is named first, with the one that was probably meant.
std::string UsageError(const CLI::App& app, const CLI::Error& error);

// Returns a sentence about the first word that is neither a command, a flag nor an argument; ""
// when there is none.
std::string UnknownWord(const CLI::App& app);

// Returns a sentence about a word that does not name a command of `app`.
std::string UnknownCommand(const CLI::App& app, const std::string& word);

}  // namespace config::internal

#endif  // CONFIG_INTERNAL_USAGE_ERROR_H_
