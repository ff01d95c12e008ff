#include "orchestrator/cli/bmc_ask.h"

#include <fmt/chrono.h>

#include "base/alarm.h"
#include "base/for_each_of.h"
#include "base/readable_json.h"
#include "base/text.h"
#include "base/utc.h"
#include "bmc/sent_secrets.h"
#include "inventory/node_range.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/interrupt.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/ssh/gather.h"

namespace cupel::cli {
namespace {

using inventory::Node;

/// A BMC that has answered nothing for so long leaves its place to the next node.
constexpr std::chrono::seconds kSilence{3};
/// So many times --fanout are asked at a time, counting those that are silent.
constexpr std::size_t kMostSilent = 8;

/// Prints answers as they come; with --json in the nodes' order, each as soon as those before it
/// were printed; with --group all at the end.
class Page {
 public:
  Page(const Context& context, bool group, const std::vector<const Node*>& nodes)
      : context_{context}, group_{group}, nodes_{nodes}, answers_(nodes.size()) {}

  void take(std::size_t node, Result<Answer> answer) {
    answers_[node].emplace(std::move(answer));
    if (group_) return;
    if (!context_.json) tell(*nodes_[node], *answers_[node]);
    while (context_.json && reported_ < nodes_.size() && answers_[reported_]) {
      tell(*nodes_[reported_], *answers_[reported_]);
      ++reported_;
    }
    std::fflush(stdout);
  }

  /// Whatever is left: those that were not asked, and all of it where equal ones are reported once.
  Exit finish() {
    bool all = true;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const bool asked = answers_[i].has_value();
      if (!asked) answers_[i].emplace(Error{Code::kCancelled, "not asked"});
      const bool is_reported = context_.json ? i < reported_ : asked;
      if (!group_ && !is_reported) tell(*nodes_[i], *answers_[i]);
      all = all && answers_[i]->has_value();
    }
    if (group_) tell_grouped();
    return all ? Exit::passed : Exit::failed;
  }

 private:
  void tell(const Node& node, const Result<Answer>& answer) const {
    if (context_.json) {
      auto object = answer ? answer->object : boost::json::object{};
      object["node"] = node.name;
      if (!answer) {
        object["error"] = answer.error().what;
        object["code"] = to_string(answer.error().code);
      }
      make_readable(object);
      say("{}\n", boost::json::serialize(object));
    } else if (answer) {
      say("{}: {}\n", node.name, answer->text);
    } else {
      say(stderr, "{}: {}\n", node.name, complaint(node, answer.error()));
    }
  }
  /// Errors name their node already, which the line does too.
  static std::string complaint(const Node& node, const Error& error) {
    std::string_view what = error.what;
    const auto prefix = node.name + ": ";
    while (what.starts_with(prefix)) what.remove_prefix(prefix.size());
    return printable(what);
  }
  void tell_grouped() const {
    const ssh::Fold fold = [](std::span<const std::string> names) {
      return inventory::fold(names);
    };
    std::vector<ssh::NodeText> texts;
    std::vector<ssh::NodeText> faults;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto& answer = *answers_[i];
      const auto& name = nodes_[i]->name;
      if (answer)
        texts.push_back({name, answer->text});
      else
        faults.push_back({name, complaint(*nodes_[i], answer.error())});
    }
    std::fputs(ssh::printed(ssh::gather(texts), fold).c_str(), stdout);
    std::fflush(stdout);
    std::fputs(ssh::printed(ssh::gather(faults), fold).c_str(), stderr);
  }

  const Context& context_;
  bool group_;
  const std::vector<const Node*>& nodes_;
  std::vector<std::optional<Result<Answer>>> answers_;
  std::size_t reported_ = 0;
};

/// What one fan-out works on; its coroutines end before it goes.
struct Work {
  Connections& connections;
  const ConnectionsVerb& verb;
  const std::vector<const Node*>& nodes;
  std::chrono::seconds patience;
  Page& page;
  bmc::Semaphore places;
};

Task<Result<void>> ask_one(Work& work, std::size_t which) {
  const auto& node = *work.nodes[which];
  const auto turn = Deadline::in(work.patience * static_cast<int>(work.nodes.size()));
  CO_TRY(bmc::Semaphore::Permit permit, co_await work.places.enter(turn));
  std::optional<bmc::Semaphore::Permit> place{std::move(permit)};
  const auto answered = [&] {
    const auto budget = work.connections.transport().budget(inventory::bmc_name(node));
    return budget ? bmc::answers(*budget) : 0;
  };
  // A silent BMC takes as long as its requests may, and the others must not wait for that.
  const Alarm silence{co_await asio::this_coro::executor, kSilence, [&, before = answered()] {
                        if (answered() == before) place.reset();
                      }};
  work.page.take(which, co_await work.verb(work.connections, node, Deadline::in(work.patience)));
  co_return ok();
}

