#include "orchestrator/cli/image_make.h"

#include <fmt/chrono.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/efi_loader.h"
#include "base/file.h"
#include "base/ownership.h"
#include "base/paths.h"
#include "base/text.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/images/file_digest.h"
#include "orchestrator/images/image_store.h"
#include "orchestrator/images/raw_disk.h"
#include "orchestrator/images/seed_place.h"
#include "orchestrator/ssh/missing_program.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;
using images::Image;
using images::ImageManifest;
using images::ImageStore;

constexpr std::size_t kLargestList = 4u << 20;

struct BuildAsked {
  std::string name{}, kernel = "generic", arch{ssh::kOwnMachine}, cmdline{}, ca{}, boot_host{},
                      key{}, cert{};
  bool any_boot_server = false;
  std::string root{};  // a release; empty: no large system
  std::vector<std::string> root_sources{}, root_packages{};
};

/// Runs the program to its end; what it prints comes through on standard error.
Result<void> run_here(std::vector<std::string> words) {
  std::vector<char*> line;
  for (auto& word : words) line.push_back(word.data());
  line.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, line[0], &actions, nullptr, line.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return Error{Code::kNotFound, words[0] + ": " + std::strerror(failed)};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ok();
  return Error{Code::kFailed, words[0] + " failed; what it printed says why"};
}

/// Of --boot-host.
std::string why_no_address(const std::string& text) {
  return images::url_address(text) ? "" : "is no address, as boot: serve has it: 10.0.0.1";
}

std::string now_text() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%FT%TZ}", now);
}

Result<std::string> program_named(const Context& context, const std::string& name) {
  const ssh::ProgramShelf shelf{ssh::program_folders(context.programs)};
  for (const auto& folder : shelf.folders())
    if (is_there(folder / name)) return (folder / name).string();
  return Error{Code::kNotFound, name +
                                    " is not beside cupel, nor in ../libexec/cupel of it: "
                                    "scripts/install puts it there"};
}

Result<std::vector<images::Package>> packages_in(const fs::path& file) {
  TRY(const auto text, read_file(file, kLargestList));
  std::vector<images::Package> packages;
  for (const auto line : lines(text))
    if (const auto parts = words(line); parts.size() == 2)
      packages.push_back({std::string{parts[0]}, std::string{parts[1]}});
  return packages;
}

Result<ImageManifest> ram_manifest(const BuildAsked& asked, const fs::path& folder) {
  ImageManifest manifest{.name = asked.name,
                         .kind = images::ImageKind::ram,
                         .arch = asked.arch,
                         .made = now_text(),
                         .signed_efi = !asked.key.empty(),
                         .boot_host = asked.boot_host};
  TRY(manifest.packages, packages_in(folder / "packages"));
  TRY(const auto line, read_file(folder / "command-line", kLargestList));
  manifest.command_line = trimmed(line);
  manifest.https_only = !asked.ca.empty() && !images::allows_http(manifest.command_line);
  images::Slot slot;
  std::ifstream{folder / "iso-ticket"} >> slot.offset >> slot.size;
  manifest.iso_ticket = slot;
  std::error_code ignored;
  for (const auto* each : {"packages", "command-line", "iso-ticket"})
    fs::remove(folder / each, ignored);
  return manifest;
}

/// Scripts of ours and their tools read them: one that waits for a pipe would wait for ever. What
/// another user can change would decide what machines boot, and whose orders they obey.
Result<void> check_inputs(std::initializer_list<std::string> files) {
  for (const auto& file : files) {
    if (file.empty()) continue;
    if (const auto why = why_no_file(file)) return Error{Code::kInvalid, *why};
    TRY(check_ownership(file));
  }
  return ok();
}

/// Errors: kInvalid: it would obey whoever answers first, and the site has not asked for that.
Result<void> check_who_is_obeyed(const BuildAsked& asked) {
  if (asked.ca.empty() && !asked.any_boot_server)
    return Error{
        Code::kInvalid,
        "without certificates the RAM system would obey each boot server: who answers DHCP "
        "or plugs in a stick could write the machine's disks and log in. Name the CA of "
        "boot: tls (--ca), or say that the network is trusted: cupel image build NAME "
        "--any-boot-server"};
  if (!asked.boot_host.empty() && images::allows_http(asked.cmdline))
    return Error{Code::kInvalid,
                 "--boot-host beside cupel.http=yes in --cmdline: by plain HTTP each server can "
                 "have that address. Leave one of them out"};
  return ok();
}

