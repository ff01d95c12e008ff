#include "tests/support/boot_artefacts.h"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "base/text.h"
#include "tests/support/own_host/own_host.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;

std::string place_of(const fs::path& node_program) {
  if (const char* reported = std::getenv("CUPEL_BOOT_ARTEFACTS")) return reported;
  return (node_program.parent_path() / "boot-artefacts").string();
}

std::uint64_t first_number_in(const fs::path& file) {
  std::uint64_t number = 0;
  std::ifstream{file} >> number;
  return number;
}

}  // namespace

Result<BootArtefacts> boot_artefacts(const fs::path& node_program, const std::string& arch) {
  if (!fs::exists(node_program))
    return Error{Code::kUnsupported, "no " + node_program.string() +
                                         ": cmake --preset release && cmake --build "
                                         "build/release --target cupel-node"};
  const auto command = shell_quoted(SOURCE_DIR "/tests/support/boot/make-artefacts") + " " +
                       shell_quoted(place_of(node_program)) + " " +
                       shell_quoted(node_program.string()) + " " + arch + " 2>&1";
  const MachinesNetwork with_packages;
  auto* pipe = ::popen(command.c_str(), "re");  // NOLINT(cert-env33-c): a script of ours
  if (pipe == nullptr) return Error{Code::kUnsupported, "no process"};
  std::string output;
  char piece[4096];
  while (const auto got = std::fread(piece, 1, sizeof piece, pipe)) output.append(piece, got);
  const int status = ::pclose(pipe);
  const auto all = lines(output);
  const std::string last{all.empty() ? "" : all.back()};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{Code::kUnsupported, "no boot artefacts: " + last};
  const fs::path folder{last};
  return BootArtefacts{.ram_efi = folder / "ram.efi",
                       .vmlinuz = folder / "vmlinuz",
                       .initrd = folder / "initrd",
                       .ram_iso = folder / "ram.iso",
                       .iso_ticket = first_number_in(folder / "iso-ticket"),
                       .disk = folder / "disk.raw.zst",
                       .disk_size = first_number_in(folder / "disk-size"),
                       .bios_disk = folder / "bios/disk.raw.zst",
                       .bios_disk_size = first_number_in(folder / "bios/disk-size"),
                       .ca = folder.parent_path() / "ca.pem",
                       .ca_key = folder.parent_path() / "ca.key"};
}

}  // namespace cupel::testing
