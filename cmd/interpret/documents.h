// Reading YAML and JSON from files, directories and standard input, so that a message can say file,
// document and line.
#ifndef CMD_INTERPRET_DOCUMENTS_H_
#define CMD_INTERPRET_DOCUMENTS_H_

#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace cmd::interpret {

// One document of a file.
struct Document {
  std::string file;  // As given, or "standard input", or "TYPE/NAME" of a live object.
  int number = 1;    // Counted from 1.
  int count = 1;     // Documents in the file.
  int line = 1;      // Its first line in the file.
  std::string text;  // This document's alone.
  json::Value value;
  std::vector<std::string> path;  // Where the value is in the text, when it is an item of a list.

  // "web.yaml", or "web.yaml, document 2, line 14" when the file has several.
  std::string Where() const;
};

// A part of a stream between two `---` lines, or a whole JSON text.
struct DocumentText {
  int line = 1;
  absl::string_view text;
};
// The documents of a YAML stream as they are written. What is only blanks and comments is left out.
std::vector<DocumentText> SplitDocuments(absl::string_view text);

// A document that cannot be used, and where.
struct BadDocument {
  std::string file;
  int line = 1;         // In the file, from 1.
  int column = 1;       // The same, in bytes.
  std::string source;   // That line.
  std::string message;  // Without the place.
  absl::Status status;  // The same for whoever stops at it: kInvalidArgument, with file and place.
};

// A text as far as it can be read: a document that is not YAML does not hide the others.
struct ReadText {
  std::vector<Document> documents;
  std::vector<BadDocument> bad;
};
// All documents of a text. Lists (a kind that ends in "List", with items) become their items, each
// with the list's text.
ReadText ReadDocuments(const std::string& file, absl::string_view text);
// The same of a text that is good throughout. Errors (kInvalidArgument) say file, document, line
// and column.
absl::StatusOr<std::vector<Document>> ParseDocuments(const std::string& file,
                                                     absl::string_view text);

// The files that these paths mean: a file is itself; of a directory the *.yaml, *.yml and *.json in
// it, by name, those of directories below too when `recursive`. "-" stays. kNotFound when a path
// does not exist.
absl::StatusOr<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths,
                                                   bool recursive);

// Reads files; "-" is `in`, which can be read once.
class DocumentReader {
 public:
  explicit DocumentReader(std::istream& in) : in_(in) {}

  absl::StatusOr<std::string> Text(const std::string& path);
  absl::StatusOr<std::vector<Document>> Documents(const std::string& path);
  // Reads all files that the paths mean.
  absl::StatusOr<std::vector<Document>> DocumentsOf(const std::vector<std::string>& paths,
                                                    bool recursive);

 private:
  std::istream& in_;
  bool in_was_read_ = false;
};

// How messages call a path: "standard input" for "-".
std::string DisplayName(const std::string& path);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_DOCUMENTS_H_
