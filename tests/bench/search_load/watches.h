// Many clients that watch, one who changes objects, and how long each change takes to reach all.
#ifndef TESTS_BENCH_SEARCH_LOAD_WATCHES_H_
#define TESTS_BENCH_SEARCH_LOAD_WATCHES_H_

#include "tests/bench/search_load/options.h"

namespace load {

// Opens the watches and prints {"watching": n}; after each line on standard input it makes the
// changes, and prints what was measured as JSON. Ends with the end of the input.
void RunWatches(const Options& options);

}  // namespace load

#endif  // TESTS_BENCH_SEARCH_LOAD_WATCHES_H_
