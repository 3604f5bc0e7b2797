// Asks the old and the new rules about everything that lives on a control plane.
//
// What can be asked follows from the objects there. A binding names its template: replicas,
// requirements, components and dependencies are asked about it, its revision for each target of the
// binding, and the aggregation of what the binding has recorded of the members. A Work holds a
// manifest, and the status that was recorded of the member's object. Retention needs the member's
// object itself, which only a MemberSource has; status and health are asked about that object too.
// Without a MemberSource they are asked about the manifest with the recorded status, and only if
// that is the whole status and the old rule answers about it as it did about the member's object.
//
// Only operations whose rule differs are asked, because the others have the same answers.
#ifndef CMD_INTERPRET_IMPACT_WALK_H_
#define CMD_INTERPRET_IMPACT_WALK_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "api/work.h"
#include "cmd/interpret/impact_report.h"
#include "cmd/interpret/member_source.h"
#include "cmd/interpret/rule_side.h"
#include "interpreter/rule_changes.h"
#include "tool/console.h"
#include "tool/live_objects.h"

namespace cmd::interpret {

struct ImpactSides {
  RuleSide& before;
  RuleSide& after;
  interpreter::RuleChange differ;  // Returns whether the rules do.
};

class ImpactWalk {
 public:
  // Without `members` members are not asked. REQUIRES: all of them outlive this.
  ImpactWalk(tool::LiveConnection& live, const ImpactSides& sides, MemberSource* members,
             ImpactReport& report);

  // Looks at all bindings and Works, or at those of templates in one namespace; reports progress on
  // the console. An error when a list cannot be read to its end.
  absl::Status Run(const std::string& ns, tool::Console& console);

 private:
  using Operations = std::set<interpreter::Operation>;

  // Returns nullptr for kinds that are not touched.
  const Operations* TouchedOf(const kube::Gvk& gvk);
  void LookAtBinding(const kube::Object& binding);
  void AskAboutTemplate(const kube::Object& object, const kube::Object& binding,
                        const Operations& operations);
  void LookAtWork(const kube::Object& work, const std::string& ns);
  // One manifest of a Work.
  struct Placed {
    kube::Object manifest;
    std::string cluster;
    std::optional<api::ManifestStatus> recorded;
  };
  void AskAboutMember(const Placed& placed, const Operations& operations);
  void AskFromRecord(const Placed& placed, const Operations& operations);
  // Returns why the answer about the manifest with the recorded status would say nothing about the
  // member's object; "" if it does.
  std::string WhyNotFromRecord(const Placed& placed, const kube::Object& rebuilt,
                               interpreter::Operation op);
  // Returns whether the old rule for InterpretStatus records all fields of a status.
  bool RecordsWholeStatus(const kube::Object& rebuilt);
  void Ask(ImpactQuestion question);
  void NoteProgress(tool::Console& console, absl::string_view what);

  tool::LiveConnection& live_;
  const ImpactSides& sides_;
  MemberSource* const members_;
  ImpactReport& report_;
  std::map<kube::Gvk, Operations> touched_;  // Of the kinds that were met.
  size_t visited_ = 0;                       // Bindings and Works.
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_IMPACT_WALK_H_
