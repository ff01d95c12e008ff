// `cupel firmware ...`: machines against their profile's baseline, and the manifest of the images
// that may be written. Nothing here writes firmware: that is a step of a playbook.
#include <fmt/format.h>

#include "base/text.h"
#include "base/wall_clock.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/firmware_begun.h"
#include "orchestrator/cli/firmware_text.h"
#include "orchestrator/cli/interrupt.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/firmware/image_check.h"
#include "orchestrator/firmware/learn_baseline.h"
#include "orchestrator/firmware/previous_image.h"
#include "orchestrator/firmware/transfer.h"
#include "orchestrator/steps/node_writer.h"
#include "orchestrator/store/power_hold.h"

namespace cupel::cli {
namespace {

using firmware::FirmwarePlan;
using inventory::Node;

constexpr std::chrono::seconds kNodePatience{60};

struct SeenFirmware {
  bmc::Identity machine;
  std::vector<inventory::Part> parts;
};

Task<Result<SeenFirmware>> look(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(auto machine, co_await bmc.facts.identity(deadline));
  CO_TRY(auto versions, co_await bmc.update.versions(deadline));
  co_return SeenFirmware{std::move(machine), std::move(versions.value)};
}

/// A plan reads the node too, where its own tools write; a node that does not answer is reported by
/// the components that are missing.
Task<std::string> add_parts_of_node(Connections& connections, const Node& node,
                                    const inventory::Profile& profile, SeenFirmware& seen,
                                    Deadline deadline) {
  if (std::ranges::none_of(profile.firmware, &inventory::ExpectedFirmware::is_written_on_node))
    co_return "";
  auto session = co_await connections.ssh(node, deadline.sooner(kNodePatience));
  if (!session) co_return "not read on the node: " + printable(session.error().what);
  auto looked = co_await steps::look_at_parts(**session, profile, node.ssh.sudo,
                                              deadline.sooner(kNodePatience));
  if (!looked) co_return "not read on the node: " + printable(looked.error().what);
  seen.parts.insert(seen.parts.end(), looked->parts.begin(), looked->parts.end());
  co_return "";
}

/// Of each update, as the run will look at it: its manifest and its file. Empty texts: it may be
/// written.
Task<std::vector<std::string>> refusals_of_images(const FirmwarePlan& plan,
                                                  const bmc::Identity& machine,
                                                  firmware::ImageChecker& images,
                                                  Deadline deadline) {
  std::vector<std::string> refusals;
  for (const auto& update : plan.updates) {
    const auto order = co_await images.check(update, machine, seconds_now(), deadline);
    refusals.push_back(order ? std::string{} : order.error().what);
  }
  co_return refusals;
}

/// How images get to a BMC that fetches them itself. Empty: they are sent to it, or there are none.
Task<std::string> transfer_of(const FirmwarePlan& plan,
                              const std::optional<inventory::ImageTrust>& trust, bmc::Bmc& bmc,
                              Deadline deadline) {
  if (std::ranges::all_of(plan.updates,
                          [](const auto& update) { return update.expected->is_written_on_node(); }))
    co_return "";
  const auto service = co_await bmc.update.service(deadline);
  if (!service) co_return "not known: " + printable(service.error().what);
  if (service->ways.empty() || service->ways.front() != firmware::kFetches) co_return "";
  if (trust && trust->serve) co_return firmware::transfer_text(*trust, service->fetches_by);
  co_return "refused: firmware: has no serve: in the inventory";
}

/// What is known of one machine.
struct Standing {
  const FirmwarePlan& plan;
  const bmc::Identity& machine;
  const std::vector<std::string>& refusals;  // of its updates; none where `images` is none
  std::string transfer;                      // as transfer_of() has it
};

/// Asks the nodes, each with the profile that it has. `judge` says what is printed, and whether all
/// is well.
using Judge = std::function<Answer(const Standing&, bool& well)>;

Task<Result<Answer>> judge_node(Connections& connections, const Node& node,
                                const inventory::Inventory& inventory,
                                firmware::ImageChecker* images, const Judge& judge, bool& all_well,
                                Deadline deadline) {
  const auto& profile = inventory.profile_of(*inventory.node(node.name));
  if (profile.firmware.empty())
    co_return Error{Code::kInvalid,
                    fmt::format("the profile {} names no firmware; a good machine's baseline: "
                                "cupel firmware learn NODE",
                                profile.name)};
  const auto bmc = connections.bmc(node);
  auto looked = co_await look(*bmc, deadline);
  if (!looked) co_await bmc->log_out();
  CO_TRY(auto seen, std::move(looked));
  const auto missed = co_await add_parts_of_node(connections, node, profile, seen, deadline);
  bool well = true;
  const auto plan = firmware::plan_firmware(profile, seen.machine, seen.parts);
  std::vector<std::string> refusals;
  std::string transfer;
  if (images != nullptr) transfer = co_await transfer_of(plan, inventory.images, *bmc, deadline);
  co_await bmc->log_out();
  if (images != nullptr)
    refusals = co_await refusals_of_images(plan, seen.machine, *images, deadline);
  auto answer = judge(Standing{plan, seen.machine, refusals, std::move(transfer)}, well);
  all_well = all_well && well;
  if (!missed.empty()) {
    answer.text += "\n" + missed;
    answer.object["not_read"] = missed;
  }
  co_return answer;
}

/// `images`: whose files are looked at, too; none: they are not.
Exit judge_nodes(const BmcCommand& command, const inventory::Inventory& inventory,
                 firmware::ImageChecker* images, const Judge& judge) {
  bool all_well = true;
  const auto judged = [&](Connections& connections, const Node& node, Deadline deadline) {
    return judge_node(connections, node, inventory, images, judge, all_well, deadline);
  };
  const auto exit = ask_over_connections(command, judged);
  return exit == Exit::passed && !all_well ? Exit::failed : exit;
}

Exit check(const BmcCommand& command) {
  TRY(const auto inventory, inventory_or_exit(command.context, command.asked->inventory));
  const auto manifest = firmware::read_manifest(inventory.images);
  const auto now = seconds_now();
  return judge_nodes(command, inventory, nullptr, [&](const Standing& it, bool& well) {
    well = it.plan.is_at_baseline();
    Answer answer{check_text(it.plan), check_json(it.plan)};
    add_warnings(firmware::previous_image_warnings(it.plan, it.machine, manifest, now), answer);
    return answer;
  });
}

Exit plan(const BmcCommand& command) {
  TRY(const auto inventory, inventory_or_exit(command.context, command.asked->inventory));
  const auto manifest = firmware::read_manifest(inventory.images);
  const auto now = seconds_now();
  firmware::ImageChecker images{inventory.images};
  return judge_nodes(command, inventory, &images, [&](const Standing& it, bool& well) {
    well = may_be_done(it.plan, it.refusals) && !it.transfer.starts_with("refused");
    Answer answer{plan_text(it.plan, it.refusals), plan_json(it.plan, it.refusals)};
    add_transfer(it.transfer, answer);
    add_warnings(firmware::previous_image_warnings(it.plan, it.machine, manifest, now), answer);
    return answer;
  });
}

/// What runs, and before it what was begun. A machine that does not answer is shown as far as it is
/// known here.
Task<Result<Answer>> show_node(const Context& context, Connections& connections, const Node& node,
                               bool& all_well, Deadline deadline) {
  CO_TRY(const auto begun, begun_updates(context, connections.store(), node.name));
  const Judge shows = [](const Standing& it, bool&) {
    return Answer{check_text(it.plan), check_json(it.plan)};
  };
  auto running = co_await judge_node(connections, node, connections.inventory(), nullptr, shows,
                                     all_well, deadline);
  if (!running && running.error().code == Code::kCancelled) co_return std::move(running).error();
  Answer answer;
  if (running) {
    answer = *std::move(running);
  } else {
    answer.text = "what runs was not read: " + printable(running.error().what);
    answer.object["not_read"] = printable(running.error().what);
    all_well = false;
  }
  boost::json::array updates;
  std::string text;
  for (const auto& each : begun) {
    text += begun_text(context, each, node.name) + "\n";
    updates.push_back(begun_json(each, node.name));
    all_well = all_well && store::is_settled(each.state.end);
  }
  if (begun.empty()) text = "no update was begun\n";
  if (const auto held = store::power_is_held(connections.store(), node, seconds_now()))
    text += printable(*held) + "\n";
  answer.text = text + answer.text;
  answer.object["begun"] = std::move(updates);
  co_return answer;
}

Exit show(const BmcCommand& command) {
  bool all_well = true;
  const auto exit = ask_over_connections(
      command, [&](Connections& connections, const Node& node, Deadline deadline) {
        return show_node(command.context, connections, node, all_well, deadline);
      });
  return exit == Exit::passed && !all_well ? Exit::failed : exit;
}

Task<Result<void>> learn_one(Connections& connections, const Node& node, Deadline deadline,
                             std::string& yaml) {
  const auto bmc = connections.bmc(node);
  auto looked = co_await look(*bmc, deadline);
  co_await bmc->log_out();
  CO_TRY(const auto seen, std::move(looked));
  yaml = fmt::format("# Learned from {}: {} {}\n{}", node.name, printable(seen.machine.vendor),
                     printable(seen.machine.model), to_yaml(firmware::learn_baseline(seen.parts)));
  co_return ok();
}

/// Prints YAML and nothing else: it is pasted into a profile.
Exit learn(const BmcCommand& command) {
  const auto patience = patience_of(*command.asked);
  if (!patience) return print_error(command.context, patience.error(), Exit::invalid);
  TRY(const auto reached, reach(command));
  if (reached.nodes.size() != 1)
    return print_error(command.context,
                       Error{Code::kInvalid, "a baseline is learned from one machine: name one"},
                       Exit::invalid);
  const auto& node = *reached.nodes.front();
  Connections connections{reached.inventory, *reached.store};
  std::string yaml;
  const auto ended =
      run_to_end(connections.io(),
                 until_interrupted(learn_one(connections, node, Deadline::in(*patience), yaml)));
  if (ended.interrupted) return Exit::unfinished;
  if (yaml.empty()) return print_error(command.context, ended.value.error(), Exit::failed);
  if (command.context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"node", node.name}, {"yaml", yaml}}));
  else
    say("{}", yaml);
  return Exit::passed;
}

