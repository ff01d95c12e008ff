// `cupel bmc NODES power`, `boot`, `locate` and `reset`: what changes a machine's course.
#include <map>

#include "base/text.h"
#include "base/wall_clock.h"
#include "bmc/power.h"
#include "bmc/sent_secrets.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/store/power_hold.h"

namespace cupel::cli {
namespace {

using bmc::BootTarget;
using inventory::Node;

constexpr std::chrono::seconds kGrace{60};
constexpr auto kDespiteUpdate = "also while an update of its firmware is kept as being written";

/// What may be done to a BMC as a whole.
struct Whole {
  bool shared = false;
  bool despite_update = false;
};

struct Power : Whole {
  std::string what = "status";
  bool force = false;
};

struct Boot {
  std::string target{};
  std::string url{};
  bool keep = false;
};

/// `by`: who changed it, where that was not who says it.
Task<Result<Answer>> read_power(bmc::Bmc& bmc, std::string suffix, Deadline deadline,
                                std::optional<bmc::Protocol> by = {}) {
  CO_TRY(const auto state, co_await bmc.power.state(deadline));
  const std::string word{to_string(state.value)};
  co_return answer_of_bmc(word + suffix, "power", word, by.value_or(state.by));
}

// Reading it once more costs a request, and says what is, and who says so.
Task<Result<Answer>> turn_on(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(co_await bmc::ensure_on(bmc, deadline));
  co_return co_await read_power(bmc, "", deadline);
}

Task<Result<Answer>> turn_off(bmc::Bmc& bmc, bool force, Deadline deadline) {
  CO_TRY(co_await bmc::ensure_off(bmc, force ? std::chrono::seconds{0} : kGrace, deadline));
  co_return co_await read_power(bmc, "", deadline);
}

Task<Result<Answer>> turn_off_and_on(bmc::Bmc& bmc, bool force, Deadline deadline) {
  CO_TRY(co_await bmc::cycle(bmc, force ? std::chrono::seconds{0} : kGrace, deadline));
  co_return co_await read_power(bmc, ", after a power cycle", deadline);
}

Task<Result<Answer>> restart_machine(bmc::Bmc& bmc, Deadline deadline) {
  std::optional<bmc::Protocol> by;
  CO_TRY(co_await bmc::restart(bmc, deadline, {}, &by));
  co_return co_await read_power(bmc, ", after a restart", deadline, by);
}

/// The answer of a reset that cuts the BMC off: it may have taken the reset's own answer with it.
Answer begun(std::string text, std::string_view word, boost::json::value value,
             const Result<bmc::Protocol>& asked) {
  Answer answer{std::move(text), {}};
  answer.object[word] = std::move(value);
  if (asked)
    answer.object["by"] = to_string(*asked);
  else
    answer.text += " (its answer was lost, and the BMC went away)";
  return answer;
}

Task<Result<Answer>> press(bmc::Bmc& bmc, bmc::ResetType type, Deadline deadline) {
  const auto asked = co_await bmc.power.reset(type, deadline);
  CO_TRY(co_await bmc::has_begun(bmc, asked, deadline));
  const std::string word{to_string(type)};
  const std::string text = word + (asked ? " accepted" : " begun");
  co_return begun(text, "reset", boost::json::string{word}, asked);
}

Task<Result<Answer>> reset_bmc(bmc::Bmc& bmc, Deadline deadline) {
  const auto asked = co_await bmc.manager.reset(deadline);
  CO_TRY(co_await bmc::has_begun(bmc, asked, deadline));
  co_return begun("the BMC restarts; the machine stays as it is", "reset_bmc", true, asked);
}

/// A machine whose firmware is being written keeps its power, and its BMC, unless asked otherwise.
Result<void> may_change_power(Connections& connections, const Node& node, bool despite_update) {
  const auto now = seconds_now();
  const auto held = store::power_is_held(connections.store(), node, now);
  if (!held || despite_update) return ok();
  return Error{Code::kConflict, *held + " (--despite-update where the update is known to be dead)"};
}

/// The BMCs that were acted on as a whole: once each, however many of their nodes are named.
using Acted = std::map<std::string, std::string>;

/// Does what acts on a whole BMC, of all nodes at once where it serves several.
template <class Act>
Task<Result<Answer>> act_on_bmc(Connections& connections, const Node& node, std::string_view name,
                                const Whole& whole, Acted& acted, Act act) {
  CO_TRY(may_act_on_bmc(connections.inventory(), node, name, whole.shared));
  CO_TRY(may_change_power(connections, node, whole.despite_update));
  const auto [first, is_first] = acted.emplace(inventory::bmc_name(node), node.name);
  if (!is_first)
    co_return Answer{"left to " + first->second + ", which has the same BMC",
                     {{"left_to", first->second}}};
  const auto bmc = connections.bmc(node);
  auto answer = co_await act(*bmc);
  co_await bmc->log_out();
  co_return answer;
}

Task<Result<Answer>> change_power(bmc::Bmc& bmc, const Power& power, Deadline deadline) {
  if (power.what == "on") return turn_on(bmc, deadline);
  if (power.what == "off") return turn_off(bmc, power.force, deadline);
  if (power.what == "cycle") return turn_off_and_on(bmc, power.force, deadline);
  if (power.what == "reset") return restart_machine(bmc, deadline);
  return read_power(bmc, "", deadline);
}

Task<Result<Answer>> change_power_of(Connections& connections, const Node& node, Power power,
                                     Deadline deadline) {
  if (power.what != "status") {
    CO_TRY(may_change_power(connections, node, power.despite_update));
  }
  const auto bmc = connections.bmc(node);
  auto answer = co_await change_power(*bmc, power, deadline);
  co_await bmc->log_out();
  co_return answer;
}

std::optional<BootTarget> target_of(std::string_view word) {
  for (const auto target : {BootTarget::none, BootTarget::pxe, BootTarget::uefi_http,
                            BootTarget::disk, BootTarget::virtual_cd, BootTarget::bios_setup})
    if (to_string(target) == word) return target;
  return std::nullopt;
}

std::string text_of_boot(const bmc::BootOverride& boot) {
  if (boot.target == BootTarget::none) return "no override: the machine's own boot order";
  const std::string target{to_string(boot.target)};
  return (boot.once ? "next boot from " : "every boot from ") + target +
         (boot.uri.empty() ? "" : " " + printable(bmc::without_credentials(boot.uri)));
}

Answer reported(const bmc::BootOverride& boot, bmc::Protocol by) {
  auto answer = answer_of_bmc(text_of_boot(boot), "boot", to_string(boot.target), by);
  answer.object["once"] = boot.once;
  if (!boot.uri.empty()) answer.object["uri"] = bmc::without_credentials(boot.uri);
  return answer;
}

Task<Result<Answer>> read_boot(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(const auto boot, co_await bmc.boot.read(deadline));
  co_return reported(boot.value, boot.by);
}

/// The disc first: an override to a drive that is empty would boot something else.
Task<Result<Answer>> set_boot(bmc::Bmc& bmc, bmc::BootOverride requested, std::string disc,
                              Deadline deadline) {
  if (!disc.empty()) {
    CO_TRY(co_await bmc.media.insert(disc, deadline));
  }
  CO_TRY(const auto by, co_await bmc.boot.set(requested, deadline));
  co_return reported(requested, by);
}

Exit cycle_ac(const BmcCommand& command, const Whole& whole) {
  Acted acted;
  return ask_over_connections(
      command, [&](Connections& connections, const Node& node, Deadline deadline) {
        return act_on_bmc(connections, node, "ac-cycle", whole, acted, [deadline](bmc::Bmc& bmc) {
          return press(bmc, bmc::ResetType::ac_cycle, deadline);
        });
      });
}

Exit reset(const BmcCommand& command, const Whole& whole) {
  Acted acted;
  return ask_over_connections(
      command, [&](Connections& connections, const Node& node, Deadline deadline) {
        return act_on_bmc(connections, node, "reset", whole, acted,
                          [deadline](bmc::Bmc& bmc) { return reset_bmc(bmc, deadline); });
      });
}

Exit boot(const BmcCommand& command, const Boot& asked) {
  const auto target = target_of(asked.target);
  if (!target)
    return ask(command, [](bmc::Bmc& bmc, const Node&, Deadline deadline) {
      return read_boot(bmc, deadline);
    });
  bmc::BootOverride requested{.target = *target, .once = !asked.keep};
  if (*target == BootTarget::none) requested.once = false;
  std::string disc;
  if (!asked.url.empty()) {
    const auto url = url_of(asked.url);
    if (!url) return print_error(command.context, url.error(), Exit::invalid);
    const bool from_disc = *target == BootTarget::virtual_cd;
    if (!from_disc && *target != BootTarget::uefi_http)
      return print_error(command.context,
                         Error{Code::kInvalid, "only boot http and boot cd take a URL"},
                         Exit::invalid);
    (from_disc ? disc : requested.uri) = *url;
  }
  return ask(command, [&](bmc::Bmc& bmc, const Node&, Deadline deadline) {
    return set_boot(bmc, requested, disc, deadline);
  });
}

Task<Result<Answer>> read_light(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(const auto on, co_await bmc.locator.read(deadline));
  co_return answer_of_bmc(on.value ? "locator light on" : "locator light off", "locate", on.value,
                          on.by);
}

Task<Result<Answer>> switch_light(bmc::Bmc& bmc, bool on, Deadline deadline) {
  CO_TRY(const auto by, co_await bmc.locator.set(on, deadline));
  co_return answer_of_bmc(on ? "locator light on" : "locator light off", "locate", on, by);
}

Exit locate(const BmcCommand& command, const std::string& what) {
  return ask(command, [&](bmc::Bmc& bmc, const Node&, Deadline deadline) {
    if (what.empty()) return read_light(bmc, deadline);
    return switch_light(bmc, what == "on", deadline);
  });
}

}  // namespace

std::vector<CommandRow> bmc_power_commands(const BmcCommand& command) {
  auto power_asked = std::make_shared<Power>();
  auto boot_asked = std::make_shared<Boot>();
  auto light_asked = std::make_shared<std::string>();
  auto whole = std::make_shared<Whole>();
  CommandRow power_row{"power", "read or change the power state"};
  power_row.options = {
      {"WHAT",
       &power_asked->what,
       "status [the default], on, off, cycle (off and on, each until the BMC says so), reset (a "
       "restart at once; off and on where the BMC has none), ac-cycle (standby power too)",
       {.among = {"status", "on", "off", "cycle", "reset", "ac-cycle"}}},
      {"--force", &power_asked->force, "off and cycle: do not ask the system first"},
      {"--shared", &power_asked->shared,
       "ac-cycle: also where the BMC serves other nodes, and does it to all of them"},
      {"--despite-update", &power_asked->despite_update, kDespiteUpdate}};
  power_row.run = [command, power_asked] {
    if (power_asked->what == "ac-cycle") return cycle_ac(command, *power_asked);
    return ask_over_connections(command,
                                [&](Connections& connections, const Node& node, Deadline deadline) {
                                  return change_power_of(connections, node, *power_asked, deadline);
                                });
  };
  CommandRow boot_row{"boot", "read or set the source of the next boot"};
  boot_row.options = {
      {"TARGET",
       &boot_asked->target,
       "pxe, http [URL], cd [URL], disk, bios, none [reads it]",
       {.among = {"pxe", "http", "disk", "cd", "bios", "none"}}},
      {"URL", &boot_asked->url, "of http: what to boot; of cd: the image, which is inserted first"},
      {"--keep", &boot_asked->keep, "every boot, not only the next one"}};
  boot_row.run = [command, boot_asked] { return boot(command, *boot_asked); };
  CommandRow locate_row{"locate", "the identify LED of the machine"};
  locate_row.options = {
      {"WHAT", light_asked.get(), "on, off [reads it]", {.among = {"on", "off"}}}};
  locate_row.run = [command, light_asked] { return locate(command, *light_asked); };
  CommandRow reset_row{"reset", "restart the BMC itself; the machine stays as it is"};
  reset_row.options = {{"--shared", &whole->shared, "also where the BMC serves other nodes"},
                       {"--despite-update", &whole->despite_update, kDespiteUpdate}};
  reset_row.run = [command, whole] { return cli::reset(command, *whole); };
  return {power_row, boot_row, locate_row, reset_row};
}

}  // namespace cupel::cli
