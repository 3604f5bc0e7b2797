// What else speaks about templates: events, and whether what they need exists.
#ifndef LENS_FLEET_EVIDENCE_H_
#define LENS_FLEET_EVIDENCE_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/names.h"
#include "lens/fleet/candidate.h"
#include "lens/fleet/fleet.h"
#include "lens/fleet/judge.h"
#include "lens/fleet/lists.h"

namespace lens::fleet {

// Returns the fields of events that are read: what they say, about what, and when.
std::vector<std::string> EventFields();

// Not thread-safe.
class Evidence {
 public:
  // REQUIRES: all arguments outlive this object.
  Evidence(const kube::Discovery& discovery, const Scope& scope, Lists& lists)
      : discovery_(discovery), scope_(scope), lists_(lists) {}

  // Reads the events that warn of something.
  void ReadWarnings();
  bool IsWarnedOf(const std::string& subject) const { return events_.count(subject) > 0; }
  bool IsWarnedOf(const Candidate& candidate) const;

  // Reads what else was said of what the candidates that are not fine are warned of, which may be
  // over, and whether what they take along exists.
  void ReadMore(const std::vector<Candidate>& candidates);

  const EventsByObject& events() const { return events_; }
  const Existence& existence() const { return existence_; }

 private:
  // Hands out the events that the field selector names: those of the asked namespace, and those
  // about Works, which lie in the namespaces of clusters.
  void List(const std::string& selector, absl::FunctionRef<void(kube::ObjectPtr)> take);
  void ReadOtherEvents(const std::set<std::string>& subjects);
  void ReadNeeds(const std::vector<Candidate>& candidates);
  void ReadNeedsOf(const kube::Resource& resource,
                   const std::map<std::string, kube::ObjectKey>& needs);

  const kube::Discovery& discovery_;
  const Scope& scope_;
  Lists& lists_;
  EventsByObject events_;
  Existence existence_;
};

}  // namespace lens::fleet

#endif  // LENS_FLEET_EVIDENCE_H_
