#include "burnin/agent/node/boot/hello.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/text.h"
#include "burnin/agent/common/sha256.h"
#include "burnin/agent/common/small_file.h"
#include "burnin/agent/node/efi_variables.h"

namespace cupel::agent::boot {
namespace {

// Where a TPM's maker leaves the certificates of its endorsement keys, RSA and ECC: some have one
// of them alone. Source: TCG EK Credential Profile 2.5, 2.2.1.4 and 2.2.1.5.
constexpr std::array kEndorsements{"0x1c00002", "0x1c0000a"};

std::string machine() {
  utsname name{};
  return ::uname(&name) == 0 ? name.machine : "";
}

void add_macs(JsonLine& line, const Tree& tree) {
  line.array("macs");
  for (const auto& nic : tree.names("/sys/class/net")) {
    const auto folder = "/sys/class/net/" + nic;
    if (!tree.exists(folder + "/device") || tree.text(folder + "/type") != "1") continue;
    if (const auto mac = tree.text(folder + "/address")) line.item(lower_case(*mac));
  }
  line.end();
}

/// "ssh-ed25519 AAAA": without the comment.
void add_key_lines(JsonLine& line, std::string_view text) {
  for (const auto each : lines(text)) {
    const auto fields = words(each);
    if (fields.size() >= 2 && (fields[0].starts_with("ssh-") || fields[0].starts_with("ecdsa-")))
      line.item(std::string{fields[0]} + " " + std::string{fields[1]});
  }
}

void add_host_keys(JsonLine& line, const Tree& tree) {
  line.array("ssh_host_keys");
  add_key_lines(line, tree.text("/run/cupel/ssh_host_keys").value_or(""));
  for (const auto& name : tree.names("/etc/ssh"))
    if (name.starts_with("ssh_host_") && name.ends_with(".pub"))
      add_key_lines(line, tree.text("/etc/ssh/" + name).value_or(""));
  line.end();
}

std::string endorsement_digest(const Tree& tree, const RunTool& run) {
  if (!tree.exists("/dev/tpm0")) return {};
  for (const auto* place : kEndorsements) {
    const auto read = run({"tpm2_nvread", place}, {}, std::chrono::seconds{30});
    if (read.status != 0 || read.out.empty()) continue;
    Sha256 hash;
    hash.update(read.out);
    return hash.hex();
  }
  return {};
}

}  // namespace

std::string hello(const Tree& tree, const BootTicket& ticket, const std::vector<Disk>& disks,
                  const RunTool& run) {
  const auto dmi = [&](std::string_view name) {
    return tree.text("/sys/class/dmi/id/" + std::string{name}).value_or("");
  };
  JsonLine line;
  line.add("version", 1)
      .add("arch", machine())
      .add("uefi", tree.exists("/sys/firmware/efi"))
      .add("secure_boot", efi_flag(tree, "SecureBoot").value_or(false))
      .add("serial", dmi("product_serial"))
      .add("uuid", lower_case(dmi("product_uuid")))
      .add("ticket_from", ticket.from)
      .add("tpm_ek", endorsement_digest(tree, run));
  add_macs(line, tree);
  add_host_keys(line, tree);
  line.array("disks");
  for (const auto& disk : disks) {
    line.object();
    add_disk(line, disk);
    line.end();
  }
  line.end();
  return line.object_text();
}

Outcome<void> take_name(const Tree& tree, const std::string& name) {
  const auto file = tree.real("/proc/sys/kernel/hostname");
  std::ofstream stream{file};
  stream << name << '\n' << std::flush;
  if (!stream) return Failure{Cause::kFailed, file + ": " + std::strerror(errno)};
  return {};
}

Outcome<void> install_keys(const Tree& tree, const std::vector<std::string>& keys) {
  const auto folder = tree.real("/root/.ssh");
  for (const auto& each : {tree.real("/root"), folder})
    if (::mkdir(each.c_str(), 0700) != 0 && errno != EEXIST)
      return Failure{Cause::kFailed, each + ": " + std::strerror(errno)};
  std::string text;
  for (const auto& key : keys) text += key + "\n";
  const auto file = folder + "/authorized_keys";
  const auto written = write_durably(file, text);
  if (!written) return Failure{Cause::kFailed, written.error().what};
  if (::chmod(file.c_str(), 0600) != 0)
    return Failure{Cause::kFailed, file + ": " + std::strerror(errno)};
  return {};
}

}  // namespace cupel::agent::boot
