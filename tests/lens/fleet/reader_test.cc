// What is read of a control plane, how often, and what becomes of what may not be read.
#include "lens/fleet/reader.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/json.h"
#include "kube/meta/patch.h"
#include "lens/fleet/report.h"
#include "tests/kube/client/scripted_transport.h"
#include "tests/lens/why/situations.h"

namespace {

using lens::fleet::Fleet;
using tests::Answer;

std::string PluralOf(absl::string_view kind) {
  std::string plural = absl::AsciiStrToLower(kind);
  if (absl::EndsWith(plural, "y")) return absl::StrCat(plural.substr(0, plural.size() - 1), "ies");
  return plural + "s";
}

// A control plane that has these objects, and refuses the paths that contain one of `refused`.
class Plane {
 public:
  explicit Plane(lens::why::Objects objects, std::vector<std::string> refused = {})
      : objects_(std::move(objects)),
        refused_(std::move(refused)),
        transport_(std::make_shared<tests::ScriptedTransport>(
            [this](const kube::HttpRequest& request, int) { return AnswerTo(request.path); })),
        client_(transport_, {.host = "example:6443"}, base::RealClock(), nullptr) {
    for (const kube::Resource& resource :
         {api::Deployments(), api::Secrets(), api::Services(),
          kube::Resource{{"", "v1", "ConfigMap"}, "configmaps", true}}) {
      discovery_.resources.push_back({resource, {"get", "list"}, {}, true});
    }
  }

  absl::StatusOr<Fleet> Read(const lens::fleet::Scope& scope = {}) {
    return lens::fleet::ReadFleet(client_, discovery_, scope, {}, {});
  }

  // Returns how many requests had this in their path.
  int Count(absl::string_view part) const {
    const auto requests = transport_->requests();
    return static_cast<int>(std::count_if(
        requests.begin(), requests.end(),
        [&](const kube::HttpRequest& request) { return absl::StrContains(request.path, part); }));
  }

 private:
  absl::StatusOr<kube::HttpResponse> AnswerTo(const std::string& path) const {
    for (const std::string& part : refused_) {
      if (!absl::StrContains(path, part)) continue;
      return Answer(403, R"({"kind":"Status","reason":"Forbidden","message":"may not list"})");
    }
    const std::pair<std::string, std::string> parts = absl::StrSplit(path, absl::MaxSplits('?', 1));
    std::vector<std::string> segments = absl::StrSplit(parts.first, '/', absl::SkipEmpty());
    std::string ns;
    const auto at = std::find(segments.begin(), segments.end(), "namespaces");
    if (at != segments.end() && segments.end() - at > 2) {
      ns = *(at + 1);
      segments.erase(at, at + 2);
    }
    const size_t head = segments[0] == "api" ? 2 : 3;
    const std::string group_version =
        head == 2 ? segments[1] : absl::StrCat(segments[1], "/", segments[2]);
    const std::string name = segments.size() > head + 1 ? segments[head + 1] : "";
    json::Value items = json::Value::Array();
    for (const kube::ObjectPtr& object : objects_) {
      const bool is_kind =
          object->api_version() == group_version && PluralOf(object->kind()) == segments[head];
      if (!is_kind || (!ns.empty() && object->ns() != ns)) continue;
      if (!name.empty() && object->name() != name) continue;
      if (!name.empty()) return Answer(200, json::Write(object->root()));
      const bool warns = object->root()["type"].AsString() == "Warning";
      if (absl::StrContains(parts.second, "type%3DWarning") && !warns) continue;
      if (absl::StrContains(parts.second, "type%21") && warns) continue;
      items.Append(object->root());
    }
    if (!name.empty()) return Answer(404, R"({"kind":"Status","reason":"NotFound"})");
    const json::Value list =
        json::Value::Object({{"kind", "List"},
                             {"metadata", json::Value::Object({{"resourceVersion", "1"}})},
                             {"items", std::move(items)}});
    return Answer(200, json::Write(list));
  }

  const lens::why::Objects objects_;
  const std::vector<std::string> refused_;
  std::shared_ptr<tests::ScriptedTransport> transport_;
  kube::Client client_;
  kube::Discovery discovery_;
};

// The objects of base.yaml, which are fine, with leases of now, and what the test changes.
lens::why::Objects Base(const json::Value& patch = {}, const json::Value& more = {}) {
  json::Value document = json::Value::Object();
  if (!patch.is_null()) document.Set("patch", patch);
  if (!more.is_null()) document.Set("objects", more);
  lens::why::Objects objects = tests::ObjectsOf({"base", document});
  for (kube::ObjectPtr& object : objects) {
    if (object->kind() != "Lease") continue;
    kube::Object fresh = *object;
    fresh.Set({"spec", "renewTime"}, kube::FormatMicroTime(absl::Now()));
    object = kube::Share(std::move(fresh));
  }
  return objects;
}

json::Value Parsed(const char* text) { return json::Parse(text).value(); }

}  // namespace

