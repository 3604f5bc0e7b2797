#include "interpreter/customized/shipped.h"

#include <iterator>
#include <utility>

namespace interpreter::customized {

std::shared_ptr<const CustomizationSet> LoadShipped(absl::Span<const ShippedFile> files) {
  std::vector<Customization> all;
  for (const ShippedFile& file : files) {
    std::vector<Customization> in_file = ParseCustomizations(file.path, file.text);
    std::move(in_file.begin(), in_file.end(), std::back_inserter(all));
  }
  return CustomizationSet::Merge(std::move(all));
}

}  // namespace interpreter::customized
