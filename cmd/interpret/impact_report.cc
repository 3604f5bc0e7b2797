// Collects what the walk finds. It is bounded, because a control plane may have many thousands of
// objects: only the first changes are kept, and different reasons for not comparing are added up
// once there are many of them; the counters are exact. Values of Secrets are replaced by their
// lengths before anything is kept, since reports end up in logs of CI. Nothing is printed before
// the end.

#include "cmd/interpret/impact_report.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/cut_text.h"
#include "tool/table.h"

namespace cmd::interpret {
namespace {

// Reasons may contain what servers and webhooks say; beyond so many different ones they are added
// up.
constexpr size_t kMostGaps = 100;
constexpr size_t kMostReasonBytes = 300;
constexpr size_t kMostErrorBytes = 80;

// Errors begin with the question, "<operation> of <kind> <object> by the <layer> interpreter: ",
// which the other columns have.
absl::string_view WithoutQuestion(absl::string_view error, interpreter::Operation op) {
  constexpr absl::string_view kEnd = " interpreter: ";
  const size_t end = error.find(kEnd);
  if (!absl::StartsWith(error, interpreter::OperationName(op)) || end == error.npos) return error;
  return error.substr(end + kEnd.size());
}

std::string SideText(const SideAnswer& answer, interpreter::Operation op) {
  if (!answer.error.empty()) {
    return absl::StrCat("error: ",
                        base::CutText(WithoutQuestion(answer.error, op), kMostErrorBytes));
  }
  const std::string text = answer.value.is_null() ? "none" : json::Write(answer.value);
  return base::CutText(text, kMostErrorBytes);
}

// Replaces the values of a Secret, which must not get into logs of CI, by their lengths.
void HideValues(json::Value& object, absl::string_view field) {
  if (!object[field].is_object()) return;
  json::Value hidden = json::Value::Object();
  for (const json::Member& m : object[field].members()) {
    hidden.Set(m.name(), absl::StrCat("(hidden, ", m.value.ToString().size(), " bytes)"));
  }
  object.Set(field, std::move(hidden));
}

// Returns the answer as it may be shown. Only answers that are objects (Retain, ReviseReplica) can
// have values of a Secret.
SideAnswer Shown(SideAnswer answer, const kube::Gvk& gvk) {
  if (gvk.group != "" || gvk.kind != "Secret" || !answer.value.is_object()) return answer;
  for (const char* field : {"data", "stringData"}) HideValues(answer.value, field);
  kube::Object object(std::move(answer.value));
  // It holds a copy of the values.
  object.EraseAnnotation("kubectl.kubernetes.io/last-applied-configuration");
  answer.value = object.root();
  return answer;
}

// Returns what an answer with an error is in a diff.
json::Value DiffValue(const SideAnswer& answer) {
  if (answer.error.empty()) return answer.value;
  return json::Value::Object({{"error", answer.error}});
}

}  // namespace

void ImpactReport::Add(const ImpactQuestion& question, const SideAnswer& old_answer,
                       const SideAnswer& new_answer) {
  const interpreter::Question& asked = question.asked;
  for (const SideAnswer* answer : {&old_answer, &new_answer}) {
    if (answer->unknown.empty()) continue;
    return AddNotCompared(asked.object.gvk(), asked.operation, answer->unknown);
  }
  ++compared_;
  // It is compared before values are hidden: a change of a Secret's value is a change, even if both
  // values have the same length.
  if (old_answer == new_answer) return;
  if (++changed_ > options_.most_changes) return;
  const SideAnswer before = Shown(old_answer, asked.object.gvk());
  const SideAnswer after = Shown(new_answer, asked.object.gvk());
  Change change{.gvk = asked.object.gvk(),
                .object = asked.object.key().ToString(),
                .cluster = question.cluster,
                .op = asked.operation,
                .before_error = before.error,
                .after_error = after.error,
                .before_rule = before.rule,
                .after_rule = after.rule};
  if (before.error.empty() && after.error.empty()) {
    change.fields = ChangesBetween(before.value, after.value);
    change.short_text = change.fields.count > 0 ? ShortText(change.fields) : "values of the Secret";
  } else {
    change.short_text =
        absl::StrCat(SideText(before, asked.operation), " → ", SideText(after, asked.operation));
  }
  // Computing a diff is expensive, so only changes that are kept have one.
  if (options_.diff) {
    change.diff = BoundedDiff(DiffValue(before), DiffValue(after), options_.diff_lines);
  }
  changes_.push_back(std::move(change));
}

void ImpactReport::AddNotCompared(const kube::Gvk& gvk, interpreter::Operation op,
                                  const std::string& reason) {
  ++not_compared_;
  Gap gap{gvk.kind, interpreter::OperationName(op), base::CutText(reason, kMostReasonBytes)};
  // The count stays exact, only the reason is lost.
  if (gaps_.size() >= kMostGaps && gaps_.count(gap) == 0) std::get<2>(gap) = "other reasons";
  ++gaps_[gap];
}

void ImpactReport::AddRemark(std::string remark) {
  if (std::find(remarks_.begin(), remarks_.end(), remark) == remarks_.end()) {
    remarks_.push_back(std::move(remark));
  }
}

std::string ImpactReport::Summary() const {
  return absl::StrCat(changed_, " of ", tool::Count(compared_, "answer"), " ",
                      changed_ == 1 ? "changes" : "change", ", of ",
                      tool::Count(objects_, "object"), "; ", not_compared_, " not compared");
}

void ImpactReport::PrintGaps(tool::Console& console) const {
  for (const auto& [gap, count] : gaps_) {
    const auto& [kind, op, reason] = gap;
    console.out << console.out_colours.Yellow("not compared:") << " " << count << " × " << op
                << " of " << tool::OneLine(kind) << ": " << tool::OneLine(reason) << "\n";
  }
  for (const std::string& remark : remarks_) {
    console.out << console.out_colours.Yellow("note:") << " " << tool::OneLine(remark) << "\n";
  }
}

void ImpactReport::Print(tool::Console& console) const {
  if (!changes_.empty()) {
    tool::Table table({"KIND", "OBJECT", "CLUSTER", "OPERATION", "OLD → NEW"});
    for (const Change& change : changes_) {
      table.Add({change.gvk.kind, change.object, change.cluster.empty() ? "-" : change.cluster,
                 std::string(interpreter::OperationName(change.op)), change.short_text});
    }
    console.out << table.Text(console.out_colours);
    for (const Change& change : changes_) {
      if (change.diff.empty()) continue;
      const std::string of = absl::StrCat(
          interpreter::OperationName(change.op), " of ", tool::OneLine(change.gvk.kind), " ",
          tool::OneLine(change.object), change.cluster.empty() ? "" : " in ", change.cluster);
      console.out << "\n"
                  << console.out_colours.Diff(
                         absl::StrCat("--- ", of, " by ", tool::OneLine(change.before_rule),
                                      "\n+++ ", of, " by ", tool::OneLine(change.after_rule), "\n",
                                      tool::Printable(change.diff)));
    }
    console.out << "\n";
  }
  if (changed_ > changes_.size()) {
    console.out << "... and " << changed_ - changes_.size() << " changes more (--limit)\n";
  }
  PrintGaps(console);
  const std::string summary = Summary();
  console.out << (changed_ > 0 ? console.out_colours.Yellow(summary)
                               : console.out_colours.Green(summary))
              << "\n";
}

json::Value ImpactReport::ToJson(const Change& change) {
  json::Value fields = json::Value::Array();
  for (const FieldChange& field : change.fields.first) {
    fields.Append(
        json::Value::Object({{"path", field.path}, {"old", field.before}, {"new", field.after}}));
  }
  json::Value out =
      json::Value::Object({{"apiVersion", change.gvk.ApiVersion()},
                           {"kind", change.gvk.kind},
                           {"object", change.object},
                           {"cluster", change.cluster},
                           {"operation", interpreter::OperationName(change.op)},
                           {"summary", change.short_text},
                           {"oldRule", change.before_rule},
                           {"newRule", change.after_rule},
                           {"fields", std::move(fields)},
                           {"changedFields", static_cast<int64_t>(change.fields.count)}});
  if (!change.before_error.empty()) out.Set("oldError", change.before_error);
  if (!change.after_error.empty()) out.Set("newError", change.after_error);
  if (!change.diff.empty()) out.Set("diff", change.diff);
  return out;
}

json::Value ImpactReport::ToJson() const {
  json::Value changes = json::Value::Array(), gaps = json::Value::Array();
  for (const Change& change : changes_) changes.Append(ToJson(change));
  for (const auto& [gap, count] : gaps_) {
    gaps.Append(json::Value::Object({{"kind", std::get<0>(gap)},
                                     {"operation", std::get<1>(gap)},
                                     {"reason", std::get<2>(gap)},
                                     {"count", static_cast<int64_t>(count)}}));
  }
  return json::Value::Object({{"objects", static_cast<int64_t>(objects_)},
                              {"compared", static_cast<int64_t>(compared_)},
                              {"changed", static_cast<int64_t>(changed_)},
                              {"changes", std::move(changes)},
                              {"omittedChanges", static_cast<int64_t>(changed_ - changes_.size())},
                              {"notCompared", std::move(gaps)},
                              {"notes", json::Value::Strings(remarks_)}});
}

}  // namespace cmd::interpret
