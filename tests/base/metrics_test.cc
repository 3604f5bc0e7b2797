#include "base/metrics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace {

// Returns the lines of one family.
std::vector<std::string> LinesOf(const metrics::Registry& registry, absl::string_view family) {
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(registry.Expose(), '\n', absl::SkipEmpty())) {
    absl::string_view name = line;
    if (absl::StartsWith(line, "# ")) name = line.substr(7);  // "# HELP " and "# TYPE ".
    if (absl::StartsWith(name, family)) lines.emplace_back(line);
  }
  return lines;
}

TEST_CASE("a counter is exposed with help, type, labels and value") {
  metrics::Registry registry;
  registry.GetCounter("hits_total", "Requests served.", {{"code", "200"}, {"verb", "GET"}})
      .Increment();
  registry.GetCounter("hits_total", "Requests served.", {{"code", "500"}, {"verb", "GET"}})
      .Increment(2.5);
  CHECK(LinesOf(registry, "hits_total") ==
        std::vector<std::string>{"# HELP hits_total Requests served.", "# TYPE hits_total counter",
                                 R"(hits_total{code="200",verb="GET"} 1)",
                                 R"(hits_total{code="500",verb="GET"} 2.5)"});
}

TEST_CASE("the same name and labels are the same series, in whatever order the labels come") {
  metrics::Registry registry;
  metrics::Counter& one = registry.GetCounter("c", "", {{"a", "1"}, {"b", "2"}});
  metrics::Counter& two = registry.GetCounter("c", "", {{"b", "2"}, {"a", "1"}});
  CHECK(&one == &two);
  CHECK(&one != &registry.GetCounter("c", "", {{"a", "1"}}));
}

TEST_CASE("a gauge goes up and down") {
  metrics::Registry registry;
  metrics::Gauge& depth = registry.GetGauge("depth", "Depth.");
  depth.Set(5);
  depth.Add(-7);
  CHECK(depth.Value() == -2);
  CHECK(LinesOf(registry, "depth").back() == "depth -2");
}

TEST_CASE("a histogram counts into cumulative buckets, bounds included") {
  metrics::Registry registry;
  metrics::Histogram& h = registry.GetHistogram("seconds", "Time.", {0.5, 1, 2}, {{"q", "a"}});
  for (const double value : {0.25, 0.5, 1.5, 9.0}) h.Observe(value);
  CHECK(LinesOf(registry, "seconds") ==
        std::vector<std::string>{
            "# HELP seconds Time.", "# TYPE seconds histogram", R"(seconds_count{q="a"} 4)",
            R"(seconds_sum{q="a"} 11.25)", R"(seconds_bucket{q="a",le="0.5"} 2)",
            R"(seconds_bucket{q="a",le="1"} 2)", R"(seconds_bucket{q="a",le="2"} 3)",
            R"(seconds_bucket{q="a",le="+Inf"} 4)"});
}

TEST_CASE("buckets and help text are those of a family's first use") {
  metrics::Registry registry;
  registry.GetHistogram("h", "First.", {1}, {{"a", "1"}});
  registry.GetHistogram("h", "Second.", {1, 2, 3}, {{"a", "2"}});
  const auto lines = LinesOf(registry, "h");
  CHECK(lines.front() == "# HELP h First.");
  CHECK(lines.size() == 2 + 2 * 4);  // Each series has count, sum and two buckets.
}

TEST_CASE("what would break a line is escaped in label values and help texts") {
  metrics::Registry registry;
  registry.GetCounter("c", "one\ntwo \\ three", {{"l", "a\"b\\c\nd"}}).Increment();
  CHECK(LinesOf(registry, "c") == std::vector<std::string>{R"(# HELP c one\ntwo \\ three)",
                                                           "# TYPE c counter",
                                                           R"(c{l="a\"b\\c\nd"} 1)"});
}

TEST_CASE("the series of one label value can be dropped from every family") {
  metrics::Registry registry;
  registry.GetCounter("a", "A.", {{"cluster", "m1"}, {"x", "y"}}).Increment();
  registry.GetCounter("a", "A.", {{"cluster", "m2"}}).Increment();
  registry.GetGauge("b", "", {{"cluster", "m1"}}).Set(1);
  registry.GetGauge("c", "", {{"other", "m1"}}).Set(1);
  registry.RemoveSeries("cluster", "m1");
  CHECK(LinesOf(registry, "a").back() == R"(a{cluster="m2"} 1)");
  CHECK(LinesOf(registry, "a").size() == 3);
  CHECK(LinesOf(registry, "b").empty());
  CHECK_FALSE(LinesOf(registry, "c").empty());
  CHECK(registry.GetCounter("a", "", {{"cluster", "m1"}, {"x", "y"}}).Value() == 0);
}

TEST_CASE("a series can be dropped from the families of one prefix only") {
  metrics::Registry registry;
  registry.GetGauge("cluster_ready_state", "", {{"member_cluster", "m1"}}).Set(1);
  registry.GetCounter("create_resource_to_cluster", "", {{"member_cluster", "m1"}}).Increment();
  registry.RemoveSeries("member_cluster", "m1", "cluster_");
  CHECK(LinesOf(registry, "cluster_ready_state").empty());
  CHECK_FALSE(LinesOf(registry, "create_resource_to_cluster").empty());
}

