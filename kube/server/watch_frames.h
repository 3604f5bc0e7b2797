// The lines of a watch: one JSON object for each event, in the form that the client asked for. All
// watches of our servers are written by this encoder.
//
//   WatchEncoder encoder(form, include, printer);
//   stream->Write(encoder.Event("ADDED", *object));
#ifndef KUBE_SERVER_WATCH_FRAMES_H_
#define KUBE_SERVER_WATCH_FRAMES_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/server/negotiation.h"
#include "kube/server/tables/table_output.h"

namespace kube::server {

// The annotation of the bookmark that ends the initial objects.
inline constexpr char kInitialEventsEnd[] = "k8s.io/initial-events-end";

// Returns {"type":TYPE,"object":OBJECT} and a newline; `object` is JSON. Allocates once.
std::string WatchFrame(absl::string_view type, absl::string_view object);
// Returns the ERROR event with the Status of an error. It is never a Table.
std::string ErrorFrame(const absl::Status& status);

// Encodes the objects of one watch. Not thread-safe.
class WatchEncoder {
 public:
  // `printer` may be null unless the form is a Table.
  WatchEncoder(AnswerForm form, IncludeObject include, std::shared_ptr<const TablePrinter> printer);

  // Returns the line of an event. Only the first Table of a watch has columnDefinitions.
  std::string Event(absl::string_view type, const kube::Object& object);
  // Returns the line of a bookmark. A Table has a row only at the end of the initial events: with
  // the annotation, for clients that wait for it.
  std::string Bookmark(const kube::Gvk& kind, absl::string_view version, bool ends_initial_events);

  // For sharing texts between watches. Key tells forms apart, Text is what an event contains, and
  // Sent notes that a text was sent, so that the next Table has no columns.
  std::string Key() const;
  std::string Text(const kube::Object& object) const;
  void Sent() { columns_sent_ = true; }

 private:
  std::string TableText(const std::vector<kube::ObjectPtr>& objects,
                        absl::string_view version) const;

  const AnswerForm form_;
  const IncludeObject include_;
  const std::shared_ptr<const TablePrinter> printer_;
  bool columns_sent_ = false;
};

}  // namespace kube::server

#endif  // KUBE_SERVER_WATCH_FRAMES_H_
