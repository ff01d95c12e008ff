#include "orchestrator/firmware/node_scripts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "base/safe_path.h"
#include "base/text.h"
#include "inventory/pci_address.h"

namespace cupel::firmware {
namespace {

using inventory::ExpectedFirmware;
using inventory::FirmwareReset;
using inventory::Part;
using inventory::PartKind;
using inventory::UpdateWay;

constexpr std::string_view kHead =
    "PATH=$PATH:/usr/local/bin:/usr/sbin:/sbin\n"
    "LC_ALL=C\n"
    "export PATH LC_ALL\n";
constexpr std::string_view kBoot = "cupel-boot: ", kGpu = "cupel-gpu: ", kEnd = "cupel-end";
constexpr std::string_view kHcas = "/sys/class/infiniband/", kDrives = "/sys/class/nvme/";
constexpr std::size_t kMostParts = 1024;
constexpr std::size_t kLongestWord = 160;

std::string clean(std::string_view text) {
  return shortened(printable(trimmed(text)), kLongestWord);
}

/// "0000:1b:00.0" of "00000000:1B:00.0".
bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == ':';
  });
}

class LookReader {
 public:
  void take(std::string_view line) {
    if (line.starts_with(kBoot)) look_.boot_id = clean(line.substr(kBoot.size()));
    if (line.starts_with(kHcas)) take_file(PartKind::hca, line.substr(kHcas.size()));
    if (line.starts_with(kDrives)) take_file(PartKind::nvme, line.substr(kDrives.size()));
    if (line.starts_with(kGpu)) take_gpu(line.substr(kGpu.size()));
    whole_ = whole_ || line == kEnd;
  }

  Result<NodeLook> finish() && {
    if (!whole_ || look_.boot_id.empty())
      return Error{Code::kMalformed, "the node's answer about its firmware is cut"};
    for (auto& [key, part] : parts_)
      if (!part.firmware.empty()) look_.parts.push_back(std::move(part));
    return std::move(look_);
  }

 private:
  /// "mlx5_0/fw_ver:28.39.1002"
  void take_file(PartKind kind, std::string_view line) {
    const auto slash = line.find('/'), colon = line.find(':');
    if (slash == line.npos || colon == line.npos || slash > colon) return;
    auto* part = part_of(kind, line.substr(0, slash));
    if (part == nullptr) return;
    const auto file = line.substr(slash + 1, colon - slash - 1);
    const auto text = line.substr(colon + 1);
    if (file == "fw_ver" || file == "firmware_rev") part->firmware = clean(text);
    if (file == "hca_type" || file == "model") part->model = clean(text);
    if (file == "board_id") part->part_number = clean(text);
    constexpr std::string_view kPci = "PCI_SLOT_NAME=";
    if (file == "device/uevent" && text.starts_with(kPci))
      part->slot = inventory::written_pci(text.substr(kPci.size())).value_or("");
  }

  /// "0, 00000000:1B:00.0, NVIDIA H100 80GB HBM3, 96.00.89.00.01"
  void take_gpu(std::string_view line) {
    const auto cells = split(line, ',');
    if (cells.size() != 4) return;
    auto* part = part_of(PartKind::gpu, "gpu" + std::string{trimmed(cells[0])});
    const auto address = inventory::written_pci(cells[1]);
    if (part == nullptr || !address) return;
    part->slot = *address;
    part->model = clean(cells[2]);
    part->firmware = clean(cells[3]);
  }

  Part* part_of(PartKind kind, std::string_view name) {
    // A bond is made of HCAs and is none.
    if (!is_word(name) || name.contains("bond") || parts_.size() >= kMostParts) return nullptr;
    auto& part = parts_[{kind, std::string{name}}];
    part.kind = kind;
    part.name = name;
    return &part;
  }

  std::map<std::pair<PartKind, std::string>, Part> parts_{};
  NodeLook look_{};
  bool whole_ = false;
};

std::string gave_up(std::string_view why, int status) {
  return fmt::format("echo {}\nexit {}\n", shell_quoted(why), status);
}

