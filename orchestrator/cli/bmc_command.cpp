// `cupel bmc NODES ...`: what an operator asks of BMCs by hand. Here is the grammar; each family of
// verbs has a file of its own.
#include "orchestrator/cli/bmc_ask.h"

namespace cupel::cli {

void add_bmc(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("bmc", "read and control BMCs");
  command->footer(
      "Examples: cupel bmc a01-n07 power\n"
      "          cupel bmc rack:a01 power on\n"
      "          cupel bmc 'a01-n[01-72]' sensors --group\n"
      "          cupel bmc a01-n07 log --since 2h\n"
      "          cupel bmc a01-n07 boot http http://10.0.0.1/boot.efi\n"
      "          cupel bmc a01-n07 media insert http://10.0.0.1/tools.iso\n"
      "          cupel bmc a01-n07 bios set ProcHyperthreading=Disabled\n"
      "          cupel bmc a01-n07 locate on\n"
      "          cupel bmc a01-n07 inventory --json\n"
      "          cupel bmc a01-n07 console --record console.log\n"
      "          cupel bmc rack:a01 password rotate\n"
      "          cupel bmc a01-n07 accept-certificate\n"
      "          cupel bmc pins import certificates.txt\n"
      "          cupel bmc scan 10.0.1.0/24\n"
      "Exit codes: 0 all answered, 1 some did not, 2 the input is wrong (nothing was asked),\n"
      "            3 interrupted.");
  command->require_subcommand(1);
  const BmcCommand bmc{context, exit};
  // Not required: `scan` and `pins` have none. Whoever needs them says so.
  command->add_option("NODES", bmc.asked->nodes, "as with run --nodes");
  command->add_option("-i,--inventory", bmc.asked->inventory,
                      "[$CUPEL_INVENTORY, ./inventory.yaml]");
  command->add_option("--patience", bmc.asked->patience,
                      "with each node, such as 90s or 15m [10m]");
  command->add_option("-f,--fanout", bmc.asked->width, "nodes at a time [64]")
      ->check(CLI::Range(1, 4096));
  auto* group = command->add_flag("-b,--group", bmc.asked->group,
                                  "at the end, each answer once with the nodes that gave it");
  add_json_flag(*command, context);
  group->excludes(command->get_option("--json"));
  add_bmc_power(*command, bmc);
  add_bmc_reading(*command, bmc);
  add_bmc_log(*command, bmc);
  add_bmc_bios(*command, bmc);
  add_bmc_settings(*command, bmc);
  add_bmc_trust(*command, bmc);
  add_bmc_console(*command, bmc);
  add_bmc_pins(*command, bmc);
  add_bmc_scan(*command, bmc);
}

}  // namespace cupel::cli
