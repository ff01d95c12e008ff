#pragma once
// Files of /proc and /sys as evidence: "PATH:LINE", the form that the controller reads
// (burnin/node/sysfs.h). For what it judges by many small files; a number that a stage judges by
// itself is measured.
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

class FileLines {
 public:
  static constexpr std::size_t kMost = 2u << 20;  // bytes; the rest is left out, and reported cut

  explicit FileLines(const Tree& tree) : tree_{tree} {}

  /// Every line of the file that is not blank; nothing where it can't be read.
  void add(const std::string& path, std::size_t most = Tree::kMostText);
  /// Of those the ones that contain one of these words.
  void add_with(const std::string& path, const std::vector<std::string_view>& any_of,
                std::size_t most = Tree::kMostText);
  /// A line that is of no file.
  void add_line(std::string_view line);

  const std::string& text() const { return text_; }
  void print(StageLines& lines, std::string_view name, std::string_view part = "") const;

 private:
  const Tree& tree_;
  std::string text_{};
  bool cut_ = false;
};

/// Names in a folder that begin so and go on with a digit: "cpu12", not "cpufreq".
std::vector<std::string> numbered(const Tree& tree, std::string_view folder,
                                  std::string_view begins);

}  // namespace cupel::agent
