// Asks the control plane whether a user may do something, by a SubjectAccessReview whose spec says
// who wants what. Some answers need no question (system:masters, paths that everybody may read).
// Decisions are kept for a time that depends on their outcome, by the digest of the spec: until it
// is over, a right that was withdrawn still counts, as in kube-apiserver. Equal questions that are
// asked meanwhile wait for the one that is under way. The cache is lost when the process ends,
// which costs only questions.
//
// A review that fails decides nothing: the request gets an error and is not executed. Failures are
// logged, repetitions of one error rarely.

#include "kube/aggregation/authorizer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/log.h"
#include "kube/server/api_errors.h"

namespace kube::aggregation {
namespace {

constexpr char kAccessReviews[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
// Decisions about longer names are not kept (upstream's maxControlledAttrCacheSize): a client could
// fill the memory with them.
constexpr size_t kMaxKeptBytes = 10000;

void SetUnlessEmpty(json::Value& object, absl::string_view name, const std::string& value) {
  if (!value.empty()) object.Set(name, value);
}

json::Value Requirement(absl::string_view key, absl::string_view op,
                        const std::vector<std::string>& values) {
  json::Value out = json::Value::Object({{"key", key}, {"operator", op}});
  if (values.empty()) return out;
  json::Value list = json::Value::Array();
  for (const std::string& value : values) list.Append(value);
  out.Set("values", std::move(list));
  return out;
}

// Returns the operator as reviews name it; "" for one that they do not have. Requirements only
// narrow, so one that is left out asks for more.
absl::string_view ReviewOperator(kube::LabelSelector::Operator op) {
  using enum kube::LabelSelector::Operator;
  if (op == kIn) return "In";
  if (op == kNotIn) return "NotIn";
  if (op == kExists) return "Exists";
  return op == kDoesNotExist ? "DoesNotExist" : "";
}

// Upstream's fieldSelectorToAuthorizationAPI and labelSelectorToAuthorizationAPI.
void AddSelectors(const Attributes& attributes, json::Value& what) {
  json::Value fields = json::Value::Array(), labels = json::Value::Array();
  for (const kube::FieldSelector::Term& term : attributes.fields.terms()) {
    fields.Append(Requirement(term.field, term.equal ? "In" : "NotIn", {term.value}));
  }
  for (const kube::LabelSelector::Requirement& one : attributes.labels.requirements()) {
    const absl::string_view op = ReviewOperator(one.op);
    if (!op.empty()) labels.Append(Requirement(one.key, op, one.values));
  }
  if (fields.size() > 0) {
    what.Set("fieldSelector", json::Value::Object({{"requirements", std::move(fields)}}));
  }
  if (labels.size() > 0) {
    what.Set("labelSelector", json::Value::Object({{"requirements", std::move(labels)}}));
  }
}

// The spec of a SubjectAccessReview, whose digest is the key of the decision.
json::Value SpecOf(const Attributes& attributes) {
  json::Value spec = UserJson(attributes.user, "user");
  json::Value what = json::Value::Object();
  SetUnlessEmpty(what, "verb", attributes.verb);
  if (!attributes.is_resource) {
    SetUnlessEmpty(what, "path", attributes.path);
    spec.Set("nonResourceAttributes", std::move(what));
    return spec;
  }
  SetUnlessEmpty(what, "namespace", attributes.ns);
  SetUnlessEmpty(what, "group", attributes.group);
  SetUnlessEmpty(what, "version", attributes.version);
  SetUnlessEmpty(what, "resource", attributes.resource);
  SetUnlessEmpty(what, "subresource", attributes.subresource);
  SetUnlessEmpty(what, "name", attributes.name);
  AddSelectors(attributes, what);
  spec.Set("resourceAttributes", std::move(what));
  return spec;
}

bool MayKeep(const Attributes& a) {
  return a.verb.size() + a.group.size() + a.version.size() + a.resource.size() +
             a.subresource.size() + a.ns.size() + a.name.size() + a.path.size() <
         kMaxKeptBytes;
}

// A review that both allows and denies denies, as upstream's WebhookAuthorizer.
Decision DecisionOf(const json::Value& review) {
  const json::Value& status = review["status"];
  // An answer without these fields allows nothing.
  return {.allowed = status["allowed"].AsBool() && !status["denied"].AsBool(),
          .reason = status["reason"].ToString()};
}

// Quotes a name as Go's %q does.
std::string Quoted(absl::string_view text) { return json::Write(json::Value(std::string(text))); }

// Upstream's forbiddenMessage.
std::string ForbiddenText(const Attributes& a) {
  const std::string begin = absl::StrCat("User ", Quoted(a.user.name), " cannot ", a.verb);
  if (!a.is_resource) return absl::StrCat(begin, " path ", Quoted(a.path));
  const std::string resource =
      a.subresource.empty() ? a.resource : absl::StrCat(a.resource, "/", a.subresource);
  const std::string where =
      a.ns.empty() ? "at the cluster scope" : absl::StrCat("in the namespace ", Quoted(a.ns));
  return absl::StrCat(begin, " resource ", Quoted(resource), " in API group ", Quoted(a.group), " ",
                      where);
}

bool TakesSelectors(const server::RequestInfo& info) {
  return info.is_resource && !info.verb_in_path &&
         (info.verb == "list" || info.verb == "watch" || info.verb == "deletecollection");
}

// Returns the name that all objects of a list have; "" if there is none.
std::string OnlyNameOf(const kube::FieldSelector& fields) {
  for (const kube::FieldSelector::Term& term : fields.terms()) {
    // A right to one name (resourceNames) covers a list that can only have this object.
    if (term.field != "metadata.name" || !term.equal) continue;
    return kube::ValidatePathSegmentName(term.value).ok() ? term.value : "";
  }
  return "";
}

void ReadSelectors(const server::RequestInfo& info, const base::HttpRequest& request,
                   Attributes& attributes) {
  // Upstream passes selectors on for these verbs only.
  if (!TakesSelectors(info)) return;
  if (auto fields = kube::FieldSelector::Parse(request.Query("fieldSelector")); fields.ok()) {
    attributes.fields = *std::move(fields);
  }
  if (auto labels = kube::LabelSelector::Parse(request.Query("labelSelector")); labels.ok()) {
    attributes.labels = *std::move(labels);
  }
  if (attributes.name.empty() && info.verb != "deletecollection") {
    attributes.name = OnlyNameOf(attributes.fields);
  }
}

}  // namespace

Attributes AttributesOf(UserInfo user, const server::RequestInfo& info,
                        const base::HttpRequest& request) {
  Attributes attributes{.user = std::move(user),
                        .verb = info.verb,
                        .is_resource = info.is_resource,
                        .group = info.gvr.group,
                        .version = info.gvr.version,
                        .resource = info.gvr.resource,
                        .subresource = info.subresource,
                        .ns = info.key.ns,
                        .name = info.key.name,
                        .path = request.path};
  ReadSelectors(info, request, attributes);
  return attributes;
}

absl::Status ForbiddenError(const Attributes& attributes, absl::string_view reason) {
  // Browsers must not take the message for HTML.
  std::string why = absl::StrReplaceAll(ForbiddenText(attributes),
                                        {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
  if (!reason.empty()) absl::StrAppend(&why, ": ", reason);
  if (attributes.is_resource) {
    return server::Forbidden({attributes.group, attributes.resource}, attributes.name, why);
  }
  return server::ToStatus(
      {403, "Forbidden", absl::StrCat("forbidden: ", why), json::Value::Object()});
}

absl::Status AuthorizationError(const absl::Status& status) {
  if (absl::IsResourceExhausted(status)) {
    return server::TooManyRequests(status.message(), absl::Seconds(1));
  }
  return server::InternalError("the request cannot be authorized at the moment");
}

DelegatedAuthorizer::DelegatedAuthorizer(Options options, ReviewClient& reviews,
                                         const base::Clock& clock)
    : options_(std::move(options)),
      reviews_(reviews),
      decisions_(
          options_.max_decisions,
          [this](const Decision& decision) {
            return decision.allowed ? options_.allowed_ttl : options_.denied_ttl;
          },
          [](const Decision& decision) { return decision.allowed; }, clock),
      clock_(clock) {}

// Upstream's path.NewAuthorizer.
bool DelegatedAuthorizer::IsAlwaysAllowed(const Attributes& attributes) const {
  // A member of this group must get in even if no review can be made.
  if (attributes.user.IsIn(kMasters)) return true;
  if (attributes.is_resource) return false;
  const absl::string_view path = absl::StripPrefix(attributes.path, "/");
  return std::any_of(options_.always_allow_paths.begin(), options_.always_allow_paths.end(),
                     [&](absl::string_view allowed) {
                       allowed = absl::StripPrefix(allowed, "/");
                       if (absl::ConsumeSuffix(&allowed, "*")) {
                         return absl::StartsWith(path, allowed);
                       }
                       return path == allowed;
                     });
}

void DelegatedAuthorizer::Authorize(const Attributes& attributes, Done done) {
  if (IsAlwaysAllowed(attributes)) return done(Decision{.allowed = true});
  const json::Value spec = SpecOf(attributes);
  decisions_.Get(
      base::Sha256(json::Write(spec)), MayKeep(attributes),
      [&](ReviewCache<Decision>::Done answered) {
        Ask(spec, ShareOwner(attributes.user), std::move(answered));
      },
      std::move(done));
}

void DelegatedAuthorizer::Ask(const json::Value& spec, const std::string& owner,
                              ReviewCache<Decision>::Done done) {
  const json::Value review = json::Value::Object(
      {{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", spec}});
  reviews_.Start({kAccessReviews, review, owner},
                 [this, done = std::move(done)](absl::StatusOr<json::Value> answer) {
                   if (!answer.ok()) return Failed(answer.status(), done);
                   done(DecisionOf(*answer));
                 });
}

void DelegatedAuthorizer::Failed(const absl::Status& error,
                                 const ReviewCache<Decision>::Done& done) {
  const auto verdict = errors_.Note(base::KindOfMessage(error.message(), ""), clock_.SteadyNow());
  if (verdict.log) {
    base::LogError("requests cannot be authorized", {{"error", error}, {"more", verdict.More()}});
  }
  done(error);
}

}  // namespace kube::aggregation
