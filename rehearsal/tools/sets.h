#pragma once
// The programs of a virtual node, by what they are about; program.h makes one table of them.
#include "rehearsal/shell/program.h"

namespace cupel::rehearsal {

std::span<const Tool> file_tools();        // ls, cp, stat, ...
std::span<const Tool> text_tools();        // cat, grep, sort, ...
std::span<const Tool> process_tools();     // sleep, timeout, setsid, kill, sh, ...
std::span<const Tool> system_tools();      // uname, df, date, ps, ...
std::span<const Tool> node_tools();        // nvidia-smi, dcgmi, nvbandwidth, nccl-tests, dmidecode
std::span<const Tool> load_tools();        // stress-ng, fio
std::span<const Tool> pci_tools();         // lspci
std::span<const Tool> drive_tools();       // nvme, smartctl, lsblk
std::span<const Tool> infiniband_tools();  // ibstat, perfquery, ...
std::span<const Tool> discovery_tools();   // ibnetdiscover
std::span<const Tool> perftest_tools();    // ib_write_bw, ...
std::span<const Tool> kernel_log_tools();  // dmesg, journalctl
std::span<const Tool> service_tools();     // systemctl, systemd-run, chronyc, ip, ethtool
std::span<const Tool> http_tools();        // curl
std::span<const Tool> cupel_node_tools();  // cupel-node

/// Options of a simple tool: single letters, and which of them take a value.
struct Options {
  std::map<char, std::string> set{};
  Arguments operands{};
  std::string unknown{};  // the first one that is not known

  bool has(char letter) const { return set.contains(letter); }
  std::string value(char letter, std::string otherwise = {}) const {
    const auto found = set.find(letter);
    return found == set.end() ? otherwise : found->second;
  }
};

/// getopt(3): "n:c:qv". Options and operands may be mixed, "--" ends the options. `words`: long
/// options and the letter that each stands for.
Options parse_options(const Arguments& arguments, std::string_view letters,
                      const std::map<std::string, char>& words = {});

/// "4M", "128k", "1GiB", "10": bytes, with 1024 as the step.
std::optional<double> parse_size(std::string_view text);
/// "90", "1.5", "10m", "2h": seconds.
std::optional<VirtualTime> parse_span(std::string_view text);

}  // namespace cupel::rehearsal
