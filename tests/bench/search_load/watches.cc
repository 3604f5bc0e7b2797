// Each change sets an annotation to its number, in the body of a PATCH. A watcher looks for the
// annotation in what it reads; the next change is made when all of them have seen the last one. One
// more watch, directly on the changed server, shows how much of the time is that server's.
#include "tests/bench/search_load/watches.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/bench/search_load/connection.h"
#include "tests/bench/search_load/poller.h"

namespace load {
namespace {

constexpr int kPatienceMs = 60'000;
constexpr absl::string_view kMark = R"("bench/change":")";

// The number of the last change that is in the text of a watch.
class Watcher {
 public:
  Watcher(const Tls& tls, const std::string& address, const std::string& path)
      : connection(tls, address), answer([this](absl::string_view piece) { Look(piece); }) {
    connection.Send(RequestText("GET", path, "Accept: application/json\r\n", ""), &answer);
  }

  Connection connection;
  Answer answer;
  int64_t seen = 0;

 private:
  // A mark may be divided over two pieces: what may be its beginning is kept.
  void Look(absl::string_view piece) {
    constexpr size_t kMost = kMark.size() + 12;
    rest_.append(piece.data(), piece.size());
    size_t at = 0;
    while ((at = rest_.find(kMark.data(), at, kMark.size())) != std::string::npos) {
      at += kMark.size();
      const size_t end = rest_.find('"', at);
      if (end == std::string::npos) break;
      seen = std::max<int64_t>(seen, std::atoll(rest_.c_str() + at));
    }
    if (rest_.size() > kMost) rest_.erase(0, rest_.size() - kMost);
  }

  std::string rest_;
};

class Watches {
 public:
  explicit Watches(const Options& o)
      : options_(o), tls_(o.Text("cert"), o.Text("key")), writer_(tls_, o.Text("member-address")) {
    reference_ = std::make_unique<Watcher>(tls_, o.Text("member-address"), o.Text("member-watch"));
    poller_.Add(reference_->connection.fd(), kReference);
    poller_.Add(writer_.fd(), kWriter);
    for (int i = 0; i < o.Number("connections", 1); ++i) {
      watchers_.push_back(std::make_unique<Watcher>(tls_, o.Text("address"), o.Text("path")));
      poller_.Add(watchers_.back()->connection.fd(), i);
    }
    Until("all watches open", [this] {
      return reference_->answer.code() == 200 &&
             std::all_of(watchers_.begin(), watchers_.end(),
                         [](const auto& watcher) { return watcher->answer.code() == 200; });
    });
  }

  // Makes `count` changes, one after the other, and returns the report.
  std::string Change(int count) {
    to_member_.clear();
    to_first_.clear();
    to_last_.clear();
    const absl::Time begin = absl::Now();
    for (int i = 0; i < count; ++i) ChangeOne();
    const double wall = absl::ToDoubleSeconds(absl::Now() - begin);
    return absl::StrCat(R"({"wall":)", wall, R"(,"changes":)", count, R"(,"toMember":[)",
                        absl::StrJoin(to_member_, ","), R"(],"toFirst":[)",
                        absl::StrJoin(to_first_, ","), R"(],"toLast":[)",
                        absl::StrJoin(to_last_, ","), "]}");
  }

 private:
  static constexpr uint64_t kReference = 1'000'001, kWriter = 1'000'002;

  void ChangeOne() {
    const int64_t mark = ++mark_;
    const absl::Time sent = absl::Now();
    Answer written([&](absl::string_view piece) {
      if (written.code() >= 300) throw std::runtime_error(std::string(piece));
    });
    written_ = false;
    missing_ = watchers_.size();
    const std::string body =
        absl::StrCat(R"({"metadata":{"annotations":{"bench/change":")", mark, R"("}}})");
    writer_.Send(RequestText("PATCH",
                             Numbered(options_.Text("member-path"), ++changes_,
                                      options_.Number("groups", 1)),
                             "Content-Type: application/merge-patch+json\r\n", body),
                 &written);
    double member = 0, first = 0;
    Until(absl::StrCat("all have seen change ", changes_), [&] {
      const double now = absl::ToDoubleSeconds(absl::Now() - sent);
      if (member == 0 && reference_->seen == mark) member = now;
      if (first == 0 && missing_ < watchers_.size()) first = now;
      return written_ && reference_->seen == mark && missing_ == 0;
    });
    if (written.code() >= 300) throw std::runtime_error(written.beginning());
    to_last_.push_back(absl::ToDoubleSeconds(last_seen_ - sent));
    to_member_.push_back(member);
    to_first_.push_back(first);
  }

  template <class Fn>
  void Until(const std::string& what, Fn done) {
    while (!done()) {
      const std::vector<uint64_t> ready = poller_.Wait(kPatienceMs);
      if (ready.empty()) throw std::runtime_error(absl::StrCat(what, ": not within a minute"));
      for (const uint64_t id : ready) Read(id);
    }
  }

  void Read(uint64_t id) {
    if (id == kWriter) {
      written_ = writer_.Read();
      return;
    }
    Watcher& watcher = id == kReference ? *reference_ : *watchers_[id];
    const int64_t before = watcher.seen;
    if (watcher.connection.Read()) throw std::runtime_error("a watch ended");
    if (id == kReference || before == mark_ || watcher.seen != mark_) return;
    if (--missing_ == 0) last_seen_ = absl::Now();
  }

  const Options& options_;
  const Tls tls_;
  Poller poller_;
  Connection writer_;
  std::unique_ptr<Watcher> reference_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
  int changes_ = 0;
  // Greater than those of earlier runs, which are still in the objects.
  int64_t mark_ = absl::ToUnixMillis(absl::Now());
  size_t missing_ = 0;    // Watchers that have not seen the last change.
  bool written_ = false;  // The last change has been answered.
  absl::Time last_seen_;
  std::vector<double> to_member_, to_first_, to_last_;  // Seconds.
};

}  // namespace

void RunWatches(const Options& options) {
  Watches watches(options);
  std::printf("{\"watching\":%d}\n", options.Number("connections", 1));
  std::fflush(stdout);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::puts(watches.Change(std::atoi(line.c_str())).c_str());
    std::fflush(stdout);
  }
}

}  // namespace load
