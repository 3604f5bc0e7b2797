// Where LoadConnectionConfig finds the configuration, for messages.
#ifndef KUBE_KUBECONFIG_CONNECTION_ORIGIN_H_
#define KUBE_KUBECONFIG_CONNECTION_ORIGIN_H_

#include <string>

namespace kube {

// Returns which configuration LoadConnectionConfig takes when no file is given: "$KUBECONFIG
// (FILES)", "" for the account of the pod, or the file under $HOME.
std::string OriginOfConnection();

}  // namespace kube

#endif  // KUBE_KUBECONFIG_CONNECTION_ORIGIN_H_