/// Puts the first of the two that the node has into `variable`.
std::string needs_one_of(std::string_view variable, std::string_view first,
                         std::string_view second) {
  return fmt::format(
      "{0}={1}\n"
      "command -v {1} >/dev/null 2>&1 || {0}={2}\n"
      "if ! command -v ${0} >/dev/null 2>&1; then\n{3}fi\n",
      variable, first, second,
      gave_up(first == second
                  ? fmt::format("{} is not installed on the node", first)
                  : fmt::format("neither {} nor {} is installed on the node", first, second),
              kNoTool));
}

bool resets_device(const ExpectedFirmware& expected) {
  return std::ranges::find(expected.follow, FirmwareReset::device_reset) != expected.follow.end();
}

/// The functions of one adapter share its flash.
std::string adapter_of(const Part& part) {
  return part.slot.empty() ? part.name : part.slot.substr(0, part.slot.rfind('.'));
}

std::vector<Part> one_of_each_adapter(const std::vector<Part>& parts) {
  std::vector<Part> first;
  for (const auto& part : parts) {
    const auto is_it = [&](const Part& one) { return adapter_of(one) == adapter_of(part); };
    if (std::ranges::none_of(first, is_it)) first.push_back(part);
  }
  return first;
}

std::string flint_script(const NodeWrite& write) {
  const auto parts = one_of_each_adapter(write.parts);
  auto script = needs_one_of("flint", "mstflint", "flint");
  const bool resets = resets_device(write.expected);
  if (resets) script += needs_one_of("reset", "mstfwreset", "mlxfwreset");
  for (const auto& part : parts)
    script += fmt::format("$flint -d {} -i \"$image\" -y burn || exit 1\n",
                          shell_quoted(part.slot.empty() ? part.name : part.slot));
  if (!resets) return script;
  for (const auto& part : parts)
    script += fmt::format("$reset -d {} -y reset || exit 1\n",
                          shell_quoted(part.slot.empty() ? part.name : part.slot));
  return script;
}

/// A drive that restarts below a mounted file system, swap, RAID or LVM takes the system with it,
/// and may stay away: such a one gets its version by a restart of the host. All of them are looked
/// at before the first is written. The disk of a drive with two paths is not named after it: nvme3
/// may have nvme0c3n1, whose disk is nvme0n1. Mounts are compared by number, since a root may be
/// "/dev/root"; btrfs and ZFS show one disk of several, or none, among the mounts.
constexpr std::string_view kInUse = R"sh(is_held() {
  mine="/dev/$1(p[0-9]+)?([[:space:]]|\$)"
  if grep -Eqs "^$mine" /proc/mounts /proc/swaps; then return 0; fi
  if zpool status -LP 2>/dev/null | grep -Eq "$mine"; then return 0; fi
  for each in "/sys/block/$1/dev" "/sys/block/$1/$1p"*/dev; do
    if ! [ -e "$each" ]; then continue; fi
    if grep -qs "^[0-9]* [0-9]* $(cat "$each") " /proc/self/mountinfo; then return 0; fi
  done
  for each in "/sys/block/$1"/holders/* "/sys/block/$1/$1p"*/holders/* \
    /sys/fs/btrfs/*/devices/"$1" /sys/fs/btrfs/*/devices/"$1p"*; do
    if [ -e "$each" ]; then return 0; fi
  done
  return 1
}
in_use() {
  for path in "/sys/class/nvme/$1/nvme"*n* "/sys/block/$1n"*; do
    if ! [ -e "$path" ]; then continue; fi
    disk=${path##*/}
    case $disk in nvme*c*n*) disk="${disk%c*}n${disk##*n}" ;; esac
    if is_held "$disk"; then return 0; fi
  done
  return 1
}
)sh";

std::string refuse_in_use(std::span<const Part> parts) {
  auto script = std::string{kInUse};
  for (const auto& part : parts)
    script +=
        fmt::format("if in_use {}; then\n{}fi\n", shell_quoted(part.name),
                    gave_up(part.name + " is in use (mounted, swap, RAID, LVM, ZFS): nothing was "
                                        "written; say follow: [host-restart] in the baseline",
                            kDriveInUse));
  return script;
}

