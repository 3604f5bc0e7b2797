// Names of the API group under which `karmada-lens serve` stands behind the control plane's API
// server. Upstream has no such group.
#ifndef API_LENS_KEYS_H_
#define API_LENS_KEYS_H_

namespace api {

inline constexpr char kLensGroup[] = "lens.karmada.io";
inline constexpr char kLensVersion[] = "v1alpha1";

// Where the page is. What follows the path is a path of the page, such as "/" or "/api/fleet". API
// servers take the subresource "proxy" for one whose answers may go on for long, as updates do.
inline constexpr char kLensPagePath[] = "/apis/lens.karmada.io/v1alpha1/pages/fleet/proxy";

}  // namespace api

#endif  // API_LENS_KEYS_H_
