// A review is judged in this order: it must be an AdmissionReview with a uid; what is not a
// creation or an update of rules is allowed without a look; the object is checked
// (CheckCustomization with a time limit for its scripts, or ReadConfiguration); certain errors
// become the refusal, everything else warnings, cut to what clients show. Nothing is kept between
// reviews; the other customizations are those that this process happens to know, which is why a
// conflict with them is never a refusal.

#include "interpreter/check/admission_review.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/resources.h"
#include "base/cut_text.h"
#include "interpreter/check/findings.h"
#include "interpreter/check/upstream_admission.h"
#include "interpreter/webhook/configuration.h"

namespace interpreter::check {
namespace {

constexpr char kReviewVersion[] = "admission.k8s.io/v1";
constexpr char kReviewKind[] = "AdmissionReview";
constexpr size_t kMaxMessageBytes = 8192;
// Clients show warnings of up to 256 bytes, and servers drop them beyond 4096 bytes together.
constexpr size_t kMaxWarningBytes = 256;
constexpr size_t kMostWarnings = 16;
// The scripts of one object may keep a thread for so long; API servers wait ten seconds.
constexpr absl::Duration kPatience = absl::Seconds(2);

bool IsCustomization(const kube::Object& object) {
  return object.gvk() == api::InterpreterCustomizations().gvk;
}

using customized::MergeOptions;

// Returns the customization without scripts that may stand beside others when customizations are
// combined.
kube::Object WithoutShared(const kube::Object& customization, const MergeOptions& merge) {
  kube::Object rest = customization;
  // Of retention scripts all run, so that none takes another one's place.
  if (merge.combined) rest.Erase({"spec", "customizations", "retention"});
  return rest;
}

Verdict JudgeCustomization(const kube::Object& object,
                           const std::vector<kube::ObjectPtr>& customizations,
                           const MergeOptions& merge) {
  Verdict verdict;
  for (const Finding& finding : CheckCustomization(object, merge, kPatience)) {
    // An error that is not certain (time or memory ran out) may be one of this machine only.
    const bool refused = finding.severity == Finding::Severity::kError && finding.certain;
    (refused ? verdict.errors : verdict.warnings).push_back(finding.ToString());
  }
  const kube::Object rivalling = WithoutShared(object, merge);
  for (const kube::ObjectPtr& other : customizations) {
    if (other->name() == object.name()) continue;
    std::string conflict = ConflictWith(*other, rivalling);
    if (!conflict.empty()) verdict.warnings.push_back(std::move(conflict));
  }
  return verdict;
}

// An object that asks for a generated name gets it after admission.
void FillName(kube::Object& object) {
  const absl::string_view generated = object.metadata()["generateName"].AsString();
  if (!object.name().empty() || generated.empty()) return;
  object.Set({"metadata", "name"}, absl::StrCat(generated, "00000"));
}

// Returns whether an update leaves the rules as they are. Labels, annotations and finalizers of an
// object that was broken before can be changed.
bool HasSameRules(const kube::Object& before, const kube::Object& now) {
  return !before.empty() && before.spec() == now.spec() &&
         before.root()["webhooks"] == now.root()["webhooks"];
}

Verdict VerdictOn(const json::Value& request, const std::vector<kube::ObjectPtr>& customizations,
                  const MergeOptions& merge) {
  const absl::string_view operation = request["operation"].AsString();
  const bool writes = operation == "CREATE" || operation == "UPDATE";
  if (!writes || !request["subResource"].AsString().empty()) return {};
  if (!request["object"].is_object()) return {};
  kube::Object object(request["object"]);
  if (object.IsDeleting()) return {};
  const kube::Object before(request["oldObject"]);
  if (operation == "UPDATE" && HasSameRules(before, object)) return {};
  FillName(object);
  return Judge(object, customizations, merge);
}

json::Value ResponseOf(const Verdict& verdict, const json::Value& uid) {
  json::Value response = json::Value::Object({{"uid", uid}, {"allowed", verdict.errors.empty()}});
  if (!verdict.errors.empty()) {
    response.Set("status",
                 json::Value::Object({{"code", 422},
                                      {"reason", "Invalid"},
                                      {"message", base::CutText(absl::StrJoin(verdict.errors, "; "),
                                                                kMaxMessageBytes)}}));
  }
  json::Value warnings = json::Value::Array();
  for (const std::string& warning : verdict.warnings) {
    if (warnings.size() < kMostWarnings) warnings.Append(base::CutText(warning, kMaxWarningBytes));
  }
  if (!warnings.empty()) response.Set("warnings", std::move(warnings));
  return response;
}

}  // namespace

bool IsWebhookConfiguration(const kube::Object& object) {
  return object.gvk() == api::InterpreterWebhookConfigurations().gvk ||
         object.gvk() == api::ExploringWebhookConfigurations().gvk;
}

Verdict Judge(const kube::Object& object, const std::vector<kube::ObjectPtr>& customizations,
              const MergeOptions& merge) {
  if (IsCustomization(object)) return JudgeCustomization(object, customizations, merge);
  if (!IsWebhookConfiguration(object)) return {};
  return {webhook::ReadConfiguration(object).problems, {}};
}

absl::StatusOr<json::Value> ReviewAdmission(const json::Value& review,
                                            const std::vector<kube::ObjectPtr>& customizations,
                                            const MergeOptions& merge) {
  if (review["kind"].AsString() != kReviewKind ||
      review["apiVersion"].AsString() != kReviewVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", kReviewKind, " of ", kReviewVersion));
  }
  const json::Value& request = review["request"];
  if (request["uid"].AsString().empty()) {
    return absl::InvalidArgumentError("request.uid is missing");
  }
  return json::Value::Object(
      {{"apiVersion", kReviewVersion},
       {"kind", kReviewKind},
       {"response", ResponseOf(VerdictOn(request, customizations, merge), request["uid"])}});
}

}  // namespace interpreter::check
