// What somebody who may edit one namespace tries in order to reach what is not theirs: the table of
// docs/security.md, with the objects that are written. tests/lint/tenancy_table.py compares the
// two.
#ifndef TESTS_BEHAVIOUR_TENANCY_ATTEMPTS_H_
#define TESTS_BEHAVIOUR_TENANCY_ATTEMPTS_H_

#include <vector>

namespace tests {

// In manifests $NS is the namespace of whoever tries, $VICTIM the other one, and $ID the permanent
// id of the binding there.
struct Attempt {
  const char* kind;
  const char* field;
  const char* what;
  // The event that says that it is refused, as "<kind> <name> <reason>"; "admission" when Karmada's
  // webhook refuses it; "" where nothing tells this object from others that have no effect.
  const char* event;
  const char* manifest;
};

const std::vector<Attempt>& Attempts();

}  // namespace tests

#endif  // TESTS_BEHAVIOUR_TENANCY_ATTEMPTS_H_
