// Many requests over some connections, each of which sends its next one when the last is answered.
#ifndef TESTS_BENCH_SEARCH_LOAD_REQUESTS_H_
#define TESTS_BENCH_SEARCH_LOAD_REQUESTS_H_

#include "tests/bench/search_load/options.h"

namespace load {

// Prints what was measured as JSON.
void RunRequests(const Options& options);

}  // namespace load

#endif  // TESTS_BENCH_SEARCH_LOAD_REQUESTS_H_
