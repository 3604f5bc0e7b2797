// The rules of Kubernetes' getStatusValidationOptions (pkg/registry/batch/job/strategy.go),
// validateJobStatus and ValidateJobStatusUpdate (pkg/apis/batch/validation), in their order. Most
// of them look at a field only if it has changed, so that a status which was stored before a rule
// existed can still be written.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/schema.h"
#include "sandbox/write/status_rules.h"

namespace sandbox {
namespace {

constexpr absl::string_view kCounters[] = {"active", "succeeded", "failed", "ready", "terminating"};

// A Job's status before or after the write, as the rules see it.
class View {
 public:
  explicit View(const kube::Object& job) : status(job.status()) {}

  bool Is(absl::string_view type, absl::string_view value = "True") const {
    for (const json::Value& condition : status["conditions"].items()) {
      if (condition["type"] == type && condition["status"] == value) return true;
    }
    return false;
  }
  bool Complete() const { return Is("Complete"); }
  bool Failed() const { return Is("Failed"); }
  bool Finished() const { return Complete() || Failed(); }
  int64_t Count(absl::string_view name) const { return status[name].AsInt(); }
  std::string Text(absl::string_view name) const { return status[name].ToString(); }
  bool Has(absl::string_view name) const { return !status[name].is_null(); }
  std::optional<absl::Time> Time(absl::string_view name) const {
    const auto time = kube::ParseTime(status[name].AsString());
    return time.ok() ? std::optional(*time) : std::nullopt;
  }

  const json::Value& status;
};

// Checks one write.
class JobStatusCheck {
 public:
  JobStatusCheck(const kube::Object& old_job, const kube::Object& job, FieldErrors& errors)
      : spec_(job.spec()), old_(old_job), now_(job), errors_(errors) {}

  void Run() {
    // Most rules look only at what the write changes, so that an older mistake does not block every
    // later write.
    RequireNonNegative(now_.status, kCounters, errors_);
    Uncounted();
    ContradictingEnds();
    CompletionTime();
    EndsAfterTheirAnnouncement();
    FinishedJob();
    Indexes();
    Pods();
    Announcements();
    NothingIsTakenBack();
  }

 private:
  bool Changed(absl::string_view field) const { return old_.status[field] != now_.status[field]; }
  bool Changed(bool (View::*is)() const) const { return (old_.*is)() != (now_.*is)(); }
  bool ConditionChanged(absl::string_view type) const { return old_.Is(type) != now_.Is(type); }
  void Conditions(absl::string_view detail) {
    errors_.InvalidWithoutValue("status.conditions", detail);
  }

  void Uncounted() {
    std::set<std::string> seen;
    for (const absl::string_view list : {"succeeded", "failed"}) {
      const json::Value& uids = now_.status["uncountedTerminatedPods"][list];
      for (size_t i = 0; i < uids.size(); ++i) {
        const std::string path = FieldPath(FieldPath("status.uncountedTerminatedPods", list), i);
        if (uids.At(i).AsString().empty()) {
          errors_.Invalid(path, uids.At(i), "must not be empty");
        } else if (!seen.insert(uids.At(i).ToString()).second) {
          errors_.Duplicate(path, uids.At(i));
        }
      }
    }
  }

  void ContradictingEnds() {
    if (!now_.Complete()) return;
    const bool changed = Changed(&View::Complete);
    if ((changed || Changed(&View::Failed)) && now_.Failed()) {
      Conditions("cannot set Complete=True and Failed=true conditions");
    }
    if ((changed || ConditionChanged("FailureTarget")) && now_.Is("FailureTarget")) {
      Conditions("cannot set Complete=True and FailureTarget=true conditions");
    }
  }

  void CompletionTime() {
    const std::string path = "status.completionTime";
    const auto completed = now_.Time("completionTime");
    const auto started = now_.Time("startTime");
    const bool changed = Changed("completionTime");
    if (changed || Changed(&View::Complete)) {
      if (completed && !now_.Complete()) {
        errors_.Invalid(path, now_.status["completionTime"],
                        "cannot set completionTime when there is no Complete=True condition");
      }
      if (!completed && now_.Complete()) {
        errors_.Required(path, "completionTime is required for Complete jobs");
      }
    }
    if ((changed || Changed("startTime")) && started && completed && *completed < *started) {
      errors_.Invalid(path, now_.status["completionTime"], "must be equal to or after `startTime`");
    }
  }

