// Logging: a constant message plus key=value pairs, on standard error, in klog's line format or as
// JSON.
//
//   base::LogInfo("cluster joined", {{"cluster", name}});
//   if (base::VlogOn(4)) base::LogInfo("reconciled", {{"binding", key}});
//
// Rules: objects are written as "Kind namespace/name"; object bodies and secrets are never logged.
// V(1) is for decisions, V(4) for every reconcile. An error is logged once, by the loop that drops
// it.
#ifndef BASE_LOG_H_
#define BASE_LOG_H_

#include <initializer_list>
#include <source_location>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace base {

struct LogField {
  LogField(absl::string_view k, const absl::AlphaNum& v) : key(k), value(v.Piece()) {}
  // Takes code and message; payloads of a status are not logged.
  LogField(absl::string_view k, const absl::Status& v)
      : key(k), value(v.ToString(absl::StatusToStringMode::kWithNoExtraData)) {}
  absl::string_view key;
  std::string value;
};
using LogFields = std::initializer_list<LogField>;

struct LogOptions {
  int verbosity = 0;    // --v
  std::string vmodule;  // --vmodule, file=level,...
  bool json = false;    // --logging-format=json
  // Files without an entry in vmodule log nothing, not even warnings and errors. For programs that
  // people run by hand and that print their own messages.
  bool only_vmodule = false;
};
// Must be called once, before any thread starts. Without it messages still go to standard error.
void InitLogging(const char* program, const LogOptions& options);

void LogInfo(absl::string_view message, LogFields fields = {},
             std::source_location where = std::source_location::current());
void LogWarning(absl::string_view message, LogFields fields = {},
                std::source_location where = std::source_location::current());
void LogError(absl::string_view message, LogFields fields = {},
              std::source_location where = std::source_location::current());

bool VlogOn(int level, std::source_location where = std::source_location::current());

}  // namespace base

#endif  // BASE_LOG_H_