TEST_CASE(
    "a series may be used after it was dropped, and begins again when it is asked for again") {
  metrics::Registry registry;
  metrics::Counter& counter = registry.GetCounter("a", "", {{"cluster", "m1"}});
  metrics::Gauge& gauge = registry.GetGauge("b", "", {{"cluster", "m1"}});
  metrics::Histogram& histogram = registry.GetHistogram("c", "", {1}, {{"cluster", "m1"}});
  registry.RemoveSeries("cluster", "m1");
  counter.Increment(5);
  gauge.Set(5);
  histogram.Observe(0.5);
  for (const char* name : {"a", "b", "c"}) CHECK(LinesOf(registry, name).empty());

  registry.GetCounter("a", "", {{"cluster", "m1"}}).Increment();
  registry.GetGauge("b", "", {{"cluster", "m1"}});
  registry.GetHistogram("c", "", {1}, {{"cluster", "m1"}}).Observe(2);
  CHECK(LinesOf(registry, "a").back() == R"(a{cluster="m1"} 1)");
  CHECK(LinesOf(registry, "b").back() == R"(b{cluster="m1"} 0)");
  const auto lines = LinesOf(registry, "c");
  CHECK(std::count(lines.begin(), lines.end(), R"(c_bucket{cluster="m1",le="1"} 0)") == 1);
}

TEST_CASE("the series that carry several labels can be dropped, and no others") {
  metrics::Registry registry;
  registry.GetGauge("a", "", {{"kind", "K"}, {"name", "n"}, {"more", "x"}}).Set(1);
  registry.GetGauge("a", "", {{"kind", "K"}, {"name", "other"}}).Set(1);
  registry.GetGauge("a", "", {{"name", "n"}}).Set(1);
  registry.RemoveSeries({{"kind", "K"}, {"name", "n"}});
  const auto lines = LinesOf(registry, "a");
  CHECK(lines == std::vector<std::string>{"# TYPE a gauge", R"(a{kind="K",name="other"} 1)",
                                          R"(a{name="n"} 1)"});
}

TEST_CASE("the process reports about itself") {
  const auto value_of = [](const std::string& name) {
    metrics::Registry registry;
    const auto lines = LinesOf(registry, name);
    REQUIRE(lines.size() == 3);
    double value = -1;
    REQUIRE(absl::SimpleAtod(absl::StripPrefix(lines.back(), name + " "), &value));
    return value;
  };
  CHECK(value_of("process_resident_memory_bytes") > 1e6);
  CHECK(value_of("process_open_fds") >= 3);
  CHECK(value_of("process_max_fds") >= value_of("process_open_fds"));
  CHECK(value_of("process_cpu_seconds_total") >= 0);
  CHECK(value_of("process_start_time_seconds") > 1.5e9);
}

TEST_CASE("bucket lists are those of Prometheus' own helpers") {
  CHECK(metrics::ExponentialBuckets(1, 2, 4) == std::vector<double>{1, 2, 4, 8});
  CHECK(metrics::ExponentialBuckets(0.001, 10, 0).empty());
  CHECK(metrics::DefaultBuckets().size() == 11);
}

TEST_CASE("registries share nothing that one of them counts") {
  metrics::Registry stays;
  {
    metrics::Registry goes;
    for (metrics::Registry* registry : {&stays, &goes}) {
      registry->GetCounter("hits_total", "Hits.", {{"code", "200"}}).Increment();
      registry->GetHistogram("time", "Time.", {1, 2}, {{"code", "200"}}).Observe(1);
    }
    goes.GetCounter("hits_total", "Hits.", {{"code", "200"}}).Increment();
    goes.RemoveSeries("code", "200");
    CHECK_THAT(goes.Expose(), !Catch::Contains("hits_total"));
  }
  metrics::Registry begins;
  begins.GetHistogram("time", "Others.", {5}, {{"code", "200"}}).Observe(3);
  CHECK_THAT(begins.Expose(), Catch::Contains("# HELP time Others.\n"));
  CHECK_THAT(begins.Expose(), Catch::Contains("time_bucket{code=\"200\",le=\"5\"} 1\n"));
  CHECK_THAT(stays.Expose(), Catch::Contains("hits_total{code=\"200\"} 1\n"));
  CHECK_THAT(stays.Expose(), Catch::Contains("# HELP time Time.\n"));
  CHECK_THAT(stays.Expose(), Catch::Contains("time_bucket{code=\"200\",le=\"1\"} 1\n"));
}

TEST_CASE("threads that make, count and expose at once lose nothing") {
  metrics::Registry registry;
  constexpr int kThreads = 4, kRounds = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        registry.GetCounter("c", "").Increment();
        registry.GetCounter("labelled", "", {{"i", absl::StrCat(i % 10)}}).Increment();
        registry.GetHistogram("h", "", {1, 2}).Observe(i % 3);
        if (i % 100 == t) registry.Expose();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(registry.GetCounter("c", "").Value() == kThreads * kRounds);
  CHECK(registry.GetCounter("labelled", "", {{"i", "3"}}).Value() == kThreads * kRounds / 10);
  CHECK(LinesOf(registry, "h_count").back() == absl::StrCat("h_count ", kThreads * kRounds));
}

}  // namespace
