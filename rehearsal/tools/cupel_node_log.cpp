// `cupel-node kernel-log` of a virtual machine. Lines are recognized by the product's own reader,
// which is linked: a rehearsal proves that one. The log is a function of the machine and the time:
// a record's number is its time in milliseconds.
#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "burnin/agent/node/kernel_messages.h"
#include "inventory/pci_address.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/kernel_log.h"
#include "rehearsal/tools/cupel_node.h"
#include "rehearsal/tools/gpu_view.h"

namespace cupel::rehearsal {
namespace {

/// As cupel-node names it: by the address of the part that sits there.
std::string part_at(Host& host, const std::string& address) {
  if (address.empty()) return {};
  for (const auto& gpu : look_at_gpus(host).gpus)
    if (inventory::same_pci(gpu.part.pci, address)) return fmt::format("gpu{}", gpu.index);
  const auto& hardware = host.machine().hardware();
  for (const auto& adapter : hardware.adapters)
    if (inventory::same_pci(adapter.pci, address)) return adapter.name;
  for (const auto& drive : hardware.drives)
    if (inventory::same_pci(drive.pci, address)) return drive.name;
  return "pci " + address;
}

/// What rows are distinguished by.
struct Sourced {
  agent::MessageKind kind{};
  agent::Weight weight{};
  std::string part{};
  int code = -1;
  auto operator<=>(const Sourced&) const = default;
};

struct Counted {
  agent::KernelMessage message{};  // the first
  double since_boot = 0;
  int count = 0;
};

using Rows = std::map<Sourced, Counted>;

void take(Host& host, const agent::KernelMessage& message, double at, Rows& rows) {
  auto part = message.part.empty() ? part_at(host, message.pci) : message.part;
  auto& row = rows[{message.kind, message.weight, std::move(part), message.code.value_or(-1)}];
  if (row.count++ == 0) {
    row.message = message;
    row.since_boot = at;
  }
}

}  // namespace

json::array kernel_messages(Host& host, double after, double until) {
  Rows counted;
  agent::MessageReader reader;
  double last = 0;
  for (const auto& line : kernel_lines(host)) {
    if (line.at <= after || line.at > until) continue;
    last = line.at;
    for (const auto& message :
         reader.read({.priority = line.priority, .seconds = line.at, .text = line.text}))
      take(host, message, line.at, counted);
  }
  if (const auto open = reader.rest()) take(host, *open, last, counted);
  json::array rows;
  for (const auto& [reported, row] : counted) {
    json::object written{{"class", to_string(reported.kind)},
                         {"weight", to_string(reported.weight)},
                         {"part", reported.part},
                         {"count", row.count},
                         {"since_boot", row.since_boot},
                         {"detail", row.message.detail}};
    if (reported.code >= 0) written["code"] = reported.code;
    if (!row.message.pci.empty()) written["pci"] = row.message.pci;
    rows.push_back(std::move(written));
  }
  return rows;
}

namespace {

struct Position {
  std::string boot{};
  std::optional<std::uint64_t> after{};
  bool from_boot = false;
  bool good = true;
};

Position read_position(const Arguments& arguments) {
  Position position;
  position.from_boot = arguments.size() == 3 && arguments[2] == "--from-boot";
  if (position.from_boot) return position;
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
    co_await process->print_error(
        "usage: cupel-node kernel-log [--boot ID --after SEQUENCE | --from-boot]\n");
    co_return 64;
  }
  constexpr double kMilli = 1e-3;
  auto& host = process->host;
  const double up = host.epoch() - host.booted_at();
  const auto stands = static_cast<std::uint64_t>(std::max(0.0, std::floor(up / kMilli) - 1));
  json::object document{{"kind", "kernel-log"},     {"program", "cupel-node"}, {"protocol", 1},
                        {"readable", true},         {"boot", host.boot_id()},  {"last", stands},
                        {"places", places_of(host)}};
  document["booted"] = host.booted_at();
  if (since.after || since.from_boot) {
    const bool restarted = since.after && since.boot != host.boot_id();
    const bool whole = restarted || since.from_boot;
    const double after = whole ? -1 : static_cast<double>(*since.after) * kMilli;
    document["restarted"] = restarted;
    document["from_boot"] = since.from_boot;
    document["lost"] = 0;
    // The virtual log may hold lines of a later time already: `stands` cuts them off.
    document["messages"] = kernel_messages(host, after, static_cast<double>(stands) * kMilli);
  }
  const auto text = json::serialize(document) + "\n";
  co_await process->say(text);
  co_return 0;
}

}  // namespace cupel::rehearsal
