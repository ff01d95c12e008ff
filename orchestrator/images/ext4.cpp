#include "orchestrator/images/ext4.h"

#include "base/text.h"
#include "base/try.h"
#include "orchestrator/images/disk_bytes.h"

namespace cupel::images {
namespace {

constexpr std::uint64_t kMostBytes = 1U << 20U;  // of a file or a folder
constexpr std::uint64_t kTypeMask = 0xf000, kFolderType = 0x4000, kFileType = 0x8000,
                        kLinkType = 0xa000;
constexpr std::uint64_t kRootInode = 2;

Error unreadable(std::string_view what) {
  return {Code::kMalformed, "ext4: " + std::string{what} + " cannot be read"};
}
Error absent(std::string_view what) {
  return {Code::kNotFound, "ext4: there is no " + printable(what)};
}

/// Its inode; 0: the folder has no such name. Nothing: the folder is damaged.
std::optional<std::uint64_t> entry_named(std::string_view folder, std::string_view name) {
  constexpr std::size_t kHead = 8;
  while (folder.size() >= kHead) {
    const auto length = number_at(folder, 4, 2), letters = number_at(folder, 6, 1);
    if (length < kHead || length > folder.size()) return std::nullopt;
    const auto inode = number_at(folder, 0, 4);
    if (inode != 0 && kHead + letters <= length && folder.substr(kHead, letters) == name)
      return inode;
    folder.remove_prefix(length);
  }
  return 0;
}

}  // namespace

Result<Ext4> Ext4::open(std::ifstream& file, std::uint64_t start) {
  constexpr std::size_t kSuperBlock = 1024;
  // Those that change neither descriptors nor folders, and those that inodes say of themselves:
  // filetype, extents, 64bit, mmp, flex_bg, ea_inode, csum_seed, largedir, inline_data, encrypt,
  // casefold. Of one to recover the journal has what would be missing here.
  constexpr std::uint64_t kRead =
      0x2 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x2000 | 0x4000 | 0x8000 | 0x10000 | 0x20000;
  constexpr std::uint64_t k64Bit = 0x80;
  const auto head = bytes_at(file, start + kSuperBlock, kSuperBlock);
  if (head.size() < kSuperBlock || number_at(head, 56, 2) != 0xef53)
    return absent("file system of this kind");
  const auto shift = number_at(head, 24, 4), features = number_at(head, 96, 4);
  const bool is_old = number_at(head, 76, 4) == 0;
  Ext4 made{file};
  made.start_ = start;
  made.inodes_per_group_ = number_at(head, 40, 4);
  made.inode_bytes_ = is_old ? 128 : number_at(head, 88, 2);
  made.descriptor_bytes_ = (features & k64Bit) != 0 ? number_at(head, 254, 2) : 32;
  if (shift > 6 || (!is_old && (features & ~kRead) != 0) || made.inodes_per_group_ == 0 ||
      made.inode_bytes_ < 128 || made.descriptor_bytes_ < 32)
    return unreadable("its super block");
  made.block_bytes_ = std::uint64_t{1024} << shift;
  made.descriptors_ = start + (number_at(head, 20, 4) + 1) * made.block_bytes_;
  return made;
}

std::string Ext4::block(std::uint64_t number) const {
  return bytes_at(*file_, start_ + number * block_bytes_, block_bytes_);
}

Result<Ext4::Inode> Ext4::inode(std::uint64_t number) const {
  constexpr std::size_t kOldInode = 128, kBlocks = 40, kBlockBytes = 60;
  if (number == 0) return unreadable("an inode");
  const auto group = (number - 1) / inodes_per_group_, in_group = (number - 1) % inodes_per_group_;
  const auto descriptor =
      bytes_at(*file_, descriptors_ + group * descriptor_bytes_, descriptor_bytes_);
  if (descriptor.size() < descriptor_bytes_) return unreadable("a group's descriptor");
  const auto high = descriptor_bytes_ >= 64 ? number_at(descriptor, 40, 4) : 0;
  const auto table = (high << 32) | number_at(descriptor, 8, 4);
  const auto bytes =
      bytes_at(*file_, start_ + table * block_bytes_ + in_group * inode_bytes_, kOldInode);
  if (bytes.size() < kOldInode) return unreadable("an inode");
  Inode found{.mode = number_at(bytes, 0, 2),
              .size = number_at(bytes, 4, 4),
              .flags = number_at(bytes, 32, 4),
              .blocks = bytes.substr(kBlocks, kBlockBytes)};
  // Of a folder these bytes were another field once.
  if ((found.mode & kTypeMask) != kFolderType) found.size |= number_at(bytes, 108, 4) << 32;
  return found;
}

std::optional<std::uint64_t> Ext4::place_in_extents(std::string node,
                                                    std::uint64_t requested) const {
  constexpr std::size_t kEntry = 12;
  constexpr std::uint64_t kMagic = 0xf30a, kLongest = 32768;
  constexpr int kDeepest = 5;
  for (int level = 0; level <= kDeepest; ++level) {
    if (node.size() < kEntry || number_at(node, 0, 2) != kMagic) return std::nullopt;
    const auto count = number_at(node, 2, 2), depth = number_at(node, 6, 2);
    if (count > node.size() / kEntry - 1) return std::nullopt;
    std::string_view nearest;
    for (std::uint64_t i = 1; i <= count; ++i) {
      const auto each = std::string_view{node}.substr(i * kEntry, kEntry);
      if (number_at(each, 0, 4) <= requested) nearest = each;
    }
    if (nearest.empty()) return 0;
    if (depth == 0) {
      const auto within = requested - number_at(nearest, 0, 4), length = number_at(nearest, 4, 2);
      // One that is longer is allocated, and not written.
      if (length > kLongest || within >= length) return 0;
      return ((number_at(nearest, 6, 2) << 32) | number_at(nearest, 8, 4)) + within;
    }
    node = block((number_at(nearest, 8, 2) << 32) | number_at(nearest, 4, 4));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Ext4::place_in_map(const Inode& inode, std::uint64_t requested) const {
  constexpr std::uint64_t kDirect = 12, kNumber = 4;
  if (requested < kDirect) return number_at(inode.blocks, requested * kNumber, kNumber);
  const auto behind = requested - kDirect;
  // A file of 1 MiB needs the second table only where blocks have 1024 bytes.
  if (behind >= block_bytes_ / kNumber) return std::nullopt;
  const auto table = number_at(inode.blocks, kDirect * kNumber, kNumber);
  if (table == 0) return 0;
  const auto numbers = block(table);
  if (numbers.size() < block_bytes_) return std::nullopt;
  return number_at(numbers, behind * kNumber, kNumber);
}

std::optional<std::uint64_t> Ext4::place_of(const Inode& inode, std::uint64_t requested) const {
  constexpr std::uint64_t kInExtents = 0x80000;
  if ((inode.flags & kInExtents) != 0) return place_in_extents(inode.blocks, requested);
  return place_in_map(inode, requested);
}

Result<std::string> Ext4::bytes_of(const Inode& inode) const {
  constexpr std::uint64_t kEncrypted = 0x800, kInline = 0x10000000;
  if ((inode.flags & (kEncrypted | kInline)) != 0 || inode.size > kMostBytes)
    return unreadable("a file");
  std::string bytes;
  for (std::uint64_t number = 0; bytes.size() < inode.size; ++number) {
    const auto place = place_of(inode, number);
    if (!place) return unreadable("a file");
    const auto more = *place == 0 ? std::string(block_bytes_, '\0') : block(*place);
    if (more.size() < block_bytes_) return unreadable("a file");
    bytes += more;
  }
  bytes.resize(inode.size);
  return bytes;
}

Result<Ext4::Inode> Ext4::find(std::string_view path) const {
  TRY(auto at, inode(kRootInode));
  for (const auto name : split(path, '/')) {
    if ((at.mode & kTypeMask) == kLinkType) return unreadable("a link");
    if ((at.mode & kTypeMask) != kFolderType) return absent(path);
    TRY(const auto entries, bytes_of(at));
    const auto number = entry_named(entries, name);
    if (!number) return unreadable("a folder");
    if (*number == 0) return absent(path);
    TRY(at, inode(*number));
  }
  if ((at.mode & kTypeMask) == kLinkType) return unreadable("a link");
  return at;
}

Result<std::string> Ext4::text(std::string_view path) const {
  TRY(const auto found, find(path));
  if ((found.mode & kTypeMask) != kFileType) return absent(path);
  return bytes_of(found);
}

Result<bool> Ext4::has_folder(std::string_view path) const {
  const auto found = find(path);
  if (found) return (found->mode & kTypeMask) == kFolderType;
  if (found.error().code == Code::kNotFound) return false;
  return found.error();
}

}  // namespace cupel::images
