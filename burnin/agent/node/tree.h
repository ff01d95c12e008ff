#pragma once
// Files of the node below a root: "/" in production, a captured or written tree in tests. Bounded,
// since drivers write what stands in them. Never follows a link out of the root by itself:
// resolved() says where one leads. A virtual rack has a Tree of its own, over files in memory.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::agent {

/// One name, as ls -l shows it.
struct TreeEntry {
  char kind = '?';     // '-', 'd', 'l'; '?': none of these
  unsigned mode = 0;   // the twelve bits: 0755
  unsigned owner = 0;  // its user's number
};

class Tree {
 public:
  static constexpr std::size_t kMostText = 256 * 1024;  // bytes of one file
  static constexpr std::size_t kMostNames = 8192;       // of one folder

  explicit Tree(std::string root = "/");
  Tree(const Tree&) = default;
  Tree(Tree&&) = default;
  Tree& operator=(const Tree&) = default;
  Tree& operator=(Tree&&) = default;
  virtual ~Tree() = default;

  /// Without blanks around it; nothing where the file is absent, unreadable or empty.
  std::optional<std::string> text(std::string_view path) const;
  /// A finite number, the whole file; nothing otherwise. "0x1f" and "1000\n" are numbers.
  std::optional<double> number(std::string_view path) const;
  /// As they are, at most `most`; nothing where the file can't be opened.
  virtual std::optional<std::string> bytes(std::string_view path, std::size_t most) const;
  std::optional<std::string> bytes(std::string_view path) const { return bytes(path, kMostText); }
  /// What lies in a folder, in natural order (gpu10 after gpu9); none where there is no folder.
  virtual std::vector<std::string> names(std::string_view folder) const;
  /// Where the path leads in the end, below the root: "/sys/devices/pci0000:00/0000:00:01.0".
  virtual std::optional<std::string> resolved(std::string_view path) const;
  virtual bool exists(std::string_view path) const;
  /// Follows no link at the path's end; nothing where there is no such name.
  virtual std::optional<TreeEntry> entry(std::string_view path) const;
  /// The number of the user that this program runs as.
  virtual unsigned user() const;

  /// For open(2): with the root in front.
  std::string real(std::string_view path) const;

 private:
  std::string root_;  // without a slash at its end
};

/// A finite decimal number, or "0x...": the whole text.
std::optional<double> number_in(std::string_view text);
/// What follows the last slash.
std::string_view last_name(std::string_view path);
/// "0000:1b:00.0" of "00000000:1B:00.0", "0000:1b:00" and "1b:00.0"; nothing of what is no address.
std::optional<std::string> pci_address(std::string_view text);
/// gpu9 before gpu10.
bool comes_before(std::string_view left, std::string_view right);

}  // namespace cupel::agent
