// What can be parsed can be written, and parsing that gives an equal value; a whole double beyond
// 2^53 may change once, as in json_fuzz. It can be written as go-yaml does, too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto documents = yaml::ParseAll({reinterpret_cast<const char*>(data), size});
  if (!documents.ok()) return 0;
  for (const json::Value& document : *documents) {
    const auto again = yaml::Parse(yaml::Write(document));
    if (!again.ok()) std::abort();
    if (!yaml::WriteAsGo(document, size_t{1} << 30).ok()) std::abort();
    const auto settled = yaml::Parse(yaml::Write(*again));
    if (!settled.ok() || (*again != document && *settled != *again)) std::abort();
  }
  return 0;
}
