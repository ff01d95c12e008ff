#include "orchestrator/cli/first_look.h"

#include <fmt/format.h>

#include <map>

#include "base/for_each_of.h"
#include "inventory/node_range.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/controller/connections.h"
#include "orchestrator/ssh/run_script.h"
#include "orchestrator/steps/node_tools.h"

namespace cupel::cli {
namespace {

using controller::Connections;

constexpr std::size_t kLooksAtOnce = 64;
constexpr std::chrono::seconds kNodePatience{8};
constexpr std::chrono::seconds kAllPatience{30};

/// The look that the node's first wait for SSH carries; nullptr where its stages need nothing.
const burnin::Job* look_of(const playbooks::NodePlan& node) {
  const auto waits = [](const auto& step) { return step.kind == playbooks::StepKind::ssh_wait; };
  const auto at = std::ranges::find_if(*node.steps, waits);
  return at == node.steps->end() || !at->job ? nullptr : &*at->job;
}

/// Errors: whatever stood in the way; none of it is printed here.
Task<Result<std::string>> look_at(Connections& connections, const playbooks::NodePlan& planned,
                                  Deadline deadline) {
  const auto* job = look_of(planned);
  if (job == nullptr) co_return std::string{};
  if (deadline.passed()) co_return Error{Code::kTimeout, "no time is left"};
  const auto& node = *planned.node;
  CO_TRY(const auto session, co_await connections.ssh(node, deadline));
  CO_TRY(const auto result,
         co_await ssh::run_script(*session, job->script, {}, node.ssh.sudo, deadline));
  const auto look = burnin::read_look(result.out);
  co_return steps::what_to_install(look, node.ssh.sudo, node.ssh.user).value_or("");
}

Task<Result<std::vector<Lack>>> look_at_all(Connections& connections, const playbooks::Plan& plan) {
  const auto all = Deadline::in(kAllPatience);
  std::vector<const playbooks::NodePlan*> nodes;
  for (const auto& each : plan.nodes) nodes.push_back(&each);
  const auto verb = [&](const playbooks::NodePlan* node) {
    return look_at(connections, *node, all.sooner(kNodePatience));
  };
  const auto reported = co_await for_each_of<std::string>(nodes, kLooksAtOnce, verb);
  std::vector<Lack> lacks;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (reported[i]) lacks.push_back({nodes[i]->node->name, *reported[i]});
  co_return lacks;
}

}  // namespace

std::string lacks_text(std::span<const Lack> lacks) {
  std::map<std::string, std::vector<std::string>> alike;
  for (const auto& each : lacks)
    if (!each.action.empty()) alike[each.action].push_back(each.node);
  std::string text;
  for (const auto& [action, nodes] : alike)
    text += fmt::format("{}: {}\n", inventory::fold(nodes), action);
  return text;
}

void look_at_nodes_first(const Context& context, const Planned& planned) {
  auto store = store::Store::open(context.state);
  if (!store) return;  // the run itself says why
  Connections connections{planned.inventory, **store};
  const auto lacks = run_to_end(connections.io(), look_at_all(connections, planned.plan));
  if (!lacks) return;
  const auto text = lacks_text(*lacks);
  if (!text.empty())
    say(stderr,
        "cupel: stages of this run need tools that are missing on these nodes; they will end in "
        "needs "
        "operator:\n{}",
        text);
}

}  // namespace cupel::cli
