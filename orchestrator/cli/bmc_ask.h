#pragma once
// What all `cupel bmc NODES ...` share: reaching the nodes, asking many at once, and telling their
// answers for people, grouped, or for programs. The verbs themselves are in bmc_*.cpp.
#include <boost/json.hpp>

#include "orchestrator/cli/context.h"
#include "orchestrator/cli/reach.h"
#include "orchestrator/controller/connections.h"

namespace cupel::cli {

using controller::Connections;

/// What was given on the command line of `bmc` itself.
struct BmcAsked {
  std::string inventory = default_inventory();
  std::string nodes{};
  std::string patience = "10m";
  std::size_t width = 64;
  bool group = false;
};

/// One command line, while it is read and done.
struct BmcCommand {
  Context& context;
  std::shared_ptr<BmcAsked> asked = std::make_shared<BmcAsked>();
};

/// What one BMC answered: for people a text, for programs an object.
struct Answer {
  std::string text{};
  boost::json::object object{};
};

using Verb = std::function<Task<Result<Answer>>(bmc::Bmc&, const inventory::Node&, Deadline)>;

/// Asks all nodes that were named, some at a time, each in a session of its own that is ended on
/// every path. Prints answers as they come, with --json in the nodes' order, with --group at the
/// end. Ctrl-C ends it after clean-up, with what there is.
Exit ask(const BmcCommand& command, const Verb& verb);

/// The same for what needs more than one session with the BMC.
using ConnectionsVerb =
    std::function<Task<Result<Answer>>(Connections&, const inventory::Node&, Deadline)>;
Exit ask_over_connections(const BmcCommand& command, const ConnectionsVerb& verb);

/// What the nodes stand in, or a complaint; kInvalid too where none were named.
OrExit<Reach> reach(const BmcCommand& command);
Result<std::chrono::seconds> patience_of(const BmcAsked& asked);

/// Whether what acts on a whole BMC ("reset", "ac-cycle") may, where that serves other nodes too.
/// Errors: kInvalid, with their names, unless --shared was given.
Result<void> may_act_on_bmc(const inventory::Inventory& inventory, const inventory::Node& node,
                            std::string_view act, bool shared);

/// Says where the BMC was found where that is not where the inventory says: ", moved to
/// 10.0.1.9:443 (the inventory says 10.0.1.5:443)", "moved_to". Nothing for one that did not move.
void add_whereabouts(Answer& answer, bmc::Memory& memory, const inventory::Node& node);

/// A short answer that a protocol gave: "text", {"word": value, "by": "ipmi"}.
template <class Value>
Answer answer_of_bmc(std::string text, std::string_view word, Value&& value, bmc::Protocol by) {
  Answer answer{std::move(text), {}};
  answer.object[word] = std::forward<Value>(value);
  answer.object["by"] = to_string(by);
  return answer;
}

/// "2026-11-21T10:00:00Z" (also without time or zone, which then is UTC), or so long ago: "2h".
/// Errors: kInvalid.
Result<bmc::Seconds> time_of(std::string_view text, bmc::Seconds now);
/// "2026-11-21 10:00:00"; "unknown" where it is not reported.
std::string text_of(std::optional<bmc::Seconds> time);

/// A URL that a BMC can be given: http, https, nfs or cifs. Errors: kInvalid.
Result<std::string> url_of(const std::string& text);

// The commands of `bmc`, each of one file.
std::vector<CommandRow> bmc_power_commands(const BmcCommand& command);
std::vector<CommandRow> bmc_reading_commands(const BmcCommand& command);
std::vector<CommandRow> bmc_log_commands(const BmcCommand& command);
CommandRow bmc_diagnostics_command(const BmcCommand& command);
CommandRow bmc_bios_command(const BmcCommand& command);
std::vector<CommandRow> bmc_settings_commands(const BmcCommand& command);
std::vector<CommandRow> bmc_trust_commands(const BmcCommand& command);
CommandRow bmc_console_command(const BmcCommand& command);
CommandRow bmc_pins_command(const BmcCommand& command);
CommandRow bmc_scan_command(const BmcCommand& command);

}  // namespace cupel::cli
