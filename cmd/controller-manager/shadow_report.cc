// Draws the verdict of a shadow from its counters, and writes the report. A finding is one of
// three: what is still open (no verdict yet), what differs (the shadow would write, or fails, where
// the leader does not), and remarks, which explain what does not count against it. While something
// is open the verdict is "undecided", even if something differs already; only when the time is over
// does a difference decide.
//
// The file is written in place, first with a report that has no verdict: a process that is killed,
// or a disk that is full, leaves that one or a part of the last one, never the verdict of an
// earlier run.

#include "cmd/controller-manager/shadow_report.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/leadership.h"

namespace cmd {
namespace {

using Verdict = ShadowResult::Verdict;

// Returns "1 key fails" or "3 keys fail".
std::string Counted(int64_t count, absl::string_view one, absl::string_view many) {
  return absl::StrCat(count, " ", count == 1 ? one : many);
}

// Returns what has to be found out before there is a verdict.
std::vector<std::string> Open(const kube::Shadow::Numbers& numbers,
                              const std::function<bool(const std::string&)>& is_down) {
  std::vector<std::string> open;
  if (numbers.rounds == 0) open.push_back("not every object has been looked at yet");
  if (numbers.held_long > 0) {
    open.push_back(absl::StrCat(Counted(numbers.held_long, "write waits", "writes wait"),
                                " for a round in which all loops look again"));
  }
  for (const auto& [cluster, count] : numbers.unanswered) {
    // A cluster that is not ready would keep the verdict open for ever; it is a remark.
    if (is_down(cluster)) continue;
    open.push_back(absl::StrCat(Counted(count, "write at ", "writes at "), cluster,
                                " cannot be judged: the objects cannot be read"));
  }
  if (numbers.not_listed > 0) {
    open.push_back(absl::StrCat(Counted(numbers.not_listed, "write", "writes"),
                                " found no place and cannot be judged"));
  }
  return open;
}

// A finding here decides the verdict "different".
std::vector<std::string> Differences(const kube::Shadow::Numbers& numbers,
                                     const kube::Shadow::Failing& failing) {
  std::vector<std::string> differences;
  // What the leader tries as well and fails at, and what repairs something that the leader leaves,
  // is not a difference.
  const int64_t due = numbers.outstanding - numbers.mends - numbers.refused_upstream;
  if (due > 0) {
    differences.push_back(absl::StrCat(Counted(due, "write", "writes"),
                                       " would be made that the leader does not make"));
  }
  const auto here = static_cast<int64_t>(failing.count - failing.upstream);
  if (here > 0) {
    differences.push_back(absl::StrCat(
        Counted(here, "key fails", "keys fail"),
        " here, and neither a condition nor a recent event shows that the leader fails there"));
  }
  return differences;
}

// What is listed here changes no verdict.
std::vector<std::string> Remarks(const kube::Shadow::Numbers& numbers,
                                 const kube::Shadow::Failing& failing,
                                 const std::function<bool(const std::string&)>& is_down) {
  std::vector<std::string> remarks;
  if (failing.upstream > 0) {
    remarks.push_back(
        absl::StrCat(Counted(static_cast<int64_t>(failing.upstream), "key fails", "keys fail"),
                     " here and with the leader"));
  }
  if (numbers.refused_upstream > 0) {
    remarks.push_back(absl::StrCat(Counted(numbers.refused_upstream, "write", "writes"),
                                   " would be tried here as by the leader, which fails at it"));
  }
  if (numbers.mends > 0) {
    remarks.push_back(absl::StrCat(Counted(numbers.mends, "write", "writes"),
                                   " would repair what the leader leaves broken"));
  }
  if (numbers.held > numbers.held_long) {
    remarks.push_back(absl::StrCat(
        Counted(numbers.held - numbers.held_long, "write is", "writes are"),
        " younger than a minute; the leader usually makes such a write a moment later"));
  }
  for (const auto& [cluster, count] : numbers.unanswered) {
    if (!is_down(cluster)) continue;
    remarks.push_back(absl::StrCat(Counted(count, "write at ", "writes at "), cluster,
                                   " cannot be judged: the cluster is not ready"));
  }
  return remarks;
}

// Makes a file that existed before one that only its owner may read. What is not a regular file,
// such as /dev/stdout, keeps its mode. Returns whether it could; errno says why not.
bool MakePrivate(int fd) {
  struct stat found = {};
  if (fstat(fd, &found) != 0) return false;
  return !S_ISREG(found.st_mode) || fchmod(fd, 0600) == 0;
}

// Returns whether all of the text was written; errno says why not.
bool WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace

int ExitCodeOf(Verdict verdict) {
  if (verdict == Verdict::kSame) return kShadowSame;
  return verdict == Verdict::kDifferent ? kShadowDifferent : kShadowUndecided;
}

absl::string_view NameOf(Verdict verdict) {
  if (verdict == Verdict::kSame) return "same";
  return verdict == Verdict::kDifferent ? "different" : "undecided";
}

ShadowResult ResultOf(const kube::Shadow::Numbers& numbers, const kube::Shadow::Failing& failing,
                      const std::function<bool(const std::string& cluster)>& is_down,
                      bool is_over) {
  ShadowResult result;
  std::vector<std::string> open = Open(numbers, is_down);
  result.because = Differences(numbers, failing);
  const bool differs = !result.because.empty();
  if (!open.empty() && !(differs && is_over)) {
    result.verdict = Verdict::kUndecided;
  } else {
    result.verdict = differs ? Verdict::kDifferent : Verdict::kSame;
  }
  for (std::string& text : open) result.because.push_back(std::move(text));
  for (std::string& text : Remarks(numbers, failing, is_down)) {
    result.because.push_back(std::move(text));
  }
  return result;
}

void AddUncompared(const Uncompared& uncompared, ShadowResult& result) {
  for (const auto& [cluster, why] : uncompared.clusters) {
    result.because.push_back(absl::StrCat(cluster, " is not compared: ", why));
  }
  if (!uncompared.leader.empty()) result.because.push_back(uncompared.leader);
}

std::string LeaderMissing(const absl::StatusOr<kube::Object>& lease, const std::string& name,
                          absl::Time now) {
  if (absl::IsNotFound(lease.status())) {
    return absl::StrCat("whether anybody leads is not known: there is no Lease ", name,
                        " (a leader with --leader-elect=false has none)");
  }
  if (!lease.ok()) {
    return absl::StrCat("whether anybody leads is not known: the Lease ", name,
                        " cannot be read: ", lease.status().message());
  }
  const std::string why = api::WhyNobodyLeads(*lease, now);
  if (why.empty()) return "";
  return absl::StrCat("nobody leads as ", name, " (", why,
                      "), so nobody makes the writes that are due");
}

ShadowResult Stopped(ShadowResult result) {
  ShadowResult stopped{.because = {"the shadow was stopped before it had a verdict"}};
  for (std::string& text : result.because) stopped.because.push_back(std::move(text));
  return stopped;
}

std::string ReportText(const ShadowResult& result, const json::Value& page) {
  json::Value because = json::Value::Array();
  for (const std::string& text : result.because) because.Append(text);
  json::Value report =
      json::Value::Object({{"verdict", NameOf(result.verdict)}, {"because", std::move(because)}});
  for (const json::Member& member : page.members()) report.Set(member.name(), member.value);
  return absl::StrCat(json::Write(report), "\n");
}

std::string FirstReport() {
  const ShadowResult result{
      .because = {
          "the shadow has no verdict: its log says whether it still runs, or why it ended"}};
  return ReportText(result, json::Value::Object());
}

absl::Status BeginReport(const std::string& file) {
  if (file.empty() || file == "-") return absl::OkStatus();
  const absl::Status written = WriteReport(file, FirstReport());
  // The file is tried at the start, so that a shadow that runs for hours does not fail at its end.
  if (written.ok()) return written;
  return absl::InvalidArgumentError(absl::StrCat("--shadow-report: ", written.message()));
}

absl::Status WriteReport(const std::string& file, const std::string& text) {
  if (file == "-") {
    std::cout << text << std::flush;
    return std::cout ? absl::OkStatus() : absl::UnavailableError("standard output is closed");
  }
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  // O_CREAT gives the mode only to a new file; one that exists is made private before anything is
  // in it.
  const bool written = fd >= 0 && MakePrivate(fd) && WriteAll(fd, text);
  // It is kept, because close may change it.
  const int error = errno;
  if (fd >= 0 && close(fd) == 0 && written) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(file, " cannot be written: ", std::strerror(written ? errno : error)));
}

}  // namespace cmd
