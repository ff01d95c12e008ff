// `cupel exec NODES -- COMMAND`: one command on many nodes, by hand.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/for_each_of.h"
#include "base/text.h"
#include "inventory/node_range.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/interrupt.h"
#include "orchestrator/cli/reach.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/controller/connections.h"
#include "orchestrator/ssh/fan_out.h"
#include "orchestrator/ssh/gather.h"

namespace cupel::cli {
namespace {

using inventory::Node;
using ssh::NodeOutcome;
using ssh::Stream;

/// Standard input goes to every node, so it is held once and sent often.
constexpr std::size_t kInputLimit = 16u << 20;

/// Behind a piece of a line that was too long to be kept as one.
constexpr std::string_view kGoesOn = " [the line goes on]";

struct Asked {
  std::string inventory = default_inventory();
  std::string nodes{};
  std::string patience = "10m";
  std::size_t width = 64;
  bool gather = false;
  bool input = false;
  bool accept = false;
  bool forget = false;
};

Result<std::chrono::seconds> patience_of(const std::string& text) {
  const bool bare = number<long>(text).has_value();
  const auto found = inventory::duration_of(bare ? text + "s" : text);
  if (found && found->count() > 0) return *found;
  return Error{Code::kInvalid,
               "--timeout must be a duration such as 60s or 15m, not '" + text + "'"};
}

Result<std::string> whole_input() {
  std::string bytes;
  char piece[65536];
  for (;;) {
    const auto got = ::read(STDIN_FILENO, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{Code::kInvalid, "standard input cannot be read"};
    if (got == 0) return bytes;
    bytes.append(piece, static_cast<std::size_t>(got));
    if (bytes.size() > kInputLimit)
      return Error{Code::kInvalid, fmt::format("standard input is larger than {} MiB: copy the "
                                               "file to the nodes instead",
                                               kInputLimit >> 20)};
  }
}

/// As ssh does: the words with blanks between them; the node's shell parses the rest.
std::string command_line(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// What nodes say may hold what moves a terminal's cursor; a file gets it as it is.
std::string for_stream(std::FILE* stream, std::string_view line) {
  return ::isatty(::fileno(stream)) == 1 ? printable(line) : std::string{line};
}

void print_line(const ssh::LinePiece& piece) {
  auto* to = piece.stream == Stream::out ? stdout : stderr;
  const auto whole = fmt::format("{}: {}{}\n", piece.node, for_stream(to, piece.text),
                                 piece.goes_on ? kGoesOn : std::string_view{});
  std::fwrite(whole.data(), 1, whole.size(), to);
  std::fflush(to);
}

void print_object(const boost::json::object& object) {
  std::puts(boost::json::serialize(object).c_str());
}

void print_line_json(const ssh::LinePiece& piece) {
  boost::json::object object{{"node", piece.node},
                             {"stream", piece.stream == Stream::out ? "out" : "err"},
                             {"line", valid_utf8(piece.text)}};
  if (piece.goes_on) object["goes_on"] = true;
  print_object(object);
  std::fflush(stdout);
}

/// The text of one stream as it is printed once for many nodes.
std::string shown(std::FILE* to, const std::string& text) {
  std::string clean;
  for (const auto line : lines(text)) clean += for_stream(to, line) + "\n";
  return clean;
}

void print_gathered(const std::vector<NodeOutcome>& outcomes, std::string NodeOutcome::* text,
                    std::FILE* to) {
  std::vector<ssh::NodeText> texts;
  for (const auto& each : outcomes)
    if (!(each.*text).empty()) texts.push_back({each.node, shown(to, each.*text)});
  const auto fold = [](std::span<const std::string> names) { return inventory::fold(names); };
  std::fputs(ssh::printed(ssh::gather(texts), fold).c_str(), to);
}

bool passed(const NodeOutcome& each) {
  return each.outcome && each.outcome->exit_status == 0 && each.outcome->exit_signal.empty();
}

/// What is wrong with one node, without its name, so that nodes with the same fault read the same.
std::string fault_of(const NodeOutcome& each, const Asked& asked) {
  if (!each.outcome) {
    const auto& error = each.outcome.error();
    const auto prefix = each.node + ": ";
    const auto what =
        error.what.starts_with(prefix) ? error.what.substr(prefix.size()) : error.what;
    const bool connecting = what.starts_with("SSH");
    const bool reported_more = what.find("may still run") != what.npos;
    if (error.code == Code::kCancelled && what == "not started") return "not started";
    if (error.code == Code::kCancelled && !reported_more) return "interrupted, and ended there";
    if (error.code == Code::kTimeout && connecting) return "SSH: no answer";
    if (error.code == Code::kTimeout && !reported_more)
      return "ended after " + asked.patience + ", its time limit";
    return what;
  }
  const auto& outcome = *each.outcome;
  if (!outcome.exit_signal.empty()) return "ended by signal " + outcome.exit_signal;
  return fmt::format("exited with {}", outcome.exit_status);
}

void print_faults(const std::vector<NodeOutcome>& outcomes, const Asked& asked) {
  std::vector<ssh::NodeText> faults;
  for (const auto& each : outcomes)
    if (!passed(each)) faults.push_back({each.node, fault_of(each, asked)});
  for (const auto& group : ssh::gather(faults)) {
    const auto count =
        group.nodes.size() > 1 ? fmt::format(" ({})", group.nodes.size()) : std::string{};
    say(stderr, "cupel: {}{}: {}\n", inventory::fold(group.nodes), count, printable(group.text));
  }
  std::vector<std::string> cut;
  for (const auto& each : outcomes)
    if (each.cut && asked.gather) cut.push_back(each.node);
  if (!cut.empty())
    say(stderr, "cupel: {}: the output was too long; its end is not shown\n", inventory::fold(cut));
}

boost::json::object object_of(const NodeOutcome& each) {
  if (!each.outcome) {
    const auto& error = each.outcome.error();
    return {
        {"node", each.node}, {"error", valid_utf8(error.what)}, {"code", to_string(error.code)}};
  }
  const auto& outcome = *each.outcome;
  if (!outcome.exit_signal.empty()) return {{"node", each.node}, {"signal", outcome.exit_signal}};
  return {{"node", each.node}, {"exit", outcome.exit_status}};
}

void print_json_end(const std::vector<NodeOutcome>& outcomes, bool interrupted) {
  std::size_t well = 0;
  std::size_t unreached = 0;
  for (const auto& each : outcomes) {
    print_object(object_of(each));
    well += passed(each) ? 1 : 0;
    unreached += each.outcome ? 0 : 1;
  }
  print_object({{"summary",
                 {{"nodes", outcomes.size()},
                  {"passed", well},
                  {"failed", outcomes.size() - well - unreached},
                  {"errors", unreached},
                  {"interrupted", interrupted}}}});
}

using Ended = Stopped<std::vector<NodeOutcome>>;

ssh::FanOut options_of(const Context& context, const Asked& asked, std::chrono::seconds patience) {
  ssh::FanOut options;
  options.width = asked.width;
  options.patience = patience;
  if (context.json)
    options.line = print_line_json;
  else if (!asked.gather)
    options.line = print_line;
  if (options.line) options.output_limit = 0;  // reported as it comes, so nothing is kept
  return options;
}

Exit conclude(const Context& context, const Asked& asked, const Ended& ended) {
  if (context.json) {
    print_json_end(ended.value, ended.interrupted);
  } else {
    if (asked.gather) {
      print_gathered(ended.value, &NodeOutcome::out, stdout);
      std::fflush(stdout);
      print_gathered(ended.value, &NodeOutcome::err, stderr);
    }
    print_faults(ended.value, asked);
  }
  if (ended.interrupted) return Exit::unfinished;
  return std::ranges::all_of(ended.value, passed) ? Exit::passed : Exit::failed;
}

Exit execute(const Context& context, const Asked& asked) {
  if (context.behind.empty())
    return print_error(context,
                       Error{Code::kInvalid, "say behind -- what is to run: cupel exec " +
                                                 asked.nodes + " -- uname -r"},
                       Exit::invalid);
  const auto patience = patience_of(asked.patience);
  if (!patience) return print_error(context, patience.error(), Exit::invalid);
  TRY(auto reach, reach_or_exit(context, asked.inventory, asked.nodes));
  auto options = options_of(context, asked, *patience);
  if (asked.input) {
    auto input = whole_input();
    if (!input) return print_error(context, input.error(), Exit::invalid);
    options.input = *std::move(input);
  }
  std::vector<ssh::Target> targets;
  for (const auto* node : reach.nodes) targets.push_back({node->name, node->ssh});
  asio::io_context io{1};
  auto work = ssh::fan_out(std::move(targets), command_line(context.behind), std::move(options),
                           *reach.store);
  const auto ended = run_to_end(io, until_interrupted(std::move(work)));
  return conclude(context, asked, ended);
}

/// Keeps what the node shows now, and says what was kept before.
Result<void> accept_key(const Context& context, store::Store& store, const Node& node,
                        const std::string& presented) {
  const auto name = "ssh:" + node.name;
  const auto before = store.pinned(name).value_or("none");
  TRY(store.repin(name, presented));
  if (context.json)
    print_object({{"node", node.name}, {"accepted", presented}, {"before", before}});
  else
    say("{}: accepted {} (before: {})\n", node.name, presented, before);
  return ok();
}

Task<Result<std::string>> look_at(const Node* node, Deadline deadline) {
  using Kind = inventory::Trust::Kind;
  if (node->ssh.trust.kind == Kind::pinned)
    co_return Error{Code::kInvalid, node->name +
                                        ": its host_key stands in the inventory, and only there "
                                        "it can be changed"};
  auto presented = co_await ssh::presented_host_key(node->ssh.endpoint, deadline);
  co_return within(node->name + ": SSH", std::move(presented));
}

/// A person's word that the nodes' host keys were meant to change.
Exit accept(const Context& context, const Asked& asked) {
  if (!context.behind.empty())
    return print_error(context, Error{Code::kInvalid, "--accept-host-key runs no command"},
                       Exit::invalid);
  const auto patience = patience_of(asked.patience);
  if (!patience) return print_error(context, patience.error(), Exit::invalid);
  TRY(auto reach, reach_or_exit(context, asked.inventory, asked.nodes));
  const auto deadline = Deadline::in(*patience);
  const auto each = [deadline](const Node* node) {
    return look_at(node, deadline.sooner(ssh::FanOut{}.connect));
  };
  asio::io_context io{1};
  auto exit = Exit::passed;
  const auto keys = run_to_end(io, for_each_of<std::string>(reach.nodes, asked.width, each));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!keys[i]) {
      exit = print_error(context, keys[i].error(), Exit::failed);
      continue;
    }
    const auto kept = accept_key(context, *reach.store, *reach.nodes[i], *keys[i]);
    if (!kept) return print_error(context, kept.error(), Exit::unfinished);
  }
  return exit;
}

/// A person's word that whatever key each node brings next is its own.
Exit forget(const Context& context, const Asked& asked) {
  if (!context.behind.empty())
    return print_error(context, Error{Code::kInvalid, "--forget-host-key runs no command"},
                       Exit::invalid);
  TRY(auto reach, reach_or_exit(context, asked.inventory, asked.nodes));
  for (const auto* node : reach.nodes) {
    const auto name = "ssh:" + node->name;
    const auto before = reach.store->pinned(name).value_or("none");
    const auto forgotten = reach.store->repin(name, "");
    if (!forgotten) return print_error(context, forgotten.error(), Exit::unfinished);
    if (context.json)
      print_object({{"node", node->name}, {"before", before}});
    else
      say("{}: no host key is pinned (before: {})\n", node->name, before);
  }
  return Exit::passed;
}

}  // namespace

CommandRow exec_command(Context& context) {
  auto asked = std::make_shared<Asked>();
  CommandRow row{"exec", "run one command on many nodes: cupel exec NODES -- COMMAND"};
  row.footer =
      "Examples: cupel exec all -b -- uname -r\n"
      "          cupel exec rack:a01 --timeout 60s -- 'nvidia-smi -L | wc -l'\n"
      "          cupel exec a01-n07 --accept-host-key\n"
      "Exit codes: 0 exit status 0 on all nodes, 1 not on all, 2 the input is wrong,\n"
      "            3 interrupted (the command was ended on the nodes).";
  row.options = {
      {"NODES", &asked->nodes, "as with run --nodes", kRequired},
      {"-i,--inventory", &asked->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
      {"-b,--gather",
       &asked->gather,
       "at the end, each output once with the nodes that gave it",
       {.excludes = {"--json", "--accept-host-key", "--forget-host-key"}}},
      {"-f,--fanout", &asked->width, "nodes at a time [64]", {.range = NumberRange{1, 4096}}},
      {"--timeout", &asked->patience, "for each node, such as 60s or 15m [10m]"},
      {"--stdin", &asked->input, "give standard input to every node"},
      {"--accept-host-key", &asked->accept, "pin the present host key of each node"},
      {"--forget-host-key",
       &asked->forget,
       "forget the pinned host key of each node",
       {.excludes = {"--accept-host-key"}}},
      json_flag(context)};
  row.run = [&context, asked] {
    return asked->forget   ? forget(context, *asked)
           : asked->accept ? accept(context, *asked)
                           : execute(context, *asked);
  };
  return row;
}

}  // namespace cupel::cli