Result<Image> build_ram(const Context& context, const BuildAsked& asked, const fs::path& folder) {
  TRY(check_who_is_obeyed(asked));
  TRY(check_inputs({asked.ca, asked.key, asked.cert}));
  TRY(const auto script, program_named(context, "ram/build"));
  const bool own = asked.arch == ssh::kOwnMachine;
  TRY(const auto program, program_named(context, own ? "cupel-node" : asked.arch + "/cupel-node"));
  TRY(const auto store, ImageStore::open_or_make(folder));
  TRY(auto made, store.begin(asked.name));
  std::vector<std::string> words{script,     "--out",          made.folder().string(),
                                 "--kernel", asked.kernel,     "--arch",
                                 asked.arch, "--node-program", program};
  const std::pair<const char*, const std::string&> optional[] = {
      {"--cmdline", asked.cmdline}, {"--ca", asked.ca},     {"--boot-host", asked.boot_host},
      {"--key", asked.key},         {"--cert", asked.cert}, {"--root", asked.root}};
  for (const auto& [option, value] : optional)
    if (!value.empty()) words.insert(words.end(), {option, value});
  if (asked.any_boot_server) words.emplace_back("--any-boot-server");
  for (const auto& each : asked.root_sources) words.insert(words.end(), {"--root-source", each});
  for (const auto& each : asked.root_packages) words.insert(words.end(), {"--root-package", each});
  TRY(run_here(std::move(words)));
  TRY(auto manifest, ram_manifest(asked, made.folder()));
  std::vector<std::string> files{"ram.efi", "vmlinuz", "initrd", "ram.iso"};
  if (!asked.root.empty()) files.emplace_back("root.squashfs");
  return store.keep(std::move(made), std::move(manifest), files);
}

struct ImportAsked {
  std::string file{}, name{}, arch{ssh::kOwnMachine}, efi{}, os{};
};

Result<void> check_raw(const std::string& file) {
  if (is_pipe(file))
    return Error{Code::kInvalid,
                 file + ": is a pipe, and is read more than once: write it into a file first"};
  std::ifstream stream{file, std::ios::binary};
  std::string magic(4, '\0');
  if (!stream.read(magic.data(), 4))
    return Error{Code::kInvalid, file + (stream.eof() ? ": is empty, and no disk"
                                                      : ": cannot be read, or is a folder")};
  if (magic == "QFI\xfb")
    return Error{Code::kInvalid, file + ": is qcow2: qemu-img convert -O raw " + file +
                                     " DISK.raw, then import that"};
  if (magic == "\x28\xb5\x2f\xfd")
    return Error{Code::kInvalid, file + ": is compressed: zstd -d it, then import the raw disk"};
  return ok();
}

/// One that a BIOS starts need not have what UEFI looks for where no loader is named.
Result<void> check_loader(const ImportAsked& asked, bool bios) {
  if (!asked.efi.empty()) return images::check_efi_loader(asked.file, asked.efi);
  if (bios) return ok();
  const auto checked = images::check_efi_loader(asked.file, default_efi_loader(asked.arch));
  const std::string other = asked.arch == "aarch64" ? "x86_64" : "aarch64";
  // To name the other machines' loader by --efi would not help.
  if (!checked && images::check_efi_loader(asked.file, default_efi_loader(other)))
    return Error{Code::kInvalid,
                 fmt::format("{}: its loader is that of {}, and not of {}: say so by --arch {}",
                             asked.file, other, asked.arch, other)};
  return checked;
}