Task<std::vector<Result<void>>> ask_all(Work& work, std::size_t width) {
  std::vector<std::size_t> all(work.nodes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const auto each = [&work](std::size_t which) { return ask_one(work, which); };
  const auto most = std::min(width * kMostSilent, width + bmc::Semaphore::kMostWaiting);
  return for_each_of<void>(std::move(all), most, each);
}

Task<Result<Answer>> in_a_session(Connections& connections, const Verb& verb, const Node& node,
                                  Deadline deadline) {
  const auto bmc = connections.bmc(node);
  auto answer = co_await verb(*bmc, node, deadline);
  co_await bmc->log_out();
  co_return answer;
}

}  // namespace

void add_whereabouts(Answer& answer, bmc::Memory& memory, const Node& node) {
  const auto moved = bmc::moved_from(memory.known_bmc(node.name), node.bmc.endpoint);
  if (!moved) return;
  answer.text += fmt::format("; moved to {} (the inventory says {})", to_string(*moved),
                             to_string(node.bmc.endpoint));
  answer.object["moved_to"] = to_string(*moved);
}

Result<void> may_act_on_bmc(const inventory::Inventory& inventory, const Node& node,
                            std::string_view act, bool shared) {
  const auto all = inventory.nodes_of_bmc(node);
  if (shared || all.size() == 1) return ok();
  std::vector<std::string> names;
  for (const auto* one : all) names.push_back(one->name);
  return Error{
      Code::kInvalid,
      fmt::format("{} acts on the whole BMC, which serves {}: add --shared to do it to all "
                  "of them",
                  act, inventory::fold(names))};
}

OrExit<Reach> reach(const BmcCommand& command) {
  if (command.asked->nodes.empty())
    return print_error(command.context,
                       Error{Code::kInvalid,
                             "which nodes? They stand behind bmc: cupel bmc a01-n07 "
                             "power, cupel bmc rack:a01 sensors"},
                       Exit::invalid);
  return reach_or_exit(command.context, command.asked->inventory, command.asked->nodes);
}

Result<std::chrono::seconds> patience_of(const BmcAsked& asked) {
  const auto patience = inventory::duration_of(asked.patience);
  if (patience && patience->count() > 0) return *patience;
  return Error{Code::kInvalid, "--patience must be a duration such as 90s, 15m or 2h, not '" +
                                   asked.patience + "'"};
}

Exit ask_over_connections(const BmcCommand& command, const ConnectionsVerb& verb) {
  const auto patience = patience_of(*command.asked);
  if (!patience) return print_error(command.context, patience.error(), Exit::invalid);
  TRY(const auto reached, reach(command));
  Connections connections{reached.inventory, *reached.store};
  Page page{command.context, command.asked->group, reached.nodes};
  const auto width = command.asked->width;
  Work work{connections, verb, reached.nodes,
            *patience,   page, bmc::Semaphore{static_cast<int>(width)}};
  const auto ended = run_to_end(connections.io(), until_interrupted(ask_all(work, width)));
  const auto exit = page.finish();
  return ended.interrupted ? Exit::unfinished : exit;
}

Exit ask(const BmcCommand& command, const Verb& verb) {
  return ask_over_connections(
      command, [&verb](Connections& connections, const Node& node, Deadline deadline) {
        return in_a_session(connections, verb, node, deadline);
      });
}

Result<bmc::Seconds> time_of(std::string_view text, bmc::Seconds now) {
  const Error wrong{Code::kInvalid, "'" + std::string{text} +
                                        "' is neither a time (2026-11-21T10:00:00Z, in UTC) nor a "
                                        "duration (90s, 15m, 72h)"};
  if (const auto ago = inventory::duration_of(text)) return now - *ago;
  const auto time = utc_of(text);
  return time ? Result<bmc::Seconds>{*time} : wrong;
}

std::string text_of(std::optional<bmc::Seconds> time) {
  return time ? fmt::format("{:%Y-%m-%d %H:%M:%S}", *time) : "unknown";
}

Result<std::string> url_of(const std::string& text) {
  for (const std::string_view scheme : {"http://", "https://", "nfs://", "cifs://"}) {
    const bool whole = text.starts_with(scheme) && text.size() > scheme.size();
    if (whole && text.size() <= 2048 && printable(text) == text && text.find(' ') == text.npos)
      return text;
  }
  return Error{Code::kInvalid, "'" + printable(shortened(bmc::without_credentials(text), 200)) +
                                   "' is not a URL for a BMC (http://, https://, "
                                   "nfs:// or cifs://)"};
}

}  // namespace cupel::cli
