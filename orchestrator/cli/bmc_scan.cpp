// `cupel bmc scan NETWORK`: which BMCs there are, as inventory YAML to paste.
#include <fmt/format.h>

#include <set>

#include "base/ownership.h"
#include "base/paths.h"
#include "base/text.h"
#include "bmc/ipmi/identity.h"
#include "bmc/ipmi/ping.h"
#include "bmc/scan/scan.h"
#include "inventory/check_files.h"
#include "inventory/load.h"
#include "inventory/model.h"
#include "inventory/read_access.h"
#include "inventory/read_bmc.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/ca_file.h"
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
  std::string ca{};
  bool trust_unknown = false;
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

/// The certificates that people or an earlier contact vouch for: of the inventory's BMCs and PDUs.
Result<std::set<std::string>> known_certificates(const BmcCommand& command) {
  std::set<std::string> known;
  const auto loaded = inventory::load_inventory(command.asked->inventory);
  if (!loaded.inventory) return known;  // a scan may come before there is any
  TRY(const auto store, store::Store::open(command.context.state));
  const auto add = [&](const std::string& name, const inventory::Trust& trust) {
    const auto pin = trust.kind == inventory::Trust::Kind::pinned && !trust.what.empty()
                         ? std::optional{trust.what}
                         : store->pinned("bmc:" + name);
    if (pin) known.insert("SHA256:" + lower_case(pin->substr(std::string_view{"SHA256:"}.size())));
  };
  for (const auto& node : loaded.inventory->nodes) add(inventory::bmc_name(node), node.bmc.trust);
  for (const auto& pdu : loaded.inventory->pdus) add(pdu.name, pdu.trust);
  return known;
}

/// Who proves to be known may hear the password; others only where a person said so.
Result<bmc::scan::Proof> proof_of(const Scan& asked, const BmcCommand& command) {
  using inventory::Trust;
  if (asked.trust_unknown) return bmc::scan::Proof{};
  TRY(auto known, known_certificates(command));
  return bmc::scan::Proof{
      [known = std::move(known), ca = asked.ca](const FoundBmc& bmc) -> std::optional<Trust> {
        if (known.contains(bmc.certificate)) return Trust{Trust::Kind::pinned, bmc.certificate};
        if (!ca.empty()) return Trust{Trust::Kind::ca, ca};
        return std::nullopt;
      }};
}

Result<std::optional<bmc::scan::Login>> login_of(const Scan& asked, const BmcCommand& command) {
  if (asked.user.empty() && asked.password.empty()) return std::nullopt;
  if (asked.user.empty() || asked.password.empty())
    return Error{Code::kInvalid, "a login needs both --user and --password"};
  const auto secret = inventory::secret_of(asked.password, working_folder());
  if (!secret) return Error{Code::kInvalid, "--" + std::string{inventory::kSecretForm}};
  if (secret->kind == inventory::SecretRef::Kind::file) {
    TRY(inventory::check_secret_file(secret->where));
  }
  TRY(auto proof, proof_of(asked, command));
  return bmc::scan::Login{asked.user, controller::secret_source(*secret), std::move(proof)};
}

/// As comments, so that the whole output is an inventory.
void print(const std::vector<FoundBmc>& found, const std::vector<std::string>& networks) {
  std::vector<Row> rows{{"address", "by", "vendor", "model", "serial", "MAC", "certificate"}};
  for (const auto& each : found)
    rows.push_back({each.address,
                    each.ways.empty() ? each.note : fmt::format("{}", fmt::join(each.ways, " ")),
                    each.vendor, each.model, each.serial.empty() ? each.uuid : each.serial,
                    each.mac, each.certificate});
  const auto text = table(rows);
  for (const auto line : lines(text)) say("#{}\n", line);
  const auto unclear =
      std::ranges::count_if(found, [](const auto& each) { return each.ways.empty(); });
  say("# {} BMCs", std::ssize(found) - unclear);
  if (unclear > 0) say("; {} starting or unknown", unclear);
  say("\n");
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
  const auto ca = check_ca_file(asked.ca);
  if (!ca) return print_error(context, ca.error(), Exit::invalid);
  std::vector<std::string> networks;
  auto hosts = hosts_of(asked, command.asked->inventory, networks);
  if (!hosts) return print_error(context, hosts.error(), Exit::invalid);
  auto login = login_of(asked, command);
  if (!login) return print_error(context, login.error(), Exit::invalid);
  asio::io_context io{1};
  bmc::scan::Options options{.hosts = *std::move(hosts), .port = asked.port};
  options.ssdp = asked.ssdp;
  options.login = *std::move(login);
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
  if (!ended.value) return print_error(context, ended.value.error(), Exit::unfinished);
  const auto& found = *ended.value;
  if (!context.json) print(found, networks);
  if (context.json && found.empty()) say("[]\n");
  return Exit::passed;
}

}  // namespace

CommandRow bmc_scan_command(const BmcCommand& command) {
  auto asked = std::make_shared<Scan>();
  CommandRow row{"scan",
                 "find BMCs on a network, without credentials; prints an inventory to paste"};
  row.footer =
      "Examples: cupel bmc scan 10.0.1.0/24\n"
      "          cupel bmc scan 10.0.1.0/24 10.0.2.0/24 --ipmi --json\n"
      "          cupel bmc scan 10.0.1.0/24 --user admin --password env:BMC_PASSWORD\n"
      "It pins nothing: the certificates are those that were shown just now. It logs in only "
      "where\n"
      "the certificate is pinned (cupel bmc pins list), named by the inventory, or signed by "
      "--ca.\n"
      "With --json it prints one object for each BMC, and [] where there is none.";
  row.options = {
      {"NETWORK", &asked->networks, "such as 10.0.1.0/24; [bmc_networks of the inventory]"},
      {"--port", &asked->port, "of HTTPS [443]", {.range = NumberRange{1, 65'535}}},
      {"--ipmi", &asked->ipmi, "ask by IPMI too (a presence ping)"},
      {"--ipmi-port", &asked->ipmi_port, "of IPMI [623]", {.range = NumberRange{1, 65'535}}},
      {"--ssdp", &asked->ssdp, "ask by multicast too (SSDP)"},
      {"--user", &asked->user, "login name for known BMCs, to read model and serial number"},
      {"--password", &asked->password, "env:NAME, file:PATH or cmd:COMMAND"},
      {"--ca",
       &asked->ca,
       "also log in to BMCs with a certificate of this CA (PEM)",
       {.existing = Existing::file}},
      {"--trust-unknown", &asked->trust_unknown,
       "log in everywhere: any machine on that network that behaves like a BMC receives the "
       "password"}};
  row.run = [command, asked] { return scan(command, *asked); };
  return row;
}

}  // namespace cupel::cli
