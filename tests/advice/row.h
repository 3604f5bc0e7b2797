// A row of the table of situations (tests/data/advice): what is wrong, what `why` says about it,
// and what mends it.
#ifndef TESTS_ADVICE_ROW_H_
#define TESTS_ADVICE_ROW_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "kube/meta/object.h"
#include "tests/advice/hooks.h"

namespace tests::advice {

// A row as it is written; README.md has its fields.
struct Row {
  std::string file;
  std::string text;      // YAML in which $NS, $OWN, $IN and $WIDGETS stand for what README.md says.
  json::Value document;  // The same, before anything is put in.

  std::string name() const { return document["name"].ToString(); }
  // Returns the settings of the plane that the row needs, as one text.
  std::string plane() const { return json::Write(document["plane"]); }
  bool has_own_member() const { return document["own"].AsBool(); }
  // Returns whether the row can be played on real servers, too: it breaks none of them, and wants
  // nothing of them that only simulated ones do.
  bool is_for_real_servers() const;
  bool is_for_sandbox() const;
};

// Returns whether the text is the expected one, in which $TIME stands for any point in time, and
// $ANY for any text.
bool IsText(const std::string& text, const std::string& expected);

// Returns every row, in the order of the files' names. Fails the test when one cannot be read, or
// when two have the same name.
std::vector<Row> ReadRows();

// Where a row plays.
struct Place {
  std::string ns;
  std::string own;               // The member that only this row uses; "" for none.
  const Hooks* hooks = nullptr;  // What answers for the interpreter; nullptr for nothing.
};

// Returns the row's document with its place put in.
json::Value Placed(const Row& row, const Place& place);

// Returns the objects of the control plane with which the situation begins: those of base.yaml,
// patched, and the row's own. `document` is that of Placed().
std::vector<kube::Object> ObjectsOf(const json::Value& document, const Place& place);

// Returns the objects of a list, in the row's namespace where they have none and need one.
std::vector<kube::Object> InNamespace(const json::Value& list, const std::string& ns);

}  // namespace tests::advice

#endif  // TESTS_ADVICE_ROW_H_
