// The parameters of a question: "?namespace=shop&drain=member1".
#ifndef LENS_SERVE_PARAMETERS_H_
#define LENS_SERVE_PARAMETERS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/http_server.h"

namespace lens::serve {

// A parameter that a question may have. What it means is for people.
struct Parameter {
  const char* name;
  const char* meaning;
  bool repeatable = false;
};

class Parameters {
 public:
  // kInvalidArgument names one that is not among `known`, or is there twice and may not be.
  static absl::StatusOr<Parameters> Of(const base::HttpRequest& request,
                                       absl::Span<const Parameter> known);

  // Returns the value; "" when it is not there.
  std::string Get(absl::string_view name) const;
  std::vector<std::string> All(absl::string_view name) const;
  // Returns all of them in one form, whatever the order in which they were given.
  std::string Text() const;
  // Returns the value as a number; `otherwise` when it is not there. kInvalidArgument unless it is
  // a number from 1 to `most`.
  absl::StatusOr<int> Number(absl::string_view name, int otherwise, int most) const;
  // kInvalidArgument unless it is there.
  absl::StatusOr<std::string> Needed(absl::string_view name) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

}  // namespace lens::serve

#endif  // LENS_SERVE_PARAMETERS_H_
