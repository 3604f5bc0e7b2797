# km_build_version: an object with the version of the tree as it is when programs are built, not when the
# build was configured. It is looked up at each build and compiled anew only when it has changed. Programs
# link it, and tests do not, so that a commit links six programs anew and nothing else.
set(out ${CMAKE_BINARY_DIR}/generated/build_stamp.cc)
add_custom_target(km_version
  COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DOUT=${out} -P ${CMAKE_SOURCE_DIR}/cmake/WriteVersion.cmake
  BYPRODUCTS ${out} COMMENT "Looking up the version" VERBATIM)
add_library(km_build_version OBJECT ${out})
target_include_directories(km_build_version PRIVATE ${CMAKE_SOURCE_DIR})
add_dependencies(km_build_version km_version)
