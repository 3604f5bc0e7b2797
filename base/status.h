// absl::Status in this code base: macros and context.
//
//   RETURN_IF_ERROR(Delete(work));
//   ASSIGN_OR_RETURN(Object o, client.Get(...));
//   return base::Annotate(status, "applying works of ", key);
#ifndef BASE_STATUS_H_
#define BASE_STATUS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#define BASE_STATUS_CONCAT_INNER_(a, b) a##b
#define BASE_STATUS_CONCAT_(a, b) BASE_STATUS_CONCAT_INNER_(a, b)

#define RETURN_IF_ERROR(expr)                           \
  do {                                                  \
    if (absl::Status status_ = (expr); !status_.ok()) { \
      return status_;                                   \
    }                                                   \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_IMPL_(BASE_STATUS_CONCAT_(status_or_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_IMPL_(var, lhs, expr)   \
  auto var = (expr);                             \
  if (!var.ok()) return std::move(var).status(); \
  lhs = std::move(var).value()

namespace base {

// Returns the error with "<context>: " before its message; code and payloads are kept. OK stays OK.
absl::Status AnnotateMessage(const absl::Status& status, absl::string_view context);

template <class... Parts>
absl::Status Annotate(const absl::Status& status, const Parts&... parts) {
  return status.ok() ? status : AnnotateMessage(status, absl::StrCat(parts...));
}

// Drops an error on purpose; `why` explains that to readers and goes to V(1) logs.
void IgnoreError(const absl::Status& status, absl::string_view why);

// Marks an error that no retry can mend: the same call with the same input fails again. Code that
// decides on retries asks IsTerminal. Annotate keeps the mark. REQUIRES: !status.ok().
absl::Status Terminal(const absl::Status& status);
bool IsTerminal(const absl::Status& status);

// Collects errors of independent steps. The message has the form of Kubernetes' aggregates: one
// error stands alone, several become "[a, b]"; equal messages appear once. Code and payloads are
// those of the first error that a retry may mend, else of the first terminal one, else of the first
// conflict (kAborted); the result is not terminal if there is a conflict.
class ErrorList {
 public:
  void Add(const absl::Status& status);
  bool empty() const { return first_.ok(); }
  // OK when there was no error.
  absl::Status Join() const;

 private:
  absl::Status first_;
  std::string joined_;
  int count_ = 0;
  std::string seen_;
};

}  // namespace base

#endif  // BASE_STATUS_H_
