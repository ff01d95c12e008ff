#include "burnin/agent/node/stages/settings_plan.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/agent/node/stages/order.h"

namespace cupel::agent {
namespace {

/// A value that nobody bounded further: letters, digits and commas.
struct SettingRow {
  std::string_view name;
  std::string_view words{};  // those that it may be, separated by blanks; empty: numbers
  std::size_t numbers = 0;
};
constexpr std::array kKnownSettings{
    SettingRow{"persistence", "on off"},
    SettingRow{"power_limit", "", 1},
    SettingRow{"gpu_clocks", "", 2},
    SettingRow{"app_clocks", "", 2},
    SettingRow{"ecc", "on off"},
    SettingRow{"mig", "on off"},
    SettingRow{"governor", "performance powersave schedutil ondemand conservative"},
    SettingRow{"numa_balancing", "0 1"},
    SettingRow{"irq_affinity", "local"}};
constexpr std::uint32_t kMostNumber = 100'000;  // W and MHz

bool fits(const SettingRow& row, std::string_view value) {
  const auto known = words(row.words);
  if (!known.empty()) return std::ranges::find(known, value) != known.end();
  const auto parts = split(value, ',');
  return parts.size() == row.numbers && std::ranges::all_of(parts, [](auto part) {
           const auto one = number<std::uint32_t>(part);
           return one && *one > 0 && *one <= kMostNumber;
         });
}

/// Nothing where it is no setting that this stage knows.
std::optional<SettingRequest> setting_request_of(const JsonValue& one) {
  const auto* name = one.find("name");
  const auto* value = one.find("value");
  const bool texts =
      name != nullptr && value != nullptr && name->text() != nullptr && value->text() != nullptr;
  if (!texts) return std::nullopt;
  const auto* row = std::ranges::find(kKnownSettings, *name->text(), &SettingRow::name);
  if (row == kKnownSettings.end() || !fits(*row, *value->text())) return std::nullopt;
  return SettingRequest{*name->text(), *value->text()};
}

/// One line of nvidia-smi, in the order in which it was asked.
struct GpuLine {
  explicit GpuLine(std::string_view line) {
    auto cells = split(line, ',');
    cells.resize(9);
    index = cells[0], uuid = cells[1], persistence = cells[2], power = cells[3], least = cells[4],
    most = cells[5], ecc = cells[6], mig = cells[7], fastest = cells[8];
  }
  std::string index{}, uuid{}, persistence{}, power{}, least{}, most{}, ecc{}, mig{}, fastest{};
};
constexpr std::string_view kGpuQuery =
    "--query-gpu=index,uuid,persistence_mode,power.limit,power.min_limit,power.max_limit,"
    "ecc.mode.pending,mig.mode.pending,clocks.max.graphics";

/// Idle ones: to change a GPU disturbs who uses it.
Work<GaveUp> read_gpus(Node& node, SettingsPlan& plan) {
  if (!plan.gpus.empty()) co_return {};
  if (!node.programs.has("nvidia-smi")) co_return "nvidia-smi is not installed on the node";
  std::string why;
  const auto busy = co_await ask_all_gpus(node, "--query-compute-apps=gpu_uuid,pid", why);
  if (!why.empty()) co_return why;
  for (const auto& line : busy)
    if (line.starts_with("GPU-")) co_return "a GPU is in use: " + line;
  plan.gpus = co_await ask_all_gpus(node, std::string{kGpuQuery}, why);
  if (why.empty() && plan.gpus.empty()) why = "nvidia-smi lists no GPU";
  co_return why;
}

/// What it is now must be known, and must stand in a line of the record.
bool is_reported(std::string_view value) {
  return !value.empty() && !value.contains("N/A") && !value.contains("NotSupported") &&
         !value.contains('|');
}

std::string unreported(const GpuLine& gpu, std::string_view what) {
  return "gpu" + gpu.index + " does not report its " + std::string{what} +
         ": it cannot be put back";
}

void add(SettingsPlan& plan, std::string_view key, const GpuLine& gpu, std::string before,
         std::string expected) {
  plan.all.push_back(
      {{std::string{key}, gpu.uuid, gpu.index}, std::move(before), std::move(expected)});
}

/// What is absent from a number does not bound it: then the tool refuses by itself.
bool is_above(const std::string& value, const std::string& most) {
  const auto one = number_in(value), other = number_in(most);
  return one && other && *one > *other;
}

GaveUp add_mode(SettingsPlan& plan, const GpuLine& gpu, const SettingRequest& request,
                std::string_view what, const std::string& now) {
  if (!is_reported(now)) return unreported(gpu, what);
  add(plan, "gpu." + request.name, gpu, now, request.value == "on" ? "Enabled" : "Disabled");
  return {};
}

GaveUp add_power(SettingsPlan& plan, const GpuLine& gpu, const SettingRequest& request) {
  if (!is_reported(gpu.power)) return unreported(gpu, "power limit");
  if (is_above(gpu.least, request.value) || is_above(request.value, gpu.most))
    return "gpu" + gpu.index + ": power_limit " + request.value + " W is not between " + gpu.least +
           " and " + gpu.most + " W";
  add(plan, "gpu.power", gpu, gpu.power, request.value + ".00");
  return {};
}

GaveUp add_clocks(SettingsPlan& plan, const GpuLine& gpu, const SettingRequest& request) {
  if (is_above(std::string{split(request.value, ',').back()}, gpu.fastest))
    return "gpu" + gpu.index + ": gpu_clocks " + request.value + " MHz is above its most, " +
           gpu.fastest + " MHz";
  add(plan, "gpu.clocks", gpu, std::string{kDefaultClocks}, request.value);
  return {};
}

bool are_clocks(std::string_view text) {
  const auto parts = split(text, ',');
  return parts.size() == 2 &&
         std::ranges::all_of(parts, [](auto part) { return number<unsigned>(part).has_value(); });
}

/// A driver that has them no longer says so in words (580 and later: "deprecated").
Work<GaveUp> add_application_clocks(Node& node, SettingsPlan& plan, GpuLine gpu,
                                    SettingRequest request) {
  auto now = co_await query_gpu(node, gpu.index, std::string{field_of("gpu.app_clocks")});
  if (are_clocks(now)) {
    add(plan, "gpu.app_clocks", gpu, std::move(now), request.value);
    co_return {};
  }
  plan.refused.push_back({{"gpu.app_clocks", gpu.uuid, gpu.index}, "none", request.value});
  co_return {};
}

Work<GaveUp> plan_gpu(Node& node, SettingsPlan& plan, GpuLine gpu, SettingRequest request) {
  if (!number<unsigned>(gpu.index) || gpu.uuid.empty() || gpu.uuid.contains('|'))
    co_return "nvidia-smi lists a GPU without an index or a UUID";
  if (request.name == "persistence")
    co_return add_mode(plan, gpu, request, "persistence mode", gpu.persistence);
  if (request.name == "ecc") co_return add_mode(plan, gpu, request, "ECC mode", gpu.ecc);
  if (request.name == "mig") co_return add_mode(plan, gpu, request, "MIG mode", gpu.mig);
  if (request.name == "power_limit") co_return add_power(plan, gpu, request);
  if (request.name == "gpu_clocks") co_return add_clocks(plan, gpu, request);
  auto why = co_await add_application_clocks(node, plan, gpu, request);
  co_return why;
}

GaveUp plan_governor(const Node& node, SettingsPlan& plan, const SettingRequest& request) {
  const auto now = governors(node);
  if (now.empty()) return "the CPUs report no governor: no cpufreq driver is loaded";
  if (now.size() > 1) {
    std::string all;
    for (const auto& each : now) all += (all.empty() ? "" : " ") + each;
    return "the CPUs have different governors: " + all;
  }
  const auto known =
      node.tree.text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors");
  const auto text = known.value_or("");
  const auto all = words(text);
  if (std::ranges::find(all, request.value) == all.end())
    return "governor '" + request.value + "' is none of: " + known.value_or("");
  plan.all.push_back({{"governor", "all"}, now.front(), request.value});
  return {};
}

GaveUp plan_numa_balancing(const Node& node, SettingsPlan& plan, const SettingRequest& request) {
  const auto now = node.tree.text("/proc/sys/kernel/numa_balancing");
  if (!now) return "the kernel has no numa_balancing";
  plan.all.push_back({{"numa_balancing", "kernel"}, *now, request.value});
  return {};
}

/// Those of one HCA go to the CPUs of its NUMA node.
void add_interrupts(const Node& node, SettingsPlan& plan, const std::string& device) {
  const auto numa = node.tree.text(device + "/numa_node").value_or("");
  const auto near = node.tree.text("/sys/devices/system/node/node" + numa + "/cpulist");
  if (!near) return;
  for (const auto& irq : node.tree.names(device + "/msi_irqs")) {
    const auto now = node.tree.text("/proc/irq/" + irq + "/smp_affinity_list");
    if (now && number<unsigned>(irq)) plan.all.push_back({{"irq", irq}, *now, *near});
  }
}

/// irqbalance would move them again.
Work<GaveUp> plan_interrupts(Node& node, SettingsPlan& plan) {
  const bool balanced = co_await is_active(node, "irqbalance");
  if (balanced) plan.all.push_back({{"irqbalance", "service"}, "active", "inactive"});
  const auto before = plan.all.size();
  constexpr std::string_view kHcas = "/sys/class/infiniband";
  for (const auto& hca : node.tree.names(kHcas))
    add_interrupts(node, plan, std::string{kHcas} + "/" + hca + "/device");
  if (plan.all.size() == before) co_return "no HCA reports its interrupts and its NUMA node";
  co_return {};
}

}  // namespace

Result<std::vector<SettingRequest>> requests_of(const JsonValue& order) {
  const Error unknown{Code::kInvalid, "the order has no settings that this stage knows, each once"};
  const auto* list = order.find("settings");
  const auto* all = list == nullptr ? nullptr : list->array();
  if (all == nullptr || all->empty()) return unknown;
  std::vector<SettingRequest> requests;
  for (const auto& each : *all) {
    auto request = setting_request_of(each);
    const bool again = request && std::ranges::find(requests, request->name,
                                                    &SettingRequest::name) != requests.end();
    if (!request || again) return unknown;
    requests.push_back(*std::move(request));
  }
  return requests;
}

Work<GaveUp> plan_request(Node& node, SettingRequest request, SettingsPlan& plan) {
  GaveUp why;
  if (request.name == "governor") {
    why = plan_governor(node, plan, request);
  } else if (request.name == "numa_balancing") {
    why = plan_numa_balancing(node, plan, request);
  } else if (request.name == "irq_affinity") {
    why = co_await plan_interrupts(node, plan);
  } else {
    why = co_await read_gpus(node, plan);
    for (std::size_t i = 0; why.empty() && i < plan.gpus.size(); ++i)
      why = co_await plan_gpu(node, plan, GpuLine{without_blanks(plan.gpus[i])}, request);
  }
  if (why.empty() && plan.all.size() > SettingsPlan::kMost)
    why = "more than " + std::to_string(SettingsPlan::kMost) + " settings of one node";
  co_return why;
}

}  // namespace cupel::agent
