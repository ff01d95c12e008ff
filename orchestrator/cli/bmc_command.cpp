// `cupel bmc NODES ...`: what an operator asks of BMCs by hand.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/for_each_of.h"
#include "base/text.h"
#include "bmc/power.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/world.h"
#include "orchestrator/record/codec.h"

namespace cupel::cli {
namespace {

using inventory::Node;

constexpr std::size_t kAtOnce = 64;
constexpr std::chrono::seconds kGrace{60};

struct Asked {
  std::string inventory = default_inventory();
  std::string nodes{};
  std::string power = "status";
  std::string target = "pxe";
  std::chrono::seconds patience{600};
};

/// What one BMC answered: for people a line, for programs an object.
struct Answer {
  std::string text{};
  boost::json::object object{};
};

using Verb = std::function<Task<Result<Answer>>(bmc::Bmc&, const Node&, Deadline)>;

Task<Result<Answer>> ask_one(World& world, const Verb& verb, const Node* node, Deadline deadline) {
  const auto bmc = world.bmc(*node);
  auto answer = co_await verb(*bmc, *node, deadline);
  co_await bmc->log_out();
  co_return answer;
}

void print(const Context& context, const Node& node, const Result<Answer>& answer) {
  if (context.json) {
    auto object = answer ? answer.assume_value().object : boost::json::object{};
    object["node"] = node.name;
    if (!answer) object["error"] = answer.assume_error().what;
    std::printf("%s\n", boost::json::serialize(object).c_str());
  } else if (answer) {
    say("{}: {}\n", node.name, answer.assume_value().text);
  } else {
    say(stderr, "{}: {}\n", node.name, printable(answer.assume_error().what));
  }
}

Exit ask(const Context& context, const Asked& asked, const Verb& verb) {
  Exit exit = Exit::passed;
  const auto reach = reach_or_complain(context, asked.inventory, asked.nodes, exit);
  if (!reach) return exit;
  World world{reach->inventory, *reach->store};
  const auto deadline = Deadline::in(asked.patience);
  const auto each = [&](const Node* node) { return ask_one(world, verb, node, deadline); };
  const auto answers = run_to_end(world.io(), for_each_of<Answer>(reach->nodes, kAtOnce, each));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    print(context, *reach->nodes[i], answers[i]);
    if (!answers[i]) exit = Exit::failed;
  }
  return exit;
}

Task<Result<Answer>> read_power(bmc::Bmc& bmc, const Node&, Deadline deadline) {
  CO_TRY(const bmc::PowerState state, co_await bmc.power_state(deadline));
  const std::string word{to_string(state)};
  co_return Answer{word, {{"power", word}}};
}

Task<Result<Answer>> turn_on(bmc::Bmc& bmc, const Node&, Deadline deadline) {
  CO_TRY(co_await bmc::ensure_on(bmc, deadline));
  co_return Answer{"on", {{"power", "on"}}};
}

Task<Result<Answer>> turn_off(bmc::Bmc& bmc, const Node&, Deadline deadline) {
  CO_TRY(co_await bmc::ensure_off(bmc, kGrace, deadline));
  co_return Answer{"off", {{"power", "off"}}};
}

Task<Result<Answer>> turn_off_and_on(bmc::Bmc& bmc, const Node&, Deadline deadline) {
  CO_TRY(co_await bmc::cycle(bmc, kGrace, deadline));
  co_return Answer{"on, after a power cycle", {{"power", "on"}}};
}

Task<Result<Answer>> read_inventory(bmc::Bmc& bmc, const Node&, Deadline deadline) {
  CO_TRY(const auto seen, co_await bmc.observe(deadline));
  Answer answer;
  answer.text = fmt::format("{} {} serial {}, BIOS {}, BMC {}, power {}", seen.identity.vendor,
                            seen.identity.model, seen.identity.serial, seen.identity.bios_version,
                            seen.identity.bmc_version, to_string(seen.power));
  for (const auto& part : seen.parts)
    answer.text += fmt::format("\n  {:<9} {:<28} {:<30} {:<20} {}", to_string(part.kind), part.name,
                               part.model, part.serial, part.firmware);
  for (const auto& each : seen.unknown)
    answer.text += fmt::format("\n  unknown   {}: {} ({})", each.fact, each.why, each.source);
  answer.object = {{"vendor", seen.identity.vendor},
                   {"model", seen.identity.model},
                   {"serial", seen.identity.serial},
                   {"bios", seen.identity.bios_version},
                   {"bmc", seen.identity.bmc_version},
                   {"power", to_string(seen.power)},
                   {"requests", seen.requests},
                   {"parts", record::to_json(seen.parts)},
                   {"unknown", record::to_json(seen.unknown)}};
  co_return answer;
}

std::optional<bmc::BootTarget> target_of(std::string_view word) {
  using bmc::BootTarget;
  for (const auto target : {BootTarget::pxe, BootTarget::uefi_http, BootTarget::disk,
                            BootTarget::virtual_cd, BootTarget::bios_setup})
    if (to_string(target) == word) return target;
  return std::nullopt;
}

Exit ask_power(const Context& context, const Asked& asked) {
  if (asked.power == "on") return ask(context, asked, turn_on);
  if (asked.power == "off") return ask(context, asked, turn_off);
  if (asked.power == "cycle") return ask(context, asked, turn_off_and_on);
  return ask(context, asked, read_power);
}

Task<Result<Answer>> boot_once(bmc::Bmc& bmc, bmc::BootTarget wanted, Deadline deadline) {
  CO_TRY(co_await bmc.set_boot({.target = wanted, .once = true}, deadline));
  const std::string word{to_string(wanted)};
  co_return Answer{"next boot from " + word, {{"boot_once", word}}};
}

Exit ask_boot(const Context& context, const Asked& asked) {
  const auto target = target_of(asked.target);
  const Verb verb = [target](bmc::Bmc& bmc, const Node&, Deadline deadline) {
    return boot_once(bmc, *target, deadline);
  };
  return ask(context, asked, verb);
}

/// A person's word that the BMC's certificate was meant to change.
Exit accept_certificate(const Context& context, const Asked& asked) {
  Exit exit = Exit::passed;
  const auto reach = reach_or_complain(context, asked.inventory, asked.nodes, exit);
  if (!reach) return exit;
  World world{reach->inventory, *reach->store};
  for (const auto* node : reach->nodes) {
    const auto deadline = Deadline::in(asked.patience);
    const auto presented = run_to_end(
        world.io(), world.transport().presented_certificate(node->bmc.endpoint, deadline));
    if (!presented) {
      exit = complain(context, presented.assume_error(), Exit::failed);
      continue;
    }
    const auto before = reach->store->pinned("bmc:" + node->name).value_or("none");
    auto kept = reach->store->repin("bmc:" + node->name, presented.assume_value());
    if (kept) kept = reach->store->forget_bmc(node->name);
    if (!kept) return complain(context, kept.assume_error(), Exit::unfinished);
    print(context, *node,
          Answer{fmt::format("accepted {} (before: {})", presented.assume_value(), before),
                 {{"accepted", presented.assume_value()}, {"before", before}}});
  }
  return exit;
}

}  // namespace

