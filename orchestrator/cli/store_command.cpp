// store: whether what is kept is whole.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/store/check.h"

namespace cupel::cli {
namespace {

boost::json::object to_json(const Context& context, const store::Checked& checked) {
  boost::json::array faults;
  for (const auto& fault : checked.faults)
    faults.push_back({{"where", valid_utf8(fault.where)},
                      {"what", valid_utf8(fault.what)},
                      {"advice", fault.advice}});
  return {{"store", context.state.string()}, {"runs", checked.runs},
          {"events", checked.events},        {"snapshots", checked.snapshots},
          {"evidence", checked.evidence},    {"faults", std::move(faults)}};
}

void print(const Context& context, const store::Checked& checked) {
  for (const auto& fault : checked.faults)
    say("{}: {}\n    -> {}\n", printable(fault.where), printable(fault.what), fault.advice);
  const auto many = checked.faults.size();
  const auto verdict = many == 0 ? std::string{"all of it is whole"}
                                 : fmt::format("{}{} broken; nothing was changed",
                                               many == store::kMostFaults ? "at least " : "", many);
  say("{}: {} runs, {} events, {} snapshots, {} pieces of evidence: {}\n", context.state.string(),
      checked.runs, checked.events, checked.snapshots, checked.evidence, verdict);
}

Exit check(const Context& context) {
  const auto checked = store::check_store(context.state);
  if (!checked) {
    const auto& error = checked.assume_error();
    return complain(context, error,
                    error.code == Code::kStorage ? Exit::unfinished : Exit::invalid);
  }
  if (context.json)
    std::printf("%s\n", boost::json::serialize(to_json(context, checked.assume_value())).c_str());
  else
    print(context, checked.assume_value());
  return checked.assume_value().faults.empty() ? Exit::passed : Exit::failed;
}

}  // namespace

void add_store(CLI::App& app, Context& context, Exit& exit) {
  auto* store = app.add_subcommand("store", "the journal, snapshots and evidence that are kept");
  store->require_subcommand(1);
  auto* command = store->add_subcommand(
      "check", "read all that is kept, and say what is broken; changes nothing");
  command->footer(
      "Example: cupel store check\n"
      "Exit codes: 0 all of it is whole, 1 something is broken, 2 there is no store or it is of a\n"
      "            newer Cupel, 3 it could not be read.");
  add_json_flag(*command, context);
  command->callback([&context, &exit] { exit = check(context); });
}

}  // namespace cupel::cli
