// A schedule that can be parsed names times in order, which it contains, or none within ten years.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/cron_schedule.h"
#include "base/go_syntax.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  base::GoParseDuration(text).IgnoreError();
  const auto schedule = base::CronSchedule::Parse(text, absl::UTCTimeZone());
  if (!schedule.ok()) return 0;
  // Just before clocks are changed in many zones.
  absl::Time time =
      absl::FromCivil(absl::CivilSecond(2024, 3, 30, 12, 30, 17), absl::UTCTimeZone());
  for (int i = 0; i < 4; ++i) {
    const std::optional<absl::Time> next = schedule->Next(time);
    if (!next.has_value()) return 0;
    if (*next <= time || !schedule->Contains(*next)) std::abort();
    time = *next;
  }
  return 0;
}