TEST_CASE("Fleet: of what is fine each kind is listed once, and nothing is said") {
  Plane plane(Base());
  const auto fleet = plane.Read();
  REQUIRE(fleet.ok());
  CHECK(fleet->IsFine());
  CHECK(fleet->templates == 1);
  CHECK(lens::fleet::HeadlineOf(*fleet) ==
        "the one template is fine by what the control plane knows; members were not asked");
  for (const char* list : {"/works", "/resourcebindings", "/deployments", "/clusters?",
                           "/propagationpolicies", "/events"}) {
    INFO(list);
    CHECK(plane.Count(list) == 1);
  }
}

TEST_CASE("Fleet: a cluster that is not ready is the cause for each template that it has") {
  Plane plane(Base(Parsed(R"({"Cluster member2":{"status":{"conditions":[
      {"type":"Ready","status":"False","reason":"ClusterNotReachable","message":"no answer",
       "lastTransitionTime":"2026-01-01T11:00:00Z"}]}}})")));
  const auto fleet = plane.Read();
  REQUIRE(fleet.ok());
  CHECK_FALSE(fleet->IsFine());
  const auto groups = lens::fleet::GroupsOf(*fleet);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].brief == "member2 is not ready");
  CHECK(kube::FormatTime(groups[0].since) == "2026-01-01T11:00:00Z");
  CHECK(groups[0].advice == "see whether the member's API server answers");
  CHECK(groups[0].troubles[0]->policy == "PropagationPolicy shop/web");
  // Another cluster is not concerned, and one that does not exist is said.
  const auto other = plane.Read({.cluster = "member1"});
  REQUIRE(other.ok());
  CHECK(other->IsFine());
  const auto unknown = plane.Read({.cluster = "member9"});
  REQUIRE(unknown.ok());
  CHECK(unknown->unknown == std::vector<std::string>{"there is no cluster member9"});
}

TEST_CASE(
    "Fleet: the silent agents of clusters in pull mode are named, and only their Leases read") {
  constexpr char kLeases[] = "/namespaces/karmada-cluster/leases";
  Plane push(Base());
  REQUIRE(push.Read().ok());
  CHECK(push.Count(kLeases) == 0);

  lens::why::Objects objects = Base(Parsed(R"({"Cluster member2":{"spec":{"syncMode":"Pull"}}})"));
  objects.push_back(kube::Share(kube::Object(Parsed(R"({
      "apiVersion":"coordination.k8s.io/v1","kind":"Lease",
      "metadata":{"name":"member2","namespace":"karmada-cluster"},
      "spec":{"leaseDurationSeconds":40,"renewTime":"2026-01-01T11:00:00Z"}})"))));
  Plane pull(std::move(objects));
  const auto fleet = pull.Read();
  REQUIRE(fleet.ok());
  CHECK(pull.Count(kLeases) == 1);
  REQUIRE(fleet->stopped.size() == 1);
  CHECK(fleet->stopped[0] ==
        "member2: its karmada-agent is silent since 2026-01-01T11:00:00Z, and what is shown of it "
        "may be of an earlier time; see whether karmada-agent runs in member2 and reaches the "
        "control plane; what waits for it arrives by itself then");
  const auto other = pull.Read({.cluster = "member1"});
  REQUIRE(other.ok());
  CHECK(other->stopped.empty());
}

TEST_CASE("Fleet: when one Work turns out to be bad, those that were fine are not called missing") {
  // The binding does not know yet.
  Plane plane(Base(Parsed(R"({"Work karmada-es-member2/web-work":{"status":{"conditions":[
      {"type":"Applied","status":"False","reason":"AppliedFailed","message":"no space left",
       "lastTransitionTime":"2026-01-01T11:00:00Z"}]}}})")));
  const auto fleet = plane.Read();
  REQUIRE(fleet.ok());
  REQUIRE(fleet->troubles.size() == 1);
  CHECK(fleet->troubles[0].cause.check == "member-refuses");
  CHECK(fleet->troubles[0].cause.cluster == "member2");
  CHECK(kube::FormatTime(fleet->troubles[0].since) == "2026-01-01T11:00:00Z");
  CHECK(plane.Count("labelSelector=") == 1);
}