Result<Image> import_disk(const ImportAsked& asked, const fs::path& folder) {
  TRY(check_raw(asked.file));
  TRY(images::check_raw_disk(asked.file));
  const bool bios = images::has_bios_loader(asked.file);
  TRY(check_loader(asked, bios));
  TRY(const auto store, ImageStore::open_or_make(folder));
  TRY(auto made, store.begin(asked.name));
  TRY(const auto content, images::digest_of(asked.file));
  const std::string compressed{images::kDiskFile};
  TRY(run_here(
      {"zstd", "-q", "-T0", "-3", "-o", (made.folder() / compressed).string(), "--", asked.file}));
  ImageManifest manifest{.name = asked.name,
                         .kind = images::ImageKind::disk,
                         .arch = asked.arch,
                         .made = now_text(),
                         .content_size = content.size,
                         .content_sha256 = content.sha256,
                         .compression = "zstd",
                         .efi = asked.efi,
                         .bios = bios,
                         .no_seed = images::why_no_seed(asked.file)};
  const auto slash = asked.os.find('/');
  manifest.os_id = asked.os.substr(0, slash);
  if (slash != asked.os.npos) manifest.os_version = asked.os.substr(slash + 1);
  return store.keep(std::move(made), std::move(manifest), {compressed});
}

struct InstallerAsked {
  std::string name{}, kernel{}, initrd{}, mirror{}, arch{ssh::kOwnMachine}, cmdline{};
};

Result<Image> keep_installer(const Context& context, const InstallerAsked& asked,
                             const fs::path& folder) {
  TRY(check_inputs({asked.kernel, asked.initrd}));
  TRY(const auto script, program_named(context, "ram/installer"));
  const bool own = asked.arch == ssh::kOwnMachine;
  TRY(const auto program, program_named(context, own ? "cupel-node" : asked.arch + "/cupel-node"));
  TRY(const auto store, ImageStore::open_or_make(folder));
  TRY(auto made, store.begin(asked.name));
  std::vector<std::string> words{script,       "--out",    made.folder().string(),
                                 "--arch",     asked.arch, "--kernel",
                                 asked.kernel, "--initrd", asked.initrd};
  if (!asked.cmdline.empty()) words.insert(words.end(), {"--cmdline", asked.cmdline});
  TRY(run_here(std::move(words)));
  std::error_code failed;
  fs::copy_file(program, made.folder() / "cupel-node", failed);
  if (failed) return Error{Code::kStorage, program + ": " + failed.message()};
  ImageManifest manifest{.name = asked.name,
                         .kind = images::ImageKind::installer,
                         .arch = asked.arch,
                         .made = now_text(),
                         .answers = "preseed",
                         .mirror = asked.mirror};
  TRY(manifest.packages, packages_in(made.folder() / "packages"));
  TRY(const auto line, read_file(made.folder() / "command-line", kLargestList));
  manifest.command_line = trimmed(line);
  for (const auto* each : {"packages", "command-line"}) fs::remove(made.folder() / each, failed);
  return store.keep(std::move(made), std::move(manifest),
                    {"ram.efi", "vmlinuz", "initrd", "cupel-node"});
}

Exit show_made(const Context& context, const Result<Image>& image) {
  if (!image) return print_error(context, image.error(), Exit::invalid);
  if (context.json)
    say("{}", images::manifest_text(image->manifest));
  else
    say("{}: {}, {:.1f} MB, SHA-256 {}\n", image->manifest.name, image->folder.string(),
        static_cast<double>(image->size()) / 1e6, image->digest());
  return Exit::passed;
}

}  // namespace

std::filesystem::path image_folder(const Context& context, const std::string& reported) {
  return reported.empty() ? context.state / "images" : fs::path{reported};
}

