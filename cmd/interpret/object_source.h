// Finds the objects that an operation is asked about: in files, standard input, clusters.
#ifndef CMD_INTERPRET_OBJECT_SOURCE_H_
#define CMD_INTERPRET_OBJECT_SOURCE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"
#include "tool/documents.h"
#include "tool/live_objects.h"

namespace cmd::interpret {

// An argument is a path that exists, "-" for standard input, or else TYPE/NAME of a live object.
class ObjectSource {
 public:
  ObjectSource(tool::DocumentReader& reader, tool::LiveObjects& live)
      : reader_(reader), live_(live) {}

  // Returns all objects that the argument stands for; documents in a directory that are not objects
  // are ignored. Errors (kNotFound, kInvalidArgument, those of the client) name the argument, and
  // document and line of a document that is not an object.
  absl::StatusOr<std::vector<tool::Document>> All(const std::string& argument, bool recursive);
  struct Wanted {
    absl::string_view plural;  // The word for them in messages.
    std::function<bool(const kube::Object&)> is_wanted;
  };
  // As All, but of a directory only the wanted objects are returned, because others may be beside
  // them. kNotFound when there is none, because the user expects some.
  absl::StatusOr<std::vector<tool::Document>> Matching(const std::string& argument, bool recursive,
                                                       const Wanted& wanted);
  // Returns the objects of the argument; of a directory only the customizations. kNotFound when
  // there is none.
  absl::StatusOr<std::vector<tool::Document>> Customizations(const std::string& argument,
                                                             bool recursive);
  // As Customizations, file by file and in spite of errors: documents that are not YAML and, unless
  // in a directory, documents that are not objects are `bad`. A file that cannot be read is an
  // error.
  absl::StatusOr<std::vector<absl::StatusOr<tool::ReadText>>> CustomizationFiles(
      const std::string& argument, bool recursive);
  // Returns the only object of the argument; kInvalidArgument unless there is exactly one.
  absl::StatusOr<kube::Object> One(const std::string& argument);
  // Returns a list of AggregatedStatusItem: one in each document, one document that is the list, or
  // a binding, of which status.aggregatedStatus is taken. The items are read as the daemon reads
  // them: `applied: false` and unknown fields are left out. Null for a text without documents;
  // kInvalidArgument for wrong types.
  absl::StatusOr<interpreter::AggregatedItems> Items(const std::string& argument);

 private:
  absl::StatusOr<json::Value> RawItems(const std::string& argument);
  absl::StatusOr<std::vector<tool::Document>> Documents(const std::string& argument,
                                                        bool recursive);

  tool::DocumentReader& reader_;
  tool::LiveObjects& live_;
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_OBJECT_SOURCE_H_