/// Slot 0: the drive chooses. A commit that waits for a reset is a success, whatever its status.
/// Source: NVM Express base specification 2.0, 5.12: action 1 replaces the slot's image, which runs
/// after the next reset; 3 without one.
std::string nvme_script(const NodeWrite& write) {
  const bool resets = resets_device(write.expected);
  const int action = write.expected.follow.empty() ? 3 : 1;
  auto script = needs_one_of("nvme", "nvme", "nvme");
  if (resets || action == 3) script += refuse_in_use(write.parts);
  for (const auto& part : write.parts) {
    const auto device = shell_quoted("/dev/" + part.name);
    script += fmt::format(
        "nvme fw-download {0} --fw=\"$image\" || exit 1\n"
        "if nvme fw-commit {0} --slot=0 --action={1} > \"$image.said\" 2>&1; then\n"
        "  cat \"$image.said\"\n"
        "else\n"
        "  cat \"$image.said\"\n"
        "  grep -q Success \"$image.said\" || exit 1\n"
        "fi\n",
        device, action);
    if (resets) script += fmt::format("nvme reset {} || exit 1\n", device);
  }
  return script;
}

std::string filled(std::string text, const Part& part) {
  for (const auto& [word, value] :
       {std::pair<std::string_view, std::string>{"{part}", part.name}, {"{pci}", part.slot}})
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + value.size()))
      text.replace(at, word.size(), value);
  return text;
}

/// Only the program that the profile names, and only where nobody else on the node can change it.
std::string site_tool_script(const NodeWrite& write) {
  const auto& tool = *write.expected.tool;
  const auto program = shell_quoted(tool.program);
  auto script = fmt::format(
      "{}why=$(cupel_unsafe {})\n"
      "if [ -n \"$why\" ]; then\n  echo \"$why\"\n  exit {}\nfi\n",
      safe_path_functions(), program, kNoTool);
  for (const auto& part : write.parts) {
    auto line = program;
    for (const auto& argument : tool.arguments) {
      auto text = filled(argument, part);
      for (auto at = text.find("{image}"); at != text.npos;
           at = text.find("{image}", at + write.image.size()))
        text.replace(at, std::string_view{"{image}"}.size(), write.image);
      line += " " + shell_quoted(text);
    }
    script += line + " || exit 1\n";
  }
  return script;
}

std::string by_tool(const NodeWrite& write) {
  switch (write.expected.way) {
    case UpdateWay::mstflint:
      return flint_script(write);
    case UpdateWay::nvme:
      return nvme_script(write);
    case UpdateWay::site_tool:
      return site_tool_script(write);
    case UpdateWay::bmc:
      break;  // not written on the node
  }
  return gave_up("this component is not written on the node", kNoTool);
}

}  // namespace

std::string look_script(bool gpus) {
  auto script = std::string{kHead} +
                "echo \"cupel-boot: $(cat /proc/sys/kernel/random/boot_id)\"\n"
                "h=/sys/class/infiniband n=/sys/class/nvme\n"
                "grep -sH . $h/*/fw_ver $h/*/hca_type $h/*/board_id\n"
                "grep -sH ^PCI_SLOT_NAME= $h/*/device/uevent\n"
                "grep -sH . $n/*/firmware_rev $n/*/model\n";
  if (gpus)
    script +=
        "nvidia-smi --query-gpu=index,pci.bus_id,name,vbios_version --format=csv,noheader |\n"
        "while read -r line; do echo \"cupel-gpu: $line\"; done\n";
  return script + "echo cupel-end\n";
}

Result<NodeLook> read_look(std::string_view out) {
  LookReader reader;
  for (const auto line : lines(out)) reader.take(line);
  return std::move(reader).finish();
}

std::string write_script(const NodeWrite& write) {
  return fmt::format(
             "{}image={}\n"
             "trap 'rm -f \"$image\" \"$image.said\"' EXIT\n"
             "if [ \"$(sha256sum < \"$image\")\" != \"{}  -\" ]; then\n{}fi\n",
             kHead, shell_quoted(write.image), write.sha256,
             gave_up("the image on the node is not what was sent: nothing was written",
                     kDamagedImage)) +
         by_tool(write);
}

}  // namespace cupel::firmware
