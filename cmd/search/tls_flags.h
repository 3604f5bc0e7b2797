// The flags about what clients may choose in a TLS handshake with karmada-search.
#ifndef CMD_SEARCH_TLS_FLAGS_H_
#define CMD_SEARCH_TLS_FLAGS_H_

namespace CLI {
class App;
}

namespace cmd {

struct ServingOptions;

// `s` must outlive `app`.
void AddTlsFlags(CLI::App& app, ServingOptions& s);

}  // namespace cmd

#endif  // CMD_SEARCH_TLS_FLAGS_H_
