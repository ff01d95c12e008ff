#include "burnin/agent/node/stages/setting.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/agent/node/stages/cpu_lists.h"
#include "burnin/agent/node/stages/file_lines.h"

namespace cupel::agent {
namespace {

constexpr std::chrono::seconds kToolLimit{120};
constexpr std::size_t kLongestLine = 160, kLongestGovernors = 80;
constexpr std::string_view kCpus = "/sys/devices/system/cpu/";
constexpr std::string_view kNuma = "/proc/sys/kernel/numa_balancing";

/// How nvidia-smi reads and sets it. `option`: of nvidia-smi; `current`: the field in which it
/// takes effect later than in `field`.
struct GpuField {
  std::string_view key, field, option, current{};
};
constexpr std::array kGpuFields{
    GpuField{"gpu.persistence", "persistence_mode", "-pm"},
    GpuField{"gpu.power", "power.limit", "-pl"},
    GpuField{"gpu.ecc", "ecc.mode.pending", "-e", "ecc.mode.current"},
    GpuField{"gpu.mig", "mig.mode.pending", "-mig", "mig.mode.current"},
    GpuField{"gpu.app_clocks", "clocks.applications.memory,clocks.applications.graphics", "-ac"},
    GpuField{"gpu.clocks", "", "-lgc"},
};

const GpuField* row_of(std::string_view key) {
  const auto* found = std::ranges::find(kGpuFields, key, &GpuField::key);
  return found == kGpuFields.end() ? nullptr : found;
}

/// Both streams, as a shell's 2>&1 has them.
std::string all_of(const Ran& ran) { return ran.out + ran.err; }

std::string number_of_word(const std::string& value) {
  return value == "Enabled" ? "1" : value == "Disabled" ? "0" : value;
}

/// A path of an interrupt must not lead elsewhere.
std::string affinity_of(const std::string& irq) {
  return number<unsigned>(irq) ? "/proc/irq/" + irq + "/smp_affinity_list" : "";
}

std::string refusal_of(const Result<void>& set) { return set ? "" : set.error().what; }

Work<Changed> change_gpu(Node& node, Setting setting, std::string value) {
  const auto* row = row_of(setting.key);
  Changed changed;
  Command command{.argv = {"nvidia-smi", "-i", setting.gpu}, .limit = kToolLimit};
  if (setting.key == "gpu.clocks" && value == kDefaultClocks)
    command.argv.emplace_back("-rgc");
  else
    command.argv.insert(command.argv.end(), {std::string{row->option}, number_of_word(value)});
  const auto ran = co_await node.programs.run(command);
  changed.is = co_await read_setting(node, setting);
  if (row->field.empty() && ran.status == 0) changed.is = value;
  if (ran.status != 0 || changed.is != value) changed.why = first_line(ran);
  if (row->current.empty() || changed.is != value) co_return changed;
  const auto current = co_await query_gpu(node, setting.gpu, std::string{row->current});
  if (current != value) changed.why = kNeedsRestart;
  co_return changed;
}

/// What a tool said beside its lines of GPUs, which have their UUIDs: why it ended with an error.
Ran beside_gpus(Ran ran) {
  std::string rest;
  for (const auto line : lines(ran.out))
    if (!line.contains("GPU-")) rest += std::string{line} + "\n";
  if (trimmed(rest + ran.err).empty()) rest = "exit code " + std::to_string(ran.status);
  ran.out = std::move(rest);
  return ran;
}

/// The first refusal counts: one governor is asked for of all CPUs.
std::string set_governors(const Node& node, const std::string& value) {
  std::string why;
  for (const auto& cpu : numbered(node.tree, kCpus, "cpu")) {
    const auto file = std::string{kCpus} + cpu + "/cpufreq/scaling_governor";
    if (!node.tree.exists(file)) continue;
    const auto refused = refusal_of(node.settings.set(file, value));
    if (why.empty()) why = refused;
  }
  return why;
}

/// A managed interrupt refuses: the kernel has spread it itself, and its word counts.
Work<Changed> change_interrupt(Node& node, Setting setting, std::string value) {
  const auto why = refusal_of(node.settings.set(affinity_of(setting.part), value));
  Changed changed;
  changed.is = co_await read_setting(node, setting);
  if (changed.is == value) co_return changed;
  changed.why = "the kernel keeps it where it is: " + why;
  if (is_inside(changed.is, value)) changed.why = "is inside; " + changed.why;
  co_return changed;
}

Work<Changed> change_service(Node& node, Setting setting, std::string value) {
  const auto* act = value == "active" ? "start" : "stop";
  const Command command{.argv = {"systemctl", act, setting.key}, .limit = kToolLimit};
  const auto ran = co_await node.programs.run(command);
  Changed changed;
  changed.is = co_await read_setting(node, setting);
  if (changed.is != value) changed.why = first_line(ran);
  co_return changed;
}

}  // namespace

std::string Setting::name() const {
  if (is_of_gpu()) return gpu.empty() ? part : "gpu" + gpu;
  return key == "irq" ? "irq " + part : key;
}

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return std::string{trimmed(text)};
}

