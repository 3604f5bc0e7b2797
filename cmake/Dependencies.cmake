# Third-party libraries, all from Debian packages (scripts/packages.txt), each as km_dep_<name>.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(cpprestsdk REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(prometheus-cpp REQUIRED CONFIG)
find_package(glog REQUIRED)
find_package(CLI11 REQUIRED CONFIG)
pkg_check_modules(LUAJIT REQUIRED IMPORTED_TARGET luajit)
pkg_check_modules(PROFILER REQUIRED IMPORTED_TARGET libprofiler)
find_library(RE2_LIBRARY re2 REQUIRED)  # Its pkg-config file asks for other compiler flags than ours.

function(km_dep name)
  add_library(km_dep_${name} INTERFACE)
  target_link_libraries(km_dep_${name} INTERFACE ${ARGN})
endfunction()

km_dep(absl absl::base absl::status absl::statusor absl::strings absl::str_format absl::time
       absl::synchronization absl::span absl::flat_hash_map absl::flat_hash_set absl::hash
       absl::random_random absl::cord absl::symbolize Threads::Threads)
km_dep(rapidjson)  # Headers only.
km_dep(glog glog::glog)
km_dep(boost Boost::headers)
km_dep(prometheus prometheus-cpp::core)
km_dep(yaml yaml-cpp)
km_dep(openssl OpenSSL::SSL OpenSSL::Crypto)
km_dep(zlib ZLIB::ZLIB)
km_dep(cpprest cpprestsdk::cpprest)
km_dep(cli11 CLI11::CLI11)
km_dep(luajit PkgConfig::LUAJIT)
km_dep(re2 ${RE2_LIBRARY})
km_dep(gperftools PkgConfig::PROFILER)
