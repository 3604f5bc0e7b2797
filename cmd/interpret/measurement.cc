#include "cmd/interpret/measurement.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cmd/interpret/allocations.h"

namespace cmd::interpret {

Measured Measure(Layers& layers, const interpreter::Question& question, int64_t times) {
  layers.TakeScriptUsage();
  layers.TakeHookCall();
  const uint64_t allocated = AllocatedBytes();
  const auto began = std::chrono::steady_clock::now();
  auto answer = AskForResult(layers.chain(), question);
  while (--times > 0 && answer.ok()) answer = AskForResult(layers.chain(), question);
  Cost cost;
  cost.time = absl::FromChrono(std::chrono::steady_clock::now() - began);
  const ScriptUsage scripts = layers.TakeScriptUsage();
  cost.script_peak = scripts.peak;
  cost.garbage = AllocatedBytes() - allocated + scripts.garbage;
  return {std::move(answer), cost, layers.TakeHookCall()};
}

std::string ShortTime(absl::Duration d) {
  const double us = absl::ToDoubleMicroseconds(d);
  if (us < 1000) return absl::StrFormat("%.1f µs", us);
  return us < 1e6 ? absl::StrFormat("%.1f ms", us / 1e3) : absl::StrFormat("%.2f s", us / 1e6);
}

std::string ShortSize(uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  if (bytes < 1024 * 1024) return absl::StrFormat("%.1f KiB", size / 1024);
  return absl::StrFormat("%.1f MiB", size / 1024 / 1024);
}

}  // namespace cmd::interpret
