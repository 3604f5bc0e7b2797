// Puts load on an API server and measures its answers: the client of tests/bench/search.py. One
// thread, so that it uses less of the CPU than any server.
//
//   search_load requests --address=127.0.0.1:5443 --cert=FILE --key=FILE --path=/api/v1/pods
//       [--count=1] [--connections=1] [--gzip=1] [--accept=TYPE] [--token=TOKEN]
//       [--method=POST --body-file=FILE --content-type=TYPE] [--from=0] [--groups=1]
//     In paths and bodies {n} is the number of the request, and {group} its rest by --groups.
//   search_load watches --address=... --cert=... --key=... --path=... --connections=500
//       --member-address=... --member-watch=PATH --member-path=PATH
//     For each line on standard input, a number, it changes so many objects of the member.
#include <cstdio>
#include <exception>
#include <string>

#include "tests/bench/search_load/options.h"
#include "tests/bench/search_load/requests.h"
#include "tests/bench/search_load/watches.h"

int main(int argc, char** argv) {
  try {
    const std::string command = argc > 1 ? argv[1] : "";
    if (command != "requests" && command != "watches") {
      throw std::runtime_error("the first word is requests or watches");
    }
    const load::Options options(argc - 2, argv + 2);
    command == "requests" ? load::RunRequests(options) : load::RunWatches(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "search_load: %s\n", error.what());
    return 1;
  }
}
