#include "tests/bench/search_load/requests.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/files.h"
#include "tests/bench/search_load/connection.h"
#include "tests/bench/search_load/poller.h"

namespace load {
namespace {

constexpr int kPatienceMs = 300'000;

std::string ContentOf(const std::string& file) {
  if (file.empty()) return "";
  const absl::StatusOr<std::string> text = base::ReadFile(file);
  if (!text.ok()) throw std::runtime_error(std::string(text.status().message()));
  return *text;
}

class Requests {
 public:
  explicit Requests(const Options& o)
      : method_(o.Text("method", "GET")),
        path_(o.Text("path")),
        body_(ContentOf(o.Text("body-file"))),
        headers_(HeadersOf(o)),
        begin_(o.Number("from", 0)),
        count_(o.Number("count", 1)),
        groups_(o.Number("groups", 1)) {
    const Tls tls(o.Text("cert"), o.Text("key"));
    for (int i = 0; i < o.Number("connections", 1); ++i) {
      lanes_.push_back({std::make_unique<Connection>(tls, o.Text("address"))});
      poller_.Add(lanes_.back().connection->fd(), i);
    }
  }

  void Run() {
    const absl::Time begin = absl::Now();
    for (Lane& lane : lanes_) Next(lane);
    while (open_ > 0) {
      const std::vector<uint64_t> ready = poller_.Wait(kPatienceMs);
      if (ready.empty()) throw std::runtime_error("no answer came for five minutes");
      for (const uint64_t id : ready) Read(lanes_[id]);
    }
    wall_ = absl::ToDoubleSeconds(absl::Now() - begin);
  }

  std::string Report() const {
    return absl::StrCat(R"({"wall":)", wall_, R"(,"bytes":)", bytes_, R"(,"seconds":[)",
                        absl::StrJoin(seconds_, ","), R"(],"firstByte":[)",
                        absl::StrJoin(first_byte_, ","), "]}");
  }

 private:
  struct Lane {
    std::unique_ptr<Connection> connection;
    std::optional<Answer> answer;
    absl::Time sent;
    bool began = false;
  };

  static std::string HeadersOf(const Options& o) {
    std::string out = absl::StrCat("Accept: ", o.Text("accept", "application/json"), "\r\n");
    const std::string type = o.Text("content-type", "application/json");
    absl::StrAppend(&out, "Content-Type: ", type, "\r\n");
    if (o.Number("gzip", 0) != 0) out += "Accept-Encoding: gzip\r\n";
    if (!o.Text("token").empty())
      absl::StrAppend(&out, "Authorization: Bearer ", o.Text("token"), "\r\n");
    return out;
  }

  void Next(Lane& lane) {
    if (sent_ == count_) return;
    const int number = begin_ + sent_++;
    ++open_;
    lane.answer.emplace(nullptr);
    lane.began = false;
    lane.sent = absl::Now();
    lane.connection->Send(RequestText(method_, Numbered(path_, number, groups_), headers_,
                                      Numbered(body_, number, groups_)),
                          &*lane.answer);
  }

  void Read(Lane& lane) {
    if (!lane.answer.has_value()) throw std::runtime_error("the server closed an idle connection");
    const bool complete = lane.connection->Read();
    if (!std::exchange(lane.began, true)) first_byte_.push_back(SecondsSince(lane.sent));
    if (!complete) return;
    seconds_.push_back(SecondsSince(lane.sent));
    if (lane.answer->code() >= 300) {
      throw std::runtime_error(absl::StrCat(method_, " ", path_, ": ", lane.answer->code(), " ",
                                            lane.answer->beginning()));
    }
    bytes_ += lane.answer->body_bytes();
    lane.answer.reset();
    --open_;
    Next(lane);
  }

  static double SecondsSince(absl::Time begin) {
    return absl::ToDoubleSeconds(absl::Now() - begin);
  }

  const std::string method_, path_, body_, headers_;
  const int begin_, count_, groups_;
  Poller poller_;
  std::vector<Lane> lanes_;
  int sent_ = 0, open_ = 0;
  double wall_ = 0;
  size_t bytes_ = 0;
  std::vector<double> seconds_, first_byte_;
};

}  // namespace

void RunRequests(const Options& options) {
  Requests requests(options);
  requests.Run();
  std::puts(requests.Report().c_str());
}

}  // namespace load
