#pragma once
// A node's files, in memory and bounded. Nothing here ever touches a file of the host.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::rehearsal {

struct Inode;
using InodePtr = std::shared_ptr<Inode>;

struct Inode {
  enum class Kind { file, folder, link, generated, device };
  Kind kind = Kind::file;
  unsigned mode = 0644;
  double modified = 0;  // seconds since 1970, by the node's clock
  std::uint64_t number = 0;
  std::string bytes{};     // content of a file, target of a link, name of a device
  std::uint64_t size = 0;  // of a file; what is beyond `bytes` reads as zeros
  std::map<std::string, InodePtr, std::less<>> entries{};
  std::function<std::string()> generate{};

  bool is_folder() const { return kind == Kind::folder; }
  std::string content() const;
  std::uint64_t length() const;
};

class FileSystem {
 public:
  explicit FileSystem(std::uint64_t limit);

  /// Where a name lives: its folder and last part. `error` is an errno, 0 if the folder exists.
  struct Place {
    InodePtr folder{};
    std::string name{};
    InodePtr node{};  // nullptr where nothing is there yet
    int error = 0;
  };

  InodePtr root() const { return root_; }
  /// Absolute and without "." and "..", seen from `folder`. Symbolic links stay.
  static std::string absolute(std::string_view folder, std::string_view path);

  /// nullptr if it is not there. Follows symbolic links, the last one only if asked.
  InodePtr find(std::string_view absolute_path, bool follow = true) const;
  Place place(std::string_view absolute_path, bool follow = true) const;
  /// The path with every symbolic link resolved; empty if it does not exist.
  std::string real_path(std::string_view absolute_path) const;

  InodePtr make_file(const Place& place, unsigned mode, double now);
  InodePtr make_folder(const Place& place, unsigned mode, double now);
  /// All folders on the way, for building the tree. An existing one is as good.
  InodePtr make_folders(std::string_view absolute_path);
  /// A file with that content, folders included; replaces what was there.
  InodePtr put(std::string_view absolute_path, std::string bytes, unsigned mode = 0644);
  InodePtr put_generated(std::string_view absolute_path, std::function<std::string()> generate);
  InodePtr put_generated(Inode& folder, std::string name, std::function<std::string()> generate);
  InodePtr put_link(std::string_view absolute_path, std::string target);
  void remove(const Place& place);
  void remove_tree(std::string_view absolute_path);

  /// Writes at an offset. False where the disk is full.
  bool write(Inode& file, std::uint64_t at, std::string_view bytes, double now);
  void truncate(Inode& file, std::uint64_t size, double now);

  /// As a node's disk looks; what this one really holds is bounded much lower.
  static constexpr double shown_bytes() { return 1.8e12; }
  double shown_used() const {
    constexpr double kSystem = 4.1e10;
    return full_ ? shown_bytes() : kSystem + static_cast<double>(used_);
  }
  std::uint64_t used() const { return used_; }
  std::uint64_t limit() const { return limit_; }
  /// Somebody has filled it: no write finds space.
  bool full() const { return full_; }
  void set_full(bool full) { full_ = full; }

 private:
  InodePtr make(Inode::Kind kind, unsigned mode, double now);
  void forget(const InodePtr& node);
  void forget_tree(const InodePtr& node);
  Place walk(std::string_view path, bool follow, int links, std::string* real) const;

  std::uint64_t limit_;
  std::uint64_t used_ = 0;
  bool full_ = false;
  std::uint64_t next_ = 2;
  InodePtr root_;
};

}  // namespace cupel::rehearsal