TEST_CASE("Fleet: two members that refuse a template for different reasons have a line each") {
  const auto patch = [](const char* first, const char* second) {
    json::Value patch = json::Value::Object();
    int cluster = 0;
    for (const char* message : {first, second}) {
      ++cluster;
      patch.Set(
          {absl::StrCat("Work karmada-es-member", cluster, "/web-work"), "status", "conditions"},
          json::Value::OfItems({json::Value::Object({{"type", "Applied"},
                                                     {"status", "False"},
                                                     {"reason", "AppliedFailed"},
                                                     {"message", message}})}));
    }
    return patch;
  };
  constexpr char kQuota[] = "pods \"web\" is forbidden: exceeded quota: few";
  Plane plane(Base(patch(kQuota, "admission webhook \"w\" denied the request: no")));
  const auto fleet = plane.Read();
  REQUIRE(fleet.ok());
  CHECK(lens::fleet::HeadlineOf(*fleet) == "1 of 1 template is not fine");
  const auto groups = lens::fleet::GroupsOf(*fleet);
  REQUIRE(groups.size() == 2);
  std::set<std::string> briefs, advices;
  for (const auto& group : groups) {
    briefs.insert(group.brief);
    REQUIRE(group.troubles.size() == 1);
    advices.insert(group.advice);
  }
  CHECK(briefs == std::set<std::string>{"member1 does not take it", "member2 does not take it"});
  CHECK(advices.size() == 2);
  // What fails in both for the same reason is one line, which names the other one.
  Plane alike(Base(patch(kQuota, kQuota)));
  const auto same = alike.Read();
  REQUIRE(same.ok());
  CHECK(lens::fleet::GroupsOf(*same).size() == 1);
  CHECK(absl::StrContains(same->troubles[0].headline, "(likewise in member2)"));
}

TEST_CASE("Fleet: workloads that no policy selects are templates, and nothing else is") {
  const char* kMore = R"([
    {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"lonely","namespace":"shop",
     "creationTimestamp":"2026-01-01T10:00:00Z"}},
    {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"own","namespace":"karmada-system"}},
    {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kube-root-ca.crt","namespace":"shop"}},
    {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"other","namespace":"bar"}}])";
  Plane plane(Base({}, Parsed(kMore)));
  const auto fleet = plane.Read({.ns = "shop"});
  REQUIRE(fleet.ok());
  CHECK(fleet->templates == 2);
  REQUIRE(fleet->troubles.size() == 1);
  CHECK(fleet->troubles[0].Name() == "Deployment shop/lonely");
  CHECK(fleet->troubles[0].brief == "no policy selects it:");
  CHECK(kube::FormatTime(fleet->troubles[0].since) == "2026-01-01T10:00:00Z");
  CHECK(plane.Count("/apis/apps/v1/deployments") == 0);  // Only those of the namespace.
  const auto all = plane.Read();
  REQUIRE(all.ok());
  CHECK(all->troubles.size() == 2);
}

TEST_CASE("Fleet: an event that warns of a template counts until another says that it is over") {
  const char* kWarning = R"([
    {"apiVersion":"v1","kind":"Event","metadata":{"name":"a","namespace":"shop"},"type":"Warning",
     "involvedObject":{"kind":"ResourceBinding","namespace":"shop","name":"web-deployment"},
     "reason":"AggregateStatusFailed","message":"attempt to index a nil value",
     "lastTimestamp":"2026-01-01T11:00:00Z"}])";
  const auto warned = Plane(Base({}, Parsed(kWarning))).Read();
  REQUIRE(warned.ok());
  REQUIRE(warned->troubles.size() == 1);
  CHECK(warned->troubles[0].cause.check == "status-not-aggregated");
  json::Value both = Parsed(kWarning);
  both.Append(Parsed(R"(
    {"apiVersion":"v1","kind":"Event","metadata":{"name":"b","namespace":"shop"},"type":"Normal",
     "involvedObject":{"kind":"ResourceBinding","namespace":"shop","name":"web-deployment"},
     "reason":"AggregateStatusSucceed","message":"done","lastTimestamp":"2026-01-01T11:00:05Z"})"));
  const auto over = Plane(Base({}, both)).Read();
  REQUIRE(over.ok());
  CHECK(over->IsFine());
}

