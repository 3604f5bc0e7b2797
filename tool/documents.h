// Reads YAML and JSON from files, directories and standard input, and keeps file, document and line
// for messages.
#ifndef TOOL_DOCUMENTS_H_
#define TOOL_DOCUMENTS_H_

#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace tool {

// One document of a file.
struct Document {
  std::string file;  // As given, or "standard input", or "TYPE/NAME" of a live object.
  int number = 1;    // The number of the document in its file, from 1.
  int count = 1;     // The number of documents in the file.
  int line = 1;      // The line of the file where it begins, from 1.
  // The text of this document alone, which the items of a list share. nullptr for a live object.
  std::shared_ptr<const std::string> text;
  json::Value value;
  // The path of the value in the text, when it is an item of a list.
  std::vector<std::string> path;

  // Returns "web.yaml", or "web.yaml, document 2, line 14" when the file has several documents.
  std::string Where() const;
  // Returns the text, "" for a live object.
  absl::string_view Text() const { return text == nullptr ? absl::string_view() : *text; }
};

// A part of a stream between two `---` lines, or a whole JSON text.
struct DocumentText {
  int line = 1;
  absl::string_view text;
};
// Returns the documents of a YAML stream as they are written. Parts with only blanks and comments
// are left out.
std::vector<DocumentText> SplitDocuments(absl::string_view text);

// A document that cannot be used, and its place.
struct BadDocument {
  std::string file;
  int line = 1;         // Line in the file, from 1.
  int column = 1;       // Column in bytes, from 1.
  std::string source;   // The text of that line.
  std::string message;  // The message without the place.
  absl::Status status;  // The same as an error: kInvalidArgument, with file and place.
};

// The documents of a text, as far as they can be read: one that is not YAML does not hide the
// others.
struct ReadText {
  std::vector<Document> documents;
  std::vector<BadDocument> bad;
};
// Reads all documents of a text. Lists (a kind that ends in "List", with items) become their items,
// each with the list's text.
ReadText ReadDocuments(const std::string& file, absl::string_view text);
// As ReadDocuments, but fails if any document is bad: kInvalidArgument names file, document, line
// and column.
absl::StatusOr<std::vector<Document>> ParseDocuments(const std::string& file,
                                                     absl::string_view text);

// Returns the files that the paths stand for: a file stands for itself, a directory for its *.yaml,
// *.yml and *.json files, sorted by name, and with `recursive` also for those of directories below
// it. "-" stays. kNotFound when a path does not exist.
absl::StatusOr<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths,
                                                   bool recursive);

// Reads files; "-" is the stream `in`, which can be read once.
class DocumentReader {
 public:
  explicit DocumentReader(std::istream& in) : in_(in) {}

  absl::StatusOr<std::string> Text(const std::string& path);
  absl::StatusOr<std::vector<Document>> Documents(const std::string& path);
  // Reads all files that the paths stand for.
  absl::StatusOr<std::vector<Document>> DocumentsOf(const std::vector<std::string>& paths,
                                                    bool recursive);

 private:
  std::istream& in_;
  bool in_was_read_ = false;
};

// Returns the name of a path in messages: "standard input" for "-".
std::string DisplayName(const std::string& path);

}  // namespace tool

#endif  // TOOL_DOCUMENTS_H_
