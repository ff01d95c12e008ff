#pragma once
// What machines boot or are installed with: one image of the store, as its manifest describes it.
// The manifest is read strictly: whoever can write it may not be whoever runs Cupel. Pure.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::images {

enum class ImageKind {
  ram,        // a system that runs from memory: ram.efi, vmlinuz, initrd, ram.iso, root.squashfs
  disk,       // a whole disk, compressed: disk.raw.zst
  installer,  // a vendor's, which asks for answers: ram.efi, vmlinuz, initrd, cupel-node
};

std::string_view to_string(ImageKind kind);

inline constexpr std::string_view kDiskFile = "disk.raw.zst";

struct ImageFile {
  std::string name{};
  std::string sha256{};  // 64 lower-case hexadecimal digits
  std::uint64_t size = 0;
  friend bool operator==(const ImageFile&, const ImageFile&) = default;
};

struct Package {
  std::string name{}, version{};
  friend bool operator==(const Package&, const Package&) = default;
};

/// Where a file has room for what differs from node to node.
struct Slot {
  std::uint64_t offset = 0, size = 0;
  friend bool operator==(const Slot&, const Slot&) = default;
};

struct ImageManifest {
  std::string name{};
  ImageKind kind = ImageKind::disk;
  std::string arch{};  // as uname -m has it: x86_64, aarch64
  std::string made{};  // such as 2026-11-23T21:00:00Z
  std::vector<ImageFile> files{};
  // Of a disk.
  std::uint64_t content_size = 0;  // uncompressed
  std::string content_sha256{};    // empty: not known
  std::string compression{};       // zstd
  std::string efi{};               // the loader's path on the ESP, such as \EFI\debian\shimx64.efi
  bool bios = false;               // its first sector holds a boot loader for a BIOS
  std::string no_seed{};           // why cloud-init would not find a seed; empty: not known
  std::string os_id{}, os_version{};  // as /etc/os-release has them
  // Of an installer.
  std::string answers{};  // how it is answered: preseed
  std::string mirror{};   // where its packages come from: http://10.0.0.1/debian
  // Of a RAM system and an installer.
  std::string command_line{};  // the kernel's, before what a ticket adds
  // Of a RAM system.
  bool signed_efi = false;           // then ram.efi cannot be changed
  bool https_only = false;           // it checks certificates, and takes no ticket by plain HTTP
  std::string boot_host{};           // the boot server's address; empty: each that the CA verifies
  std::optional<Slot> iso_ticket{};  // ticket.json in ram.iso, padded with blanks
  std::vector<Package> packages{};   // what is in it
  friend bool operator==(const ImageManifest&, const ImageManifest&) = default;
};

/// Letters, digits, '.', '_' and '-', the first one a letter or a digit, at most 64.
bool is_image_name(std::string_view name);

/// Errors: kInvalid, with what is wrong in it.
Result<ImageManifest> parse_manifest(std::string_view text);
std::string manifest_text(const ImageManifest& manifest);

/// Whether a RAM system with this command line takes tickets by plain HTTP although it has
/// certificates, as cupel-node reads it: the first cupel.http= of it is "yes".
bool allows_http(std::string_view command_line);

/// How a boot server is spoken to.
struct BootServerPlace {
  std::string host{};  // an address
  bool has_tls = false;
};

/// An IPv4 or IPv6 address as a boot server's URL has it, without brackets; nothing of other text.
std::optional<std::string> url_address(const std::string& text);

/// Why machines that boot it would not obey this boot server, and what to do; empty: they would.
std::string why_not_obeyed(const ImageManifest& manifest, const BootServerPlace& server);

/// Why a node whose disk gets this image cannot have a seed, and what to do; empty: it can, as far
/// as is known. `no_seed` as the manifest has it.
std::string why_not_seeded(std::string_view image, std::string_view no_seed);

/// An image in its folder.
struct Image {
  ImageManifest manifest{};
  std::filesystem::path folder{};

  const ImageFile* find(std::string_view file) const;
  /// Errors: kNotFound, with what the image has.
  Result<std::filesystem::path> path_of(std::string_view file) const;
  /// What playbooks pin: of a disk, the SHA-256 of its compressed stream; of others, that of
  /// ram.efi.
  std::string digest() const;
  std::uint64_t size() const;  // of all files
};

}  // namespace cupel::images
