// HorizontalPodAutoscaler in autoscaling/v1: the stored v2 object as old clients (kubectl
// autoscale) know it.
#ifndef SANDBOX_KINDS_AUTOSCALER_CONVERSION_H_
#define SANDBOX_KINDS_AUTOSCALER_CONVERSION_H_

#include "base/json.h"

namespace sandbox {

// Whole objects; apiVersion is left alone. What v1 has no field for travels in annotations.
void AutoscalerToV1(json::Value& object);
void AutoscalerFromV1(json::Value& object);

}  // namespace sandbox

#endif  // SANDBOX_KINDS_AUTOSCALER_CONVERSION_H_
