#pragma once
// The terminals of this process, and how what went to them goes to controller.log instead.
#include <array>
#include <filesystem>

namespace cupel::cli {

/// Which of standard input, output and error are terminals. To be asked while they are there: one
/// that was hung up answers that it is none.
class Terminals {
 public:
  Terminals();
  bool output() const { return is_[1]; }
  bool any() const { return is_[0] || is_[1] || is_[2]; }

  /// What went to the terminal goes to the log from now on; what was redirected before stays so.
  void leave(const std::filesystem::path& state);

 private:
  std::array<bool, 3> is_{};
};

}  // namespace cupel::cli
