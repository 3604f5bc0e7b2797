// Which question has which path, which parameters and which bounds.
#ifndef LENS_SERVE_ROUTES_H_
#define LENS_SERVE_ROUTES_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "lens/serve/parameters.h"
#include "lens/serve/views.h"

namespace lens::serve {

// How much work an answer is, and so on which threads it is made.
enum class Work { kOne, kLists, kWhatIf };

struct Route {
  const char* path;
  const char* answers;  // What it answers, for people.
  std::vector<Parameter> parameters;
  Work work;
  absl::Duration patience;
  View view;
};

// Returns all questions but /api/fleet without parameters and /api/updates, which the server
// answers by itself.
absl::Span<const Route> AllRoutes();
// Returns nullptr for a path that is not among them.
const Route* FindRoute(absl::string_view path);

// Returns {questions: [{path, answers, parameters: {name: meaning}}]}.
json::Value RoutesAsJson();

}  // namespace lens::serve

#endif  // LENS_SERVE_ROUTES_H_
