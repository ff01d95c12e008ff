#pragma once
// Cuts a stream of bytes into lines, and a line that is too long into pieces, so that output
// without a line end needs no more memory than one piece. Pure.
#include <string>
#include <string_view>

namespace cupel::ssh {

/// How much of a UTF-8 text can be cut off behind whole characters. Text that is no UTF-8 is cut at
/// its end.
inline std::size_t whole_characters(std::string_view text) {
  constexpr std::size_t kLongestCharacter = 4;
  for (std::size_t back = 1; back <= kLongestCharacter && back < text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return text.size();
    if (byte < 0xC0) continue;  // in the middle of a character
    const std::size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

class LineCutter {
 public:
  static constexpr std::size_t kLongestPiece = 64 * 1024;  // bytes

  /// Calls `take(text, goes_on)` with each line without its end. `goes_on`: the line was longer
  /// than kLongestPiece, and the next call has more of it.
  template <class Take>
  void add(std::string_view bytes, const Take& take) {
    for (auto end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
      append(bytes.substr(0, end), take);
      take(begun_, false);
      begun_.clear();
      cut_ = false;
      bytes.remove_prefix(end + 1);
    }
    append(bytes, take);
  }

  /// A last line without an end.
  template <class Take>
  void finish(const Take& take) {
    if (!begun_.empty() || cut_) take(begun_, false);
    begun_.clear();
    cut_ = false;
  }

 private:
  template <class Take>
  void append(std::string_view bytes, const Take& take) {
    while (begun_.size() + bytes.size() > kLongestPiece) {
      const auto room = kLongestPiece - begun_.size();
      begun_ += bytes.substr(0, room);
      bytes.remove_prefix(room);
      const auto whole = whole_characters(begun_);
      take(std::string_view{begun_}.substr(0, whole), true);
      begun_.erase(0, whole);
      cut_ = true;
    }
    begun_ += bytes;
  }

  std::string begun_{};
  bool cut_ = false;  // pieces of this line were taken already
};

}  // namespace cupel::ssh
