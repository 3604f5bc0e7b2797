#include "cmd/sandbox/daemon.h"

#include <deque>
#include <fstream>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/status.h"

namespace cmd {
namespace {

absl::Status NoProgram() {
  return absl::FailedPreconditionError(
      "this sandbox was started without a karmada-controller-manager");
}

}  // namespace

absl::Status Daemon::Start(const std::string& program) {
  absl::MutexLock lock(&mu_);
  program_ = program;
  return Run(/*first=*/true);
}

absl::Status Daemon::Up() {
  absl::MutexLock lock(&mu_);
  if (program_.empty()) return NoProgram();
  if (process_ != nullptr && !process_->Ended().has_value()) return absl::OkStatus();
  return Run(/*first=*/false);
}

absl::Status Daemon::Down() {
  absl::MutexLock lock(&mu_);
  if (program_.empty()) return NoProgram();
  if (process_ == nullptr) return absl::OkStatus();
  const bool ran = !process_->Ended().has_value();
  const absl::Time ended = process_->ended_at();
  process_.reset();
  down_at_ = ran ? absl::Now() : ended;
  return absl::OkStatus();
}

absl::Status Daemon::Run(bool first) {
  ChildProcess::Options options;
  options.program = program_;
  options.arguments = arguments_;
  options.log_file = log_file_;
  options.keep_log = !first;
  ASSIGN_OR_RETURN(process_, launcher_.Start(options));
  return absl::OkStatus();
}

bool Daemon::exists() const {
  absl::MutexLock lock(&mu_);
  return !program_.empty();
}

absl::Time Daemon::ended_at() const {
  absl::MutexLock lock(&mu_);
  return process_ == nullptr ? down_at_ : process_->ended_at();
}

pid_t Daemon::pid() const {
  absl::MutexLock lock(&mu_);
  return process_ == nullptr || process_->Ended().has_value() ? 0 : process_->pid();
}

std::optional<std::string> Daemon::EndedByItself() {
  absl::MutexLock lock(&mu_);
  return process_ == nullptr ? std::nullopt : process_->Ended();
}

std::string Daemon::LogTail(size_t lines) const {
  std::ifstream in(log_file_);
  std::deque<std::string> tail;
  for (std::string line; std::getline(in, line);) {
    tail.push_back(line);
    if (tail.size() > lines) tail.pop_front();
  }
  return absl::StrJoin(tail, "\n");
}

}  // namespace cmd
