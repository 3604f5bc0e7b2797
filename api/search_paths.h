// Paths below which karmada-search serves other things than objects of its own.
#ifndef API_SEARCH_PATHS_H_
#define API_SEARCH_PATHS_H_

namespace api {

// What follows: /karmada/proxy/<path of a request to all member clusters>.
inline constexpr char kProxyingPath[] = "/apis/search.karmada.io/v1alpha1/proxying";
// What follows: /cache/<path of a resource>, or /opensearch/<...>.
inline constexpr char kSearchPath[] = "/apis/search.karmada.io/v1alpha1/search";

}  // namespace api

#endif  // API_SEARCH_PATHS_H_
