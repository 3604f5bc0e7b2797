// Every bound of `karmada-lens serve`, in one place; docs/serve.md has them as a table.
//
// A page that is open on a hundred screens must not become what its readers are paged for: whatever
// they do, memory, connections, threads and questions to the control plane stay within these.
#ifndef LENS_SERVE_BOUNDS_H_
#define LENS_SERVE_BOUNDS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace lens::serve {

// Viewers are told apart by their tokens; local ones all have the kubeconfig's rights and count as
// one. Beyond this limit a newcomer takes the place of the one who has asked nothing for longest,
// unless that was within kViewerIsBusy: then the newcomer is refused.
inline constexpr size_t kMostViewers = 128;
inline constexpr absl::Duration kViewerIsBusy = absl::Seconds(30);
// After this time without a question what a viewer has read is forgotten.
inline constexpr absl::Duration kViewerLeaves = absl::Minutes(5);
// What is kept of each viewer: the last answer about the fleet, as it is sent.
inline constexpr size_t kMostFleetBytes = 1 << 20;

inline constexpr size_t kMostConnections = 512;
inline constexpr size_t kMostHandshakes = 128;     // Of TLS, that are not complete.
inline constexpr size_t kMostStreams = 256;        // Live updates, of all viewers.
inline constexpr size_t kMostStreamsOfViewer = 8;  // Of one with a token.
inline constexpr size_t kMostStreamBacklog = 16 << 10;
inline constexpr size_t kMostOutputBytes = 64 << 20;  // Unsent answers of all connections.
inline constexpr size_t kMostHeaderBytes = 16 << 10;
inline constexpr size_t kMostNamedHeaderBytes = 64 << 10;  // With the groups of a user.
inline constexpr size_t kMostTokenBytes = 12 << 10;
inline constexpr size_t kMostTargetBytes = 4 << 10;  // Path and query of a request.
inline constexpr size_t kMostAnswerBytes = 8 << 20;

// How many questions are answered at the same time, and how many wait; one of them takes up to so
// much memory while it is answered (measured with 100 clusters and 5,000 templates).
inline constexpr int kThreadsForOne = 8;     // About one object: 4 MB.
inline constexpr int kThreadsForLists = 2;   // About all of them: 80 MB.
inline constexpr int kThreadsForWhatIf = 1;  // A simulation: 150 MB.
inline constexpr size_t kMostWaiting = 256;  // In each of the three queues, and for a reading.

// How long an answer may take, from its first question to the control plane to its last.
inline constexpr absl::Duration kPatienceForOne = absl::Seconds(15);
inline constexpr absl::Duration kPatienceForLists = absl::Seconds(30);
inline constexpr absl::Duration kPatienceForWhatIf = absl::Seconds(120);
inline constexpr absl::Duration kPatienceForToken = absl::Seconds(5);
inline constexpr absl::Duration kPatienceForCall = absl::Seconds(10);  // One of its questions.

// While somebody looks, the fleet is read again this long after the last reading, and never more
// than a quarter of the time.
inline constexpr absl::Duration kPause = absl::Seconds(5);
inline constexpr int kPausePerReading = 3;
// How many templates are not fine in a cluster is shown beside newer things at least this long.
inline constexpr absl::Duration kCountsFor = absl::Minutes(1);
// While it is read, the control plane is asked this often whether it is still there: the reading
// ends at once when it is not.
inline constexpr absl::Duration kProbe = absl::Seconds(2);
// A stream says that it is alive this often.
inline constexpr absl::Duration kHeartbeat = absl::Seconds(15);
// A stream of a user whom the API server has named ends after this time, so that it has to say
// again who looks. A token is tried at each reading instead.
inline constexpr absl::Duration kNamedFor = absl::Minutes(10);

// An answer other than that about the whole fleet is shown to all with the same credentials for
// three times as long as it took to make, within these, and no longer than until the fleet has been
// read again. All that are kept have so many bytes together; those that were asked for last stay.
inline constexpr absl::Duration kShareAtLeast = absl::Seconds(1);
inline constexpr absl::Duration kShareAtMost = absl::Seconds(30);
inline constexpr size_t kMostSharedBytes = 32 << 20;
// A longer answer is sent in pieces, as its reader takes them.
inline constexpr size_t kPieceBytes = kMostStreamBacklog / 2 - 1024;

// What one answer shows at most; it says how much it has left out.
inline constexpr size_t kMostTemplatesOfGroup = 200;
inline constexpr size_t kMostEvents = 500;          // Of the last hour, the latest.
inline constexpr size_t kMostEventsOfObject = 100;  // Of one object, the latest.
inline constexpr size_t kMostEventsRead = 20000;
inline constexpr size_t kMostWritersRead = 20000;  // Objects whose last writer is looked at.
inline constexpr size_t kMostFound = 500;          // By a search.
inline constexpr size_t kMostMessageBytes = 2000;  // Of one message.
inline constexpr size_t kMostMembersAsked = 200;
// Selectors of policies of which no claim says whether what they select exists.
inline constexpr size_t kMostSelectorsAsked = 64;
inline constexpr absl::Duration kAskSelectorsFor = absl::Seconds(1);

}  // namespace lens::serve

#endif  // LENS_SERVE_BOUNDS_H_
