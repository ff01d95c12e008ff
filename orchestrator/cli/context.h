#pragma once
// What every command shares: where the state lies, how it prints, and what its exit code means.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inventory/load.h"
#include "orchestrator/controller/run_options.h"
#include "orchestrator/store/store.h"

namespace CLI {
class App;
}

namespace cupel::cli {

/// Exit codes are a public interface; scripts decide on them.
enum class Exit : int {
  passed = 0,      // all nodes passed
  failed = 1,      // some node failed or is inconclusive
  invalid = 2,     // the input is wrong: nothing was touched
  unfinished = 3,  // the run could not finish
};

struct Context {
  std::filesystem::path state{};
  bool state_named = false;          // by --state, not by $CUPEL_STATE or by custom
  std::filesystem::path programs{};  // where cupel-node, cupel-burn, cupel-sim lie
  std::string log{};                 // "stderr", "none" or a file; empty: as the command has it
  bool json = false;
  controller::RunFlags run{};         // how a run is accompanied
  std::int64_t begun = 0;             // the newest run that this command began; 0: none
  std::vector<std::string> behind{};  // what stood behind "--": another command's words
};

/// Adds one subcommand with its options and its example. The command runs when it was chosen, and
/// puts its exit code into `exit`.
using AddCommand = void (*)(CLI::App& app, Context& context, Exit& exit);

void add_inventory(CLI::App& app, Context& context, Exit& exit);
void add_plan(CLI::App& app, Context& context, Exit& exit);
void add_playbook(CLI::App& app, Context& context, Exit& exit);
void add_run(CLI::App& app, Context& context, Exit& exit);
void add_resume(CLI::App& app, Context& context, Exit& exit);
void add_cancel(CLI::App& app, Context& context, Exit& exit);
void add_pause(CLI::App& app, Context& context, Exit& exit);
void add_unpause(CLI::App& app, Context& context, Exit& exit);
void add_approve(CLI::App& app, Context& context, Exit& exit);
void add_retry(CLI::App& app, Context& context, Exit& exit);
void add_skip(CLI::App& app, Context& context, Exit& exit);
void add_continue(CLI::App& app, Context& context, Exit& exit);
void add_actions(CLI::App& app, Context& context, Exit& exit);
void add_status(CLI::App& app, Context& context, Exit& exit);
void add_show(CLI::App& app, Context& context, Exit& exit);
void add_report(CLI::App& app, Context& context, Exit& exit);
void add_exec(CLI::App& app, Context& context, Exit& exit);
void add_bmc(CLI::App& app, Context& context, Exit& exit);
void add_certificate(CLI::App& app, Context& context, Exit& exit);
void add_verify(CLI::App& app, Context& context, Exit& exit);
void add_requalify(CLI::App& app, Context& context, Exit& exit);
void add_check(CLI::App& app, Context& context, Exit& exit);
void add_rma(CLI::App& app, Context& context, Exit& exit);
void add_profile(CLI::App& app, Context& context, Exit& exit);
void add_audit(CLI::App& app, Context& context, Exit& exit);
void add_firmware(CLI::App& app, Context& context, Exit& exit);
void add_settings(CLI::App& app, Context& context, Exit& exit);
void add_fabric(CLI::App& app, Context& context, Exit& exit);
void add_rehearse(CLI::App& app, Context& context, Exit& exit);
void add_rack(CLI::App& app, Context& context, Exit& exit);
void add_slurm(CLI::App& app, Context& context, Exit& exit);
void add_store(CLI::App& app, Context& context, Exit& exit);
void add_image(CLI::App& app, Context& context, Exit& exit);
void add_backup(CLI::App& app, Context& context, Exit& exit);
void add_restore(CLI::App& app, Context& context, Exit& exit);
void add_doctor(CLI::App& app, Context& context, Exit& exit);
void add_manual(CLI::App& app, Context& context, Exit& exit);
void add_completion(CLI::App& app, Context& context, Exit& exit);

/// "cupel: what", on standard error; as {"error": ...} on standard output too with --json.
Exit complain(const Context& context, const Error& error, Exit exit);
Exit complain(const Context& context, const std::vector<inventory::Problem>& problems);

/// `--inventory FILE`, `$CUPEL_INVENTORY`, or ./inventory.yaml.
std::string default_inventory();

/// Loads it, or complains.
std::optional<inventory::Inventory> inventory_or_complain(const Context& context,
                                                          const std::string& file, Exit& exit);

/// Nodes that a person named, the inventory that they stand in, and the store with their pins.
struct Reach {
  inventory::Inventory inventory;
  std::vector<const inventory::Node*> nodes;
  std::unique_ptr<store::Store> store;
};

/// Loads the inventory, selects the nodes and opens the store, or complains of the first that
/// fails.
std::optional<Reach> reach_or_complain(const Context& context, const std::string& file,
                                       std::string_view nodes_named, Exit& exit);

/// The run that is meant: the one that is named, or the newest (0). Errors: kNotFound; kStorage.
Result<store::Run> meant_run(const store::Store& store, engine::RunId named);

/// Adds `--json`, which most commands have.
void add_json_flag(CLI::App& command, Context& context);

}  // namespace cupel::cli
