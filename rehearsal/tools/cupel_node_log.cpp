// `cupel-node kernel-log` of a virtual machine, and how it and `watch` know the kernel's messages.
// The log is a function of the machine and the time: a record's number is its time in milliseconds.
#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/kernel_log.h"
#include "rehearsal/tools/cupel_node.h"
#include "rehearsal/tools/gpu_view.h"

namespace cupel::rehearsal {
namespace {

/// "0000:1b:00.0" of "...(PCI:0000:1b:00): 79", by what sits there.
std::string part_at(Host& host, std::string_view text) {
  for (const auto& gpu : look_at_gpus(host).gpus)
    if (text.contains(gpu.part.pci.substr(0, gpu.part.pci.rfind('.'))))
      return fmt::format("gpu{}", gpu.index);
  for (const auto& adapter : host.machine().hardware().adapters)
    if (text.contains(adapter.pci)) return adapter.name;
  return {};
}

struct Sourced {
  std::string kind, weight, part;
  int code = -1;
  auto operator<=>(const Sourced&) const = default;
};

/// What a line names its part by.
enum class Named { by_nothing, by_address, by_device, by_cpu };

/// Lines of which one word says the kind; each an error.
struct Row {
  std::string_view mark;
  const char* kind;
  Named part = Named::by_nothing;
};
constexpr auto kRows = std::to_array<Row>({
    {"RmInitAdapter failed", "gpu", Named::by_address},
    {": GPU has fallen off the bus", "gpu", Named::by_address},
    {"Machine Check Exception", "mce", Named::by_cpu},
    {": recovery action for ", "mce"},
    {"): Link Down", "pcie", Named::by_address},
    {"rror, dev nvme", "nvme", Named::by_device},
    {"rror, dev sd", "disk", Named::by_device},
    {"device's health compromised", "mlx5", Named::by_address},
    {": Link down", "link", Named::by_address},
    {"ut of memory: Killed process", "oom"},
    {"soft lockup - CPU#", "hang"},
    {" blocked for more than ", "hang"},
});

/// "nvme4" of "dev nvme4n1, sector": the drive; "sdb" as it is; "CPU12" of "CPU 12: ".
std::string part_in(Host& host, const std::string& line, Named named) {
  const auto word_after = [&](std::string_view mark, std::string_view ends) {
    const auto from = line.find(mark) + mark.size();
    return line.substr(from, line.find_first_of(ends, from) - from);
  };
  if (named == Named::by_address) return part_at(host, line);
  if (named == Named::by_device && line.contains("dev nvme"))
    return "nvme" + word_after("dev nvme", "n, ");
  if (named == Named::by_device) return word_after("dev ", ", ");
  if (named == Named::by_cpu && line.contains("CPU ")) return "CPU" + word_after("CPU ", ": ");
  return {};
}

std::optional<Sourced> told_by(Host& host, const std::string& line) {
  const auto code_after = [&](std::string_view mark) {
    const auto at = line.find(mark);
    return at == line.npos ? -1 : std::atoi(line.c_str() + at + mark.size());
  };
  if (line.starts_with("NVRM: Xid (")) {
    const int code = code_after("): ");
    const bool program = code == 13 || code == 31 || code == 43 || code == 45 || code == 63;
    return Sourced{"xid", program ? "information" : "error", part_at(host, line), code};
  }
  if (line.contains(": SXid (") && line.contains(", Fatal,"))
    return Sourced{"sxid", "error", line.substr(7, line.find(':') - 7), code_after("): ")};
  if (line.starts_with("EDAC MC") && (line.contains(" CE ") || line.contains(" UE ")))
    return Sourced{"edac", line.contains(" CE ") ? "corrected" : "error", ""};
  if (line.contains("PCIe Bus Error: severity="))
    return Sourced{"aer", line.contains("severity=Correct") ? "corrected" : "error",
                   part_at(host, line)};
  if (line.contains("Core temperature is above threshold"))
    return Sourced{"thermal", "information", line.substr(0, line.find(':'))};
  if (line.contains("Package temperature is above threshold"))
    return Sourced{"thermal", "information", ""};
  for (const auto& row : kRows)
    if (line.contains(row.mark)) return Sourced{row.kind, "error", part_in(host, line, row.part)};
  return std::nullopt;
}

}  // namespace

json::array kernel_messages(Host& host, double after, double until) {
  std::map<Sourced, int> counted;
  for (const auto& line : kernel_lines(host)) {
    if (line.at <= after || line.at > until) continue;
    if (const auto told = told_by(host, line.text)) ++counted[*told];
  }
  json::array rows;
  for (const auto& [told, count] : counted) {
    json::object row{
        {"class", told.kind}, {"weight", told.weight}, {"part", told.part}, {"count", count}};
    if (told.code >= 0) row["code"] = told.code;
    rows.push_back(std::move(row));
  }
  return rows;
}

namespace {

struct Position {
  std::string boot{};
  std::optional<std::uint64_t> after{};
  bool good = true;
};

Position read_position(const Arguments& arguments) {
  Position position;
  for (std::size_t i = 2; i < arguments.size(); i += 2) {
    const auto value = i + 1 < arguments.size() ? arguments[i + 1] : std::string{};
    if (arguments[i] == "--boot") position.boot = value;
    if (arguments[i] == "--after") position.after = number<std::uint64_t>(value);
    position.good = position.good && !value.empty() &&
                    (arguments[i] == "--boot" || (arguments[i] == "--after" && position.after));
  }
  position.good = position.good && position.boot.empty() != position.after.has_value();
  return position;
}

json::object places_of(Host& host) {
  json::object places;
  for (const auto& gpu : look_at_gpus(host).gpus)
    places[fmt::format("gpu{}", gpu.index)] = gpu.part.pci;
  return places;
}

}  // namespace

Task<int> virtual_cupel_node_log(ProcessPtr process, Arguments arguments) {
  const auto since = read_position(arguments);
  if (!since.good) {
    co_await process->complain("usage: cupel-node kernel-log [--boot ID --after SEQUENCE]\n");
    co_return 64;
  }
  constexpr double kMilli = 1e-3;
  auto& host = process->host;
  const double up = host.epoch() - host.booted_at();
  const auto stands = static_cast<std::uint64_t>(std::max(0.0, std::floor(up / kMilli) - 1));
  json::object document{{"kind", "kernel-log"},     {"program", "cupel-node"}, {"protocol", 1},
                        {"readable", true},         {"boot", host.boot_id()},  {"last", stands},
                        {"places", places_of(host)}};
  if (since.after) {
    const bool restarted = since.boot != host.boot_id();
    const double after = restarted ? -1 : static_cast<double>(*since.after) * kMilli;
    document["restarted"] = restarted;
    document["lost"] = 0;
    // What is about to be said is there early in the log of a machine that is not there.
    document["messages"] = kernel_messages(host, after, static_cast<double>(stands) * kMilli);
  }
  const auto text = json::serialize(document) + "\n";
  co_await process->say(text);
  co_return 0;
}

}  // namespace cupel::rehearsal
