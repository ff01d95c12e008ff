#pragma once
// What a person types into a console, parted into what is sent and what is meant for us: the escape
// of ssh, `~.` at the beginning of a line. Pure.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::console {

struct Typed {
  enum class Kind { bytes, end, send_break, help } kind = Kind::bytes;
  std::string bytes{};
  friend bool operator==(const Typed&, const Typed&) = default;
};

class Escape {
 public:
  /// Nothing: every byte is sent.
  explicit Escape(std::optional<char> escape = '~') : escape_{escape} {}

  /// In order; nothing is lost and nothing is added. The escape twice sends it once; before any
  /// other byte it is sent with that.
  std::vector<Typed> feed(std::string_view typed);

 private:
  std::optional<char> escape_;
  bool at_line_start_ = true;
  bool pending_ = false;  // an escape was typed, and nothing yet after it
};

/// For people, with line ends for a raw terminal.
std::string help_text(char escape);

}  // namespace cupel::console
