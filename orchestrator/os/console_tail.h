#pragma once
// What the recorded console of a node has said since a moment: the run's own recording is read, so
// that nobody takes the console away from it.
#include <filesystem>
#include <map>
#include <string>

namespace cupel::os {

class ConsoleTail {
 public:
  /// `folder`: console::console_folder() of the run.
  ConsoleTail(std::filesystem::path folder, std::string node)
      : folder_{std::move(folder)}, node_{std::move(node)} {}

  void mark();
  /// At most the last 64 KiB. Empty: nothing, or nobody records it.
  std::string since_mark() const;

 private:
  std::filesystem::path folder_;
  std::string node_;
  std::map<std::filesystem::path, std::uintmax_t> marked_{};  // bytes of each file then
};

}  // namespace cupel::os
