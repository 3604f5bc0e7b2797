// What an answer of 401 may mean, for messages about credentials.
#ifndef KUBE_CLIENT_REFUSED_CREDENTIALS_H_
#define KUBE_CLIENT_REFUSED_CREDENTIALS_H_

namespace kube {

// API servers do not say which of these it is. This text follows "refuses the credentials ... ".
inline constexpr char kRefusedCredentials[] =
    "(401 Unauthorized): their token or certificate has expired, is not valid yet, or is not known "
    "there";

}  // namespace kube

#endif  // KUBE_CLIENT_REFUSED_CREDENTIALS_H_