TEST_CASE("Fleet: what may not be read is said, and nobody calls everything fine") {
  const auto fleet = Plane(Base(), {"/works"}).Read();
  REQUIRE(fleet.ok());
  CHECK_FALSE(fleet->IsFine());
  CHECK_FALSE(fleet->is_whole);
  CHECK(fleet->troubles.empty());
  CHECK(fleet->unread.size() == 1);
  CHECK(lens::fleet::HeadlineOf(*fleet) == "nothing that could be read is wrong with templates");
  // Events only help.
  const auto without_events = Plane(Base(), {"/events"}).Read();
  REQUIRE(without_events.ok());
  CHECK(without_events->IsFine());
  CHECK(without_events->unread.size() == 1);
  CHECK_FALSE(Plane(Base(), {"bindings"}).Read().ok());
}

TEST_CASE("Fleet: a program that does not run is said, whatever is seen of templates") {
  Plane plane(tests::ObjectsOf({"base", json::Value::Object()}));  // Leases of long ago.
  const auto fleet = plane.Read();
  REQUIRE(fleet.ok());
  CHECK(fleet->troubles.empty());
  CHECK(fleet->stopped.size() == 2);
  CHECK_FALSE(fleet->IsFine());
}

TEST_CASE("Fleet: the templates of one policy") {
  Plane plane(Base());
  CHECK(plane.Read({.policy = "web"})->templates == 1);
  const auto none = plane.Read({.policy = "api"});
  REQUIRE(none.ok());
  CHECK(none->templates == 0);
  CHECK(none->unknown == std::vector<std::string>{"there is no policy api"});
}

TEST_CASE("Fleet: Works of all namespaces that may not be listed are not taken for missing") {
  // Those of the template's own namespace may be: there are none.
  const auto fleet = Plane(Base(), {"/v1alpha1/works"}).Read({.ns = "shop"});
  REQUIRE(fleet.ok());
  CHECK(fleet->troubles.empty());
  CHECK_FALSE(fleet->is_whole);
  CHECK(fleet->unread.size() == 1);
}

TEST_CASE("Fleet: policies of the namespace do where those of all may not be listed") {
  const auto fleet = Plane(Base(), {"/v1alpha1/propagationpolicies"}).Read({.ns = "shop"});
  REQUIRE(fleet.ok());
  CHECK(fleet->IsFine());
  CHECK(fleet->unread.empty());
}

TEST_CASE("Fleet: a Work that has not left its cluster is trouble when its template has gone") {
  const char* kGone = R"({"Deployment shop/web":null,"ResourceBinding shop/web-deployment":null,
      "Work karmada-es-member2/web-work":null,
      "Work karmada-es-member1/web-work":{"metadata":{"deletionTimestamp":"2026-01-01T11:00:00Z",
        "finalizers":["karmada.io/execution-controller"]}}})";
  Plane plane(Base(Parsed(kGone)));
  for (const lens::fleet::Scope& scope :
       std::vector<lens::fleet::Scope>{{}, {.ns = "shop"}, {.cluster = "member1"}}) {
    INFO(scope.Describe());
    const auto fleet = plane.Read(scope);
    REQUIRE(fleet.ok());
    REQUIRE(fleet->troubles.size() == 1);
    CHECK(fleet->troubles[0].Name() == "Deployment shop/web");
    CHECK(fleet->troubles[0].headline ==
          "Deployment shop/web is deleted, but its Work for member1 is still there");
    CHECK(kube::FormatTime(fleet->troubles[0].since) == "2026-01-01T11:00:00Z");
  }
  for (const lens::fleet::Scope& scope :
       std::vector<lens::fleet::Scope>{{.ns = "bar"}, {.cluster = "member2"}}) {
    INFO(scope.Describe());
    CHECK(plane.Read(scope)->troubles.empty());
  }
  // One that is only evicted has its binding, and one whose template exists may stay unpropagated.
  const char* kReleased =
      R"([{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"shop"}},
    {"apiVersion":"work.karmada.io/v1alpha1","kind":"Work",
     "metadata":{"name":"c-work","namespace":"karmada-es-member1","deletionTimestamp":"2026-01-01T11:00:00Z",
       "labels":{"resourcebinding.karmada.io/permanent-id":"id-gone"}},
     "spec":{"workload":{"manifests":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"shop"}}]}}}])";
  const auto released = Plane(Base({}, Parsed(kReleased))).Read();
  REQUIRE(released.ok());
  CHECK(released->IsFine());
}

