// A time that parses is written and parsed again to the same second.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kube/meta/object.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<absl::Time> time =
      kube::ParseTime(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!time.ok()) return 0;
  const absl::StatusOr<absl::Time> again = kube::ParseTime(kube::FormatTime(*time));
  if (!again.ok() || absl::ToUnixSeconds(*again) != absl::ToUnixSeconds(*time)) std::abort();
  return 0;
}
