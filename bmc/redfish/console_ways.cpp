#include "bmc/redfish/console_ways.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "bmc/redfish/network.h"

namespace cupel::bmc::redfish {
namespace {

using Kind = ConsoleWay::Kind;

struct Named {
  std::string_view name;
  Kind kind;
};

constexpr std::array kKinds{Named{"IPMI", Kind::sol}, Named{"SSH", Kind::ssh},
                            Named{"Telnet", Kind::telnet}};

int port_of(const json::value& body, std::string_view path) {
  const auto port = number_at(body, path).value_or(0);
  return port > 0 && port < 65536 ? static_cast<int>(port) : 0;
}

/// ComputerSystem.SerialConsole: one object for each way.
std::vector<ConsoleWay> ways_of_system(const json::value& system, const Rules& rules) {
  std::vector<ConsoleWay> ways;
  for (const auto& [name, kind] : kKinds) {
    const std::string path = "SerialConsole/" + std::string{name};
    const auto* reported_way = find(system, path);
    if (reported_way == nullptr || !reported_way->is_object()) continue;
    ConsoleWay way{.kind = kind, .enabled = flag_at(*reported_way, "ServiceEnabled") == true};
    way.port = port_of(*reported_way, "Port");
    way.command = reported(*reported_way, "ConsoleEntryCommand");
    const bool shared = flag_at(*reported_way, "SharedWithManagerCLI") == true;
    if (way.command.empty() && shared) way.command = rules.console_command;
    ways.push_back(std::move(way));
  }
  return ways;
}

/// Manager.SerialConsole: a list of words. Dell's is empty, though its command shell opens one.
std::vector<ConsoleWay> ways_of_manager(const json::value& manager, const json::value& protocols,
                                        const Rules& rules) {
  auto types = texts_of(find(manager, "SerialConsole/ConnectTypesSupported"));
  bool enabled = flag_at(manager, "SerialConsole/ServiceEnabled") == true;
  if (types.empty() && !rules.console_command.empty()) {
    types = texts_of(find(manager, "CommandShell/ConnectTypesSupported"));
    enabled = flag_at(manager, "CommandShell/ServiceEnabled") == true;
  }
  std::vector<ConsoleWay> ways;
  for (const auto& [name, kind] : kKinds) {
    if (std::ranges::find(types, name) == types.end()) continue;
    // A way is closed where the service that it needs is off (iLO's IPMI as delivered).
    const bool open = is_enabled(protocols, name).value_or(true);
    ConsoleWay way{.kind = kind, .enabled = enabled && open};
    way.port = port_of(protocols, std::string{name} + "/Port");
    if (kind != Kind::sol) way.command = rules.console_command;
    ways.push_back(std::move(way));
  }
  return ways;
}

}  // namespace

Task<Result<std::vector<ConsoleWay>>> read_console_ways(Client& client, Layout layout,
                                                        Document system, Deadline deadline) {
  auto ways = ways_of_system(system.body, *layout.rules);
  if (!ways.empty() || layout.manager.empty()) co_return ways;
  CO_TRY(const json::value manager, co_await client.get(layout.manager, deadline));
  auto protocols = co_await read_protocols(client, layout, deadline);
  const bool nothing_to_tell = !protocols && (protocols.error().code == Code::kNotFound ||
                                              protocols.error().code == Code::kUnsupported);
  if (!protocols && !nothing_to_tell) co_return std::move(protocols).error();
  const json::value none = json::object{};
  co_return ways_of_manager(manager, protocols ? protocols->body : none, *layout.rules);
}

}  // namespace cupel::bmc::redfish
