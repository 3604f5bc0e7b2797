// A plan as a page of its own.
#ifndef LENS_PLAN_PAGE_H_
#define LENS_PLAN_PAGE_H_

#include <string>

#include "lens/plan/comparison.h"

namespace lens::plan {

// Returns an HTML document that needs no other file, runs no script and sends no request, so that
// it can be attached to a pull request and opened anywhere. Text of objects cannot become markup.
std::string PageOf(const Plan& plan);

}  // namespace lens::plan

#endif  // LENS_PLAN_PAGE_H_
