// Keeps a remark of gperftools from standard error.
#ifndef BASE_PROFILING_CAUGHT_REMARK_H_
#define BASE_PROFILING_CAUGHT_REMARK_H_

#include <cstdio>
#include <string>

namespace profiling {

// gperftools prints a line "PROFILE: interrupts/evictions/bytes = ..." with fprintf(stderr) when a
// profile ends, which is not a line of the log, and not JSON when the log is. While an object of
// this class exists, that line is caught; what else the process writes to standard error gets
// there, whether by the stream or by the descriptor. REQUIRES: one object at a time.
class CaughtRemark {
 public:
  CaughtRemark();
  ~CaughtRemark();
  CaughtRemark(const CaughtRemark&) = delete;

  // Returns what was caught so far, without its beginning and end: "interrupts/evictions/bytes =
  // 3/0/464"; "" when nothing was.
  std::string Text() const;

 private:
  FILE* const before_;
};

}  // namespace profiling

#endif  // BASE_PROFILING_CAUGHT_REMARK_H_