TEST_CASE("Fleet: a Work of an earlier template is trouble for the one that was made again") {
  const char* kAgain = R"({"ResourceBinding shop/web-deployment":{
        "metadata":{"labels":{"resourcebinding.karmada.io/permanent-id":"id-new"}}},
      "Work karmada-es-member2/web-work":{"metadata":{
        "labels":{"resourcebinding.karmada.io/permanent-id":"id-new"}}},
      "Work karmada-es-member1/web-work":{"metadata":{"deletionTimestamp":"2026-01-01T11:00:00Z",
        "finalizers":["karmada.io/execution-controller"]}}})";
  const auto fleet = Plane(Base(Parsed(kAgain))).Read();
  REQUIRE(fleet.ok());
  CHECK(fleet->templates == 1);
  REQUIRE(fleet->troubles.size() == 1);
  CHECK(fleet->troubles[0].cause.check == "work-deleting");
}

TEST_CASE("Fleet: what events say of Works counts for the templates of one namespace, too") {
  const char* kUnknownHealth =
      R"({"Work karmada-es-member2/web-work":{"status":{"manifestStatuses":null}}})";
  const char* kWarning = R"([
    {"apiVersion":"v1","kind":"Event","metadata":{"name":"a","namespace":"karmada-es-member2"},"type":"Warning",
     "involvedObject":{"kind":"Work","namespace":"karmada-es-member2","name":"web-work"},
     "reason":"InterpretHealthFailed","message":"attempt to index a nil value",
     "lastTimestamp":"2026-01-01T11:00:00Z"}])";
  const lens::why::Objects objects = Base(Parsed(kUnknownHealth), Parsed(kWarning));
  for (const lens::fleet::Scope& scope :
       std::vector<lens::fleet::Scope>{{}, {.ns = "shop"}, {.ns = "shop", .cluster = "member2"}}) {
    INFO(scope.Describe());
    const auto fleet = Plane(objects).Read(scope);
    REQUIRE(fleet.ok());
    REQUIRE(fleet->troubles.size() == 1);
    CHECK(fleet->troubles[0].cause.check == "status-not-interpreted");
  }
  // Who may not read them is told so.
  const auto without = Plane(objects, {"involvedObject.kind%3DWork"}).Read({.ns = "shop"});
  REQUIRE(without.ok());
  CHECK(without->troubles.empty());
  CHECK(without->unread.size() == 1);
}

TEST_CASE("Fleet: a namespace that does not exist, and a policy that governs nothing, are said") {
  const char* kIdle = R"([{"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy",
      "metadata":{"name":"idle","namespace":"shop"},"spec":{"resourceSelectors":[
        {"apiVersion":"apps/v1","kind":"Deployment","name":"none"}]}},
    {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"empty"}}])";
  Plane plane(Base({}, Parsed(kIdle)));
  const auto typo = plane.Read({.ns = "typo"});
  REQUIRE(typo.ok());
  CHECK(typo->unknown == std::vector<std::string>{"there is no namespace typo"});
  CHECK_FALSE(typo->IsFine());
  CHECK(plane.Read({.ns = "empty"})->IsFine());
  const auto idle = plane.Read({.policy = "idle"});
  REQUIRE(idle.ok());
  CHECK(idle->unknown ==
        std::vector<std::string>{"PropagationPolicy shop/idle governs no template; ask about it: "
                                 "karmada-lens why PropagationPolicy/idle -n shop"});
  CHECK_FALSE(idle->IsFine());
}

TEST_CASE(
    "Fleet: nobody says that there is no such cluster, or template, of what may not be read") {
  const auto clusters = Plane(Base(), {"/clusters?"}).Read({.cluster = "member9"});
  REQUIRE(clusters.ok());
  CHECK(clusters->unknown.empty());
  lens::why::Objects unbound = Base(Parsed(R"({"ResourceBinding shop/web-deployment":null})"));
  const auto templates = Plane(std::move(unbound), {"/deployments"}).Read();
  REQUIRE(templates.ok());
  CHECK(lens::fleet::HeadlineOf(*templates) == "no template could be read");
}

TEST_CASE(
    "Fleet: about what is not healthy somewhere, the advice is to ask, by which members are") {
  const char* kUnhealthy = R"({"Work karmada-es-member2/web-work":{"status":{"manifestStatuses":[
      {"identifier":{"ordinal":0,"group":"apps","version":"v1","kind":"Deployment","resource":"",
                     "namespace":"shop","name":"web"},"health":"Unhealthy"}]}}})";
  const auto fleet = Plane(Base(Parsed(kUnhealthy))).Read();
  REQUIRE(fleet.ok());
  REQUIRE(fleet->troubles.size() == 1);
  CHECK(fleet->troubles[0].cause.check == "member-unhealthy");
  CHECK(fleet->troubles[0].cause.advice == "ask about it: karmada-lens why Deployment/web -n shop");
}
