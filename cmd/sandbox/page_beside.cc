#include "cmd/sandbox/page_beside.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/stop_token.h"

namespace cmd {
namespace {

constexpr char kProgram[] = "karmada-lens";
// Only a busy machine needs so long.
constexpr absl::Duration kPatience = absl::Seconds(30), kCheck = absl::Milliseconds(50);

// Returns the address that begins a line of the program's output; "" as long as none does.
std::string AddressIn(const std::string& output) {
  for (const absl::string_view line : absl::StrSplit(output, '\n')) {
    if (absl::StartsWith(line, "http://")) return std::string(line.substr(0, line.find(' ')));
  }
  return "";
}

}  // namespace

PageBeside::PageBeside(Session& session, std::string log_file)
    : daemon_(
          {"serve", "--listen", "127.0.0.1:0", "--kubeconfig", session.KubeconfigPath("karmada")},
          std::move(log_file)) {}

std::unique_ptr<PageBeside> PageBeside::Start(Session& session) {
  std::unique_ptr<PageBeside> page(
      new PageBeside(session, absl::StrCat(session.directory().path(), "/", kProgram, ".log")));
  if (!page->daemon_.Start(absl::StrCat(ProgramDirectory(), "/", kProgram)).ok()) return nullptr;
  for (absl::Duration waited; waited < kPatience && page->url_.empty(); waited += kCheck) {
    base::RealClock().SleepFor(kCheck, base::StopToken());
    page->url_ = AddressIn(page->daemon_.LogTail(5));
    if (page->url_.empty() && page->daemon_.EndedByItself().has_value()) return nullptr;
  }
  return page->url_.empty() ? nullptr : std::move(page);
}

}  // namespace cmd
