#pragma once
// cupel-burn itself, started over the driver, cuBLASLt and NCCL that work in the host's memory
// (fake/driver/faults.h says what can go wrong there).
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/json.h"

namespace cupel::burn {

struct Burned {
  int status = -1;  // 128 and more: ended by a signal
  double seconds = 0;
  std::vector<json::object> lines{};
  std::string errors{};  // what it wrote beside its report

  std::vector<json::object> of_kind(std::string_view kind) const;
  /// Each GPU that a line of this kind names, once; "" where it names none.
  std::vector<std::string> parts(std::string_view kind) const;
  bool is_complete() const;
};

/// Runs from its construction on.
class Burning {
 public:
  /// `faults`: variables such as FAKE_GPUS=3. Several begin together, and wait for one another's
  /// cores.
  Burning(const std::string& arguments, const std::vector<std::string>& faults);
  ~Burning();
  Burning(const Burning&) = delete;
  Burning& operator=(const Burning&) = delete;

  /// Waits until it has printed a line that contains this.
  void until(std::string_view text);
  /// To it and its children, as the supervisor on a node does.
  void terminate();
  /// To it alone, which then ends without a word.
  void kill();
  /// What it has printed so far.
  const std::string& whole_text() const { return text_; }
  /// Waits for its end.
  Burned end();
  const std::string& command() const { return command_; }

 private:
  bool read_some();

  std::string command_;
  pid_t pid_ = -1;
  int output_ = -1;
  int errors_ = -1;  // a file without a name
  double begun_ = 0;
  std::string text_;
};

}  // namespace cupel::burn
