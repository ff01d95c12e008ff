#pragma once
// What a step that boots a machine needs of the boot server and of the image store. The real ones
// are netboot::BootService and images::ImageStore (controller/boot_files.cpp); tests bring their
// own.
#include <functional>

#include "base/task.h"
#include "orchestrator/netboot/ticket.h"

namespace cupel::os {

/// A file of an image, whole and with the digest that its manifest says.
struct BootFile {
  std::string path{};
  std::string sha256{};
  std::uint64_t size = 0;
};

/// An image of the store, as much of it as a boot needs.
struct BootImage {
  std::string name{};
  std::string arch{};
  std::string digest{};                     // what playbooks pin
  std::map<std::string, BootFile> files{};  // by the name in the boot server's URLs
  std::string command_line{};               // of its kernel, where it has one
  std::uint64_t content_size = 0;           // of a disk, uncompressed
  std::string compression{};
  std::string efi{};      // of a disk: its boot loader; empty: UEFI's default
  bool bios = false;      // of a disk: a BIOS starts it as well
  std::string no_seed{};  // of a disk: why cloud-init would not find a seed; empty: not known
  std::string mirror{};   // of an installer: where its packages come from; empty: it is none
};

inline bool is_installer(const BootImage& image) { return !image.mirror.empty(); }

struct BootInterface {
  /// Errors: kNotFound; kInvalid (it is no such image, or damaged).
  std::function<Result<BootImage>(std::string name)> ram_system;
  /// What is installed: a disk's image, or an installer. Errors: as those of ram_system.
  std::function<Result<BootImage>(std::string name)> os_image;
  /// See netboot::BootService.
  std::function<Result<netboot::Ticket>()> draw;
  std::function<Result<void>(const netboot::Ticket&, netboot::BootOrder, netboot::BootStage)> open;
  std::function<void(const std::string& token)> revoke;
  std::function<Task<Result<netboot::BootEvent>>(std::string token, Deadline)> next;
  /// Whether machines accept the boot server's certificate at this moment. One that was renewed in
  /// its file is shown from now on. Errors: kInvalid (it has expired), kNotFound.
  std::function<Result<void>()> check_certificate = []() -> Result<void> { return ok(); };
  /// The site's CA, PEM; empty: HTTP. Errors: kNotFound, kInvalid (it cannot be read, or is none).
  Result<std::string> ca = std::string{};
};

}  // namespace cupel::os
