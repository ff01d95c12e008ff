// `cupel bmc NODES password`, `retry-login`, `accept-certificate` and `budget`: who trusts whom,
// and how far.
#include <fmt/format.h>

#include "base/text.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"

namespace cupel::cli {
namespace {

using inventory::Node;

std::string_view words_for(bmc::Rotated rotated) {
  switch (rotated) {
    case bmc::Rotated::already:
      return "the inventory's password works already";
    case bmc::Rotated::finished_earlier:
      return "an earlier change was finished: the inventory's password works";
    case bmc::Rotated::changed:
      return "changed to the inventory's, and proven by a login";
  }
  __builtin_unreachable();
}

Task<Result<Answer>> rotate(Connections& connections, const Node& node, bool again,
                            Deadline deadline) {
  auto environment = connections.environment(nullptr);  // no stage runs here
  CO_TRY(const auto rotated,
         co_await steps::rotate_bmc_password(environment, node, again, deadline));
  co_return Answer{std::string{words_for(rotated)},
                   {{"changed", rotated == bmc::Rotated::changed}}};
}

/// A person's word that the certificate of a node's BMC, or of a PDU, was meant to change.
/// Of the BMC of one node or of several, or of a PDU: `whose`.
Task<Result<Answer>> accept(Connections& connections, std::string name,
                            std::vector<std::string> whose, inventory::Endpoint endpoint,
                            Deadline deadline) {
  auto presented = co_await connections.transport().presented_certificate(endpoint, deadline);
  if (!presented) co_return std::move(presented).error();
  auto& store = connections.store();
  const auto before = store.pinned("bmc:" + name).value_or("none");
  CO_TRY(store.repin("bmc:" + name, *presented));
  for (const auto& one : whose) {
    CO_TRY(store.forget_bmc(one));
  }
  co_return Answer{fmt::format("accepted {} (before: {})", *presented, before),
                   {{"accepted", *presented}, {"before", before}}};
}

Task<Result<Answer>> accept_of_node(Connections& connections, const Node& node, Deadline deadline) {
  std::vector<std::string> whose;
  for (const auto* one : connections.inventory().nodes_of_bmc(node)) whose.push_back(one->name);
  return accept(connections, inventory::bmc_name(node), std::move(whose), node.bmc.endpoint,
                deadline);
}

/// The BMC was corrected, and the inventory was right: its password may be tried once more.
Task<Result<Answer>> retry_login(Connections& connections, const Node& node, Deadline deadline) {
  connections.forget_refusals(node);
  const auto bmc = connections.bmc(node);
  auto power = co_await bmc->power.state(deadline);
  co_await bmc->log_out();
  if (!power) co_return std::move(power).error();
  co_return Answer{"the BMC takes user " + printable(node.bmc.user) + " with this password",
                   {{"accepted", true}}};
}

/// No selection of nodes names a PDU: it is named as a whole, "a01/p1".
bool names_a_pdu(const BmcAsked& asked) { return asked.nodes.contains('/'); }

Exit accept_of_pdu(const BmcCommand& command) {
  const auto& name = command.asked->nodes;
  const auto patience = patience_of(*command.asked);
  if (!patience) return print_error(command.context, patience.error(), Exit::invalid);
  TRY(const auto inventory, inventory_or_exit(command.context, command.asked->inventory));
  const auto& pdus = inventory.pdus;
  const auto pdu = std::ranges::find(pdus, name, &inventory::Pdu::name);
  if (pdu == pdus.end())
    return print_error(command.context,
                       Error{Code::kInvalid, "there is no PDU '" + printable(name) +
                                                 "' with redfish: in the inventory"},
                       Exit::invalid);
  const auto store = open_store_for(command.context, inventory);
  if (!store) return print_error_of_store(command.context, store.error());
  Connections connections{inventory, **store};
  const auto answer = run_to_end(
      connections.io(), accept(connections, name, {name}, pdu->endpoint, Deadline::in(*patience)));
  if (!answer) return print_error(command.context, answer.error(), Exit::failed);
  auto object = answer->object;
  object["pdu"] = name;
  if (command.context.json)
    say("{}\n", boost::json::serialize(object));
  else
    say("{}: {}\n", name, answer->text);
  return Exit::passed;
}

boost::json::object object_of(const bmc::Budget& budget) {
  return {{"health", bmc::health(budget)},
          {"requests", budget.requests},
          {"retries", budget.retries},
          {"refused", budget.refused},
          {"busy", budget.busy},
          {"server_errors", budget.server_errors},
          {"malformed", budget.malformed},
          {"resets", budget.resets},
          {"unreachable", budget.unreachable},
          {"timeouts", budget.timeouts},
          {"bytes", budget.bytes},
          {"latency_ms", budget.latency.count()},
          {"longest_ms", budget.longest.count()},
          {"places", budget.places},
          {"refused_user", budget.refused_user}};
}

/// From what was kept: a budget is looked at to leave the BMC alone.
Task<Result<Answer>> show_budget(Connections& connections, const Node& node, Deadline) {
  const auto kept = connections.store().budget(inventory::bmc_name(node));
  if (!kept) co_return Answer{"never asked", {{"requests", 0}}};
  const auto& budget = *kept;
  auto refused = connections.store().refusal(inventory::bmc_name(node), node.bmc.user);
  const bool stopped = refused && refused->wrong;
  Answer answer;
  answer.text = fmt::format(
      "health {}, {} requests ({} repeated), mean {} ms, longest {} ms; refused {}, busy {}, "
      "server errors {}, malformed {}, resets {}, unreachable {}, timeouts {}{}",
      bmc::health(budget), budget.requests, budget.retries, budget.latency.count(),
      budget.longest.count(), budget.refused, budget.busy, budget.server_errors, budget.malformed,
      budget.resets, budget.unreachable, budget.timeouts,
      stopped ? "; no login as " + printable(node.bmc.user) + " until its password changes" : "");
  answer.object = object_of(budget);
  answer.object["logins_stopped"] = stopped;
  add_whereabouts(answer, connections.store(), node);
  co_return answer;
}

}  // namespace

std::vector<CommandRow> bmc_trust_commands(const BmcCommand& command) {
  auto again = std::make_shared<bool>(false);
  auto what = std::make_shared<std::string>();
  CommandRow password_row{
      "password", "change it from the factory's to the inventory's; an interruption is safe"};
  password_row.options = {{"WHAT", what.get(), "rotate", {.required = true, .among = {"rotate"}}},
                          {"--again", again.get(), "try although it was refused too often"}};
  password_row.run = [command, again, what] {
    return ask_over_connections(
        command, [again](Connections& connections, const Node& node, Deadline deadline) {
          return rotate(connections, node, *again, deadline);
        });
  };
  CommandRow budget_row{"budget",
                        "counters of requests to the BMC, and its health; sends no request"};
  budget_row.run = [command] { return ask_over_connections(command, show_budget); };
  CommandRow retry_login_row{"retry-login",
                             "forget that the BMC refused the inventory's user and password, and "
                             "try them once: use when the BMC was corrected"};
  retry_login_row.run = [command] { return ask_over_connections(command, retry_login); };
  CommandRow accept_certificate_row{
      "accept-certificate", "pin the present certificate of the BMC, or of the PDU with that name"};
  accept_certificate_row.run = [command] {
    if (names_a_pdu(*command.asked)) return accept_of_pdu(command);
    return ask_over_connections(command, accept_of_node);
  };
  return {password_row, budget_row, retry_login_row, accept_certificate_row};
}

}  // namespace cupel::cli
