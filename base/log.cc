#include "base/log.h"

#include <glog/logging.h>
#include <unistd.h>

#include "base/internal/log_format.h"
#include "base/verbosity.h"

namespace base {
namespace {

// The arguments of InitLogging. They are written once, before threads start, and are global like
// glog itself.
struct Settings {
  bool json = false;
  int verbosity = 0;
  bool only_vmodule = false;
  internal::VerbosityRules rules;
};

Settings& GlobalSettings() {
  static auto* const kSettings = new Settings;  // Never destroyed: the last thread may still log.
  return *kSettings;
}

struct Severity {
  int glog;
  absl::string_view name;
};
constexpr Severity kInfo = {google::GLOG_INFO, "info"};
constexpr Severity kWarning = {google::GLOG_WARNING, "warning"};
constexpr Severity kError = {google::GLOG_ERROR, "error"};

absl::string_view BaseName(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? path : path.substr(slash + 1);
}

void WriteJson(const std::string& line) {
  // One write per line keeps lines whole. A failure cannot be reported anywhere.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

void Log(const Severity& severity, absl::string_view message, const LogFields& fields,
         const std::source_location& where) {
  const Settings& settings = GlobalSettings();
  constexpr int kNotNamed = -1;
  if (settings.only_vmodule && settings.rules.LevelFor(where.file_name(), kNotNamed) == kNotNamed) {
    return;
  }
  if (settings.json) {
    const std::string caller = absl::StrCat(BaseName(where.file_name()), ":", where.line());
    WriteJson(internal::FormatJson({absl::Now(), severity.name, caller, message}, fields));
    return;
  }
  const std::string text = internal::FormatText(message, fields);
  google::LogMessage(where.file_name(), static_cast<int>(where.line()), severity.glog).stream()
      << text;
}

}  // namespace

void InitLogging(const char* program, const LogOptions& options) {
  GlobalSettings() = {options.json, options.verbosity, options.only_vmodule,
                      internal::VerbosityRules(options.vmodule)};
  FLAGS_v = options.verbosity;
  FLAGS_logtostderr = true;
  FLAGS_log_year_in_prefix = false;  // klog's prefix: I1120 15:31:30.361374 ...
  if (!google::IsGoogleLoggingInitialized()) google::InitGoogleLogging(program);
}

void LogInfo(absl::string_view message, LogFields fields, std::source_location where) {
  Log(kInfo, message, fields, where);
}

void LogWarning(absl::string_view message, LogFields fields, std::source_location where) {
  Log(kWarning, message, fields, where);
}

void LogError(absl::string_view message, LogFields fields, std::source_location where) {
  Log(kError, message, fields, where);
}

bool VlogOn(int level, std::source_location where) { return VlogOnFor("", level, where); }

bool VlogOnFor(absl::string_view part, int level, std::source_location where) {
  const Settings& settings = GlobalSettings();
  return level <= settings.rules.LevelFor(where.file_name(), settings.verbosity, part);
}

}  // namespace base
