// The text of docs/events.md, compiled in, so that it is there without the documents.
#ifndef LENS_EXPLAIN_PAGE_H_
#define LENS_EXPLAIN_PAGE_H_

#include "absl/strings/string_view.h"

namespace lens::explain {

absl::string_view EventsPage();

}  // namespace lens::explain

#endif  // LENS_EXPLAIN_PAGE_H_
