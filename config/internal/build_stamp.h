// What the build knows about the tree that it compiles.
#ifndef CONFIG_INTERNAL_BUILD_STAMP_H_
#define CONFIG_INTERNAL_BUILD_STAMP_H_

namespace config::internal {

// As scripts/version.sh prints them; unknown ones are "".
struct BuildStamp {
  const char* version;  // "v0.1.0"
  const char* commit;
  const char* tree;  // "clean" or "dirty"
  const char* date;  // Of the commit: "2026-11-24T17:11:21Z"
};

// Programs have a definition that the build makes again with each commit (cmake/Version.cmake).
// Tests have one that knows only the version in CMakeLists.txt.
BuildStamp Stamp();

}  // namespace config::internal

#endif  // CONFIG_INTERNAL_BUILD_STAMP_H_
