#include "orchestrator/handoff/slurm.h"

#include <fmt/format.h>

#include <set>

#include "base/process.h"
#include "base/text.h"
#include "inventory/names.h"
#include "inventory/select.h"

namespace cupel::handoff {
namespace {

constexpr std::chrono::seconds kPatience{20};
constexpr std::size_t kLongestReason = 240;

/// Slurm's own words for "that node is not mine" (slurm_strerror, ESLURM_INVALID_NODE_NAME) and for
/// a controller that is away (SLURMCTLD_COMMUNICATIONS_*, "Unable to contact slurm controller").
Error error_of(const std::string& name, const ProcessOutcome& outcome) {
  const auto words = printable(trimmed(outcome.error.empty() ? outcome.output : outcome.error));
  const auto text = lower_case(words);
  const auto says = [&](std::string_view part) { return text.find(part) != text.npos; };
  if (says("not found") || says("invalid node name"))
    return Error{Code::kNotFound,
                 "Slurm does not know node '" + name +
                     "': add the lines that `cupel slurm conf` prints to slurm.conf, "
                     "then `scontrol reconfigure` (scontrol: " +
                     words + ")"};
  if (says("unable to contact") || says("connection refused") || says("communication"))
    return Error{Code::kUnreachable, "slurmctld does not answer: " + words};
  return Error{Code::kFailed,
               fmt::format("scontrol ended with exit status {}: {}", outcome.exit_status, words)};
}

/// Where " Key=" begins for a key that Slurm writes with a capital letter; values may hold blanks.
std::map<std::string, std::string, std::less<>> keys_of(std::string_view line) {
  std::map<std::string, std::string, std::less<>> keys;
  std::string last;
  for (const auto word : words(line)) {
    const auto equals = word.find('=');
    const bool key = equals != word.npos && equals > 0 && word[0] >= 'A' && word[0] <= 'Z' &&
                     word.substr(0, equals).find_first_of("[]():,") == word.npos;
    // Reason is the last key of the line and may itself hold "Key=value".
    if (key && last != "Reason") {
      last = word.substr(0, equals);
      keys[last] = word.substr(equals + 1);
    } else if (!last.empty()) {
      keys[last] += " " + std::string{word};
    }
  }
  return keys;
}

/// A range, a list or a word such as ALL would be several nodes to scontrol.
Result<void> one_name(const std::string& name) {
  const auto fault = inventory::fault_in_name(inventory::Named::slurm_node, name);
  if (!fault) return ok();
  return Error{Code::kInvalid, *fault + "; Slurm was not asked"};
}

/// What scontrol takes for a set of nodes has a line for each.
Result<void> one_line_of(const std::string& name, std::string_view output) {
  const auto nodes = std::ranges::count_if(
      lines(output), [](std::string_view line) { return line.starts_with("NodeName="); });
  if (nodes <= 1) return ok();
  return Error{Code::kInvalid,
               fmt::format("'{}' is {} nodes to Slurm: nothing was changed", name, nodes)};
}

std::vector<std::string> listed(std::string_view text, char separator) {
  std::vector<std::string> found;
  if (text.empty() || text == "(null)") return found;
  for (const auto word : split(text, separator)) found.emplace_back(word);
  return found;
}

}  // namespace

bool SlurmNode::has(std::string_view word) const {
  return std::ranges::find(state, word) != state.end();
}

bool SlurmNode::busy() const { return has("ALLOCATED") || has("MIXED") || has("COMPLETING"); }

bool SlurmNode::idle() const {
  constexpr std::string_view kBars[] = {
      "DRAIN",   "DOWN",         "FAIL",          "FUTURE",      "MAINTENANCE",   "RESERVED",
      "PLANNED", "POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "REBOOT_ISSUED", "NOT_RESPONDING"};
  return has("IDLE") && !busy() &&
         std::ranges::none_of(kBars, [this](std::string_view word) { return has(word); });
}

Result<SlurmNode> parse_slurm_node(std::string_view line) {
  const auto keys = keys_of(line);
  const auto value = [&](std::string_view key) {
    const auto found = keys.find(key);
    return found == keys.end() ? std::string{} : found->second;
  };
  SlurmNode node;
  node.name = value("NodeName");
  if (node.name.empty() || value("State").empty())
    return Error{Code::kMalformed, "scontrol printed no node: " + shortened(printable(line), 120)};
  for (const auto word : split(value("State"), '+')) {
    // "*" not responding, "~" powered off, "#" booting, ... (man sinfo, NODE STATE CODES).
    const auto bare = word.substr(0, word.find_first_of("*~#!%$@^-"));
    node.state.emplace_back(bare);
    if (word.ends_with('*')) node.state.emplace_back("NOT_RESPONDING");
  }
  const auto reason = value("Reason");
  node.reason = trimmed(std::string_view{reason}.substr(0, reason.rfind(" [")));
  node.cpus = number<int>(value("CPUTot")).value_or(0);
  node.memory_bytes = number<double>(value("RealMemory")).value_or(0) * 1024 * 1024;
  node.gres = value("Gres") == "(null)" ? "" : value("Gres");
  node.features = listed(value("AvailableFeatures"), ',');
  return node;
}

std::string slurm_reason(std::string_view text) {
  auto line = printable(text);
  std::erase_if(line, [](char c) { return c == '"' || c == '\''; });
  return shortened(line, kLongestReason);
}

Task<Result<std::string>> Slurm::scontrol(std::vector<std::string> arguments, Deadline deadline,
                                          std::size_t most_output) {
  ProcessRequest request;
  request.output_limit = most_output;
  request.argv = {"scontrol"};
  std::string name;
  for (const auto& argument : arguments)
    if (argument.starts_with("NodeName=")) name = argument.substr(9);
  if (name.empty()) name = arguments.back();
  for (auto& argument : arguments) request.argv.push_back(std::move(argument));
  if (!site_.configuration.empty())
    request.environment.push_back("SLURM_CONF=" + site_.configuration);
  const auto until = deadline.sooner(kPatience);
  auto outcome = co_await run_process(std::move(request), until);
  if (!outcome && outcome.error().code == Code::kNotFound)
    co_return Error{Code::kUnsupported,
                    "there is no scontrol here: install slurm-client, or take "
                    "the slurm section out of the inventory"};
  if (!outcome) co_return std::move(outcome).error().within("scontrol");
  // "show node" of an unknown one prints to standard output and, in older versions, exits 0.
  const auto& result = *outcome;
  const bool unknown = result.output.find("not found") != std::string::npos;
  if (result.exit_status != 0 || unknown) co_return error_of(name, result);
  co_return std::move(outcome->output);
}

Task<Result<std::vector<SlurmNode>>> Slurm::nodes(Deadline deadline) {
  constexpr std::size_t kMostOutput = 32u << 20;
  std::vector<std::string> arguments{"--oneliner", "show", "node"};
  CO_TRY(const auto output, co_await scontrol(std::move(arguments), deadline, kMostOutput));
  std::vector<SlurmNode> found;
  for (const auto line : lines(output)) {
    if (!line.starts_with("NodeName=")) continue;
    CO_TRY(auto node, parse_slurm_node(line));
    found.push_back(std::move(node));
  }
  co_return found;
}

Task<Result<SlurmNode>> Slurm::node(std::string name, Deadline deadline) {
  CO_TRY(one_name(name));
  std::vector<std::string> arguments{"--oneliner", "show", "node", name};
  CO_TRY(const auto output, co_await scontrol(std::move(arguments), deadline));
  CO_TRY(one_line_of(name, output));
  CO_TRY(auto found, parse_slurm_node(output));
  if (found.name != name)
    co_return Error{Code::kMalformed, fmt::format("Slurm was asked for node '{}' and shows '{}'",
                                                  name, printable(found.name))};
  co_return found;
}

Task<Result<void>> Slurm::update(std::string name, std::vector<std::string> changes,
                                 Deadline deadline) {
  std::vector<std::string> arguments{"update", "NodeName=" + name};
  for (auto& change : changes) arguments.push_back(std::move(change));
  CO_TRY(co_await scontrol(std::move(arguments), deadline));
  co_return ok();
}

Task<Result<void>> Slurm::drain(std::string name, std::string reason, Deadline deadline) {
  CO_TRY(const auto now, co_await node(name, deadline));
  std::vector<std::string> changes{"State=DRAIN", "Reason=" + slurm_reason(reason)};
  co_return co_await update(now.name, std::move(changes), deadline);
}

Task<Result<void>> Slurm::resume(std::string name, Deadline deadline) {
  CO_TRY(const auto now, co_await node(name, deadline));
  // RESUME on a node that is neither drained nor down is an error to Slurm, and done to us.
  if (!now.drained() && !now.has("DOWN") && !now.has("FAIL")) co_return ok();
  std::vector<std::string> changes{"State=RESUME"};
  co_return co_await update(now.name, std::move(changes), deadline);
}

Task<Result<void>> Slurm::add_features(std::string name, std::vector<std::string> features,
                                       Deadline deadline) {
  if (const auto fault = inventory::fault_in_names(inventory::Named::feature, features))
    co_return Error{Code::kInvalid, *fault + "; Slurm was not asked"};
  CO_TRY(auto now, co_await node(name, deadline));
  for (auto& feature : features)
    if (std::ranges::find(now.features, feature) == now.features.end())
      now.features.push_back(std::move(feature));
  if (now.features.empty()) co_return ok();
  const auto all = fmt::format("{}", fmt::join(now.features, ","));
  std::vector<std::string> changes{"AvailableFeatures=" + all, "ActiveFeatures=" + all};
  co_return co_await update(now.name, std::move(changes), deadline);
}

Result<std::string> idle_nodes(const inventory::Inventory& inventory, const std::string& terms) {
  constexpr std::chrono::seconds kLongest{30};
  if (!inventory.slurm)
    return Error{Code::kInvalid, "idle_only: the inventory has no slurm section"};
  TRY(const auto meant, inventory::select(inventory, terms));
  asio::io_context io{1};
  Slurm slurm{*inventory.slurm};
  TRY(const auto all, run_to_end(io, slurm.nodes(Deadline::in(kLongest))));
  std::set<std::string, std::less<>> idle;
  for (const auto& each : all)
    if (each.idle()) idle.insert(each.name);
  std::string names;
  for (const auto* node : meant)
    if (idle.contains(node->slurm_name.empty() ? node->name : node->slurm_name))
      names += (names.empty() ? "" : ",") + node->name;
  if (names.empty())
    return Error{Code::kInvalid,
                 fmt::format("idle_only: Slurm reports none of {} nodes as idle", meant.size())};
  return names;
}

}  // namespace cupel::handoff
