// Where objects are written.
#ifndef LENS_PLAN_PLACES_H_
#define LENS_PLAN_PLACES_H_

#include <map>
#include <string>
#include <vector>

#include "lens/plan/input.h"
#include "lens/plan/outcome.h"

namespace lens::plan {

// Refers to the objects, which must outlive it. Objects without a namespace are also found by the
// namespace "default", where they would be created.
class Places {
 public:
  explicit Places(const std::vector<InputObject>& objects);

  // Returns nullptr for an object that no file has.
  const InputObject* Find(const ObjectId& id) const;
  // Return an empty place for what no file has.
  Place Of(const ObjectId& id) const;
  Place OfPolicy(const TemplateOutcome& outcome) const;

 private:
  std::map<ObjectId, const InputObject*> by_id_;
};

}  // namespace lens::plan

#endif  // LENS_PLAN_PLACES_H_
