#pragma once
// What `grep -H . FILES` prints of /proc and /sys ("path:line"), as a tree of devices.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::burnin {

/// Attributes of one device by their path below it: "ports/1/rate" -> "400 Gb/sec (4X NDR)".
using Attributes = std::map<std::string, std::string, std::less<>>;

/// By the device's name: "mlx5_0".
using Devices = std::map<std::string, Attributes, std::less<>>;

class Sysfs {
 public:
  /// Pure. Lines that begin otherwise than with /proc/ or /sys/ are left aside. At most 200,000
  /// lines; of each attribute the first line, of "uevent" files each KEY by itself.
  explicit Sysfs(std::string_view text);

  /// Devices of a class by its folder, as "/sys/class/nvme".
  Devices below(std::string_view folder) const;

  /// The first line of a file; nothing if there was none.
  std::optional<std::string> file(std::string_view path) const;

  /// All lines of a file, in order.
  std::vector<std::string_view> lines_of(std::string_view path) const;

  bool empty() const { return lines_.empty(); }

 private:
  struct Line {
    std::string_view path;
    std::string_view text;
  };
  std::vector<Line> lines_;  // into the text that was given
};

/// The attribute, or an empty text.
std::string_view at(const Attributes& attributes, std::string_view path);

}  // namespace cupel::burnin