std::string first_line(const Ran& ran) {
  if (ran.late) return "no answer within " + std::to_string(kToolLimit.count()) + " s";
  const auto text = all_of(ran);
  std::string line{trimmed(text.substr(0, text.find('\n')))};
  std::ranges::replace(line, '|', ' ');
  return printable(line.substr(0, kLongestLine));
}

void report_setting(const Node& node, std::string_view did, const Setting& setting,
                    const std::string& before, const std::string& expected,
                    const Changed& changed) {
  JsonLine line{"setting"};
  line.add("did", did).add("key", std::string_view{setting.key});
  line.add("part", std::string_view{setting.name()}).add("before", std::string_view{before});
  line.add("wanted", std::string_view{expected}).add("is", std::string_view{changed.is});
  node.lines.write(line.add("why", std::string_view{changed.why}));
}

std::string_view field_of(std::string_view key) {
  const auto* row = row_of(key);
  return row == nullptr ? "" : row->field;
}

Work<std::string> query_gpu(Node& node, std::string gpu, std::string field) {
  const Command command{
      .argv = {"nvidia-smi", "-i", gpu, "--query-gpu=" + field, "--format=csv,noheader,nounits"},
      .limit = kToolLimit};
  const auto ran = co_await node.programs.run(command);
  co_return without_blanks(all_of(ran)).substr(0, kLongestLine);
}

Work<bool> is_active(Node& node, std::string service) {
  const Command command{.argv = {"systemctl", "is-active", service}, .limit = kToolLimit};
  const auto ran = co_await node.programs.run(command);
  co_return trimmed(ran.out) == "active";
}

Work<std::vector<std::string>> ask_all_gpus(Node& node, std::string what, std::string& why) {
  const Command command{.argv = {"nvidia-smi", what, "--format=csv,noheader,nounits"},
                        .limit = kToolLimit};
  const auto ran = co_await node.programs.run(command);
  std::vector<std::string> all;
  // It ends with an error where one GPU is sick, and lists the others nevertheless.
  if (ran.status != 0) why = "nvidia-smi: " + first_line(beside_gpus(ran));
  for (const auto line : lines(ran.out))
    if (!trimmed(line).empty()) all.emplace_back(trimmed(line));
  co_return all;
}

std::vector<std::string> governors(const Node& node) {
  std::vector<std::string> all;
  for (const auto& cpu : numbered(node.tree, kCpus, "cpu")) {
    auto one = node.tree.text(std::string{kCpus} + cpu + "/cpufreq/scaling_governor");
    if (one && std::ranges::find(all, *one) == all.end()) all.push_back(*std::move(one));
  }
  std::ranges::sort(all);
  return all;
}

bool is_inside(std::string_view cpus, std::string_view others) {
  const auto inner = cpus_in(cpus), outer = cpus_in(others);
  return !inner.empty() && std::ranges::includes(outer, inner);
}

Work<std::string> read_setting(Node& node, Setting setting) {
  std::string is;
  if (const auto* row = row_of(setting.key)) {
    if (!row->field.empty()) is = co_await query_gpu(node, setting.gpu, std::string{row->field});
  } else if (setting.key == "governor") {
    for (const auto& one : governors(node)) is += (is.empty() ? "" : " ") + one;
    is = is.substr(0, kLongestGovernors);
  } else if (setting.key == "numa_balancing") {
    is = node.tree.text(kNuma).value_or("");
  } else if (setting.key == "irq") {
    is = node.tree.text(affinity_of(setting.part)).value_or("");
  } else if (setting.key == "irqbalance") {
    const bool active = co_await is_active(node, setting.key);
    is = active ? "active" : "inactive";
  }
  co_return is;
}

Work<Changed> change_setting(Node& node, Setting setting, std::string value) {
  Changed changed;
  if (setting.is_of_gpu() && row_of(setting.key) != nullptr) {
    changed = co_await change_gpu(node, setting, value);
  } else if (setting.key == "irq") {
    changed = co_await change_interrupt(node, setting, value);
  } else if (setting.key == "irqbalance") {
    changed = co_await change_service(node, setting, value);
  } else if (setting.key == "governor" || setting.key == "numa_balancing") {
    const bool all = setting.key == "governor";
    changed.why =
        all ? set_governors(node, value) : refusal_of(node.settings.set(std::string{kNuma}, value));
    changed.is = co_await read_setting(node, setting);
    if (changed.is == value) changed.why.clear();
  } else {
    changed.why = "this cupel-node knows no setting " + printable(setting.key);
  }
  co_return changed;
}

}  // namespace cupel::agent
