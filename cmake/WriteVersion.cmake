# Writes the source with the version of the tree, if it has changed: cmake -DROOT=... -DOUT=... -P this.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${ROOT}/scripts/version.sh all OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
foreach(name version commit tree date)
  string(REGEX MATCH "(^|\n)${name}=([^\n]*)" match "${lines}")
  set(${name} "${CMAKE_MATCH_2}")
endforeach()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT "// Made by cmake/WriteVersion.cmake.
#include \"config/internal/build_stamp.h\"

namespace config::internal {

BuildStamp Stamp() { return {\"@version@\", \"@commit@\", \"@tree@\", \"@date@\"}; }

}  // namespace config::internal
")
