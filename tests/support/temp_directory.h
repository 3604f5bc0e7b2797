// A directory that is removed with the test.
#ifndef TESTS_SUPPORT_TEMP_DIRECTORY_H_
#define TESTS_SUPPORT_TEMP_DIRECTORY_H_

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace tests {

class TempDirectory {
 public:
  TempDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "km-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempDirectory() { std::filesystem::remove_all(path_); }
  TempDirectory(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }
  // Replaces the file in one step, as the kubelet replaces mounted secrets; returns its path.
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string target = path_ + "/" + name, fresh = target + ".new";
    std::filesystem::create_directories(std::filesystem::path(target).parent_path());
    std::ofstream(fresh, std::ios::binary) << text;
    std::filesystem::rename(fresh, target);
    return target;
  }
  std::string WriteScript(const std::string& name, const std::string& commands) const {
    const std::string target = Write(name, "#!/bin/sh\n" + commands);
    std::filesystem::permissions(target, std::filesystem::perms::owner_all);
    return target;
  }

 private:
  std::string path_;
};

}  // namespace tests

#endif  // TESTS_SUPPORT_TEMP_DIRECTORY_H_
