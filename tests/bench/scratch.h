#pragma once
// A folder of a benchmark that goes with it.
#include <unistd.h>

#include <filesystem>
#include <string>

namespace cupel::bench {

class Scratch {
 public:
  explicit Scratch(const std::string& name)
      : path{std::filesystem::temp_directory_path() /
             ("cupel-" + name + "-" + std::to_string(::getpid()))} {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  const std::filesystem::path path;
};

}  // namespace cupel::bench