void add_bmc(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("bmc", "ask BMCs by hand");
  command->footer(
      "Examples: cupel bmc a01-n07 power\n"
      "          cupel bmc rack:a01 power on\n"
      "          cupel bmc a01-n07 boot pxe\n"
      "          cupel bmc a01-n07 inventory --json\n"
      "          cupel bmc a01-n07 accept-certificate");
  command->require_subcommand(1);
  auto asked = std::make_shared<Asked>();
  command->add_option("NODES", asked->nodes, "as with run --nodes")->required();
  command->add_option("-i,--inventory", asked->inventory, "[$CUPEL_INVENTORY, ./inventory.yaml]");
  add_json_flag(*command, context);
  auto* power = command->add_subcommand("power", "read or change the power state");
  power->add_option("WHAT", asked->power, "status (if not said), on, off, cycle")
      ->check(CLI::IsMember({"status", "on", "off", "cycle"}));
  power->callback([&context, &exit, asked] { exit = ask_power(context, *asked); });
  auto* boot = command->add_subcommand("boot", "where the next boot, and only that, comes from");
  boot->add_option("TARGET", asked->target, "pxe, http, disk, cd, bios")
      ->check(CLI::IsMember({"pxe", "http", "disk", "cd", "bios"}));
  boot->callback([&context, &exit, asked] { exit = ask_boot(context, *asked); });
  auto* inventory = command->add_subcommand("inventory", "parts, serial numbers and firmware");
  inventory->callback([&context, &exit, asked] { exit = ask(context, *asked, read_inventory); });
  auto* accept =
      command->add_subcommand("accept-certificate", "pin the certificate that the BMC has now");
  accept->callback([&context, &exit, asked] { exit = accept_certificate(context, *asked); });
}

}  // namespace cupel::cli
