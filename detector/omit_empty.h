// The parts of policies that bindings repeat, in the form in which upstream repeats them.
#ifndef DETECTOR_OMIT_EMPTY_H_
#define DETECTOR_OMIT_EMPTY_H_

#include "base/json.h"

namespace detector {

// Returns placement, failover or suspension of a policy as Go writes upstream's types: without
// nulls, empty lists, and empty strings and zeros of fields that are optional. A policy may spell
// them out. Whoever writes the binding another way changes what upstream has written, and with that
// the binding's generation.
json::Value OmitEmpty(const json::Value& part);

}  // namespace detector

#endif  // DETECTOR_OMIT_EMPTY_H_
