// Converts HorizontalPodAutoscalers between the stored v2 and autoscaling/v1, which old clients
// (kubectl autoscale) use.
#ifndef SANDBOX_KINDS_AUTOSCALER_CONVERSION_H_
#define SANDBOX_KINDS_AUTOSCALER_CONVERSION_H_

#include "base/json.h"

namespace sandbox {

// Converts whole objects, except apiVersion. Fields that v1 does not have are put into annotations.
void AutoscalerToV1(json::Value& object);
void AutoscalerFromV1(json::Value& object);

}  // namespace sandbox

#endif  // SANDBOX_KINDS_AUTOSCALER_CONVERSION_H_
