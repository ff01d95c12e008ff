// `cupel bmc scan NETWORK`: which BMCs there are, as inventory YAML to paste.
#include <fmt/format.h>

#include "base/text.h"
#include "bmc/ipmi/identity.h"
#include "bmc/ipmi/ping.h"
#include "bmc/scan/scan.h"
#include "inventory/read_access.h"
#include "inventory/read_bmc.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/interrupt.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"

namespace cupel::cli {
namespace {

using bmc::scan::FoundBmc;

struct Scan {
  std::vector<std::string> networks{};
  unsigned short port = 443;
  unsigned short ipmi_port = 623;
  bool ipmi = false;
  bool ssdp = false;
  std::string user{};
  std::string password{};
};

/// The networks' hosts; those of the inventory where none were named.
Result<std::vector<std::string>> hosts_of(const Scan& asked, const std::string& file,
                                          std::vector<std::string>& networks) {
  networks = asked.networks;
  if (networks.empty()) {
    const auto loaded = inventory::load_inventory(file);
    if (loaded.inventory) networks = loaded.inventory->bmc_networks;
  }
  if (networks.empty())
    return Error{Code::kInvalid,
                 "which network? cupel bmc scan 10.0.1.0/24, or bmc_networks: in the inventory"};
  return inventory::hosts_in(networks);
}

Result<std::optional<bmc::scan::Login>> login_of(const Scan& asked) {
  if (asked.user.empty() && asked.password.empty()) return std::nullopt;
  if (asked.user.empty() || asked.password.empty())
    return Error{Code::kInvalid, "a login needs both --user and --password"};
  const auto secret = inventory::secret_of(asked.password, std::filesystem::current_path());
  if (!secret) return Error{Code::kInvalid, "--" + std::string{inventory::kSecretForm}};
  return bmc::scan::Login{asked.user, secret_source(*secret)};
}

/// As comments, so that the whole output is an inventory.
void print(const std::vector<FoundBmc>& found, const std::vector<std::string>& networks) {
  std::vector<Row> rows{{"address", "by", "vendor", "model", "serial", "MAC", "certificate"}};
  for (const auto& each : found)
    rows.push_back({each.address, fmt::format("{}", fmt::join(each.ways, " ")), each.vendor,
                    each.model, each.serial.empty() ? each.uuid : each.serial, each.mac,
                    each.certificate});
  const auto text = table(rows);
  for (const auto line : lines(text)) say("#{}\n", line);
  say("# {} BMCs\n", found.size());
  if (!found.empty())
    say("\n{}", bmc::scan::to_yaml(found, fmt::format("{}", fmt::join(networks, ", "))));
}

Task<Result<std::string>> speaks_ipmi(bmc::ipmi::Transport& transport, inventory::Endpoint endpoint,
                                      Deadline deadline) {
  CO_TRY(const auto presence, co_await bmc::ipmi::ping(transport, std::move(endpoint), deadline));
  if (!presence.ipmi) co_return Error{Code::kNotFound, "it answers, but speaks no IPMI"};
  co_return bmc::ipmi::vendor_of(presence.enterprise);
}

Exit scan(const BmcCommand& command, const Scan& asked) {
  const auto& context = command.context;
  std::vector<std::string> networks;
  auto hosts = hosts_of(asked, command.asked->inventory, networks);
  if (!hosts) return complain(context, hosts.assume_error(), Exit::invalid);
  auto login = login_of(asked);
  if (!login) return complain(context, login.assume_error(), Exit::invalid);
  asio::io_context io{1};
  bmc::scan::Options options{.hosts = std::move(hosts).assume_value(), .port = asked.port};
  options.ssdp = asked.ssdp;
  options.login = std::move(login).assume_value();
  bmc::ipmi::Transport ipmi{io.get_executor()};
  options.ipmi_port = asked.ipmi_port;
  if (asked.ipmi)
    options.ping = [&ipmi, port = asked.ipmi_port](std::string host, Deadline deadline) {
      return speaks_ipmi(ipmi, {std::move(host), port}, deadline);
    };
  if (context.json)
    options.found = [](const FoundBmc& bmc) {
      say("{}\n", json::serialize(to_json(bmc)));
      std::fflush(stdout);
    };
  auto work = bmc::scan::scan(std::move(options));
  const auto ended = run_to_end(io, until_interrupted(std::move(work)));
  if (!ended.value) return complain(context, ended.value.assume_error(), Exit::unfinished);
  if (!context.json) print(ended.value.assume_value(), networks);
  return Exit::passed;
}

}  // namespace

void add_bmc_scan(CLI::App& bmc, const BmcCommand& command) {
  auto* scan_command = bmc.add_subcommand(
      "scan", "find BMCs on a network, without credentials; prints an inventory to paste");
  scan_command->footer(
      "Examples: cupel bmc scan 10.0.1.0/24\n"
      "          cupel bmc scan 10.0.1.0/24 10.0.2.0/24 --ipmi --json\n"
      "          cupel bmc scan 10.0.1.0/24 --user admin --password env:BMC_PASSWORD\n"
      "It pins nothing: the certificates are those that were shown just now.");
  auto asked = std::make_shared<Scan>();
  scan_command->add_option("NETWORK", asked->networks,
                           "such as 10.0.1.0/24; the inventory's bmc_networks if not said");
  scan_command->add_option("--port", asked->port, "of HTTPS [443]")->check(CLI::Range(1, 65'535));
  scan_command->add_flag("--ipmi", asked->ipmi, "ask by IPMI too (a presence ping)");
  scan_command->add_option("--ipmi-port", asked->ipmi_port, "of IPMI [623]")
      ->check(CLI::Range(1, 65'535));
  scan_command->add_flag("--ssdp", asked->ssdp, "ask by multicast too (SSDP)");
  scan_command->add_option("--user", asked->user, "log in to what is found, for model and serial");
  scan_command->add_option("--password", asked->password, "env:NAME, file:PATH or cmd:COMMAND");
  scan_command->callback([command, asked] { command.exit = scan(command, *asked); });
}

}  // namespace cupel::cli
