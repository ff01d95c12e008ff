// `cupel bmc NODES bios`: settings read, and staged for the next boot.
#include <fmt/format.h>

#include "base/text.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/table.h"

namespace cupel::cli {
namespace {

using inventory::Node;
using Assignments = std::vector<std::pair<std::string, std::string>>;

struct Bios {
  std::string what = "get";
  std::vector<std::string> words{};
};

std::string text_of(const bmc::BiosValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return plain(*real);
  return std::get<std::string>(value);
}

boost::json::value json_of(const bmc::BiosValue& value) {
  return std::visit([](const auto& one) { return boost::json::value(one); }, value);
}

std::vector<std::string> names_of(const bmc::BiosValues& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

Task<Result<Answer>> read_bios(bmc::Bmc& bmc, const std::vector<std::string>& names,
                               Deadline deadline) {
  CO_TRY(const auto bios, co_await bmc.bios.read(deadline));
  const auto known = names_of(bios.current);
  std::string missing;
  for (const auto& name : names) {
    if (bios.current.contains(name)) continue;
    missing += (missing.empty() ? "" : "; ") + ("there is no BIOS attribute '" + name + "'") +
               inventory::did_you_mean(name, std::span{known});
  }
  if (!missing.empty()) co_return Error{Code::kInvalid, missing};
  std::vector<Row> rows{{"attribute", "value", "at the next boot"}};
  boost::json::object current;
  boost::json::object pending;
  for (const auto& name : names.empty() ? known : names) {
    const auto& value = bios.current.at(name);
    const auto next = bios.pending.find(name);
    const bool changes = next != bios.pending.end();
    rows.push_back({name, text_of(value), changes ? text_of(next->second) : ""});
    current[name] = json_of(value);
    if (changes) pending[name] = json_of(next->second);
  }
  auto text = fmt::format("{} attributes\n{}", rows.size() - 1, table(rows));
  co_return Answer{std::move(text), {{"current", current}, {"pending", pending}}};
}

/// What was typed, in the type that the attribute has now; nothing where it does not fit.
std::optional<bmc::BiosValue> fitted(const bmc::BiosValue& like, const std::string& typed) {
  if (std::holds_alternative<bool>(like)) {
    if (typed != "true" && typed != "false") return std::nullopt;
    return typed == "true";
  }
  if (std::holds_alternative<std::int64_t>(like)) {
    const auto whole = number<std::int64_t>(typed);
    return whole ? std::optional<bmc::BiosValue>{*whole} : std::nullopt;
  }
  if (std::holds_alternative<double>(like)) {
    const auto real = number<double>(typed);
    return real ? std::optional<bmc::BiosValue>{*real} : std::nullopt;
  }
  return typed;
}

Result<bmc::BiosValues> typed(const Assignments& requested, const bmc::BiosValues& current) {
  const auto known = names_of(current);
  bmc::BiosValues values;
  std::string wrong;
  for (const auto& [name, word] : requested) {
    const auto like = current.find(name);
    if (like == current.end()) {
      wrong += (wrong.empty() ? "" : "; ") + ("there is no BIOS attribute '" + name + "'") +
               inventory::did_you_mean(name, std::span{known});
      continue;
    }
    const auto value = fitted(like->second, word);
    if (value)
      values.emplace(name, *value);
    else
      wrong += (wrong.empty() ? "" : "; ") + name + " is " + text_of(like->second) +
               " now, and cannot be '" + word + "'";
  }
  if (!wrong.empty()) return Error{Code::kInvalid, wrong};
  return values;
}

Task<Result<Answer>> stage(bmc::Bmc& bmc, const Assignments& requested, Deadline deadline) {
  CO_TRY(const auto bios, co_await bmc.bios.read(deadline));
  CO_TRY(const auto values, typed(requested, bios.current));
  const bool same = std::ranges::all_of(values, [&](const auto& each) {
    return bios.current.at(each.first) == each.second && !bios.pending.contains(each.first);
  });
  if (same) co_return Answer{"already so", {{"staged", false}}};
  CO_TRY(const auto later, co_await bmc.bios.stage(values, deadline));
  Answer answer{"staged: takes effect at the next boot", {{"staged", true}}};
  if (later.empty()) co_return answer;
  answer.text += fmt::format("; not {}: the BMC takes it after that boot, set it again then",
                             printable(fmt::format("{}", fmt::join(later, ", "))));
  answer.object["after_boot"] = boost::json::value_from(later);
  co_return answer;
}

Exit bios(const BmcCommand& command, const Bios& asked) {
  if (asked.what == "get")
    return ask(command, [&](bmc::Bmc& bmc, const Node&, Deadline deadline) {
      return read_bios(bmc, asked.words, deadline);
    });
  Assignments requested;
  for (const auto& word : asked.words) {
    const auto equals = word.find('=');
    if (equals == 0 || equals == word.npos)
      return print_error(command.context,
                         Error{Code::kInvalid, "bios set takes NAME=VALUE, not '" + word + "'"},
                         Exit::invalid);
    requested.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  if (requested.empty())
    return print_error(command.context,
                       Error{Code::kInvalid, "bios set what? NAME=VALUE, as bios get prints them"},
                       Exit::invalid);
  return ask(command, [&](bmc::Bmc& bmc, const Node&, Deadline deadline) {
    return stage(bmc, requested, deadline);
  });
}

}  // namespace

CommandRow bmc_bios_command(const BmcCommand& command) {
  auto asked = std::make_shared<Bios>();
  CommandRow row{"bios", "read BIOS settings, or stage them"};
  row.options = {{"WHAT", &asked->what, "get (if not given), set", {.among = {"get", "set"}}},
                 {"NAMES", &asked->words, "of get: attributes; of set: NAME=VALUE"}};
  row.run = [command, asked] { return bios(command, *asked); };
  return row;
}

}  // namespace cupel::cli