CommandRow image_build_command(Context& context, const std::string& folder) {
  const auto asked = std::make_shared<BuildAsked>();
  CommandRow row{"build", "build a RAM system from Debian or Ubuntu packages"};
  row.footer =
      "Example: cupel image build ram-1 --ca site-ca.pem\n"
      "Packages are downloaded and unpacked: none is installed, and root is not needed.";
  row.options = {
      {"NAME", &asked->name, "of the image", kRequired},
      {"--kernel",
       &asked->kernel,
       "generic, or cloud for virtual machines [generic]",
       {.among = {"generic", "cloud"}}},
      {"--arch",
       &asked->arch,
       "of the machines that boot it [this machine's]",
       {.among = {"x86_64", "aarch64"}}},
      {"--cmdline", &asked->cmdline, "the kernel's command line [both consoles]"},
      {"--ca",
       &asked->ca,
       "PEM, that the boot server is checked with",
       {.existing = Existing::file}},
      {"--any-boot-server",
       &asked->any_boot_server,
       "in the place of --ca: it obeys each boot server that DHCP, a volume or the network names",
       {.excludes = {"--ca"}}},
      {"--boot-host",
       &asked->boot_host,
       "of the boot server: the system obeys no other holder of a certificate of the CA [any]",
       {.check = why_no_address, .placeholder = "ADDRESS", .needs = {"--ca"}}},
      {"--key",
       &asked->key,
       "signs ram.efi for Secure Boot, by sbsign",
       {.existing = Existing::file, .needs = {"--cert"}}},
      {"--cert", &asked->cert, "of the key", {.existing = Existing::file, .needs = {"--key"}}},
      {"--root", &asked->root,
       "also the burn-in system with its tools, of this release (bookworm)"},
      {"--root-source",
       &asked->root_sources,
       "where its packages come from: an URL or a line of sources.list; may be repeated [the "
       "release's own]",
       {.repeatable = true, .needs = {"--root"}}},
      {"--root-package",
       &asked->root_packages,
       "one more package in it, such as the site's NVIDIA driver; may be repeated",
       {.repeatable = true, .needs = {"--root"}}},
      json_flag(context)};
  row.run = [&context, &folder, asked] {
    // As URLs have it, with which the RAM system compares it.
    if (const auto address = images::url_address(asked->boot_host)) asked->boot_host = *address;
    return show_made(context, build_ram(context, *asked, image_folder(context, folder)));
  };
  return row;
}

CommandRow image_import_command(Context& context, const std::string& folder) {
  const auto asked = std::make_shared<ImportAsked>();
  CommandRow row{"import", "take a raw disk into the store, compressed"};
  row.footer =
      "Example: cupel image import debian-12.raw debian-12 --os debian/12 \\\n"
      "           --efi '\\EFI\\debian\\shimx64.efi'";
  row.options = {
      {"FILE", &asked->file, "a raw disk", {.required = true, .existing = Existing::file}},
      {"NAME", &asked->name, "of the image", kRequired},
      {"--arch",
       &asked->arch,
       "x86_64 or aarch64 [this machine's]",
       {.among = {"x86_64", "aarch64"}}},
      {"--efi", &asked->efi,
       "the loader's path on the disk's ESP [UEFI's own: \\EFI\\BOOT\\BOOTX64.EFI, or BOOTAA64.EFI "
       "on aarch64]"},
      {"--os", &asked->os, "ID/VERSION, as /etc/os-release has them"},
      json_flag(context)};
  row.run = [&context, &folder, asked] {
    const auto image = import_disk(*asked, image_folder(context, folder));
    const auto& no_seed = image ? image->manifest.no_seed : std::string{};
    if (!no_seed.empty())
      say(stderr, "cupel: warning: {}\n", images::why_not_seeded(asked->name, no_seed));
    return show_made(context, image);
  };
  return row;
}

CommandRow image_installer_command(Context& context, const std::string& folder) {
  const auto asked = std::make_shared<InstallerAsked>();
  CommandRow row{"installer", "keep Debian's installer: its kernel and initrd"};
  row.footer =
      "Example: cupel image installer d12 --kernel linux --initrd initrd.gz --mirror URL\n"
      "Both are in Debian's package debian-installer-12-netboot-amd64.";
  row.options = {
      {"NAME", &asked->name, "of the image", kRequired},
      {"--kernel",
       &asked->kernel,
       "the installer's kernel",
       {.required = true, .existing = Existing::file}},
      {"--initrd", &asked->initrd, "its initrd", {.required = true, .existing = Existing::file}},
      {"--mirror", &asked->mirror, "URL that it takes packages from", kRequired},
      {"--arch",
       &asked->arch,
       "of the machines that boot it [this machine's]",
       {.among = {"x86_64", "aarch64"}}},
      {"--cmdline", &asked->cmdline, "the kernel's command line [both consoles]"},
      json_flag(context)};
  row.run = [&context, &folder, asked] {
    return show_made(context, keep_installer(context, *asked, image_folder(context, folder)));
  };
  return row;
}

}  // namespace cupel::cli
