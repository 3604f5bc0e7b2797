// One object: the answer of `why` with the whole way, what each cluster has of it, its events in
// the order of time, and commands to copy.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "lens/serve/bounds.h"
#include "lens/serve/commands.h"
#include "lens/serve/events.h"
#include "lens/serve/places.h"
#include "lens/serve/shown.h"
#include "lens/serve/views.h"
#include "lens/why/chain_reader.h"
#include "lens/why/diagnosis.h"
#include "lens/why/matching.h"
#include "lens/why/own_objects.h"
#include "lens/why/report.h"
#include "lens/why/since.h"
#include "tool/live_objects.h"

namespace lens::serve {
namespace {

json::Value EventsOf(const why::Chain& chain) {
  why::Objects events = chain.events;
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
    return why::EventTime(*a) < why::EventTime(*b);
  });
  const size_t first = events.size() - std::min(events.size(), kMostEventsOfObject);
  json::Value shown = json::Value::Array();
  for (size_t i = first; i < events.size(); ++i) shown.Append(EventAsJson(*events[i]));
  return shown;
}

json::Value SubjectOfObject(const kube::ObjectPtr& object) {
  return object == nullptr ? json::Value() : SubjectOf(object->gvk(), object->key());
}

// The policy that governs the template, and others that select it, the first of which would govern
// it otherwise.
json::Value PoliciesOf(const why::Chain& chain) {
  json::Value selecting = json::Value::Array();
  std::string claim;
  kube::ObjectPtr claiming;
  if (chain.object != nullptr && !why::IsAboutOwnObject(chain)) {
    claiming = why::ClaimingPolicy(chain, *chain.object, &claim);
    for (const why::Match& match : why::Matches(chain)) {
      json::Value one = SubjectOfObject(match.policy);
      one.Set("priority", match.priority);
      selecting.Append(std::move(one));
    }
  }
  return json::Value::Object({{"claim", claim},
                              {"governs", SubjectOfObject(claiming)},
                              {"selecting", std::move(selecting)}});
}

// Returns the object that the question is about; `through` is the one that was asked about, a
// binding or a Work.
json::Value Subject(const why::Chain& chain) {
  json::Value subject = SubjectOf(chain.asked.gvk, chain.asked.key);
  subject.Set("exists", chain.object != nullptr);
  subject.Set("through", chain.asked.through);
  subject.Set("isTemplate", !why::IsAboutOwnObject(chain));
  if (chain.object == nullptr) return subject;
  subject.Set("created", chain.object->metadata()["creationTimestamp"]);
  subject.Set("deleting", chain.object->metadata()["deletionTimestamp"]);
  subject.Set("generation", chain.object->generation());
  return subject;
}

}  // namespace

absl::StatusOr<json::Value> ObjectView(const Asked& asked) {
  ASSIGN_OR_RETURN(const std::string type, asked.parameters.Needed("type"));
  ASSIGN_OR_RETURN(const std::string name, asked.parameters.Needed("name"));
  Viewer& viewer = asked.viewer;
  ASSIGN_OR_RETURN(const auto served, viewer.Served(asked.stop));
  ASSIGN_OR_RETURN(const kube::Resource resource, tool::FindResource(*served, type));
  why::Question question = asked.flags;
  question.gvk = resource.gvk;
  question.key = {resource.namespaced ? asked.parameters.Get("namespace") : "", name};
  question.cluster = asked.parameters.Get("cluster");
  if (!kube::IsAddress(resource, question.key)) {
    return absl::InvalidArgumentError(
        resource.namespaced && question.key.ns.empty()
            ? "the parameter namespace is needed: this kind has namespaces"
            : "namespace and name cannot be those of an object");
  }
  ASSIGN_OR_RETURN(
      const why::Chain chain,
      why::ReadChain({viewer.client(), *served, viewer.config()}, std::move(question), asked.stop));
  const why::Diagnosis diagnosis = why::Diagnose(chain);
  json::Value answer = why::ReportAsJson(chain, diagnosis);
  answer.Set("object", Subject(chain));
  answer.Set("since", diagnosis.cause == nullptr
                          ? json::Value()
                          : TimeAsJson(why::SinceWhen(chain, *diagnosis.cause)));
  answer.Set("policies", PoliciesOf(chain));
  answer.Set("binding", SubjectOfObject(chain.binding));
  answer.Set("places", PlacesOf(chain));
  answer.Set("events", EventsOf(chain));
  // A binding or a Work stands for its template.
  const auto shown =
      tool::FindResource(*served, TypeOf(chain.asked.gvk.ApiVersion(), chain.asked.gvk.kind));
  answer.Set("commands", CommandsFor(chain, shown.ok() ? *shown : resource));
  answer.Set("readAt", kube::FormatTime(absl::Now()));
  return answer;
}

}  // namespace lens::serve
