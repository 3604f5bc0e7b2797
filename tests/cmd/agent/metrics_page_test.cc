// Pages of several agents become one that Prometheus reads.
#include "cmd/agent/metrics_page.h"

#include <catch2/catch.hpp>

namespace cmd {
namespace {

TEST_CASE("Series of several agents stand by family, each with the name of its cluster") {
  const std::string page = MergedMetrics({{"a",
                                           "# HELP up Whether.\n# TYPE up gauge\nup 1\n"
                                           "# HELP process_x X\n# TYPE process_x gauge\n"
                                           "process_x 5\n"},
                                          {"b",
                                           "# HELP up Whether.\n# TYPE up gauge\n"
                                           "up{code=\"200\"} 2\n"
                                           "up{member_cluster=\"b\",code=\"1\"} 3\n"
                                           "# HELP process_x X\n# TYPE process_x gauge\n"
                                           "process_x 5\n"}});
  CHECK(page ==
        "# HELP process_x X\n# TYPE process_x gauge\nprocess_x 5\n"
        "# HELP up Whether.\n# TYPE up gauge\n"
        "up{member_cluster=\"a\"} 1\n"
        "up{member_cluster=\"b\",code=\"200\"} 2\n"
        "up{member_cluster=\"b\",code=\"1\"} 3\n");
}

TEST_CASE("No page is an empty one") { CHECK(MergedMetrics({{"a", ""}}).empty()); }

}  // namespace
}  // namespace cmd
