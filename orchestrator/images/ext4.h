#pragma once
// The files of an ext2, ext3 or ext4 file system within a disk image, which is not mounted: the few
// short texts of a root that decide where its seed must lie. Any bytes may stand there. No journal
// is replayed, and no link followed.
// Source: Linux, Documentation/filesystems/ext4 (super block, group descriptors, inodes, extents,
// directory entries).
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel::images {

class Ext4 {
 public:
  /// Of the file system that begins at `start`, in bytes. `file` must outlive it. Errors:
  /// kNotFound: there is none; kMalformed: it has a feature that is not read here, or is damaged.
  static Result<Ext4> open(std::ifstream& file, std::uint64_t start);

  /// By a path such as etc/fstab. Errors: kNotFound: there is none, or it is no file; kMalformed:
  /// it cannot be read, since something is damaged, encrypted, a link, above 1 MiB, or inside its
  /// inode.
  Result<std::string> text(std::string_view path) const;

  /// Errors: kMalformed, as of text().
  Result<bool> has_folder(std::string_view path) const;

 private:
  struct Inode {
    std::uint64_t mode = 0, size = 0, flags = 0;
    std::string blocks{};  // 60 bytes: where its bytes are
  };

  explicit Ext4(std::ifstream& file) : file_{&file} {}
  std::string block(std::uint64_t number) const;
  Result<Inode> inode(std::uint64_t number) const;
  Result<Inode> find(std::string_view path) const;
  Result<std::string> bytes_of(const Inode& inode) const;
  /// Of the file's block of this number, its number on the file system; 0: it is a hole, of zeros.
  /// Nothing: it cannot be read.
  std::optional<std::uint64_t> place_of(const Inode& inode, std::uint64_t requested) const;
  std::optional<std::uint64_t> place_in_extents(std::string node, std::uint64_t requested) const;
  std::optional<std::uint64_t> place_in_map(const Inode& inode, std::uint64_t requested) const;

  std::ifstream* file_;
  std::uint64_t start_ = 0, block_bytes_ = 0, inode_bytes_ = 0, descriptor_bytes_ = 0;
  std::uint64_t descriptors_ = 0;  // in bytes of the file
  std::uint64_t inodes_per_group_ = 0;
};

}  // namespace cupel::images
