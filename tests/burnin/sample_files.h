#pragma once
// The captures of one kind, all of them: a table of what is read of each must leave none out.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/samples.h"

namespace cupel::burnin {

/// "dcgmi-diag/a.json", "dcgmi-diag/b.json"; none where there are no samples.
inline std::vector<std::string> sample_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator{testing::samples() / folder, none})
    files.push_back(folder + "/" + entry.path().filename().string());
  std::ranges::sort(files);
  return files;
}

}  // namespace cupel::burnin
