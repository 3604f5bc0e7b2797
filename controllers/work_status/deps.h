// What the parts of this folder work with.
#ifndef CONTROLLERS_WORK_STATUS_DEPS_H_
#define CONTROLLERS_WORK_STATUS_DEPS_H_

#include "controllers/context/served_clusters.h"
#include "interpreter/interpreter.h"
#include "kube/runtime/manager.h"
#include "works/member_objects.h"
#include "works/rechecks.h"
#include "works/work_status_writer.h"

namespace controllers {

struct WorkStatusDeps {
  kube::Manager& manager;
  works::MemberObjects& objects;
  works::WorkStatusWriter& status;
  const works::Rechecks& rechecks;  // Asks the execution loop to look at a Work.
  const interpreter::Interpreter& interpreter;
  ServedClusters served = {};
};

}  // namespace controllers

#endif  // CONTROLLERS_WORK_STATUS_DEPS_H_
