// The mark of a Work that keeps the duty to delete what another Work has left in the cluster.
#ifndef API_STAND_IN_H_
#define API_STAND_IN_H_

namespace api {

// Only this program writes it: "<name>/<uid>" of the Work that has handed its objects over.
inline constexpr char kStandsInForAnnotation[] = "work.karmada.io/stands-in-for";

}  // namespace api

#endif  // API_STAND_IN_H_
