#pragma once
// A regular file that is open for reading: what is put in its place later is not read.
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace cupel::images {

class OpenFile {
 public:
  using Ptr = std::shared_ptr<const OpenFile>;

  /// Errors: kNotFound; kInvalid (a link, a folder, a device).
  static Result<Ptr> open(const std::string& path);
  /// `path` is relative to `folder`, or absolute and inside. Neither ".." nor a link leads out.
  /// Errors: as above. Source: openat2(2), RESOLVE_BENEATH.
  static Result<Ptr> open_below(const std::string& folder, const std::string& path);

  /// Takes the descriptor over. Errors: kInvalid (no regular file).
  static Result<Ptr> of(int descriptor, const std::string& name) {
    return regular(descriptor, name);
  }

  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  int fd() const { return fd_; }
  /// As it was opened.
  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Whether both are one file, unchanged in between.
  bool is(const OpenFile& other) const;
  /// At most `size` bytes from `offset` on; fewer at the end. Errors: kInvalid (unreadable).
  Result<std::string> read(std::uint64_t offset, std::size_t size) const;
  /// Whether these bytes are in the page cache, so that sending them does not wait for the disk.
  /// One byte of each 32 KiB is asked for: readahead fills no less. Source: preadv2(2), RWF_NOWAIT;
  /// false where the file system does not know it.
  bool is_cached(std::uint64_t offset, std::uint64_t size) const;

 private:
  OpenFile(int fd, std::uint64_t size, std::string path)
      : fd_{fd}, size_{size}, path_{std::move(path)} {}
  static Result<Ptr> regular(int fd, const std::string& path);

  int fd_;
  std::uint64_t size_;
  std::string path_;
};

}  // namespace cupel::images
