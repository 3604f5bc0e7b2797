// The text of a list around its items, in whatever form the client has asked for.
#ifndef SEARCH_PROXY_LIST_FRAME_H_
#define SEARCH_PROXY_LIST_FRAME_H_

#include <functional>
#include <string>

#include "base/json.h"
#include "kube/server/negotiation.h"

namespace search {

// With it a list is written one item after the other; the text is that which
// kube::server::AnswerOf makes of the whole.
class ListFrame {
 public:
  // `list` returns the list with `items` as its only content; of a Table these are the rows.
  ListFrame(const kube::server::AnswerForm& form,
            const std::function<json::Value(json::Value items)>& list, bool is_empty);

  const std::string& head() const { return head_; }
  const std::string& separator() const { return separator_; }  // Between two items.
  const std::string& tail() const { return tail_; }
  void AppendItem(const json::Value& item, std::string& out) const;

 private:
  const kube::server::AnswerForm form_;
  std::string head_, separator_, tail_;
  std::string indent_;  // Of the lines of an item, but for its first.
};

}  // namespace search

#endif  // SEARCH_PROXY_LIST_FRAME_H_
