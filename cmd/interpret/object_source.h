// Where the objects come from that an operation is asked about: files, standard input, clusters.
#ifndef CMD_INTERPRET_OBJECT_SOURCE_H_
#define CMD_INTERPRET_OBJECT_SOURCE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cmd/interpret/documents.h"
#include "cmd/interpret/live_objects.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace cmd::interpret {

// An argument is a path that exists, "-" for standard input, or else TYPE/NAME of a live object.
class ObjectSource {
 public:
  ObjectSource(DocumentReader& reader, LiveObjects& live) : reader_(reader), live_(live) {}

  // All objects that the argument means; what is not an object in a directory is passed over.
  // Errors (kNotFound, kInvalidArgument, those of the client) name the argument, and document and
  // line of what is not an object.
  absl::StatusOr<std::vector<Document>> All(const std::string& argument, bool recursive);
  struct Wanted {
    absl::string_view plural;  // How messages call them.
    std::function<bool(const kube::Object&)> is_wanted;
  };
  // The same, but of a directory only the wanted ones: cases and objects may lie beside them.
  // kNotFound when there is none: whoever names files wants something out of them.
  absl::StatusOr<std::vector<Document>> Matching(const std::string& argument, bool recursive,
                                                 const Wanted& wanted);
  // The objects of the argument; from a directory, only the customizations. kNotFound when there is
  // none.
  absl::StatusOr<std::vector<Document>> Customizations(const std::string& argument, bool recursive);
  // The same file by file, past what is wrong: what is not YAML and, unless it is in a directory,
  // what is not an object is `bad`. A file that cannot be read is an error.
  absl::StatusOr<std::vector<absl::StatusOr<ReadText>>> CustomizationFiles(
      const std::string& argument, bool recursive);
  // Exactly one.
  absl::StatusOr<kube::Object> One(const std::string& argument);
  // A list of AggregatedStatusItem: one in each document, one document that is the list, or a
  // binding, whose status.aggregatedStatus it is. They are read as the daemon reads a binding's:
  // `applied: false` and what is not a field of an item are left out. Null for a text without
  // documents; kInvalidArgument for wrong types.
  absl::StatusOr<interpreter::AggregatedItems> Items(const std::string& argument);

 private:
  absl::StatusOr<json::Value> RawItems(const std::string& argument);
  absl::StatusOr<std::vector<Document>> Documents(const std::string& argument, bool recursive);

  DocumentReader& reader_;
  LiveObjects& live_;
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_OBJECT_SOURCE_H_
