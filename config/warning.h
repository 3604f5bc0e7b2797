// What the flags' reader reports about settings that were accepted.
#ifndef CONFIG_WARNING_H_
#define CONFIG_WARNING_H_

#include <string>
#include <vector>

namespace config {

// Reports settings that do not have the effect that they have upstream, or that one may expect.
struct Warning {
  // The flags that it is about, with their dashes, as --help spells them. Flags that only have to
  // be given as well are not among them.
  std::vector<std::string> flags;
  std::string text;                // A sentence, for the log.
  std::vector<std::string> gates;  // The gates that it is about, if the flag is --feature-gates.
  bool as_upstream = false;        // Upstream behaves in the same way; it is not a difference.
};

inline std::vector<std::string> TextsOf(const std::vector<Warning>& warnings) {
  std::vector<std::string> texts;
  for (const Warning& warning : warnings) texts.push_back(warning.text);
  return texts;
}

}  // namespace config

#endif  // CONFIG_WARNING_H_
