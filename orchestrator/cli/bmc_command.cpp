// `cupel bmc NODES ...`: what an operator asks of BMCs by hand. Here is the grammar; each family of
// verbs has a file of its own.
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/commands.h"

namespace cupel::cli {

CommandRow bmc_command(Context& context) {
  const BmcCommand bmc{context};
  CommandRow row{"bmc", "read and control BMCs"};
  row.footer =
      "Examples: cupel bmc a01-n07 power\n"
      "          cupel bmc rack:a01 power on          or: cupel bmc power rack:a01 on\n"
      "          cupel bmc 'a01-n[01-72]' sensors --group\n"
      "          cupel bmc a01-n07 log --since 2h\n"
      "          cupel bmc a01-n07 diagnostics --output dumps\n"
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
      "            3 interrupted.";
  row.options = {
      {"NODES", &bmc.asked->nodes, "as with run --nodes"},
      {"-i,--inventory", &bmc.asked->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
      {"--patience", &bmc.asked->patience, "with each node, such as 90s or 15m [10m]"},
      {"-f,--fanout", &bmc.asked->width, "nodes at a time [64]", {.range = NumberRange{1, 4096}}},
      {"-b,--group",
       &bmc.asked->group,
       "at the end, each answer once with the nodes that gave it",
       {.excludes = {"--json"}}},
      json_flag(context)};
  row.subcommands = joined<CommandRow>(
      {bmc_power_commands(bmc),
       bmc_reading_commands(bmc),
       bmc_log_commands(bmc),
       {bmc_diagnostics_command(bmc), bmc_bios_command(bmc)},
       bmc_settings_commands(bmc),
       bmc_trust_commands(bmc),
       {bmc_console_command(bmc), bmc_pins_command(bmc), bmc_scan_command(bmc)}});
  return row;
}

}  // namespace cupel::cli
