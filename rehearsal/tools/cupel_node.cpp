#include "rehearsal/tools/cupel_node.h"

#include <fmt/format.h>

#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

constexpr auto kSubcommands = std::to_array<Tool>({
    {"facts", virtual_cupel_node_facts},
    {"watch", virtual_cupel_node_watch},
    {"kernel-log", virtual_cupel_node_log},
    {"stage", virtual_cupel_node_stage},
    {"restore-settings", virtual_cupel_node_restore_settings},
    {"tcp", virtual_cupel_node_tcp},
    {"start", virtual_cupel_node_start},
    {"tail", virtual_cupel_node_tail},
    {"stop", virtual_cupel_node_stop},
    {"tell", virtual_cupel_node_tell},
    {"forget", virtual_cupel_node_forget},
    {"list", virtual_cupel_node_list},
});

Task<int> cupel_node(ProcessPtr process, Arguments arguments) {
  const auto name = arguments.size() > 1 ? arguments[1] : std::string{};
  if (name == "--version") {
    co_await process->say(R"({"kind":"version","program":"cupel-node","version":")" CUPEL_VERSION
                          R"(","protocol":1})"
                          "\n");
    co_return 0;
  }
  const auto* found = std::ranges::find(kSubcommands, name, &Tool::name);
  if (found == kSubcommands.end()) {
    const auto text = fmt::format("cupel-node: there is no subcommand '{}'\n", name);
    co_await process->print_error(text);
    co_return 64;
  }
  const auto run = found->run;
  const int status = co_await run(process, arguments);
  co_return status;
}

constexpr auto kTools = std::to_array<Tool>({{"cupel-node", cupel_node}});

}  // namespace

std::span<const Tool> cupel_node_tools() { return kTools; }

}  // namespace cupel::rehearsal
