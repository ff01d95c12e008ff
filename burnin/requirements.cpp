#include "burnin/requirements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kOurs = "cupel-";
constexpr std::string_view kNeeds = "\nif ! command -v ";  // as script::needs() writes it
constexpr std::string_view kAsks = "command -v ";
constexpr std::string_view kLacks = "cupel-lacks: ", kNoRoot = "cupel-no-root",
                           kLooked = "cupel-looked";

constexpr std::array kPackages{
    ToolPackage{"blkid", "util-linux", "util-linux", ""},
    ToolPackage{"blockdev", "util-linux", "util-linux", ""},
    ToolPackage{"dmidecode", "dmidecode", "dmidecode", ""},
    ToolPackage{"fio", "fio", "fio", ""},
    ToolPackage{"ib_read_bw", "perftest", "perftest", ""},
    ToolPackage{"ib_write_bw", "perftest", "perftest", ""},
    ToolPackage{"ibnetdiscover", "infiniband-diags", "infiniband-diags", ""},
    ToolPackage{"ipmitool", "ipmitool", "ipmitool", ""},
    ToolPackage{"lldpctl", "lldpd", "lldpd", ""},
    ToolPackage{"lsblk", "util-linux", "util-linux", ""},
    ToolPackage{"numactl", "numactl", "numactl", ""},
    ToolPackage{"nvme", "nvme-cli", "nvme-cli", ""},
    ToolPackage{"perfquery", "infiniband-diags", "infiniband-diags", ""},
    ToolPackage{"smartctl", "smartmontools", "smartmontools", ""},
    ToolPackage{"stress-ng", "stress-ng", "stress-ng", ""},
    ToolPackage{"systemctl", "systemd", "systemd", ""},
    ToolPackage{"systemd-run", "systemd", "systemd", ""},
    ToolPackage{"wipefs", "util-linux", "util-linux", ""},
    ToolPackage{"zpool", "zfsutils-linux", "zfs", ""},
    ToolPackage{"mlnx_qos", "", "", "MLNX_OFED or DOCA-Host (mlnx-tools)"},
    ToolPackage{"nvidia-smi", "", "",
                "the NVIDIA driver (package cuda-drivers of NVIDIA's repository)"},
    ToolPackage{"dcgmi", "", "", "DCGM (package datacenter-gpu-manager of NVIDIA's repository)"},
    ToolPackage{"nvbandwidth", "", "", "github.com/NVIDIA/nvbandwidth, built with CUDA"},
    ToolPackage{"all_reduce_perf", "", "",
                "github.com/NVIDIA/nccl-tests, built with CUDA and NCCL"},
    ToolPackage{"gpu_burn", "", "", "github.com/wilicc/gpu-burn, built with CUDA"},
};

std::string_view word_at(std::string_view text) {
  return text.substr(0, text.find_first_of(" \n\t);&|"));
}

/// Each word that stands behind `mark`, once.
std::vector<std::string> words_behind(std::string_view script, std::string_view mark) {
  std::vector<std::string> all;
  for (auto at = script.find(mark); at != script.npos; at = script.find(mark, at + 1)) {
    std::string word{word_at(script.substr(at + mark.size()))};
    if (word.empty() || word.contains('"') || word.contains('$')) continue;
    if (std::ranges::find(all, word) == all.end()) all.push_back(std::move(word));
  }
  return all;
}

/// A tool that a script names, spelt as nobody quotes: it becomes part of another script.
bool is_plain(std::string_view tool) {
  return !tool.empty() && std::ranges::all_of(tool, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

/// Where the job itself looks for its tools.
std::string paths_of(const Job& job) {
  std::string text;
  for (const auto line : lines(job.script)) {
    if (line.starts_with("PATH=")) text += std::string{line} + "\n";
    if (line.starts_with(kNeeds.substr(1))) break;
  }
  if (!job.folder.empty()) text += fmt::format("PATH=$PATH:{}\n", shell_quoted(job.folder));
  return text;
}

void add_once(std::vector<std::string_view>& list, std::string_view word) {
  if (!word.empty() && std::ranges::find(list, word) == list.end()) list.push_back(word);
}

}  // namespace

std::span<const ToolPackage> tool_packages() { return kPackages; }

const ToolPackage* package_of(std::string_view tool) {
  // nccl-tests has one program for each operation.
  if (tool.ends_with("_perf")) tool = "all_reduce_perf";
  const auto* found = std::ranges::find(kPackages, tool, &ToolPackage::tool);
  return found == kPackages.end() ? nullptr : found;
}

Requirements requirements_of(const Stage& stage, const Job& job) {
  Requirements all;
  for (auto& name : words_behind(job.script, kNeeds))
    (name.starts_with(kOurs) ? all.programs : all.tools).push_back(std::move(name));
  for (auto& name : words_behind(job.script, kAsks)) {
    const bool needed = std::ranges::find(all.tools, name) != all.tools.end();
    if (!needed && !name.starts_with(kOurs)) all.helpful.push_back(std::move(name));
  }
  for (const auto& name : job.tools)
    (name.starts_with(kOurs) ? all.programs : all.tools).push_back(name);
  for (const auto& name : job.helpful) all.helpful.push_back(name);
  if (!stage.programs.empty()) {
    all.root = Root::needed;
    all.why_root = "our programs are brought to /opt/cupel/bin";
  }
  return all;
}

std::string look_script(std::span<const Job* const> jobs) {
  // Jobs that look in the same folders are one question.
  std::map<std::string, std::set<std::string>> tools;
  for (const auto* job : jobs) {
    auto names = words_behind(job->script, kNeeds);
    names.insert(names.end(), job->tools.begin(), job->tools.end());
    for (auto& name : names)
      if (is_plain(name) && !name.starts_with(kOurs)) tools[paths_of(*job)].insert(std::move(name));
  }
  std::string script = "LC_ALL=C\nexport LC_ALL\n";
  for (const auto& [paths, names] : tools)
    script += fmt::format(
        "(\n{}for tool in {}; do\n"
        "  if ! command -v \"$tool\" >/dev/null 2>&1; then echo \"{}$tool\"; fi\n"
        "done\n)\n",
        paths, fmt::join(names, " "), kLacks);
  return script +
         fmt::format("if [ \"$(id -u)\" != 0 ]; then echo {}; fi\necho {}\n", kNoRoot, kLooked);
}

Look read_look(std::string_view text) {
  constexpr std::size_t kMost = 64;
  Look look{.root = true};
  for (const auto line : lines(text)) {
    if (line == kNoRoot) look.root = false;
    if (line == kLooked) look.whole = true;
    if (!line.starts_with(kLacks) || look.lacking.size() == kMost) continue;
    const auto tool = line.substr(kLacks.size());
    const bool fresh = std::ranges::find(look.lacking, tool) == look.lacking.end();
    if (is_plain(tool) && fresh) look.lacking.emplace_back(tool);
  }
  return look;
}

std::string how_to_install(std::span<const std::string> tools) {
  std::vector<std::string_view> debian, rhel, others;
  for (const auto& tool : tools) {
    const auto* row = package_of(tool);
    if (row == nullptr) continue;
    add_once(debian, row->debian);
    add_once(rhel, row->rhel);
    add_once(others, row->source);
  }
  std::string text;
  if (!debian.empty())
    text = fmt::format("apt-get install {} (RHEL: dnf install {})", fmt::join(debian, " "),
                       fmt::join(rhel, " "));
  if (!others.empty())
    text += (text.empty() ? "" : "; ") + fmt::format("{}", fmt::join(others, "; "));
  return text;
}

}  // namespace cupel::burnin
