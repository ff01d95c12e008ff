#pragma once
// What every command shares: where the state lies, how it prints, and how it complains.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inventory/fwd.h"
#include "inventory/load.h"
#include "inventory/problem.h"
#include "inventory/select.h"
#include "orchestrator/cli/command_rows.h"
#include "orchestrator/controller/run_options.h"
#include "orchestrator/store/store.h"

namespace cupel::cli {

struct Context {
  std::filesystem::path state{};
  bool state_named = false;          // by --state, not by $CUPEL_STATE or by custom
  bool state_chosen = false;         // by a rehearsal: no command finds it by itself
  std::string socket{};              // of the service that is asked by custom; empty: none is
  std::filesystem::path programs{};  // where cupel-node, cupel-burn, cupel-sim lie
  std::string log{};                 // "stderr", "none" or a file; empty: as the command has it
  bool json = false;
  controller::RunFlags run{};  // how a run is accompanied
  /// Whether the command ends where only an operator can carry its run on; nothing: without a
  /// terminal it does.
  std::optional<bool> ends_when_halted{};
  std::int64_t begun = 0;               // the newest run that this command began; 0: none
  std::vector<std::string> behind{};    // what stood behind "--": another command's words
  const CommandRow* program = nullptr;  // every command; set before one runs
};

/// "cupel: what", on standard error; as {"error": ...} on standard output too with --json.
Exit print_error(const Context& context, const Error& error, Exit exit);
Exit print_error(const Context& context, const std::vector<inventory::Problem>& problems);

/// The folder that commands on this state have to name; empty: they find it by themselves, or the
/// user has named it.
std::string state_to_name(const Context& context);

/// A command that a text advises, as it is to be typed: with --state where that is needed.
/// `command`: "cupel status".
std::string advised(const Context& context, std::string_view command);

/// `text` with the same done to each command of cupel that it names: what steps, the store and
/// drivers advise stands in their errors, and they know no command line.
std::string advised_in(const Context& context, std::string_view text);

/// `$CUPEL_INVENTORY`, ./inventory.yaml, or the package's /etc/cupel/inventory.yaml.
std::string default_inventory();

/// Loads it, or complains. `cable_columns`: as of load_inventory().
OrExit<inventory::Inventory> inventory_or_exit(const Context& context, const std::string& file,
                                               std::string_view cable_columns = {});

/// Where only the folder of an inventory counts, or the command works without one: a file that the
/// user named can be read. Errors: kNotFound; kInvalid.
Result<void> check_named_inventory(bool named, const std::string& file);

/// Context::ends_when_halted, as asked for or by where standard output goes.
bool ends_when_halted(const Context& context);

/// What runs of the state folder have found, for nodes as "failed:12"; read when it is asked for.
inventory::NodesOfRun nodes_of_run(const Context& context);

/// The run that is meant: the one that is named, or the newest (0). Errors: kNotFound; kStorage.
Result<store::Run> meant_run(const store::Store& store, engine::RunId named);

/// `--json`, which most commands have.
OptionRow json_flag(Context& context);

}  // namespace cupel::cli
