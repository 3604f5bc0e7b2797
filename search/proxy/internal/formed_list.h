// The text of a list in a form other than compact JSON. Private to search/proxy/.
#ifndef SEARCH_PROXY_INTERNAL_FORMED_LIST_H_
#define SEARCH_PROXY_INTERNAL_FORMED_LIST_H_

#include <cstddef>
#include <string>

#include "base/json.h"
#include "search/cache/list_answer.h"
#include "search/proxy/list_frame.h"
#include "search/proxy/read_request.h"

namespace search {

// Makes a Table, a list of PartialObjectMetadata, or a list as YAML or as indented JSON, a piece at
// a time: one object after the other is decoded, so that neither a long list nor a client that is
// slow to take it costs memory. The text is that which kube::server::AnswerOf makes of the whole.
class FormedList {
 public:
  FormedList(const ReadRequest& read, ListAnswer answer);
  // As ListText::Append.
  bool Append(std::string& out, size_t bytes);

 private:
  // Returns the list with `items` as its only content.
  json::Value Frame(json::Value items) const;
  json::Value ItemOf(const kube::ObjectPtr& object, const std::string& cluster) const;
  // Returns false after the last item.
  bool AppendItem(std::string& out);

  const ReadRequest read_;
  const ListAnswer answer_;
  const ListFrame frame_;
  bool began_ = false, first_ = true, ended_ = false;
  size_t part_ = 0, index_ = 0;
};

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_FORMED_LIST_H_
