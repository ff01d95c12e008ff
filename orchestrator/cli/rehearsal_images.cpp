#include "orchestrator/cli/rehearsal_images.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/try.h"
#include "inventory/load.h"
#include "inventory/shipped.h"
#include "orchestrator/cli/sim_program.h"
#include "orchestrator/images/image_store.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;
using images::ImageManifest;
using images::ImageStore;

constexpr const char* kRam = "virtual-ram";
constexpr const char* kDisk = "virtual-os";
constexpr std::size_t kLargestProfile = 1u << 20;
constexpr const char* kMade = "2026-01-01T00:00:00Z";  // the same bytes whenever they are made

/// Both images, whose files cupel-sim makes.
Result<void> make_images(const fs::path& programs, const ImageStore& store) {
  TRY(auto ram, store.begin(kRam));
  TRY(auto disk, store.begin(kDisk));
  TRY(const auto reported, ask_sim(programs, {"os-image", ram.folder().string()}));
  const auto size = [&](std::string_view path) {
    return static_cast<std::uint64_t>(number_at(reported, path).value_or(0));
  };
  const std::string file{images::kDiskFile};
  std::error_code failed;
  fs::rename(ram.folder() / file, disk.folder() / file, failed);
  if (failed) return Error{Code::kStorage, file + ": " + failed.message()};
  ImageManifest of_ram{
      .name = kRam, .kind = images::ImageKind::ram, .arch = "x86_64", .made = kMade};
  of_ram.command_line = "console=ttyS0";
  of_ram.iso_ticket = images::Slot{size("iso_ticket/offset"), size("iso_ticket/size")};
  ImageManifest of_disk{
      .name = kDisk, .kind = images::ImageKind::disk, .arch = "x86_64", .made = kMade};
  of_disk.content_size = size("content_size");
  of_disk.compression = "zstd";
  of_disk.efi = "\\EFI\\virtual\\linux.efi";
  TRY(store.keep(std::move(ram), std::move(of_ram), {"ram.efi", "ram.iso"}));
  TRY(store.keep(std::move(disk), std::move(of_disk), {file}));
  return ok();
}

Result<std::string> profile_text(const fs::path& file, const std::string& name) {
  auto text = read_file(file, kLargestProfile);
  if (text || text.error().code != Code::kNotFound) return text;
  const auto* shipped = inventory::shipped_file("inventory/profiles/" + name + ".yaml");
  if (shipped == nullptr) return Error{Code::kNotFound, "there is no profile " + name};
  return std::string{shipped->text};
}

std::string_view yes_or_no(bool is) { return is ? "yes" : "no"; }

/// `profile`, a YAML text, without what it says of `os:`, and with `os` there instead.
std::string with_os(std::string_view profile, std::string_view os) {
  std::string text;
  bool inside = false;
  for (const auto line : lines(profile)) {
    const bool indented = line.empty() || line.starts_with(' ') || line.starts_with('#');
    inside = line.starts_with("os:") || (inside && indented);
    if (!inside) text += std::string{line} + "\n";
  }
  return text + "os: " + std::string{os} + "\n";
}

}  // namespace

Result<std::string> free_boot_address() {
  using boost::asio::ip::tcp;
  boost::asio::io_context io;
  tcp::acceptor acceptor{io};
  boost::system::error_code failed;
  const tcp::endpoint any{boost::asio::ip::address_v4::loopback(), 0};
  (void)acceptor.open(any.protocol(), failed);
  if (!failed) (void)acceptor.bind(any, failed);
  if (failed) return Error{Code::kFailed, "no port for the boot server: " + failed.message()};
  return fmt::format("127.0.0.1:{}", acceptor.local_endpoint().port());
}

Result<void> add_rehearsal_images(const fs::path& programs, const fs::path& folder) {
  TRY(const auto store, ImageStore::open_or_make(folder / "images"));
  if (!store.find(kDisk)) {
    TRY(make_images(programs, store));
  }
  TRY(const auto disk, store.find(kDisk));
  const auto loaded = inventory::load_inventory((folder / "inventory.yaml").string());
  if (!loaded.inventory) return Error{Code::kInvalid, inventory::to_string(loaded.problems)};
  std::error_code failed;
  fs::create_directories(folder / "profiles", failed);
  for (const auto& [name, profile] : loaded.inventory->profiles) {
    const auto file = folder / "profiles" / (name + ".yaml");
    TRY(const auto text, profile_text(file, name));
    const auto os =
        fmt::format("{{image: {}, sha256: {}, ram: {}, seed: {}, grow: {}}}", kDisk, disk.digest(),
                    kRam, yes_or_no(profile.os.seed), yes_or_no(profile.os.grow));
    TRY(write_file(file, with_os(text, os)));
  }
  return ok();
}

}  // namespace cupel::cli