std::vector<OptionRow> node_options(const BmcCommand& bmc) {
  return {
      {"-i,--inventory", &bmc.asked->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
      {"--patience", &bmc.asked->patience, "with each node, such as 90s or 15m [10m]"},
      {"-f,--fanout", &bmc.asked->width, "nodes at a time [64]", {.range = NumberRange{1, 4096}}},
      json_flag(bmc.context)};
}

CommandRow judging_command(Context& context, const char* name, const char* summary,
                           Exit (*act)(const BmcCommand&)) {
  const BmcCommand bmc{context};
  bmc.asked->nodes = "all";
  CommandRow row{name, summary};
  row.options = joined<OptionRow>({{{"NODES", &bmc.asked->nodes, "as with run --nodes [all]"}},
                                   node_options(bmc),
                                   {{"-b,--group",
                                     &bmc.asked->group,
                                     "at the end, each answer once with the nodes that gave it",
                                     {.excludes = {"--json"}}}}});
  row.run = [bmc, act] { return act(bmc); };
  return row;
}

CommandRow show_command_of_firmware(Context& context) {
  const BmcCommand bmc{context};
  CommandRow row{"show",
                 "what is running, what was written, staged or left in doubt, by which run"};
  row.footer = "Example: cupel firmware show a01-n07";
  row.options = joined<OptionRow>(
      {{{"NODE", &bmc.asked->nodes, "its name, or several as with run --nodes", kRequired}},
       node_options(bmc)});
  row.run = [bmc] { return show(bmc); };
  return row;
}

CommandRow learn_command(Context& context) {
  const BmcCommand bmc{context};
  CommandRow row{"learn", "print a good machine's versions as a baseline"};
  row.footer = "Example: cupel firmware learn a01-n07";
  row.options = joined<OptionRow>(
      {{{"NODES", &bmc.asked->nodes, "the machine", kRequired}}, node_options(bmc)});
  row.run = [bmc] { return learn(bmc); };
  return row;
}

}  // namespace

CommandRow firmware_command(Context& context) {
  CommandRow row{"firmware", "machines against their firmware baseline; signed images"};
  row.footer =
      "Examples: cupel firmware check\n"
      "          cupel firmware plan rack:a01\n"
      "          cupel firmware learn a01-n07\n"
      "          cupel firmware show a01-n07\n"
      "          cupel firmware digest images/*.fwpkg > images.yaml\n"
      "          cupel firmware sign images.yaml --key site.key\n"
      "Exit codes: 0 all nodes are at their baseline (check), can be brought there (plan), or "
      "have\n"
      "            no update that waits for anything (show), 1 some are not, 2 the input is wrong\n"
      "            (nothing was asked), 3 interrupted.";
  row.subcommands = {
      judging_command(context, "plan",
                      "what is running, what is expected, what would be written in which order",
                      plan),
      judging_command(context, "check", "what is off the baseline; needs no image", check),
      show_command_of_firmware(context),
      firmware_continue_command(context),
      firmware_forget_command(context),
      firmware_rewrite_command(context),
      learn_command(context),
      sign_command(context),
      digest_command(context)};
  return row;
}

}  // namespace cupel::cli
