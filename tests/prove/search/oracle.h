// The judgement about what one reader of karmada-search has noted, by what was in the members. It
// needs no other run to compare with.
//
//  - Each object that was read has been what it is shown as, in the member that is named.
//  - A list, or all pages of one, is what each member of its version had at that version; pages are
//    of one version, and a member that is not in it is named as missing.
//  - Versions of a member do not decrease: not within a watch and those that go on from it, and not
//    from one list of a reader to the next, unless another process answers, the member has been
//    restored, or a 410 has said that what was before does not count.
//  - A list that asks for the present state shows what was acknowledged before it was sent, or says
//    of the member that it is not up to date.
//  - By a watch an object never becomes what it was before; at a bookmark nothing is missing of
//    what was up to its version; what is shown as deleted has been deleted.
//  - An answer is whole, unless the process has ended.
//  - When everything has settled, what a reader has is what the members have.
#ifndef TESTS_PROVE_SEARCH_ORACLE_H_
#define TESTS_PROVE_SEARCH_ORACLE_H_

#include <string>
#include <vector>

#include "tests/prove/search/history.h"
#include "tests/prove/search/note.h"

namespace prove {

// Returns a line for everything that may not be. `reader` begins each.
std::vector<std::string> Judge(const std::string& reader, const History& history,
                               const std::vector<Note>& notes);

}  // namespace prove

#endif  // TESTS_PROVE_SEARCH_ORACLE_H_
