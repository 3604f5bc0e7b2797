// The flags that have an effect in this program.
#ifndef CONFIG_INTERNAL_USED_FLAGS_H_
#define CONFIG_INTERNAL_USED_FLAGS_H_

#include <vector>

#include "absl/types/span.h"
#include "config/admission_flags.h"
#include "config/options.h"
#include "config/support.h"

namespace CLI {
class App;
}

namespace config::internal {

// Adds the flags; parsing `app` then fills `options`. REQUIRES: `options` outlives the parsing.
void AddUsedFlags(CLI::App& app, Options& options);

// Adds those of the flags that every program has which runs loops. REQUIRES: as above.
void AddCommonFlags(CLI::App& app, Options& options);

// Adds those about member clusters, for the same programs. REQUIRES: as above.
void AddMemberFlags(CLI::App& app, Options& options);

// Adds the flags of AdmissionFlags. REQUIRES: `admission` outlives the parsing.
void AddAdmissionFlags(CLI::App& app, AdmissionFlags& admission);

// Returns the flags of `app` with what is to say of them: of some by `notes`, and of those without
// effect by `unused`.
std::vector<FlagSupport> FlagTable(const CLI::App& app, absl::Span<const Support> notes,
                                   absl::Span<const Support> unused);

// Returns remarks on some of the flags for docs/support.md.
absl::Span<const Support> UsedFlagNotes();

}  // namespace config::internal

#endif  // CONFIG_INTERNAL_USED_FLAGS_H_