  void EndsAfterTheirAnnouncement() {
    if ((Changed(&View::Failed) || Changed("failedIndexes")) && now_.Failed() &&
        !now_.Is("FailureTarget")) {
      Conditions("cannot set Failed=True condition without the FailureTarget=true condition");
    }
    if ((Changed(&View::Complete) || ConditionChanged("SuccessCriteriaMet")) && now_.Complete() &&
        !now_.Is("SuccessCriteriaMet")) {
      Conditions(
          "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
    }
  }

  void FinishedJob() {
    if (!now_.Finished()) return;
    const bool changed = Changed(&View::Finished);
    if ((changed || Changed("active")) && now_.Count("active") > 0) {
      errors_.Invalid("status.active", now_.status["active"],
                      "active>0 is invalid for finished job");
    }
    const bool never_ran = spec_["suspend"].AsBool() && spec_["completions"] == json::Value(0);
    if ((changed || Changed("startTime")) && !never_ran && !now_.Has("startTime")) {
      errors_.Required("status.startTime", "startTime is required for finished job");
    }
    const json::Value& uncounted = now_.status["uncountedTerminatedPods"];
    if ((changed || Changed("uncountedTerminatedPods")) &&
        uncounted["succeeded"].size() + uncounted["failed"].size() > 0) {
      // The server shows the struct, whose lists have no JSON names.
      const auto shown = [&](absl::string_view list) {
        return uncounted[list].empty() ? "null" : json::Write(uncounted[list]);
      };
      errors_.InvalidText(
          "status.uncountedTerminatedPods",
          absl::StrCat("{\"Succeeded\":", shown("succeeded"), ",\"Failed\":", shown("failed"), "}"),
          "must be empty for finished job");
    }
  }

  // An interval of indexes such as "3-5", or what is wrong with it.
  struct Interval {
    int64_t first = 0, last = 0;
    std::string error;
  };

  Interval ParseInterval(absl::string_view text) const {
    const std::vector<std::string> limits = absl::StrSplit(text, '-');
    if (limits.size() > 2) {
      return {.error = absl::StrCat("the fragment ", json::Write(text),
                                    " violates the requirement that an index interval can have at "
                                    "most two parts separated by '-'")};
    }
    std::vector<int64_t> numbers;
    for (const std::string& limit : limits) {
      int64_t number = 0;
      if (!absl::SimpleAtoi(limit, &number)) {
        return {.error = absl::StrCat("cannot convert string to integer for index: ",
                                      json::Write(limit))};
      }
      if (number >= spec_["completions"].AsInt()) {
        return {.error = absl::StrCat("too large index: ", json::Write(limit))};
      }
      numbers.push_back(number);
    }
    if (numbers.size() == 2 && numbers[0] >= numbers[1]) {
      return {.error = absl::StrCat("non-increasing order, previous: ", numbers[0],
                                    ", current: ", numbers[1])};
    }
    return {numbers.front(), numbers.back(), ""};
  }

  std::vector<Interval> IntervalsOf(absl::string_view field) const {
    std::vector<Interval> intervals;
    const std::string text = now_.Text(field);
    if (text.empty()) return intervals;
    for (const absl::string_view part : absl::StrSplit(text, ',')) {
      intervals.push_back(ParseInterval(part));
    }
    return intervals;
  }

  void IndexFormat(const std::string& field) {
    std::optional<int64_t> previous;
    for (const Interval& interval : IntervalsOf(field)) {
      std::string error = interval.error;
      if (error.empty() && previous && *previous >= interval.first) {
        error = absl::StrCat("non-increasing order, previous: ", *previous,
                             ", current: ", interval.first);
      }
      previous = interval.last;
      if (error.empty()) continue;
      errors_.Invalid(FieldPath("status", field), now_.status[field],
                      absl::StrCat("error parsing ", field, ": ", error));
      return;
    }
  }

  void OverlappingIndexes() {
    for (const Interval& completed : IntervalsOf("completedIndexes")) {
      for (const Interval& failed : IntervalsOf("failedIndexes")) {
        if (!completed.error.empty() || !failed.error.empty()) continue;
        if (completed.first > failed.last || failed.first > completed.last) continue;
        errors_.Invalid("status.failedIndexes", now_.status["failedIndexes"],
                        absl::StrCat("failedIndexes and completedIndexes overlap at index: ",
                                     std::max(completed.first, failed.first)));
        return;
      }
    }
  }

  void Indexes() {
    const bool completed = Changed("completedIndexes"), failed = Changed("failedIndexes");
    const bool counts = !spec_["completions"].is_null();
    const bool limits = !spec_["backoffLimitPerIndex"].is_null();
    if (completed && counts) IndexFormat("completedIndexes");
    if (failed && counts && limits) IndexFormat("failedIndexes");
    if (completed && !now_.Text("completedIndexes").empty() &&
        spec_["completionMode"] != "Indexed") {
      errors_.Invalid("status.completedIndexes", now_.status["completedIndexes"],
                      "cannot set non-empty completedIndexes when non-indexed completion mode");
    }
    if (failed && !limits && now_.Has("failedIndexes")) {
      errors_.Invalid("status.failedIndexes", now_.status["failedIndexes"],
                      "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
    }
    if ((completed || failed) && counts) OverlappingIndexes();
  }

  void Pods() {
    if ((Changed(&View::Finished) || Changed("terminating")) && now_.Finished() &&
        now_.Count("terminating") > 0) {
      errors_.Invalid("status.terminating", now_.status["terminating"],
                      "terminating>0 is invalid for finished job");
    }
    if ((Changed("ready") || Changed("active")) && now_.Has("ready") &&
        now_.Count("ready") > now_.Count("active")) {
      errors_.Invalid("status.ready", now_.status["ready"],
                      "cannot set more ready pods than active");
    }
  }

  void Announcements() {
    const bool met = now_.Is("SuccessCriteriaMet");
    if (met && now_.Failed()) {
      Conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions");
    }
    if (met && now_.Is("FailureTarget")) {
      Conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    }
    if (!spec_["successPolicy"].is_null() && !met && now_.Complete()) {
      Conditions(
          "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
    }
  }

  void NothingIsTakenBack() {
    for (const absl::string_view type : {"Failed", "Complete", "FailureTarget"}) {
      if (!old_.Is(type) || now_.Is(type)) continue;
      Conditions(absl::StrCat("cannot disable the terminal ", type, "=True condition"));
    }
    // The number of an indexed Job's completions may go down together with its parallelism.
    const bool elastic =
        spec_["completionMode"] == "Indexed" && spec_["completions"] == spec_["parallelism"];
    for (const absl::string_view counter : {"failed", "succeeded"}) {
      if (counter == "succeeded" && elastic) continue;
      if (now_.Count(counter) >= old_.Count(counter)) continue;
      errors_.Invalid(FieldPath("status", counter), now_.Count(counter),
                      absl::StrCat("cannot decrease the ", counter, " counter"));
    }
    const auto completed = now_.Time("completionTime"), before = old_.Time("completionTime");
    if (completed && before && *completed != *before) {
      errors_.Invalid("status.completionTime", now_.status["completionTime"], "field is immutable");
    }
    const bool resumes = old_.Is("Suspended") && now_.Is("Suspended", "False");
    if (old_.Has("startTime") && old_.Time("startTime") != now_.Time("startTime") && !resumes &&
        !spec_["suspend"].AsBool()) {
      errors_.Required("status.startTime", "startTime cannot be removed for unsuspended job");
    }
    if (old_.Is("SuccessCriteriaMet") && !now_.Is("SuccessCriteriaMet")) {
      Conditions("cannot disable the SuccessCriteriaMet=True condition");
    }
    if (old_.Complete() && !old_.Is("SuccessCriteriaMet") && now_.Is("SuccessCriteriaMet")) {
      Conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
    }
  }

  const json::Value& spec_;
  const View old_, now_;
  FieldErrors& errors_;
};

}  // namespace

void ValidateJobStatus(const kube::Object& old_object, const kube::Object& object,
                       FieldErrors& errors) {
  JobStatusCheck(old_object, object, errors).Run();
}

}  // namespace sandbox
