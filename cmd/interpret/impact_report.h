// What `impact` has found: which answers change, how many there are, and what could not be
// compared. Keeps a bounded number of changes.
#ifndef CMD_INTERPRET_IMPACT_REPORT_H_
#define CMD_INTERPRET_IMPACT_REPORT_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "cmd/interpret/question_json.h"
#include "cmd/interpret/rule_side.h"
#include "cmd/interpret/value_changes.h"
#include "kube/meta/object.h"
#include "tool/console.h"

namespace cmd::interpret {

// A question about one object.
struct ImpactQuestion {
  interpreter::Question asked;
  std::string cluster;  // The member that it is about; "" when it is about the template.
};

struct ImpactReportOptions {
  size_t most_changes = 1000;  // So many are kept; the others are only counted.
  bool diff = false;           // True: changes are kept with a diff.
  size_t diff_lines = 60;      // The most lines of each diff.
};

class ImpactReport {
 public:
  explicit ImpactReport(const ImpactReportOptions& options) : options_(options) {}

  // Counts an object that is looked at: a template, or a manifest of a Work.
  void AddObject() { ++objects_; }
  // Adds both answers to a question. An answer that is unknown counts as not compared. Values of
  // Secrets are not kept.
  void Add(const ImpactQuestion& question, const SideAnswer& old_answer,
           const SideAnswer& new_answer);
  // Adds `count` questions of one operation and kind that could not be asked, and why.
  void AddNotCompared(const kube::Gvk& gvk, interpreter::Operation op, const std::string& reason);
  // Adds a remark about the whole, printed once.
  void AddRemark(std::string remark);

  size_t objects() const { return objects_; }
  size_t changed() const { return changed_; }
  size_t compared() const { return compared_; }
  size_t not_compared() const { return not_compared_; }

  // A table, diffs if they were asked for, and a summary.
  void Print(tool::Console& console) const;
  json::Value ToJson() const;
  // Returns "3 of 20 answers change (12 objects); 4 not compared".
  std::string Summary() const;

 private:
  // An answer that changes.
  struct Change {
    kube::Gvk gvk;
    std::string object;  // "<namespace>/<name>"
    std::string cluster;
    interpreter::Operation op;
    std::string short_text;
    FieldChanges fields;  // Empty when one of the answers is an error.
    std::string before_error, after_error;
    std::string before_rule, after_rule;
    std::string diff;
  };
  // Kind, operation and reason.
  using Gap = std::tuple<std::string, std::string, std::string>;

  static json::Value ToJson(const Change& change);
  void PrintGaps(tool::Console& console) const;

  const ImpactReportOptions options_;
  std::vector<Change> changes_;
  std::map<Gap, size_t> gaps_;
  std::vector<std::string> remarks_;
  size_t objects_ = 0, compared_ = 0, changed_ = 0, not_compared_ = 0;
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_IMPACT_REPORT_H_
