// The values of the flags that take a list of names that the program knows.
#ifndef CONFIG_INTERNAL_LISTED_VALUES_H_
#define CONFIG_INTERNAL_LISTED_VALUES_H_

#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace config::internal {

// Returns the items that the list of --controllers or --feature-gates may have, for completion: the
// controllers, and each gate with the value that it does not have by default. Other flags, and
// those of these names that are another program's, have none.
std::vector<std::string> ListedValuesOf(const CLI::Option& option);

}  // namespace config::internal

#endif  // CONFIG_INTERNAL_LISTED_VALUES_H_
